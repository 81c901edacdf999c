"""A journey goes all the way: over real HTTP, to processes of their own."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import patch

import pytest
from playwright.sync_api import Browser

import running
from chromium import CONTRASTS, open_chromium
from mainstay.backing.folder import DataFolder
from mainstay.settings import Settings
from served import cast, server, settings, stage, stranger

__all__ = ["cast", "server", "settings", "stage", "stranger"]


@pytest.fixture(scope="session", autouse=True)
def _every_contrast_in_the_long_run(request: pytest.FixtureRequest) -> None:
    """The long run has axe look at every writing on every page, the short one at each kind of writing once."""
    CONTRASTS.are_remembered = not request.config.getoption("every_engine")


@pytest.fixture(scope="session")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the templates of pages are translated to, by the first server of this process."""
    return tmp_path_factory.mktemp("templates")


@pytest.fixture(scope="module", autouse=True)
def _templates_are_translated_once(translated: Path) -> Iterator[None]:
    """A new installation translates them at its first start, which would be a third of each start here."""
    start = running.start_command

    def start_with_them(
        settings: Settings, command: list[str], environment: Mapping[str, str]
    ) -> AbstractContextManager[running.ServerProcess]:
        folder = DataFolder(settings.data)
        folder.make()
        if not folder.templates.exists():
            folder.templates.symlink_to(translated, target_is_directory=True)
        return start(settings, command, environment)

    with patch.object(running, "start_command", start_with_them):
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed before other tests: while it is open, nothing else in this thread can run an event loop."""
    with open_chromium() as chromium:
        yield chromium

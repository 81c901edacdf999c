"""A journey goes all the way: over real HTTP, to processes of their own."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from chromium import CONTRASTS, open_chromium
from served import cast, server, settings, stage, stranger

__all__ = ["cast", "server", "settings", "stage", "stranger"]


@pytest.fixture(scope="session", autouse=True)
def _every_contrast_in_the_long_run(request: pytest.FixtureRequest) -> None:
    """The long run has axe look at every writing on every page, the short one at each kind of writing once."""
    CONTRASTS.are_remembered = not request.config.getoption("every_engine")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed before other tests: while it is open, nothing else in this thread can run an event loop."""
    with open_chromium() as chromium:
        yield chromium

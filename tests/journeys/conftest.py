"""A journey goes all the way: over real HTTP, to processes of their own."""

from itertools import groupby
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from chromium import CONTRASTS, Chromiums
from served import cast, server, settings, stage, stranger

__all__ = ["cast", "server", "settings", "stage", "stranger"]


@pytest.fixture(scope="session", autouse=True)
def _every_contrast_in_the_long_run(request: pytest.FixtureRequest) -> None:
    """The long run has axe look at every writing on every page, the short one at each kind of writing once."""
    CONTRASTS.are_remembered = not request.config.getoption("every_engine")


_CHROMIUMS = Chromiums()


@pytest.fixture
def browser() -> Browser:
    """It starts in a second, and is the same for all journeys in a row that need it."""
    return _CHROMIUMS.one()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close it where the next test does without."""
    if nextitem is None or not _is_in_browser(nextitem):
        _CHROMIUMS.close()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the journeys of an engine that need a browser in a row, behind the others."""
    rows = [[*row] for _, row in groupby(items, _row)]
    items[:] = [item for row in rows for item in (sorted(row, key=_is_in_browser) if _row(row[0]) else row)]


def _row(item: pytest.Item) -> str | None:
    """The engine of a journey, or that it has none; nothing where it is no journey."""
    if item.path.parent != Path(__file__).parent:
        return None
    called = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return str(called.get("engine", "no engine"))


def _is_in_browser(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and "browser" in item.fixturenames

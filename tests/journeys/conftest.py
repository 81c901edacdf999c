"""Journeys test the whole way: over real HTTP, to server processes."""

from itertools import groupby
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from support.browser import CONTRAST_MEMORY, SharedChromium
from support.server_fixtures import cast, other_cast, performer, server, settings

__all__ = ["cast", "other_cast", "performer", "server", "settings"]


@pytest.fixture(scope="session", autouse=True)
def _check_every_contrast_in_long_run(request: pytest.FixtureRequest) -> None:
    """Have axe check every text on every page in the long run, and each kind of text once in the short one."""
    CONTRAST_MEMORY.are_remembered = not request.config.getoption("every_engine")


_CHROMIUMS = SharedChromium()


@pytest.fixture
def browser() -> Browser:
    """A browser, shared by all journeys in a row that need one; it takes a second to start."""
    return _CHROMIUMS.open()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close the browser if the next test needs none."""
    if nextitem is None or not _needs_browser(nextitem):
        _CHROMIUMS.close()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the journeys of each engine: those that need a browser come last."""
    rows = [[*row] for _, row in groupby(items, _engine_of)]
    items[:] = [item for row in rows for item in (sorted(row, key=_needs_browser) if _engine_of(row[0]) else row)]


def _engine_of(item: pytest.Item) -> str | None:
    """Return the engine of a journey, or "no engine"; None if the test is no journey."""
    if item.path.parent != Path(__file__).parent:
        return None
    params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return str(params.get("engine", "no engine"))


def _needs_browser(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and "browser" in item.fixturenames

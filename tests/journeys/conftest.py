"""What journeys share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from chromium import open_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed before other tests: while it is open, nothing else in this thread can run an event loop."""
    with open_chromium() as chromium:
        yield chromium

"""Tests of operations alone: no worker follows up what they do."""

import pytest

from mainstay.changes import search_words
from support.quiet_installation import performer, settings

__all__ = ["performer", "settings"]


@pytest.fixture(params=["fresh", "settled"])
def fresh_or_indexed_words(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test of searching twice: with words that are fresh, and with words that are indexed."""
    if request.param == "settled":
        monkeypatch.setattr(search_words, "MAX_FRESH_RECORDS", 1)

"""What is tried here is what operations do, and nothing that follows it."""

import pytest

from mainstay.ledger import words
from quiet import settings, stage

__all__ = ["settings", "stage"]


@pytest.fixture(params=["fresh", "settled"])
def found_alike(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that find records: these are found alike, whether their words are fresh or settled."""
    if request.param == "settled":
        monkeypatch.setattr(words, "MOST_FRESH", 1)

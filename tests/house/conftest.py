"""Furnished organisations that the tests of the house share: what they try is taken back."""

import pytest

from house.examples import Trial, open_trial
from mainstay.kernel.perform import Stage


@pytest.fixture(scope="session")
def trial(stage: Stage) -> Trial:
    """An open, a lapsed and a foreign organisation."""
    return open_trial(stage)

"""Organisations with sample records that the tests of rules share: every change is rolled back."""

import pytest

from mainstay.kernel.perform import Performer
from rules.examples import DryRun, open_dry_run


@pytest.fixture(scope="session")
def dry_run(performer: Performer) -> DryRun:
    """An open, a lapsed and a foreign organisation."""
    return open_dry_run(performer)

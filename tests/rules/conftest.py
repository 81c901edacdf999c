"""Organisations with sample records that the tests of rules share: every change is rolled back."""

from collections.abc import Iterator

import pytest

from mainstay.composition import open_performer
from rules.examples import DryRun, open_dry_run
from support.installations import Installations


@pytest.fixture(scope="session")
def dry_run(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DryRun]:
    """An open, a lapsed and a foreign organisation, in an installation of their own with no worker beside it."""
    performer = open_performer(installations.make_with_accounts(engine, tmp_path_factory.mktemp(f"rules-{engine}")))
    yield open_dry_run(performer)
    performer.database.close()

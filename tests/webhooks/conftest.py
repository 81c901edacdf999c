"""An installation that no server and no worker serves beside the tests: what they leave waiting, waits."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cast import Cast, assemble
from dispatching import Desk
from engines import ENGINES
from mainstay.kernel.perform import Stage
from mainstay.main import open_stage
from mainstay.settings import read_settings
from receiving import Street, a_street


@pytest.fixture(scope="session", params=ENGINES)
def quiet_stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Where operations are performed, and nothing else happens."""
    database = request.getfixturevalue("postgresql").new_database() if request.param == "postgresql" else None
    stage = open_stage(replace(read_settings({}), data=tmp_path_factory.mktemp("quiet"), database=database))
    yield stage
    stage.database.close()


@pytest.fixture
def cast(quiet_stage: Stage) -> Cast:
    """An organisation with a person of each role."""
    return assemble(quiet_stage)


@pytest.fixture
def stranger(quiet_stage: Stage) -> Cast:
    """Another organisation, which must never be seen."""
    return assemble(quiet_stage)


@pytest.fixture
def desk(quiet_stage: Stage) -> Desk:
    """A queue with nothing in it."""
    return Desk.open(quiet_stage)


@pytest.fixture
def street() -> Iterator[Street]:
    """Where receivers stand."""
    with a_street() as street:
        yield street

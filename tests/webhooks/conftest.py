"""An installation that no server and no worker serves beside the tests: what they leave waiting, waits."""

from collections.abc import Iterator

import pytest

from cast import Cast, assemble
from dispatching import Desk
from installations import Installations
from mainstay.kernel.perform import Stage
from mainstay.staging import open_stage
from receiving import Street, a_street


@pytest.fixture(scope="session")
def quiet_stage(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Where operations are performed, and nothing else happens."""
    stage = open_stage(installations.furnished(engine, tmp_path_factory.mktemp("quiet")))
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

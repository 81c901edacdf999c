"""An installation without server and worker: deliveries that a test leaves waiting stay there."""

from collections.abc import Iterator

import pytest

from mainstay.composition import open_performer
from mainstay.kernel.perform import Performer
from support.cast import Cast, make_cast
from support.dispatchers import QueueHarness
from support.installations import Installations
from support.receiver_threads import ReceiverThread, run_receiver_thread


@pytest.fixture(scope="session")
def quiet_performer(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Performer]:
    """Perform operations where no worker follows them up."""
    performer = open_performer(installations.make_with_accounts(engine, tmp_path_factory.mktemp("quiet")))
    yield performer
    performer.database.close()


@pytest.fixture
def cast(quiet_performer: Performer) -> Cast:
    """An organisation with a person of each role."""
    return make_cast(quiet_performer)


@pytest.fixture
def other_cast(quiet_performer: Performer) -> Cast:
    """Another organisation, which must never be seen."""
    return make_cast(quiet_performer)


@pytest.fixture
def queue_harness(quiet_performer: Performer) -> QueueHarness:
    """A queue with nothing in it."""
    return QueueHarness.open(quiet_performer)


@pytest.fixture
def receiver_thread() -> Iterator[ReceiverThread]:
    """Run receivers in a thread."""
    with run_receiver_thread() as receiver_thread:
        yield receiver_thread

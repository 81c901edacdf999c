"""Fixtures that every test may use. Whatever stands on a database names its engine in its id."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from cast import Cast, assemble, passing
from engines import PostgresServer, engines_of, with_durability, without_durability
from hashing import cheap_passwords, dear_passwords
from inside import open_inside
from installations import Installations, Opened
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings
from mainstay.staging import open_stage
from running import RunningServer
from served import Served, serve

# Two cores shared with a database make single examples slow now and then; what they find does not depend on that.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the long run ask for more."""
    parser.addoption("--every-engine", action="store_true", help="run whatever stands on a database on every engine")


def pytest_configure() -> None:
    """Nothing that is collected now goes away again, and the garbage collector would look at it again and again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """The tests stay where they are: the collector looks only at what they make, and not after every few of it."""
    gc.freeze()
    gc.set_threshold(10_000, 50, 100)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Collect each test that stands on a database once for each of its engines; they run engine by engine."""
    if "engine" in metafunc.fixturenames:
        chosen = engines_of(metafunc.definition, every=metafunc.config.getoption("every_engine"))
        metafunc.parametrize("engine", chosen, indirect=True, scope="session")


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of this test."""
    return str(request.param)


@pytest.fixture(scope="session", autouse=True)
def _quiet_environment() -> None:
    """No setting of the one who runs the tests reaches them."""
    for name in [name for name in os.environ if name.startswith("MAINSTAY_")]:
        del os.environ[name]


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    with without_durability():
        yield


@pytest.fixture
def durable() -> Iterator[None]:
    """The embedded database waits for the disk, as it does for everyone but the tests."""
    with with_durability():
        yield


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords() -> Iterator[None]:
    with cheap_passwords():
        yield


@pytest.fixture(scope="session", autouse=True)
def _wait_for_files() -> Iterator[None]:
    """Wait for files of documents as long as it takes on a busy machine; a test of those that are late says so."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("mainstay.doors.papers.WAIT_SECONDS", 60.0)
        yield


@pytest.fixture
def dear() -> Iterator[None]:
    """A password costs what it costs everyone but the tests."""
    with dear_passwords():
        yield


@pytest.fixture(scope="session")
def installations(tmp_path_factory: pytest.TempPathFactory) -> Installations:
    """Where installations come from."""
    return Installations(tmp_path_factory.mktemp("installations"))


@pytest.fixture(scope="session")
def postgresql(installations: Installations) -> PostgresServer:
    """One server for the whole process."""
    return installations.postgresql


@pytest.fixture(scope="session")
def settings(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of an installation that the tests of one engine share; each test has organisations of its own."""
    return installations.furnished(engine, tmp_path_factory.mktemp(engine))


@pytest.fixture
def fresh_settings(engine: str, installations: Installations, tmp_path: Path) -> Settings:
    """The settings of an installation with an empty database."""
    return installations.empty(engine, tmp_path)


@pytest.fixture(scope="session")
def stage(settings: Settings) -> Iterator[Stage]:
    """Where operations are performed."""
    stage = open_stage(settings)
    yield stage
    stage.database.close()


@pytest.fixture
def cast(stage: Stage) -> Iterator[Cast]:
    """An organisation with a person of each role."""
    with passing(stage) as cast:
        yield cast


@pytest.fixture
def opened(engine: str, installations: Installations, tmp_path: Path) -> Iterator[Opened]:
    """An installation that no other test has, with no server and no worker beside it."""
    settings = installations.furnished(engine, tmp_path)
    stage = open_stage(settings)
    yield Opened(settings, stage)
    stage.database.close()


@pytest.fixture
def alone(opened: Opened) -> Cast:
    """The only organisation of an installation."""
    return assemble(opened.stage)


@pytest.fixture
def stranger(stage: Stage) -> Iterator[Cast]:
    """Another organisation, which must never be seen."""
    with passing(stage) as stranger:
        yield stranger


@pytest.fixture(scope="session")
def server(settings: Settings) -> Iterator[RunningServer]:
    """The product's doors to the same installation, within this process."""
    with open_inside(settings) as inside:
        yield inside


@pytest.fixture(scope="session")
def served(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The one real server of an engine, for what only a server gets wrong; its folders say so in their `conftest`."""
    with serve(installations.furnished(engine, tmp_path_factory.mktemp("served"))) as served:
        yield served

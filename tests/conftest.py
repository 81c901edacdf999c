"""Fixtures for every test. A test that uses a database has its engine in its id."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from mainstay.composition import open_performer
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from support.cast import Cast, make_cast, temporary_cast
from support.engines import PostgresServer, engines_of, with_durability, without_durability
from support.fast_hashing import use_fast_hashing, use_real_hashing
from support.in_process import run_in_process
from support.installations import Installation, Installations
from support.s3_server import RcloneServer
from support.server_fixtures import ServedInstallation, serve_installation
from support.servers import RunningServer
from support.statement_recorder import StatementRecorder

# Two cores shared with a database make single examples slow now and then; what they find does not depend on that.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the long run, and of the choice of tests that are not repeated on PostgreSQL."""
    parser.addoption("--every-engine", action="store_true", help="run whatever stands on a database on every engine")
    parser.addoption("--record-statements", type=Path, help="write into a folder what each test runs on PostgreSQL")


def pytest_configure(config: pytest.Config) -> None:
    """Stop the garbage collector while tests are collected, because nothing that is collected becomes garbage."""
    gc.disable()
    if folder := config.getoption("record_statements"):
        process = os.environ.get("PYTEST_XDIST_WORKER", "only")
        config.pluginmanager.register(StatementRecorder(folder, process))


def pytest_collection_finish() -> None:
    """Start the collector again, for objects that tests make. It runs less often than usual."""
    gc.freeze()
    gc.set_threshold(10_000, 50, 100)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Collect each test that uses a database once for each of its engines; they run engine by engine."""
    if "engine" in metafunc.fixturenames:
        chosen = engines_of(
            metafunc.definition,
            every=metafunc.config.getoption("every_engine"),
            as_listed=metafunc.config.getoption("record_statements") is None,
        )
        metafunc.parametrize("engine", chosen, indirect=True, scope="session")


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of this test."""
    return str(request.param)


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> None:
    """Remove the settings of the person who runs the tests from the environment."""
    for name in [name for name in os.environ if name.startswith("MAINSTAY_")]:
        del os.environ[name]


@pytest.fixture(scope="session", autouse=True)
def _without_durability() -> Iterator[None]:
    with without_durability():
        yield


@pytest.fixture
def durable() -> Iterator[None]:
    """Have the embedded database wait for the disk, as in production."""
    with with_durability():
        yield


@pytest.fixture(scope="session", autouse=True)
def _fast_hashing() -> Iterator[None]:
    with use_fast_hashing():
        yield


@pytest.fixture(scope="session", autouse=True)
def _wait_for_files() -> Iterator[None]:
    """Wait for files of documents as long as a busy machine takes; tests of late files set their own limit."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("mainstay.doors.document_answers.WAIT_SECONDS", 60.0)
        yield


@pytest.fixture
def real_hashing() -> Iterator[None]:
    """Hash passwords as slowly as in production."""
    with use_real_hashing():
        yield


@pytest.fixture(scope="session")
def installations(tmp_path_factory: pytest.TempPathFactory) -> Installations:
    """Make installations."""
    return Installations(tmp_path_factory.mktemp("installations"))


@pytest.fixture(scope="session")
def postgresql(installations: Installations) -> PostgresServer:
    """One PostgreSQL server for the whole process."""
    return installations.postgresql


@pytest.fixture(scope="session")
def settings(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of an installation that the tests of one engine share; each test has organisations of its own."""
    return installations.make_with_accounts(engine, tmp_path_factory.mktemp(engine))


@pytest.fixture
def fresh_settings(engine: str, installations: Installations, tmp_path: Path) -> Settings:
    """The settings of an installation with an empty database."""
    return installations.make_empty(engine, tmp_path)


@pytest.fixture(scope="session")
def performer(settings: Settings) -> Iterator[Performer]:
    """Where operations are performed."""
    performer = open_performer(settings)
    yield performer
    performer.database.close()


@pytest.fixture
def cast(performer: Performer) -> Iterator[Cast]:
    """An organisation with a person of each role."""
    with temporary_cast(performer) as cast:
        yield cast


@pytest.fixture
def own_installation(engine: str, installations: Installations, tmp_path: Path) -> Iterator[Installation]:
    """An installation that no other test has, with no server and no worker beside it."""
    installation_settings = installations.make_with_accounts(engine, tmp_path)
    performer = open_performer(installation_settings)
    yield Installation(installation_settings, performer)
    performer.database.close()


@pytest.fixture
def only_cast(own_installation: Installation) -> Cast:
    """The only organisation of an installation."""
    return make_cast(own_installation.performer)


@pytest.fixture
def other_cast(performer: Performer) -> Iterator[Cast]:
    """Another organisation, which must never be seen."""
    with temporary_cast(performer) as other_cast:
        yield other_cast


@pytest.fixture(scope="session")
def server(settings: Settings) -> Iterator[RunningServer]:
    """The product's doors to the same installation, within this process."""
    with run_in_process(settings) as in_process:
        yield in_process


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[RcloneServer]:
    """A bucket of an S3-compatible store for this test alone."""
    (tmp_path / "rclone").mkdir()
    server = RcloneServer(tmp_path / "rclone")
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def served_installation(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServedInstallation]:
    """The one real server of an engine; a folder whose tests need it imports its fixtures in its `conftest`."""
    with serve_installation(
        installations.make_with_accounts(engine, tmp_path_factory.mktemp("served"))
    ) as installation:
        yield installation

"""Fixtures that every test may use. Whatever stands on a database runs on both engines."""

import ipaddress
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import hypothesis
import pytest

from cast import Cast, assemble
from engines import ENGINES, PostgresServer, start_postgresql
from mainstay.kernel.perform import Stage
from mainstay.main import open_stage
from mainstay.settings import Settings, read_settings
from running import RunningServer, start_server

# Two cores shared with a database make single examples slow now and then; what they find does not depend on that.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")


@pytest.fixture(scope="session", autouse=True)
def _quiet_environment() -> None:
    """No setting of the one who runs the tests reaches them."""
    for name in [name for name in os.environ if name.startswith("MAINSTAY_")]:
        del os.environ[name]


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> PostgresServer:
    """One server for the whole run."""
    return start_postgresql(tmp_path_factory.mktemp("postgresql"))


@pytest.fixture(scope="session", params=ENGINES)
def settings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of an installation that the tests of one engine share; each test has organisations of its own."""
    return _installation(request.param, request, tmp_path_factory.mktemp(request.param))


@pytest.fixture(params=ENGINES)
def fresh_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """The settings of an installation with an empty database."""
    return _installation(request.param, request, tmp_path)


@pytest.fixture(scope="session")
def stage(settings: Settings) -> Iterator[Stage]:
    """Where operations are performed."""
    stage = open_stage(settings)
    yield stage
    stage.database.close()


@pytest.fixture
def cast(stage: Stage) -> Cast:
    """An organisation with a person of each role."""
    return assemble(stage)


@pytest.fixture
def stranger(stage: Stage) -> Cast:
    """Another organisation, which must never be seen."""
    return assemble(stage)


@pytest.fixture(scope="session")
def server(settings: Settings) -> Iterator[RunningServer]:
    """The product, serving the same installation over real HTTP with two workers."""
    with start_server(settings) as running:
        yield running


def _installation(engine: str, request: pytest.FixtureRequest, folder: Path) -> Settings:
    database = request.getfixturevalue("postgresql").new_database() if engine == "postgresql" else None
    # Registrations are limited by address; a trusted proxy lets a test come from several.
    loopback = (ipaddress.ip_network("127.0.0.1"),)
    return replace(read_settings({}), data=folder / "data", database=database, workers=2, trusted_proxies=loopback)

"""Fixtures for a folder whose tests use the real server; all share its installation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from mainstay.composition import open_performer
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from support.cast import Cast, make_cast
from support.servers import ServerProcess, start_server


@dataclass(frozen=True)
class ServedInstallation:
    """A real server, and a performer on the same database."""

    server: ServerProcess
    performer: Performer


@contextmanager
def serve_installation(settings: Settings) -> Iterator[ServedInstallation]:
    """Serve an installation of its own with two workers."""
    performer = open_performer(settings)
    with start_server(settings) as server:
        yield ServedInstallation(server, performer)
    performer.database.close()


@pytest.fixture(scope="session")
def server(served_installation: ServedInstallation) -> ServerProcess:
    """The product, over real HTTP."""
    return served_installation.server


@pytest.fixture(scope="session")
def settings(served_installation: ServedInstallation) -> Settings:
    """Its settings."""
    return served_installation.server.settings


@pytest.fixture(scope="session")
def performer(served_installation: ServedInstallation) -> Performer:
    """Perform operations on the server's database."""
    return served_installation.performer


@pytest.fixture
def cast(served_installation: ServedInstallation) -> Cast:
    """An organisation with a person of each role."""
    return make_cast(served_installation.performer)


@pytest.fixture
def other_cast(served_installation: ServedInstallation) -> Cast:
    """Another organisation, which must never be seen."""
    return make_cast(served_installation.performer)

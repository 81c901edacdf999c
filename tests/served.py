"""Fixtures for a folder whose tests speak to the real server: it and everyone in the story share an installation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from cast import Cast, assemble
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings
from mainstay.staging import open_stage
from running import ServerProcess, start_server


@dataclass(frozen=True)
class Served:
    """A real server with its stage."""

    server: ServerProcess
    stage: Stage


@contextmanager
def serve(settings: Settings) -> Iterator[Served]:
    """Serve an installation of its own with two workers."""
    stage = open_stage(settings)
    with start_server(settings) as server:
        yield Served(server, stage)
    stage.database.close()


@pytest.fixture(scope="session")
def server(served: Served) -> ServerProcess:
    """The product, over real HTTP."""
    return served.server


@pytest.fixture(scope="session")
def settings(served: Served) -> Settings:
    """Its settings."""
    return served.server.settings


@pytest.fixture(scope="session")
def stage(served: Served) -> Stage:
    """Where operations are performed beside it."""
    return served.stage


@pytest.fixture
def cast(served: Served) -> Cast:
    """An organisation with a person of each role."""
    return assemble(served.stage)


@pytest.fixture
def stranger(served: Served) -> Cast:
    """Another organisation, which must never be seen."""
    return assemble(served.stage)

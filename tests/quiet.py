"""An installation that nobody else works on: no server, and no worker that follows up what a test does meanwhile."""

from collections.abc import Iterator

import pytest

from installations import Installations
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings
from mainstay.staging import open_stage


@pytest.fixture(scope="session")
def settings(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of the installation."""
    return installations.furnished(engine, tmp_path_factory.mktemp(f"quiet-{engine}-"))


@pytest.fixture(scope="session")
def stage(settings: Settings) -> Iterator[Stage]:
    """Where operations are performed."""
    stage = open_stage(settings)
    yield stage
    stage.database.close()

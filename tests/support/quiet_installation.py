"""An installation without server and worker, so that nothing follows up what a test does."""

from collections.abc import Iterator

import pytest

from mainstay.composition import open_performer
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from support.installations import Installations


@pytest.fixture(scope="session")
def settings(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of the installation."""
    return installations.make_with_accounts(engine, tmp_path_factory.mktemp(f"quiet-{engine}-"))


@pytest.fixture(scope="session")
def performer(settings: Settings) -> Iterator[Performer]:
    """Where operations are performed."""
    performer = open_performer(settings)
    yield performer
    performer.database.close()

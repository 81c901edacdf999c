"""An installation of its own for those tests that look at everything in it: nothing else works on it meanwhile."""

from collections.abc import Iterator

import pytest

from cast import Cast, assemble
from mainstay.main import open_stage
from mainstay.settings import Settings


@pytest.fixture
def alone(fresh_settings: Settings) -> Iterator[Cast]:
    """The only organisation of an installation, with no server and no worker beside it."""
    stage = open_stage(fresh_settings)
    yield assemble(stage)
    stage.database.close()

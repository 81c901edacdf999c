"""An installation of its own for those tests that look at everything in it: nothing else works on it meanwhile."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cast import Cast, assemble
from installations import Installations
from mainstay.main import open_stage


@pytest.fixture
def alone(engine: str, installations: Installations, tmp_path: Path) -> Iterator[Cast]:
    """The only organisation of an installation, with no server and no worker beside it."""
    stage = open_stage(installations.furnished(engine, tmp_path))
    yield assemble(stage)
    stage.database.close()

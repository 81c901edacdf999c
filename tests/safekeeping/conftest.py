"""Furnished installations, made once in a process for each engine."""

from pathlib import Path

import pytest

from installations import Installations
from keepsakes import Keepsake, make


@pytest.fixture(scope="session")
def original(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Keepsake:
    """The one that is copied, and never changed."""
    return make(installations, engine, tmp_path_factory.mktemp("original"))


@pytest.fixture
def keepsake(original: Keepsake, tmp_path: Path) -> Keepsake:
    """One for this test alone."""
    return original.copied(tmp_path / "copy")

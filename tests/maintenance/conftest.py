"""Installations with sample records, made once in a process for each engine."""

from pathlib import Path

import pytest

from support.backups import SampleInstallation, make_sample_installation
from support.installations import Installations


@pytest.fixture(scope="session")
def original_installation(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> SampleInstallation:
    """The installation that is copied, and never changed."""
    return make_sample_installation(installations, engine, tmp_path_factory.mktemp("original"))


@pytest.fixture
def sample_installation(original_installation: SampleInstallation, tmp_path: Path) -> SampleInstallation:
    """A copy for this test alone."""
    return original_installation.copy_to(tmp_path / "copy")

"""Fixtures for the tests of the evaluation, which has a database of its own."""

from dataclasses import replace

import pytest

from mainstay.evaluation.firm import FirmTemplate
from mainstay.settings import read_settings


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> FirmTemplate:
    """Make the firm of the evaluation, once in a process."""
    return FirmTemplate.make(replace(read_settings({}), data=tmp_path_factory.mktemp("evaluation") / "data"))

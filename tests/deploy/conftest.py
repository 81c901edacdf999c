"""An installation made by following the document for operators."""

from collections.abc import Iterator

import pytest

from support.deployed import DeployedInstallation, deploy, install_home


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeployedInstallation]:
    """An installation that is served."""
    with deploy(install_home(tmp_path_factory.mktemp("home"))) as installation:
        yield installation

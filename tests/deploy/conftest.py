"""What the document for operators leads to."""

from collections.abc import Iterator

import pytest

from deployed import Deployed, deploy, install


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """An installation that is served."""
    with deploy(install(tmp_path_factory.mktemp("home"))) as deployed:
        yield deployed

"""An installation that may send to receivers on this machine, shared by the tests about webhooks."""

from collections.abc import Iterator

import pytest

from engines import ENGINES
from hooking import House, Receiver, open_house, open_receiver


@pytest.fixture(scope="session", params=ENGINES)
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    database = request.getfixturevalue("postgresql").new_database() if request.param == "postgresql" else None
    with open_house(tmp_path_factory.mktemp("webhooks"), database) as house:
        yield house


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with open_receiver() as receiver:
        yield receiver

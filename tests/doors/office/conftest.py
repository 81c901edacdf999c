"""An installation that may send to receivers on this machine, shared by the tests about webhooks."""

from collections.abc import Iterator

import pytest

from hooking import House, Receiver, open_house, open_receiver
from installations import Installations


@pytest.fixture(scope="session")
def house(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(installations.furnished(engine, tmp_path_factory.mktemp("webhooks"))) as house:
        yield house


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with open_receiver() as receiver:
        yield receiver

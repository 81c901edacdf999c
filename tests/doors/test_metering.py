from pathlib import Path

from inside import Inside
from mainstay.backing.database import Pool
from mainstay.doors.metering import METERED, SINGLE
from mainstay.doors.oauth.metadata import well_known
from mainstay.doors.pages.door import PagesDoor
from mainstay.working import _served_text


def test_every_door_and_page_is_counted_by_its_own_route(server: Inside) -> None:
    agents = {"/mcp", "/mcp/"}
    assert {*server.front.doors} - agents | {*well_known("").documents} == {*SINGLE}
    pages = server.front.nowhere
    assert isinstance(pages, PagesDoor)
    assert METERED[-len(pages.routes) :] == tuple(route.name for route in pages.routes)


def test_the_routes_are_few_enough_to_be_looked_at() -> None:
    assert len(METERED) < 600


def test_a_worker_that_is_alone_on_its_machine_tells_of_itself(tmp_path: Path) -> None:
    nowhere = tmp_path / "tallies"
    assert _served_text(nowhere, None) == ""
    assert 'mainstay_pool_size{process="worker"} 2\n' in _served_text(nowhere, Pool(2, 1, 0, 0, 0.0, 0))

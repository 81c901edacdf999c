from inside import Inside
from mainstay.doors.metering import METERED, SINGLE
from mainstay.doors.oauth.metadata import well_known
from mainstay.doors.pages.door import PagesDoor


def test_every_door_and_page_is_counted_by_its_own_route(server: Inside) -> None:
    agents = {"/mcp", "/mcp/"}
    assert {*server.front.doors} - agents | {*well_known("").documents} == {*SINGLE}
    pages = server.front.nowhere
    assert isinstance(pages, PagesDoor)
    assert METERED[-len(pages.routes) :] == tuple(route.name for route in pages.routes)


def test_the_routes_are_few_enough_to_be_looked_at() -> None:
    assert len(METERED) < 600

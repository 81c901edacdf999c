from pathlib import Path

from mainstay.doors.metric_labels import METRIC_LABELS, SINGLE_PATHS
from mainstay.doors.oauth.metadata import build_well_known
from mainstay.doors.pages.door import PagesDoor
from mainstay.infrastructure.database import PoolUsage
from mainstay.worker_command import _server_metrics_text
from support.in_process import InProcessServer


def test_every_door_and_page_is_counted_by_its_own_route(server: InProcessServer) -> None:
    agents = {"/mcp", "/mcp/"}
    assert {*server.app.doors} - agents | {*build_well_known("", fetches_client_documents=True).documents} == {
        *SINGLE_PATHS
    }
    pages = server.app.default_door
    assert isinstance(pages, PagesDoor)
    assert METRIC_LABELS[-len(pages.routes) :] == tuple(route.name for route in pages.routes)


def test_the_routes_are_few_enough_to_be_looked_at() -> None:
    assert len(METRIC_LABELS) < 600


def test_a_worker_that_is_alone_on_its_machine_tells_of_itself(tmp_path: Path) -> None:
    nowhere = tmp_path / "counters"
    assert _server_metrics_text(nowhere, None) == ""
    assert 'mainstay_pool_size{process="worker"} 2\n' in _server_metrics_text(nowhere, PoolUsage(2, 1, 0, 0, 0.0, 0))

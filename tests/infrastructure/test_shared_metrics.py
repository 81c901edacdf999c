from contextlib import closing
from pathlib import Path

from mainstay.infrastructure.database import PoolUsage
from mainstay.infrastructure.shared_metrics import SharedMetrics

ROUTES = ["none", "GET /people/{id}"]


def test_what_processes_count_is_read_by_someone_who_knows_no_routes(tmp_path: Path) -> None:
    path = tmp_path / "counters"
    SharedMetrics.create(path, ROUTES, row_count=2)
    with closing(SharedMetrics(path, ROUTES, 0)) as one, closing(SharedMetrics(path, ROUTES, 1)) as two:
        one.request_metrics.observe(1, 200, 0.1)
        two.request_metrics.observe(1, 303, 0.1)
        with closing(SharedMetrics.open_for_reading(path)) as metrics:
            text = metrics.to_text()
    assert 'mainstay_requests_total{route="GET /people/{id}",status="2xx"} 1\n' in text
    assert 'mainstay_requests_total{route="GET /people/{id}",status="3xx"} 1\n' in text


def test_pools_are_told_together_as_they_are_now_and_what_happened_is_added_up(tmp_path: Path) -> None:
    path = tmp_path / "counters"
    SharedMetrics.create(path, ROUTES, row_count=2)
    with closing(SharedMetrics(path, ROUTES, 0)) as one, closing(SharedMetrics(path, ROUTES, 1)) as two:
        one.observe_pool(PoolUsage(10, 9, 4, 20, 1.5, 2))
        two.observe_pool(PoolUsage(3, 1, 0, 1, 0.25, 0))
        assert one.pool_usage() == PoolUsage(13, 10, 4, 21, 1.75, 2)
        one.observe_pool(PoolUsage(10, 0, 0, 25, 2.5, 2))
        assert one.pool_usage() == PoolUsage(13, 1, 0, 26, 2.75, 2)
    # A process that takes over the row of one that died goes on from what had happened, with connections of its own.
    with closing(SharedMetrics(path, ROUTES, 0)) as heir:
        heir.observe_pool(PoolUsage(1, 1, 0, 3, 0.5, 0))
        assert heir.pool_usage() == PoolUsage(4, 2, 0, 29, 3.25, 2)

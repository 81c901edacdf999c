import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainstay.infrastructure.database import PoolUsage
from mainstay.infrastructure.metrics import (
    LaneGauges,
    RequestMetrics,
    counter_names,
    format_emails,
    format_outbox,
    format_pools,
    format_waiting_emails,
    format_webhook_attempts,
)
from mainstay.infrastructure.shared_counters import SharedCounters

ROUTES = ["get_person", "list_jobs", 'odd "name"\\\n']
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\d+(?:\.\d+)?(?:e-\d+)?)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def counters(tmp_path: Path) -> Iterator[SharedCounters]:
    names = ["something else", *counter_names(ROUTES), "and more"]
    SharedCounters.create(tmp_path / "counters", names, row_count=2)
    counters = SharedCounters(tmp_path / "counters", names, row_index=1)
    yield counters
    counters.close()


def parse_series(text: str) -> Series:
    """Read the text format strictly: every family announced once, its samples together, no sample twice."""
    assert text.endswith("\n")
    series: Series = {}
    announced: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            announced.append(line.split(" ")[2])
            assert announced.count(announced[-1]) == 1
            continue
        if line.startswith("# TYPE "):
            assert line.split(" ")[2] == announced[-1]
            assert line.split(" ")[3] in {"gauge", "counter", "histogram"}
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        name, labels, value = sample.groups()
        assert re.fullmatch(rf"{announced[-1]}(_bucket|_sum|_count)?", name)
        key = name, tuple(LABEL.findall(labels or ""))
        assert key not in series
        series[key] = float(value)
    return series


def buckets_of(series: Series, route: str) -> list[tuple[float, float]]:
    return [
        (float(dict(labels)["le"]), value)
        for (name, labels), value in series.items()
        if name == "mainstay_request_seconds_bucket" and dict(labels)["route"] == route
    ]


def test_without_a_request_it_tells_that_the_server_is_up(counters: SharedCounters) -> None:
    assert parse_series(RequestMetrics(counters, ROUTES).to_text()) == {("mainstay_up", ()): 1}


def test_requests_are_counted_by_route_and_class_and_429_apart(counters: SharedCounters) -> None:
    request_metrics = RequestMetrics(counters, ROUTES)
    for status in (200, 201, 304, 400, 404, 429, 429, 429, 500, 503, 0, 101, 999):
        request_metrics.observe(0, status, 0.1)
    request_metrics.observe(1, 200, 0.1)

    series = parse_series(request_metrics.to_text())

    counted = {labels: value for (name, labels), value in series.items() if name == "mainstay_requests_total"}
    expected = {"2xx": 2, "3xx": 1, "4xx": 2, "429": 3, "5xx": 5}
    assert counted == {
        **{(("route", "get_person"), ("status", status)): value for status, value in expected.items()},
        **{(("route", "list_jobs"), ("status", status)): float(status == "2xx") for status in expected},
    }
    assert 'mainstay_requests_total{route="get_person",status="2xx"} 2\n' in request_metrics.to_text()


def test_the_histogram_is_cumulative_and_its_last_bucket_is_the_count(counters: SharedCounters) -> None:
    request_metrics = RequestMetrics(counters, ROUTES)
    observed = [0.0, 0.0005, 0.001, 0.0011, 0.01, 0.25, 0.2500001, 9.0, 10.0, 10.5, 300.0]
    for seconds in observed:
        request_metrics.observe(1, 200, seconds)
    request_metrics.observe(0, 200, 5)

    series = parse_series(request_metrics.to_text())

    found = buckets_of(series, "list_jobs")
    assert found == [(bound, sum(seconds <= bound for seconds in observed)) for bound, _ in found]
    assert [bound for bound, _ in found] == sorted({bound for bound, _ in found})
    assert (found[0][0], found[-2][0], found[-1][0]) == (0.001, 10, float("inf"))
    assert series["mainstay_request_seconds_count", (("route", "list_jobs"),)] == found[-1][1] == len(observed)
    assert series["mainstay_request_seconds_sum", (("route", "list_jobs"),)] == pytest.approx(sum(observed))


def test_the_meters_of_all_processes_are_summed_and_other_tallies_left_alone(
    counters: SharedCounters, tmp_path: Path
) -> None:
    names = ["something else", *counter_names(ROUTES), "and more"]
    other = SharedCounters(tmp_path / "counters", names, row_index=0)
    for each in (counters, other):
        for index in range(len(ROUTES)):
            RequestMetrics(each, ROUTES).observe(index, 200, 0.002)

    series = parse_series(RequestMetrics(counters, ROUTES).to_text())

    assert [value for (name, _), value in series.items() if name == "mainstay_request_seconds_count"] == [2, 2, 2]
    assert (other.sum_rows()["something else"], other.sum_rows()["and more"]) == (0, 0)
    other.close()


def test_the_name_of_a_route_cannot_break_the_text(counters: SharedCounters) -> None:
    request_metrics = RequestMetrics(counters, ROUTES)
    request_metrics.observe(2, 200, 0.1)

    series = parse_series(request_metrics.to_text())

    routes = {dict(labels)["route"] for _, labels in series if labels}
    assert routes == {r"odd \"name\"\\\n"}


def test_attempts_to_send_to_webhooks_are_told_by_their_outcome(counters: SharedCounters) -> None:
    text = RequestMetrics(counters, ROUTES).to_text() + format_webhook_attempts({"delivered": 12, "failed": 0})
    attempts = {
        labels: value
        for (name, labels), value in parse_series(text).items()
        if name == "mainstay_webhook_attempts_total"
    }
    assert attempts == {(("outcome", "delivered"),): 12, (("outcome", "failed"),): 0}


def test_routes_of_one_name_share_their_series(tmp_path: Path) -> None:
    names = counter_names(["none", "save_site", "get_site", "save_site"])
    assert len({*names}) == len(names)
    SharedCounters.create(tmp_path / "shared", names, row_count=1)
    counters = SharedCounters(tmp_path / "shared", names, row_index=0)
    request_metrics = RequestMetrics(counters, ["none", "save_site", "get_site", "save_site"])
    request_metrics.observe(1, 201, 0.1)
    request_metrics.observe(3, 200, 0.1)

    series = parse_series(request_metrics.to_text())

    assert series["mainstay_requests_total", (("route", "save_site"), ("status", "2xx"))] == 2
    counters.close()


def test_mails_the_outbox_and_pools_are_told_in_the_same_format() -> None:
    pools = {"server": PoolUsage(20, 7, 3, 11, 2.5, 1), "worker": PoolUsage(1, 0, 0, 0, 0.0, 0)}
    series = parse_series(
        format_emails({"sent": 4, "failed": 1})
        + format_waiting_emails(2, 1, 100)
        + format_outbox({"emails": LaneGauges(3, 1, 12.3456), "prints": LaneGauges(2, 0, 1.5)}, 100)
        + format_pools(pools)
        + format_pools({})
    )
    of_server = (("process", "server"),)
    assert series["mainstay_mails_total", (("outcome", "sent"),)] == 4
    assert series["mainstay_mails_total", (("outcome", "failed"),)] == 1
    assert (series["mainstay_mails_waiting", ()], series["mainstay_mails_parked", ()]) == (2, 1)
    assert [series[f"mainstay_outbox_{name}", ()] for name in ("waiting", "parked", "late_seconds")] == [5, 1, 12.346]
    of_lane = [
        series[f"mainstay_outbox_lane_{name}", (("lane", "prints"),)] for name in ("waiting", "parked", "late_seconds")
    ]
    assert of_lane == [2, 0, 1.5]
    names = ("size", "used", "waiting", "queued_total", "wait_seconds_total", "errors_total")
    assert [series[f"mainstay_pool_{name}", of_server] for name in names] == [20, 7, 3, 11, 2.5, 1]
    assert series["mainstay_pool_size", (("process", "worker"),)] == 1

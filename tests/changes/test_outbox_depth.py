"""How many tasks are in the outbox, counted up to a limit."""

from datetime import timedelta

import pytest

from mainstay.changes import outbox_depth
from mainstay.changes.outbox import Lane
from mainstay.changes.outbox_depth import LaneDepth, measure_lanes
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.moments import moment_text
from support.cast import Cast
from support.outbox_tasks import NOW, empty_outbox, park_task, put_task, put_tasks, take_task
from support.query_plans import explain
from support.recorded_statements import RecordingDatabase


@pytest.fixture
def idle_cast(only_cast: Cast) -> Cast:
    """An organisation whose outbox is empty."""
    empty_outbox(only_cast)
    return only_cast


def measure_lane(cast: Cast, lane: Lane) -> LaneDepth:
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return measure_lanes(db)[lane]


def test_each_lane_says_what_waits_since_when_and_what_failed(idle_cast: Cast) -> None:
    assert measure_lane(idle_cast, Lane.EVENTS) == ({}, {}, None)
    put_task(idle_cast, "later", wait=timedelta(hours=1))
    assert measure_lane(idle_cast, Lane.EVENTS).seconds_late(NOW) == 0.0
    put_task(idle_cast, "late", NOW - timedelta(seconds=90))
    put_task(idle_cast, "later still", NOW - timedelta(seconds=20))
    put_task(idle_cast, "elsewhere", NOW - timedelta(seconds=200), lane=Lane.EMAILS)
    depth = measure_lane(idle_cast, Lane.EVENTS)
    assert (depth.count_waiting(), depth.count_parked(), depth.seconds_late(NOW)) == (3, 0, 90.0)
    park_task(idle_cast, take_task(idle_cast))
    depth = measure_lane(idle_cast, Lane.EVENTS)
    assert (depth.waiting, depth.parked) == ({"later": 1, "later still": 1}, {"late": 1})
    assert depth.oldest_due == moment_text(NOW - timedelta(seconds=20))


def test_a_task_that_is_being_done_still_waits(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    take_task(idle_cast)
    assert measure_lane(idle_cast, Lane.EVENTS).count_waiting() == 1


def test_counting_stops_at_a_limit(idle_cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_depth, "MAX_COUNTED", 5)
    put_tasks(idle_cast, 8, Lane.EMAILS)
    assert measure_lane(idle_cast, Lane.EMAILS).count_waiting() == 5
    for _ in range(6):
        park_task(idle_cast, take_task(idle_cast, lane=Lane.EMAILS))
    assert (
        measure_lane(idle_cast, Lane.EMAILS).count_waiting(),
        measure_lane(idle_cast, Lane.EMAILS).count_parked(),
    ) == (2, 5)


def test_measuring_walks_an_index(idle_cast: Cast) -> None:
    watched = RecordingDatabase(idle_cast.performer.database)
    with watched.read_transaction(ALL_ORGANISATIONS) as db:
        measure_lanes(db)
    assert watched.statements
    for statement in watched.statements:
        steps = explain(idle_cast.performer.database, statement)
        assert [step for step in steps if "outbox_by_" in step or "outbox_parked" in step], steps
        assert not [step for step in steps if "Seq Scan" in step or step.startswith("SCAN outbox")], statement.sql

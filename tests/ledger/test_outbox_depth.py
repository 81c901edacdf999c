"""How much is in the outbox, counted to a limit."""

from datetime import timedelta

import pytest

from cast import Cast
from mainstay.backing.database import EVERY
from mainstay.ledger import outbox_depth
from mainstay.ledger.outbox import Lane
from mainstay.ledger.outbox_depth import LaneDepth, measure_lanes
from mainstay.values.moments import moment_text
from planning import plan
from queueing import NOW, empty_outbox, park, put, put_many, take_one
from recording import RecordingDatabase


@pytest.fixture
def empty(alone: Cast) -> Cast:
    """An organisation whose outbox was emptied."""
    empty_outbox(alone)
    return alone


def measure(cast: Cast, lane: Lane) -> LaneDepth:
    with cast.stage.database.reading(EVERY) as rows:
        return measure_lanes(rows)[lane]


def test_each_lane_says_what_waits_since_when_and_what_failed(empty: Cast) -> None:
    assert measure(empty, Lane.EVENTS) == ({}, {}, None)
    put(empty, "later", wait=timedelta(hours=1))
    assert measure(empty, Lane.EVENTS).seconds_late(NOW) == 0.0
    put(empty, "late", NOW - timedelta(seconds=90))
    put(empty, "later still", NOW - timedelta(seconds=20))
    put(empty, "elsewhere", NOW - timedelta(seconds=200), lane=Lane.EMAILS)
    depth = measure(empty, Lane.EVENTS)
    assert (depth.count_waiting(), depth.count_parked(), depth.seconds_late(NOW)) == (3, 0, 90.0)
    park(empty, take_one(empty))
    depth = measure(empty, Lane.EVENTS)
    assert (depth.waiting, depth.parked) == ({"later": 1, "later still": 1}, {"late": 1})
    assert depth.oldest == moment_text(NOW - timedelta(seconds=20))


def test_a_task_that_is_being_done_still_waits(empty: Cast) -> None:
    put(empty, "x")
    take_one(empty)
    assert measure(empty, Lane.EVENTS).count_waiting() == 1


def test_counting_stops_at_a_limit(empty: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_depth, "MOST_COUNTED", 5)
    put_many(empty, 8, Lane.EMAILS)
    assert measure(empty, Lane.EMAILS).count_waiting() == 5
    for _ in range(6):
        park(empty, take_one(empty, lane=Lane.EMAILS))
    assert (measure(empty, Lane.EMAILS).count_waiting(), measure(empty, Lane.EMAILS).count_parked()) == (2, 5)


def test_measuring_walks_an_index(empty: Cast) -> None:
    watched = RecordingDatabase(empty.stage.database)
    with watched.reading(EVERY) as rows:
        measure_lanes(rows)
    assert watched.statements
    for statement in watched.statements:
        steps = plan(empty.stage.database, statement)
        assert [step for step in steps if "outbox_by_" in step or "outbox_parked" in step], steps
        assert not [step for step in steps if "Seq Scan" in step or step.startswith("SCAN outbox")], statement.sql

"""The load of days and visits that are too close are computed with one query per person, not per visit."""

from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.workload import (
    LONGEST_DAY,
    TRAVEL_TIME,
    describe_loads,
    find_nearby_visits,
    find_warnings,
)
from mainstay.kernel.context import Context, RequestDetails
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.recorded_statements import RecordedStatement, RecordingHandle
from support.visits import DAY, plan_test_visit


def test_what_is_planned_is_read_once_for_each_person_and_span_of_days(cast: Cast) -> None:
    for hour in ("08", "10", "12"):
        plan_test_visit(cast, times=(f"{hour}:00", f"{hour}:50"))
    plan_test_visit(cast, startsAt="2038-01-12T23:30", endsAt="2038-01-13T01:00")
    plan_test_visit(cast, startsAt="2038-02-01T10:00", endsAt="2038-02-01T11:00")
    earlier, later = (
        plan_test_visit(cast, Role.SUBCONTRACTOR, times=times) for times in (("10:00", "11:00"), ("11:10", "11:30"))
    )
    plan_test_visit(cast, None)
    statements: list[RecordedStatement] = []
    owner = cast.actor(Role.OWNER)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        ctx = Context(RecordingHandle(db, statements), owner, RequestDetails("req_1"), cast.performer.clock)
        visits = VISITS.find_many(ctx, "visit.status = 'planned'", 20)
        statements.clear()
        near = find_nearby_visits(ctx, visits, LONGEST_DAY)
        assert len(statements) == 3
        full, close = describe_loads(visits, near), find_warnings(ctx, visits, near)
        assert (
            find_warnings(ctx, visits)
            == find_warnings(ctx, visits, find_nearby_visits(ctx, visits, TRAVEL_TIME))
            == close
        )
    assert [*map(str, full)] == [
        f"Mia Member on {DAY}: 3 visits (2:30 h).",
        "Mia Member on 2038-01-12: 1 visit (1:30 h).",
        "Mia Member on 2038-02-01: 1 visit (1:00 h).",
        f"Sam Subcontractor on {DAY}: 2 visits (1:20 h).",
    ]
    assert [text.partition(" leaves ")[2] for text in map(str, close) if "travel" in text] == [
        f"Sam Subcontractor less than 15 minutes to travel to {later['jobNumber']} Mend the roof.",
        f"Sam Subcontractor less than 15 minutes to travel from {earlier['jobNumber']} Mend the roof.",
    ]


def test_what_reaches_from_one_span_into_the_next_counts_once(cast: Cast) -> None:
    planned = [
        plan_test_visit(cast, times=("08:00", "09:00")),
        plan_test_visit(cast, startsAt="2038-01-13T12:00", endsAt="2038-01-13T13:00"),
    ]
    plan_test_visit(cast, startsAt=f"{DAY}T12:00", endsAt="2038-01-12T12:00")
    owner = cast.actor(Role.OWNER)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        ctx = Context(db, owner, RequestDetails("req_1"), cast.performer.clock)
        visits = [VISITS.fetch(ctx, one["id"]) for one in planned]
        full = describe_loads(visits, find_nearby_visits(ctx, visits, LONGEST_DAY))
    assert [*map(str, full)] == [
        f"Mia Member on {DAY}: 2 visits (25:00 h).",
        "Mia Member on 2038-01-13: 1 visit (1:00 h).",
    ]

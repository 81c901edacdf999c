"""How full days are and what is too close is found out with a reading for each person, not for each visit."""

from cast import Cast
from mainstay.business.schedule.load import TRAVEL, WHOLE_DAYS, loads, planned_near, warnings
from mainstay.business.schedule.store import VISITS
from mainstay.kernel.context import Context, Envelope
from mainstay.terms.rights import Role
from recording import RecordingHandle, Statement
from scheduling import DAY, plan


def test_what_is_planned_is_read_once_for_each_person_and_span_of_days(cast: Cast) -> None:
    for hour in ("08", "10", "12"):
        plan(cast, times=(f"{hour}:00", f"{hour}:50"))
    plan(cast, startsAt="2038-01-12T23:30", endsAt="2038-01-13T01:00")
    plan(cast, startsAt="2038-02-01T10:00", endsAt="2038-02-01T11:00")
    earlier, later = (plan(cast, Role.SUBCONTRACTOR, times=times) for times in (("10:00", "11:00"), ("11:10", "11:30")))
    plan(cast, None)
    statements: list[Statement] = []
    owner = cast.actor(Role.OWNER)
    with cast.stage.database.reading(cast.organisation) as rows:
        ctx = Context(RecordingHandle(rows, statements), owner, Envelope("req_1"), cast.stage.clock)
        visits = VISITS.some(ctx, "visit.status = 'planned'", 20)
        statements.clear()
        near = planned_near(ctx, visits, WHOLE_DAYS)
        assert len(statements) == 3
        full, close = loads(visits, near), warnings(ctx, visits, near)
        assert warnings(ctx, visits) == warnings(ctx, visits, planned_near(ctx, visits, TRAVEL)) == close
    assert full == [
        f"Mia Member on {DAY}: 3 visits, 2 h 30 min.",
        "Mia Member on 2038-01-12: 1 visit, 1 h 30 min.",
        "Mia Member on 2038-02-01: 1 visit, 1 h.",
        f"Sam Subcontractor on {DAY}: 2 visits, 1 h 20 min.",
    ]
    assert [text.partition(" leaves ")[2] for text in close if "travel" in text] == [
        f"Sam Subcontractor less than 15 min to travel to {later['jobNumber']} Mend the roof.",
        f"Sam Subcontractor less than 15 min to travel from {earlier['jobNumber']} Mend the roof.",
    ]


def test_what_reaches_from_one_span_into_the_next_counts_once(cast: Cast) -> None:
    planned = [plan(cast, times=("08:00", "09:00")), plan(cast, startsAt="2038-01-13T12:00", endsAt="2038-01-13T13:00")]
    plan(cast, startsAt=f"{DAY}T12:00", endsAt="2038-01-12T12:00")
    owner = cast.actor(Role.OWNER)
    with cast.stage.database.reading(cast.organisation) as rows:
        ctx = Context(rows, owner, Envelope("req_1"), cast.stage.clock)
        visits = [VISITS.fetch(ctx, one["id"]) for one in planned]
        full = loads(visits, planned_near(ctx, visits, WHOLE_DAYS))
    assert full == [f"Mia Member on {DAY}: 2 visits, 25 h.", "Mia Member on 2038-01-13: 1 visit, 1 h."]

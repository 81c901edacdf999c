"""The database itself refuses what operations look for before: also where one forgets to look."""

import pytest

from cast import Cast
from mainstay.backing.database import Taken, Value
from mainstay.business.schedule import store
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import cancel_visit
from mainstay.business.schedule.store import VISITS
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.perform import Stage
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Role
from scheduling import DAY, plan


def put(cast: Cast, identity: str, **columns: Value) -> None:
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(
            f"UPDATE visit SET {assignments} WHERE organisation_id = :organisation AND id = :id",
            id=identity,
            **columns,
        )


def at(begin: str, end: str) -> dict[str, str]:
    return {"starts_at": f"{DAY}T{begin}:00.000Z", "ends_at": f"{DAY}T{end}:00.000Z"}


def test_an_overlap_is_refused_to_the_minute(cast: Cast) -> None:
    plan(cast)
    other = plan(cast, times=("14:00", "15:00"))["id"]
    for times in (("10:59", "12:00"), ("09:00", "10:01"), ("10:10", "10:20"), ("09:00", "12:00")):
        with pytest.raises(Taken, match="the person is elsewhere"):
            put(cast, other, **at(*times))
    for times in (("11:00", "12:00"), ("09:00", "10:00"), ("14:00", "14:30")):
        put(cast, other, **at(*times))


def test_a_new_person_and_one_who_is_planned_again_are_looked_at(cast: Cast) -> None:
    plan(cast)
    his = plan(cast, Role.SUBCONTRACTOR)["id"]
    with pytest.raises(Taken):
        put(cast, his, person_id=cast.people[Role.MEMBER])
    cast.perform(cancel_visit, visitId=his)
    put(cast, his, person_id=cast.people[Role.MEMBER])
    with pytest.raises(Taken):
        put(cast, his, status="planned")


def test_leave_to_overlap_lets_through_and_its_end_does_not(cast: Cast) -> None:
    plan(cast)
    second = plan(cast, allowOverlap=True, overlapReason="Next door")["id"]
    put(cast, second, notes="Changed")
    with pytest.raises(Taken):
        put(cast, second, allow_overlap=0)


def test_a_shift_of_a_day_is_seen_from_its_last_minute(cast: Cast) -> None:
    plan(cast, startsAt="2038-01-10T10:00", endsAt=f"{DAY}T10:00")
    other = plan(cast, times=("12:00", "13:00"))["id"]
    put(cast, other, **at("10:00", "11:00"))
    with pytest.raises(Taken):
        put(cast, other, **at("09:59", "11:00"))


def test_no_visit_is_longer_than_a_day(cast: Cast) -> None:
    visit = plan(cast)["id"]
    put(cast, visit, starts_at="2038-01-10T10:00:00.000Z", ends_at=f"{DAY}T10:00:00.000Z")
    with pytest.raises(Taken, match="longer than a day"):
        put(cast, visit, ends_at=f"{DAY}T10:00:00.001Z")


def test_approved_leave_is_kept_free(cast: Cast) -> None:
    leave = cast.perform(request_time_off, Role.MEMBER, startsAt=f"{DAY}T12:00", endsAt=f"{DAY}T13:00")
    visit = plan(cast)["id"]
    put(cast, visit, **at("12:30", "14:00"))
    put(cast, visit, **at("10:00", "11:00"))
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    with pytest.raises(Taken, match="on leave"):
        put(cast, visit, **at("12:30", "14:00"))
    put(cast, visit, **at("11:00", "12:00"))
    put(cast, visit, **at("13:00", "14:00"))


def test_another_organisation_s_time_is_another_s(cast: Cast, stranger: Cast) -> None:
    plan(cast)
    plan(stranger)


def test_whoever_forgets_to_look_is_refused_in_words(cast: Cast, stage: Stage) -> None:
    plan(cast)
    other = plan(cast, times=("14:00", "15:00"))["id"]
    with stage.database.changing(cast.organisation, keep=False) as rows:
        ctx = Context(rows, cast.actor(Role.OWNER), Envelope("req_1"), stage.clock)
        with pytest.raises(Conflict, match="The person has no time then"):
            store.save(ctx, VISITS.fetch(ctx, other), at("10:30", "11:30"))

"""The database itself refuses overlapping visits, even if an operation forgets to check."""

import pytest

from mainstay.business.schedule import store
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import cancel_visit
from mainstay.business.schedule.store import VISITS
from mainstay.infrastructure.database import OverlapViolation, Value
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict
from support.cast import Cast
from support.visits import DAY, plan_test_visit


def update_visit_row(cast: Cast, record_id: str, **columns: Value) -> None:
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            f"UPDATE visit SET {assignments} WHERE organisation_id = :organisation AND id = :id",
            id=record_id,
            **columns,
        )


def times_between(begin: str, end: str) -> dict[str, str]:
    return {"starts_at": f"{DAY}T{begin}:00.000Z", "ends_at": f"{DAY}T{end}:00.000Z"}


def test_an_overlap_is_refused_to_the_minute(cast: Cast) -> None:
    plan_test_visit(cast)
    other = plan_test_visit(cast, times=("14:00", "15:00"))["id"]
    for times in (("10:59", "12:00"), ("09:00", "10:01"), ("10:10", "10:20"), ("09:00", "12:00")):
        with pytest.raises(OverlapViolation, match="the person is elsewhere"):
            update_visit_row(cast, other, **times_between(*times))
    for times in (("11:00", "12:00"), ("09:00", "10:00"), ("14:00", "14:30")):
        update_visit_row(cast, other, **times_between(*times))


def test_a_new_person_and_one_who_is_planned_again_are_looked_at(cast: Cast) -> None:
    plan_test_visit(cast)
    his = plan_test_visit(cast, Role.SUBCONTRACTOR)["id"]
    with pytest.raises(OverlapViolation):
        update_visit_row(cast, his, person_id=cast.people[Role.MEMBER])
    cast.perform(cancel_visit, visitId=his)
    update_visit_row(cast, his, person_id=cast.people[Role.MEMBER])
    with pytest.raises(OverlapViolation):
        update_visit_row(cast, his, status="planned")


def test_leave_to_overlap_lets_through_and_its_end_does_not(cast: Cast) -> None:
    plan_test_visit(cast)
    second = plan_test_visit(cast, allowOverlap=True, overlapReason="Next door")["id"]
    update_visit_row(cast, second, notes="Changed")
    with pytest.raises(OverlapViolation):
        update_visit_row(cast, second, allow_overlap=0)


def test_a_shift_of_a_day_is_seen_from_its_last_minute(cast: Cast) -> None:
    plan_test_visit(cast, startsAt="2038-01-10T10:00", endsAt=f"{DAY}T10:00")
    other = plan_test_visit(cast, times=("12:00", "13:00"))["id"]
    update_visit_row(cast, other, **times_between("10:00", "11:00"))
    with pytest.raises(OverlapViolation):
        update_visit_row(cast, other, **times_between("09:59", "11:00"))


def test_no_visit_is_longer_than_a_day(cast: Cast) -> None:
    visit = plan_test_visit(cast)["id"]
    update_visit_row(cast, visit, starts_at="2038-01-10T10:00:00.000Z", ends_at=f"{DAY}T10:00:00.000Z")
    with pytest.raises(OverlapViolation, match="longer than a day"):
        update_visit_row(cast, visit, ends_at=f"{DAY}T10:00:00.001Z")


def test_approved_leave_is_kept_free(cast: Cast) -> None:
    leave = cast.perform(request_time_off, Role.MEMBER, startsAt=f"{DAY}T12:00", endsAt=f"{DAY}T13:00")
    visit = plan_test_visit(cast)["id"]
    update_visit_row(cast, visit, **times_between("12:30", "14:00"))
    update_visit_row(cast, visit, **times_between("10:00", "11:00"))
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    with pytest.raises(OverlapViolation, match="on leave"):
        update_visit_row(cast, visit, **times_between("12:30", "14:00"))
    update_visit_row(cast, visit, **times_between("11:00", "12:00"))
    update_visit_row(cast, visit, **times_between("13:00", "14:00"))


def test_another_organisation_s_time_is_another_s(cast: Cast, other_cast: Cast) -> None:
    plan_test_visit(cast)
    plan_test_visit(other_cast)


def test_whoever_forgets_to_look_is_refused_in_words(cast: Cast, performer: Performer) -> None:
    plan_test_visit(cast)
    other = plan_test_visit(cast, times=("14:00", "15:00"))["id"]
    with performer.database.write_transaction(cast.organisation, keep=False) as db:
        ctx = Context(db, cast.actor(Role.OWNER), RequestDetails("req_1"), performer.clock)
        with pytest.raises(Conflict, match="The person is not free then"):
            store.save(ctx, VISITS.fetch(ctx, other), times_between("10:30", "11:30"))

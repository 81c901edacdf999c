import pytest

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import cancel_visit, list_visits, move_visit, plan_visit
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.customers import close_job
from support.visits import DAY, plan_test_visit


def move(cast: Cast, visit: dict[str, object], **given: object) -> dict[str, object]:
    return cast.perform(move_visit, Role.OFFICE, visitId=visit["id"], **given)


def test_a_visit_is_moved_and_stays_as_long(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    after = move(cast, visit, startsAt=f"{DAY}T14:00")
    assert (after["startsAt"], after["endsAt"]) == (f"{DAY}T14:00:00.000Z", f"{DAY}T15:00:00.000Z")
    assert after["version"] == visit["version"] + 1
    assert cast.perform(get_job, jobId=visit["jobId"])["nextVisitAt"] == after["startsAt"]
    longer = move(cast, visit, durationMinutes=90)
    assert (longer["startsAt"], longer["endsAt"]) == (f"{DAY}T14:00:00.000Z", f"{DAY}T15:30:00.000Z")


def test_nothing_changes_where_nothing_is_different(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    assert move(cast, visit, startsAt=f"{DAY}T10:00")["version"] == visit["version"]


def test_it_does_not_clash_with_itself_and_does_with_others(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    plan_test_visit(cast, times=("12:00", "13:00"))
    move(cast, visit, startsAt=f"{DAY}T10:30")
    with pytest.raises(Blocked, match=r"^Mia Member is at"):
        move(cast, visit, endsAt=f"{DAY}T12:30")


def test_another_person_goes_and_only_they_see_the_job(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    move(cast, visit, personId=cast.people[Role.SUBCONTRACTOR])
    assert cast.perform(list_jobs, Role.MEMBER)["data"] == []
    assert len(cast.perform(list_jobs, Role.SUBCONTRACTOR)["data"]) == 1
    assert move(cast, visit, personId=None)["personName"] is None
    assert cast.perform(list_jobs, Role.SUBCONTRACTOR)["data"] == []


def test_a_cancelled_visit_is_planned_again(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    cast.perform(cancel_visit, visitId=visit["id"])
    other = plan_test_visit(cast)
    with pytest.raises(Blocked, match=r"^Mia Member is at"):
        move(cast, visit, notes="Again")
    cast.perform(cancel_visit, visitId=other["id"])
    assert move(cast, visit, notes="Again")["status"] == "planned"
    assert cast.perform(get_job, jobId=visit["jobId"])["stage"] == "scheduled"


def test_a_visit_that_falls_into_leave_keeps_its_place_and_can_be_annotated(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    leave = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    assert move(cast, visit, notes="To be moved")["notes"] == "To be moved"
    with pytest.raises(Blocked, match="is off"):
        move(cast, visit, startsAt=f"{DAY}T15:00")
    assert move(cast, visit, personId=cast.people[Role.SUBCONTRACTOR])["personName"] == "Sam Subcontractor"


def test_leave_to_overlap_is_for_one_place(cast: Cast) -> None:
    plan_test_visit(cast)
    both = plan_test_visit(cast, allowOverlap=True, overlapReason="Next door")
    plan_test_visit(cast, times=("14:00", "15:00"))
    with pytest.raises(Blocked):
        move(cast, both, startsAt=f"{DAY}T14:30")
    moved = move(cast, both, startsAt=f"{DAY}T12:00")
    assert (moved["allowOverlap"], moved["overlapReason"]) == (False, None)
    with pytest.raises(Invalid, match=r"^overlapReason: is required"):
        move(cast, both, startsAt=f"{DAY}T14:30", allowOverlap=True)


def test_a_time_becomes_a_date_and_back(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    assert move(cast, visit, on="2038-01-12")["on"] == "2038-01-12"
    with pytest.raises(Invalid, match=r"^durationMinutes: is required"):
        move(cast, visit, startsAt=f"{DAY}T10:00")
    assert move(cast, visit, startsAt=f"{DAY}T10:00", durationMinutes=30)["on"] is None


def test_another_zone_tells_the_same_moment(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    after = move(cast, visit, timeZone="America/New_York")
    assert (after["startsAt"], after["timeZone"]) == (visit["startsAt"], "America/New_York")


def test_a_crew_moves_together_and_each_stays_who_they_are(cast: Cast) -> None:
    both = [cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR]]
    visit = plan_test_visit(cast, personIds=both)
    move(cast, visit, startsAt=f"{DAY}T13:00", scope="crew", personId=cast.people[Role.OFFICE])
    rows = cast.perform(list_visits, jobId=visit["jobId"])["data"]
    assert {one["startsAt"] for one in rows} == {f"{DAY}T13:00:00.000Z"}
    assert {one["personName"] for one in rows} == {"Orla Office", "Sam Subcontractor"}


def plan_series(cast: Cast) -> list[dict[str, object]]:
    visit = cast.perform(
        plan_visit,
        title="Round",
        personIds=[cast.people[Role.MEMBER]],
        startsAt="2038-03-25T09:00",
        durationMinutes=600,
        repeat={"unit": "day", "count": 4},
    )
    rows: list[dict[str, object]] = cast.perform(list_visits, seriesId=visit["seriesId"])["data"]
    return rows


def test_a_series_moves_by_a_day_over_its_own_places_and_over_the_change_of_clocks(cast: Cast) -> None:
    first = plan_series(cast)[0]
    move(cast, first, startsAt="2038-03-26T10:00", scope="all")
    rows = cast.perform(list_visits, seriesId=first["seriesId"])["data"]
    assert [one["startsAt"][:13] for one in rows] == [
        "2038-03-26T10",
        "2038-03-27T10",
        "2038-03-28T09",
        "2038-03-29T09",
    ]


def test_only_the_following_ones_move(cast: Cast) -> None:
    rows = plan_series(cast)
    move(cast, rows[2], startsAt="2038-03-27T12:00", scope="following")
    after = cast.perform(list_visits, seriesId=rows[0]["seriesId"])["data"]
    assert [one["startsAt"][11:13] for one in after] == ["09", "09", "12", "11"]


def test_what_is_done_stays(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    cast.perform(set_visit_status, visitId=visit["id"], status="done")
    with pytest.raises(Blocked, match=r"is done. Set it back"):
        move(cast, visit, startsAt=f"{DAY}T14:00")


@pytest.mark.parametrize("status", ["planned", "started"])
def test_what_is_of_a_closed_job_stays_where_it_is_until_it_is_cancelled(cast: Cast, status: str) -> None:
    visit = plan_test_visit(cast)
    cast.perform(set_visit_status, visitId=visit["id"], status=status)
    close_job(cast, visit["jobId"])
    with pytest.raises(Blocked, match=r"^J-0001 is closed\. Reopen it first\.$"):
        move(cast, visit, startsAt=f"{DAY}T14:00")
    assert cast.perform(cancel_visit, visitId=visit["id"])["status"] == "cancelled"


def test_a_title_is_for_visits_without_a_job(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^title: is only for visits without a job"):
        move(cast, plan_test_visit(cast), title="Else")
    alone = plan_test_visit(cast, times=("12:00", "13:00"), title="Lunch")
    with pytest.raises(Invalid, match=r"^title: is required"):
        move(cast, alone, title=None)
    assert move(cast, alone, title="Long lunch")["title"] == "Long lunch"


def test_the_field_does_not_move_and_a_stranger_finds_nothing(cast: Cast, other_cast: Cast) -> None:
    visit = plan_test_visit(cast)
    with pytest.raises(Forbidden):
        cast.perform(move_visit, Role.MEMBER, visitId=visit["id"], notes="Mine")
    with pytest.raises(NotFound):
        other_cast.perform(move_visit, visitId=visit["id"], notes="Mine")

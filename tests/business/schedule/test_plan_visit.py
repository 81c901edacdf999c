from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.people.operations import update_person
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import cancel_visit, list_visits, move_visit, plan_visit
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.stored_state import list_events_of
from support.visits import DAY, make_site_job, plan_test_visit


def test_a_visit_is_planned(cast: Cast) -> None:
    job = make_site_job(cast)
    visit = plan_test_visit(cast, jobId=job["number"], notes="Bring a ladder")
    assert visit["personName"] == "Mia Member"
    assert (visit["startsAt"], visit["endsAt"]) == (f"{DAY}T10:00:00.000Z", f"{DAY}T11:00:00.000Z")
    assert visit["timeZone"] == "Europe/London"
    assert (visit["jobNumber"], visit["jobTitle"], visit["customerName"]) == (job["number"], job["title"], "Hill Farm")
    assert (visit["siteAddress"]["line1"], visit["accessNotes"]) == ("1 Hill Road", "Key under the mat")
    assert (visit["contactName"], visit["contactPhone"]) == ("Carla Contact", "+44 7700 900001")
    assert (visit["status"], visit["notes"], visit["allowOverlap"]) == ("planned", "Bring a ladder", False)
    assert "move_visit" in visit["availableActions"]


def test_the_job_knows_of_it_and_tells(cast: Cast) -> None:
    job = make_site_job(cast)
    assert job["stage"] == "toSchedule"
    visit = plan_test_visit(cast, jobId=job["id"])
    after = cast.perform(get_job, jobId=job["id"])
    assert (after["stage"], after["nextVisitAt"]) == ("scheduled", visit["startsAt"])
    assert [event["type"] for event in list_events_of(cast)][-1] == "job.scheduled"
    plan_test_visit(cast, times=("08:00", "09:00"), jobId=job["id"])
    assert cast.perform(get_job, jobId=job["id"])["nextVisitAt"] == f"{DAY}T08:00:00.000Z"
    assert [event["type"] for event in list_events_of(cast)][-1] == "job.updated"


def test_whoever_is_planned_on_a_job_sees_it_as_long_as_they_are(cast: Cast) -> None:
    job = make_site_job(cast)
    visit = plan_test_visit(cast, Role.SUBCONTRACTOR, jobId=job["id"])
    assert [one["id"] for one in cast.perform(list_jobs, Role.SUBCONTRACTOR)["data"]] == [job["id"]]
    cast.perform(cancel_visit, visitId=visit["id"])
    assert cast.perform(list_jobs, Role.SUBCONTRACTOR)["data"] == []


@pytest.mark.parametrize("times", [("10:30", "11:30"), ("09:30", "10:01"), ("10:15", "10:30"), ("09:00", "12:00")])
def test_a_person_is_not_in_two_places(cast: Cast, times: tuple[str, str]) -> None:
    first = plan_test_visit(cast)
    with pytest.raises(Blocked) as refusal:
        plan_test_visit(cast, times=times)
    assert refusal.value.text == (
        f"Mia Member is at {first['jobNumber']} Mend the roof on {DAY} from 10:00 to 11:00 (Europe/London). Choose"
        " another time or person, or allow the double booking and say why. find_free_time shows who is free; a double"
        " booking needs allowOverlap and overlapReason."
    )


def test_times_that_touch_do_not_clash_and_others_are_free(cast: Cast) -> None:
    plan_test_visit(cast)
    plan_test_visit(cast, times=("09:00", "10:00"))
    plan_test_visit(cast, times=("11:00", "12:00"))
    plan_test_visit(cast, Role.SUBCONTRACTOR)
    plan_test_visit(cast, None)
    plan_test_visit(cast, None)


def test_what_was_cancelled_or_is_at_any_time_takes_no_time(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    plan_test_visit(cast, on=DAY)
    plan_test_visit(cast, on=DAY)
    cast.perform(cancel_visit, visitId=visit["id"])
    plan_test_visit(cast)


def test_an_overlap_on_purpose_needs_a_reason(cast: Cast) -> None:
    plan_test_visit(cast)
    with pytest.raises(Invalid, match=r"^overlapReason: is required with allowOverlap$"):
        plan_test_visit(cast, allowOverlap=True)
    with pytest.raises(Invalid, match=r"^allowOverlap: is required with overlapReason"):
        plan_test_visit(cast, overlapReason="Next door")
    twice = plan_test_visit(cast, allowOverlap=True, overlapReason="Next door")
    assert (twice["allowOverlap"], twice["overlapReason"]) == (True, "Next door")
    with pytest.raises(Blocked) as refusal:
        plan_test_visit(cast)
    assert len(refusal.value.reasons) == 2


def test_approved_leave_is_in_the_way_and_requested_leave_is_not(cast: Cast) -> None:
    leave = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})
    plan_test_visit(cast)
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    with pytest.raises(Blocked, match=rf"^Mia Member is off \(holiday\) on {DAY} from 00:00 to 00:00 on 2038-01-12"):
        plan_test_visit(cast, times=("14:00", "15:00"))
    plan_test_visit(cast, times=("14:00", "15:00"), allowOverlap=True, overlapReason="She comes in for it")


def test_thirty_race_for_one_slot_and_one_wins(cast: Cast) -> None:
    job = make_site_job(cast)
    actor = cast.actor(Role.OFFICE)
    given = {
        "jobId": job["id"],
        "personIds": [cast.people[Role.MEMBER]],
        "startsAt": f"{DAY}T10:00",
        "endsAt": f"{DAY}T11:00",
    }

    def race(_: int) -> str:
        try:
            cast.perform(plan_visit, actor, **given)
        except Conflict as refusal:
            return refusal.text
        return "won"

    with ThreadPoolExecutor(30) as racers:
        found = list(racers.map(race, range(30)))
    lost = [text for text in found if text != "won"]
    assert len(lost) == 29
    assert all(text.startswith(f"Mia Member is at {job['number']} Mend the roof on {DAY} from 10:00") for text in lost)
    assert len(cast.perform(list_visits, jobId=job["id"])["data"]) == 1
    plan_test_visit(cast, times=("11:00", "12:00"))


def test_a_crew_goes_together(cast: Cast) -> None:
    both = [cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR], cast.people[Role.MEMBER]]
    first = plan_test_visit(cast, personIds=both)
    visits = cast.perform(list_visits, jobId=first["jobId"])["data"]
    assert {one["personId"] for one in visits} == {*both}
    assert {one["groupId"] for one in visits} == {first["groupId"]} != {None}


def test_all_of_a_crew_or_none(cast: Cast) -> None:
    plan_test_visit(cast, Role.SUBCONTRACTOR)
    job = make_site_job(cast)
    with pytest.raises(Blocked, match=r"^Sam Subcontractor is at"):
        plan_test_visit(cast, jobId=job["id"], personIds=[cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR]])
    assert cast.perform(list_visits, jobId=job["id"])["data"] == []


def test_a_job_or_a_title_says_what_it_is(cast: Cast) -> None:
    assert plan_test_visit(cast, title="Dentist", kind="other")["title"] == "Dentist"
    with pytest.raises(Invalid, match=r"^jobId: can't be combined with title$"):
        plan_test_visit(cast, title="Dentist", jobId=make_site_job(cast)["id"])
    with pytest.raises(Invalid, match=r"^jobId: is required, unless title is given$"):
        plan_test_visit(cast, title=None)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"startsAt": None}, "startsAt: is required, unless on is given"),
        ({"endsAt": None}, "durationMinutes: is required with startsAt"),
        ({"durationMinutes": 60}, "endsAt: can't be combined with durationMinutes"),
        ({"endsAt": f"{DAY}T10:00"}, "endsAt: is not after startsAt"),
        ({"endsAt": "2038-01-12T10:01"}, "endsAt: is more than 24 hours after startsAt, plan several visits"),
        ({"startsAt": "at ten"}, "startsAt: is not a time such as 2026-11-15T10:30 or 2026-11-15T10:30:00Z"),
        ({"startsAt": "9999-12-31T23:59"}, "startsAt: is outside the years 2000 to 2099"),
        ({"startsAt": "9999-12-31T23:59:00Z"}, "startsAt: is outside the years 2000 to 2099"),
        ({"startsAt": "2038-02-30T10:00"}, "startsAt: is not a time"),
        ({"personIds": ["person_1"]}, "personIds.0: is not the id of a person"),
    ],
)
def test_what_is_no_time_is_refused(cast: Cast, given: dict[str, Any], fault: str) -> None:
    with pytest.raises(Invalid) as refusal:
        plan_test_visit(cast, **given)
    assert refusal.value.text.startswith(fault)


def test_a_date_is_instead_of_times(cast: Cast) -> None:
    visit = plan_test_visit(cast, on=DAY)
    assert (visit["on"], visit["startsAt"], visit["endsAt"]) == (DAY, None, None)
    with pytest.raises(Invalid, match=r"^on: can't be combined with a start, end or duration"):
        plan_test_visit(cast, on=DAY, startsAt=f"{DAY}T10:00")
    with pytest.raises(Invalid, match=r"^on: is outside the years 2000 to 2099$"):
        plan_test_visit(cast, on="9999-12-31")


def test_work_is_planned_on_live_jobs_and_with_people_who_are_here(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        plan_test_visit(cast, jobId=make_site_job(other_cast)["id"])
    with pytest.raises(Invalid, match=r"^personIds: is not part of this organisation"):
        plan_test_visit(cast, personIds=[other_cast.people[Role.MEMBER]])


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_does_not_plan(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(plan_visit, role, title="Lunch", on=DAY)
    assert cast.perform(plan_visit, Role.OFFICE, title="Lunch", on=DAY)["title"] == "Lunch"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"times": ("06:00", "07:00")},
            "from 06:00 to 07:00 (Europe/London) is outside Mia Member's working hours.",
        ),
        (
            {"times": ("10:00", "11:00"), "startsAt": "2020-01-06T10:00", "endsAt": "2020-01-06T11:00"},
            "is in the past.",
        ),
        ({"on": "2020-01-06"}, "Mend the roof on 2020-01-06 is in the past."),
        ({"on": "2038-01-10"}, "Mend the roof on 2038-01-10 is on a day when Mia Member does not work."),
        ({"on": "2038-01-10", "role": None}, "Mend the roof on 2038-01-10 is not on a working day."),
    ],
)
def test_what_is_worth_a_look_is_told_and_planned_even_so(cast: Cast, given: dict[str, Any], told: str) -> None:
    (warning,) = plan_test_visit(cast, **given)["warnings"]
    assert warning.endswith(told)


def test_what_is_outside_of_someone_s_own_hours_is_told(cast: Cast) -> None:
    morning = {"monday": [{"from": "08:00", "until": "12:00"}]}
    cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=morning)
    (warning,) = plan_test_visit(cast, times=("13:00", "14:00"))["warnings"]
    assert warning.endswith("is outside Mia Member's working hours.")
    assert "warnings" not in plan_test_visit(cast, Role.SUBCONTRACTOR, times=("13:00", "14:00"))


@pytest.mark.parametrize("until", ["24:00", "06:00"])
def test_a_visit_in_a_night_shift_is_within_working_hours(cast: Cast, until: str) -> None:
    tuesday = [{"from": "00:00", "until": "06:00"}] if until == "24:00" else []
    nights = {"monday": [{"from": "22:00", "until": until}], "tuesday": tuesday}
    cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=nights)
    assert "warnings" not in plan_test_visit(cast, startsAt=f"{DAY}T22:00", endsAt="2038-01-12T02:00")
    (warning,) = plan_test_visit(cast, startsAt="2038-01-12T05:00", endsAt="2038-01-12T06:30")["warnings"]
    assert warning.endswith("is outside Mia Member's working hours.")


def test_an_ordinary_visit_carries_no_warnings(cast: Cast) -> None:
    assert "warnings" not in plan_test_visit(cast)
    assert "warnings" not in plan_test_visit(cast, None, on=DAY)


def test_only_what_puts_a_visit_elsewhere_is_looked_at(cast: Cast) -> None:
    early = plan_test_visit(cast, times=("06:00", "07:00"))["id"]
    assert "warnings" not in cast.perform(move_visit, visitId=early, notes="Bring a ladder")
    (moved,) = cast.perform(move_visit, visitId=early, startsAt=f"{DAY}T05:00", endsAt=f"{DAY}T06:00")["warnings"]
    assert "from 05:00 to 06:00" in moved

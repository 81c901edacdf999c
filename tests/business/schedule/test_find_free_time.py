from typing import Any

import pytest

from mainstay.business.people.operations import update_person
from mainstay.business.people.roles import remove_person
from mainstay.business.schedule.free_time import find_free_time
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.visits import DAY, insert_colleagues, make_site_job, plan_test_visit
from support.working_days import make_working_hours

NOON = {"monday": [{"from": "12:00", "until": "14:00"}]}


def find_free(cast: Cast, **given: object) -> list[tuple[str, str]]:
    dates = {} if "startsAt" in given else {"from": DAY, "until": DAY}
    found = cast.perform(find_free_time, Role.OFFICE, **dates | given)
    return [(one["personName"].split()[0], one["startsAt"][11:16]) for one in found["slots"]]


def find_free_of_mia(cast: Cast, **given: object) -> list[str]:
    return [begin for _, begin in find_free(cast, personId=cast.people[Role.MEMBER], **given)]


def test_several_times_of_a_day_within_working_hours_beside_visits(cast: Cast) -> None:
    assert find_free_of_mia(cast) == ["08:00", "11:00", "13:00", "16:00"]
    plan_test_visit(cast)
    assert find_free_of_mia(cast, durationMinutes=90) == ["08:00", "11:15", "12:45", "14:15"]
    assert find_free_of_mia(cast, durationMinutes=120) == ["11:15", "13:15"]
    assert find_free_of_mia(cast, durationMinutes=360) == []
    assert find_free_of_mia(cast, **{"from": "2038-01-09", "until": "2038-01-10"}) == []


def test_no_way_has_to_be_travelled_to_the_same_site(cast: Cast) -> None:
    job = make_site_job(cast)
    plan_test_visit(cast, jobId=job["id"])
    assert find_free_of_mia(cast, durationMinutes=120, jobId=job["number"]) == ["08:00", "11:00", "13:00", "15:00"]


def test_leave_and_hours_of_one_s_own_count(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=NOON)
    assert find_free_of_mia(cast) == ["12:00", "13:00"]
    leave = cast.perform(request_time_off, Role.MEMBER, startsAt=f"{DAY}T12:00", endsAt=f"{DAY}T12:50")
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    assert find_free_of_mia(cast) == ["13:00"]


def test_who_is_free_at_two(cast: Cast) -> None:
    plan_test_visit(cast, times=("14:00", "15:00"))
    names = [name for name, _ in find_free(cast, startsAt=f"{DAY}T14:00")]
    assert "Mia" not in names
    assert "Sam" in names
    assert find_free(cast, startsAt="2038-01-10T14:00") == []


def test_those_who_know_the_job_and_have_less_to_do_come_first(cast: Cast) -> None:
    job = make_site_job(cast)
    plan_test_visit(cast, startsAt="2038-01-20T10:00", endsAt="2038-01-20T11:00", jobId=job["id"])
    plan_test_visit(cast, Role.SUBCONTRACTOR, times=("15:00", "16:00"))
    assert [name for name, _ in find_free(cast, startsAt=f"{DAY}T09:00", jobId=job["id"])][:2] == ["Mia", "Sam"]
    found = cast.perform(find_free_time, startsAt=f"{DAY}T09:00", jobId=job["id"])["slots"]
    assert found[0]["reasons"] == ["has worked on this job", "nothing else planned that day"]
    assert found[1]["reasons"] == ["1:00 planned that day"]


def test_a_skill_is_asked_for(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.SUBCONTRACTOR], skills=["Gás"])
    assert {name for name, _ in find_free(cast, skill="gas")} == {"Sam"}
    with pytest.raises(Invalid, match=r"^skill: is a skill that nobody has, list_people"):
        find_free(cast, skill="roofing")


def test_a_skill_is_found_however_many_lack_it(cast: Cast) -> None:
    insert_colleagues(cast, "active", 200)
    cast.perform(update_person, personId=cast.people[Role.SUBCONTRACTOR], skills=["gas"])
    assert {name for name, _ in find_free(cast, skill="gas")} == {"Sam"}


def test_whoever_has_left_has_no_time(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(Invalid, match=r"^personId: is not an active person"):
        find_free_of_mia(cast)


def test_nobody_is_free_and_what_to_try(cast: Cast) -> None:
    found = cast.perform(find_free_time, **{"from": "2038-01-09", "until": "2038-01-10"})
    assert found["slots"] == []
    assert found["advice"].startswith("Nobody is free then. Try other dates")
    assert found["advice"].endswith("or set includeOffice. To double-book, call plan_visit with allowOverlap.")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"until": "2038-03-01"}, "until: is more than 31 days after the first date"),
        ({"until": "2038-01-10"}, "until: is before the first date"),
        ({"from": "9999-12-31", "until": "9999-12-31"}, "from: is outside the years 2000 to 2099"),
        ({"durationMinutes": 0}, "durationMinutes: is below 5"),
        ({"earliest": "9"}, "earliest: is not a time of day such as 08:00"),
        ({"startsAt": f"{DAY}T09:00", "latest": "10:00"}, "latest: can't be combined with startsAt"),
        ({"startsAt": "2038-03-28T01:30"}, "startsAt: is skipped when the clocks in Europe/London go forward"),
    ],
)
def test_what_is_no_range_is_refused(cast: Cast, given: dict[str, Any], fault: str) -> None:
    with pytest.raises(Invalid) as refusal:
        find_free(cast, **given)
    assert refusal.value.text.startswith(fault)


def test_only_the_office_asks(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(find_free_time, Role.MEMBER)


@pytest.mark.parametrize("day", ["9999-12-31", "9999-12-30", "0001-01-01"])
def test_the_end_of_all_calendars_is_refused(cast: Cast, day: str) -> None:
    with pytest.raises(Invalid, match=r"^(from|until): "):
        cast.perform(find_free_time, durationMinutes=60, **{"from": day})


def test_each_time_is_told_once_whatever_is_planned_on_later_days(cast: Cast) -> None:
    for day in range(12, 16):
        plan_test_visit(cast, startsAt=f"2038-01-{day}T10:00", endsAt=f"2038-01-{day}T11:00")
    week = {"from": DAY, "until": "2038-01-15", "limit": 50, "durationMinutes": 180}
    assert find_free_of_mia(cast, **week) == ["08:00", "11:00", "14:00", *["11:15"] * 4]


def test_of_a_day_in_pieces_times_from_the_first_to_the_last_are_told(cast: Cast) -> None:
    for begin, end in (("09:30", "10:00"), ("11:30", "12:00"), ("13:30", "14:00"), ("15:30", "15:45")):
        plan_test_visit(cast, times=(begin, end))
    assert find_free_of_mia(cast, durationMinutes=30) == ["08:00", "10:15", "14:15", "16:00"]


def test_everyone_s_first_time_comes_before_anyone_s_second(cast: Cast) -> None:
    assert find_free(cast, limit=3) == [("Mia", "08:00"), ("Sam", "08:00"), ("Mia", "11:00")]


@pytest.mark.parametrize(
    ("window", "begins"),
    [
        ({"earliest": "13:00"}, ["13:00", "14:00", "15:00", "16:00"]),
        ({"latest": "10:00"}, ["08:00", "09:00"]),
        ({"earliest": "12:30", "latest": "14:00"}, ["12:30"]),
        ({"earliest": "22:00", "latest": "06:00"}, []),
        ({"earliest": "22:00", "latest": "09:00"}, ["08:00"]),
    ],
)
def test_a_part_of_the_day_can_be_asked_for(cast: Cast, window: dict[str, str], begins: list[str]) -> None:
    assert find_free_of_mia(cast, **window) == begins


def test_the_part_of_the_day_is_meant_where_the_work_is(cast: Cast) -> None:
    job = make_site_job(cast, zone="Europe/Berlin")
    assert find_free_of_mia(cast, jobId=job["id"], earliest="12:00", latest="14:00") == ["11:00", "12:00"]


def test_a_night_can_be_asked_for(cast: Cast) -> None:
    nights = {"monday": [{"from": "20:00", "until": "08:00"}]}
    cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=nights)
    assert find_free_of_mia(cast, earliest="22:00", latest="06:00", durationMinutes=420) == ["22:00"]


@pytest.mark.parametrize(
    ("until", "ends", "found"),
    [
        ("06:05", "07:10", ["06:05", "06:10"]),
        ("06:05", "07:06", ["06:05"]),
        ("06:06", "07:06", ["06:06"]),
        ("06:05", "07:04", []),
        ("06:05", "07:15", ["06:15"]),
    ],
)
def test_a_gap_is_found_that_begins_between_quarters(cast: Cast, until: str, ends: str, found: list[str]) -> None:
    early = {"monday": [{"from": "06:00", "until": ends}]}
    cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=early)
    job = make_site_job(cast)
    plan_test_visit(cast, jobId=job["id"], times=("05:00", until))
    assert find_free_of_mia(cast, jobId=job["id"]) == found


def list_names(cast: Cast, **given: object) -> set[str]:
    return {name for name, _ in find_free(cast, limit=50, **given)}


def test_office_people_are_looked_at_where_they_do_visits_or_are_asked_for(cast: Cast) -> None:
    assert list_names(cast) == {"Mia", "Sam"}
    assert list_names(cast, includeOffice=True) == {"Mia", "Sam", "Olivia", "Adam", "Orla"}
    assert list_names(cast, personId=cast.people[Role.OFFICE]) == {"Orla"}
    cast.perform(update_person, personId=cast.people[Role.ADMIN], skills=["gas"])
    plan_test_visit(cast, Role.OWNER, startsAt="2038-02-20T10:00", endsAt="2038-02-20T11:00")
    assert list_names(cast) == {"Mia", "Sam", "Olivia", "Adam"}
    found = cast.perform(find_free_time, includeOffice=True, **{"from": DAY, "until": DAY})["slots"]
    assert (found[-1]["personName"], found[-1]["role"]) == ("Orla Office", "office")


def test_where_nobody_works_in_the_field_everyone_is_looked_at(cast: Cast) -> None:
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        cast.perform(remove_person, personId=cast.people[role], confirmed=True)
    assert list_names(cast) == {"Olivia", "Adam", "Orla"}


def test_it_is_told_who_is_on_leave(cast: Cast) -> None:
    mia_s = {"personId": cast.people[Role.MEMBER], "kind": "sick", "approved": True}
    given = {"startsAt": f"{DAY}T12:00", "endsAt": f"{DAY}T15:00"}
    cast.perform(request_time_off, Role.OFFICE, **mia_s, **given)
    cast.perform(request_time_off, Role.OFFICE, **{"personId": cast.people[Role.SUBCONTRACTOR], "from": DAY})
    found = cast.perform(find_free_time, **{"from": DAY, "until": DAY})
    assert found["onLeave"] == [
        {
            "personId": cast.people[Role.MEMBER],
            "personName": "Mia Member",
            "kind": "sick",
            "startsAt": f"{DAY}T12:00:00.000Z",
            "endsAt": f"{DAY}T15:00:00.000Z",
        }
    ]
    assert len(cast.perform(find_free_time, startsAt=f"{DAY}T14:30")["onLeave"]) == 1
    assert cast.perform(find_free_time, startsAt=f"{DAY}T15:00")["onLeave"] == []


SPLIT = make_working_hours(monday=[{"from": "22:00", "until": "24:00"}], tuesday=[{"from": "00:00", "until": "06:00"}])
NIGHTS = make_working_hours(monday=[{"from": "22:00", "until": "06:00"}])


@pytest.mark.parametrize("hours", [SPLIT, NIGHTS])
def test_time_in_a_night_shift_is_found(cast: Cast, hours: dict[str, Any]) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=hours)
    assert find_free_of_mia(cast, durationMinutes=480) == ["22:00"]
    assert find_free_of_mia(cast, durationMinutes=481) == []
    # Of the night, the next day has what is left after midnight.
    assert find_free_of_mia(cast, durationMinutes=300, **{"from": "2038-01-12", "until": "2038-01-12"}) == ["00:00"]
    assert ("Mia", "23:00") in find_free(cast, startsAt=f"{DAY}T23:00", durationMinutes=240)
    assert ("Mia", "03:00") not in find_free(cast, startsAt="2038-01-12T03:00", durationMinutes=240)
    plan_test_visit(cast, startsAt="2038-01-12T01:00", endsAt="2038-01-12T02:00")
    assert find_free_of_mia(cast, durationMinutes=165) == ["22:00"]
    assert find_free_of_mia(cast, durationMinutes=166) == []
    assert find_free_of_mia(cast, durationMinutes=166, until="2038-01-12") == ["02:15"]

from typing import Any

import pytest

from mainstay.business.people.operations import update_person
from mainstay.business.schedule.board import get_schedule
from mainstay.business.schedule.leave import request_time_off
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.visits import DAY, insert_colleagues, plan_test_visit
from support.webhooks import set_columns
from support.working_days import make_working_hours

MORNING = {"monday": [{"from": "08:00", "until": "12:00"}]}


def get_board(cast: Cast, role: Role = Role.OFFICE, /, **given: object) -> dict[str, Any]:
    return cast.perform(get_schedule, cast.actor(role, door=Door.OFFICE), **{"from": DAY} | given)


def test_it_tells_who_is_there_when_they_work_and_what_they_do(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})
    found = get_board(cast)
    assert (found["from"], found["until"], found["timeZone"], found["more"]) == (DAY, DAY, "Europe/London", False)
    (seen,) = found["visits"]
    assert (seen["id"], seen["jobTitle"], seen["customerName"]) == (visit["id"], "Mend the roof", "Hill Farm")
    mia = next(one for one in found["people"] if one["id"] == cast.people[Role.MEMBER])
    assert mia["works"] == [{"startsAt": f"{DAY}T08:00:00.000Z", "endsAt": f"{DAY}T17:00:00.000Z"}]
    assert [(one["kind"], one["status"]) for one in mia["away"]] == [("holiday", "requested")]


def test_whoever_has_working_hours_of_their_own_works_then(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=MORNING)
    works = {one["name"]: one["works"] for one in get_board(cast)["people"]}
    assert works["Mia Member"] == [{"startsAt": f"{DAY}T08:00:00.000Z", "endsAt": f"{DAY}T12:00:00.000Z"}]
    assert works["Sam Subcontractor"] == [{"startsAt": f"{DAY}T08:00:00.000Z", "endsAt": f"{DAY}T17:00:00.000Z"}]


def test_what_reaches_over_midnight_is_on_both_days(cast: Cast) -> None:
    night = plan_test_visit(cast, startsAt=f"{DAY}T22:00", endsAt="2038-01-12T06:00")
    for day in (DAY, "2038-01-12"):
        assert [one["id"] for one in get_board(cast, **{"from": day})["visits"]] == [night["id"]]
    assert get_board(cast, **{"from": "2038-01-13"})["visits"] == []


def test_a_night_shift_is_on_both_days(cast: Cast) -> None:
    nights = make_working_hours(monday=[{"from": "22:00", "until": "06:00"}])
    cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=nights)
    for day in (DAY, "2038-01-12"):
        works = {one["name"]: one["works"] for one in get_board(cast, **{"from": day})["people"]}
        assert works["Mia Member"] == [{"startsAt": f"{DAY}T22:00:00.000Z", "endsAt": "2038-01-12T06:00:00.000Z"}]


def test_a_member_is_told_what_the_team_is_and_a_subcontractor_their_own(cast: Cast) -> None:
    plan_test_visit(cast)
    plan_test_visit(cast, Role.SUBCONTRACTOR)
    cast.perform(request_time_off, **{"personId": cast.people[Role.SUBCONTRACTOR], "from": DAY})
    team = get_board(cast, Role.MEMBER)
    assert {one["customerName"] for one in team["visits"]} == {"Hill Farm", None}
    assert [one["away"] for one in team["people"] if one["away"]] == []
    own = get_board(cast, Role.SUBCONTRACTOR)
    assert [one["personId"] for one in own["visits"]] == [cast.people[Role.SUBCONTRACTOR]]
    assert [one["id"] for one in own["people"]] == [cast.people[Role.SUBCONTRACTOR]]


def test_those_who_left_take_nobody_s_place_and_stay_as_long_as_something_is_planned(cast: Cast) -> None:
    insert_colleagues(cast, "left", 200)
    plan_test_visit(cast)
    set_columns(cast, "person", cast.people[Role.MEMBER], status="left")
    names = [one["name"] for one in get_board(cast)["people"]]
    assert names == ["Adam Admin", "Olivia Owner", "Orla Office", "Sam Subcontractor", "Mia Member"]


def test_whoever_has_something_planned_is_there_however_many_there_are(cast: Cast) -> None:
    insert_colleagues(cast, "active", 200)
    plan_test_visit(cast)
    names = [one["name"] for one in get_board(cast)["people"]]
    assert (len(names), names[-1]) == (201, "Mia Member")


def test_it_is_for_two_weeks_at_most(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^until: is more than 14 days after the first date$"):
        get_board(cast, until="2038-01-25")

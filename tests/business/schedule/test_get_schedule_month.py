from typing import Any

import pytest

from mainstay.business.schedule.leave import request_time_off
from mainstay.business.schedule.month import get_schedule_month
from mainstay.business.schedule.operations import cancel_visit
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.visits import DAY, plan_test_visit

JANUARY = {"from": "2038-01-01", "until": "2038-01-31"}


def get_month(cast: Cast, role: Role = Role.OFFICE, /, **given: object) -> dict[str, Any]:
    return cast.perform(get_schedule_month, cast.actor(role, door=Door.OFFICE), **JANUARY | given)


def test_each_date_has_its_number_of_visits_and_the_first_of_them(cast: Cast) -> None:
    times = [(f"{hour:02}:00", f"{hour:02}:30") for hour in (15, 9, 10, 11, 12)]
    made = [plan_test_visit(cast, times=one) for one in times]
    gone = plan_test_visit(cast, times=("08:00", "08:30"))
    cast.perform(cancel_visit, visitId=gone["id"])
    anytime = plan_test_visit(cast, None, on="2038-01-31")
    late = plan_test_visit(cast, startsAt="2038-01-12T23:30", endsAt="2038-01-13T01:00")
    found = get_month(cast)
    days = {one["on"]: one for one in found["days"]}
    assert len(days) == 31
    assert days[DAY]["count"] == 5
    assert [one["id"] for one in days[DAY]["visits"]] == [one["id"] for one in made[1:]]
    assert [one["id"] for one in days["2038-01-31"]["visits"]] == [anytime["id"]]
    # A night is on the date on which it begins.
    assert [one["id"] for one in days["2038-01-12"]["visits"]] == [late["id"]]
    assert days["2038-01-13"]["count"] == 0
    assert get_month(cast, **{"from": "2038-01-12", "until": "2038-01-12"})["days"] == [days["2038-01-12"]]


def test_time_off_is_on_each_of_its_dates_for_those_who_see_it(cast: Cast) -> None:
    person = cast.people[Role.SUBCONTRACTOR]
    cast.perform(request_time_off, **{"personId": person, "from": DAY, "until": "2038-01-12", "approved": True})
    days = {one["on"]: one["away"] for one in get_month(cast)["days"]}
    assert [day for day, away in days.items() if away] == [DAY, "2038-01-12"]
    assert (days[DAY][0]["personId"], days[DAY][0]["leave"]["kind"]) == (person, "holiday")
    assert [one for one in get_month(cast, Role.MEMBER)["days"] if one["away"]] == []


def test_a_member_sees_of_the_team_who_and_when_and_a_subcontractor_their_own(cast: Cast) -> None:
    plan_test_visit(cast)
    own = plan_test_visit(cast, Role.SUBCONTRACTOR)
    team = [visit for one in get_month(cast, Role.MEMBER)["days"] for visit in one["visits"]]
    assert {one["customerName"] for one in team} == {"Hill Farm", None}
    found = get_month(cast, Role.SUBCONTRACTOR)
    assert [visit["id"] for one in found["days"] for visit in one["visits"]] == [own["id"]]
    assert [one["id"] for one in found["people"]] == [cast.people[Role.SUBCONTRACTOR]]


def test_it_is_for_six_weeks_at_most(cast: Cast) -> None:
    assert len(get_month(cast, until="2038-02-11")["days"]) == 42
    with pytest.raises(Invalid, match="42 days"):
        get_month(cast, until="2038-02-12")

from typing import Any

import pytest

from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.timers import start_timer
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid, NotFound
from support.cast import Cast
from support.hours import cast_at, make_assigned_job, make_time_entry, set_organisation_columns


def list_days(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [entry["on"] for entry in cast.perform(list_hours, role, **given)["data"]]


@pytest.fixture
def week(cast: Cast) -> Cast:
    """Hours of two people on three days."""
    cast = cast_at(cast)
    make_time_entry(cast, on="2026-11-12", minutes=60)
    make_time_entry(cast, on="2026-11-14", minutes=60)
    make_time_entry(cast, Role.OFFICE, on="2026-11-13", minutes=60)
    return cast


def test_the_newest_by_date_comes_first_or_the_oldest(week: Cast) -> None:
    assert list_days(week) == ["2026-11-14", "2026-11-13", "2026-11-12"]
    assert list_days(week, order="oldest") == ["2026-11-12", "2026-11-13", "2026-11-14"]


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_a_list_goes_on_behind_the_last(week: Cast, order: str) -> None:
    whole = list_days(week, order=order)
    first = week.perform(list_hours, Role.OFFICE, order=order, limit=2)
    assert first["hasMore"]
    rest = week.perform(list_hours, Role.OFFICE, order=order, limit=2, startingAfter=first["data"][-1]["id"])
    assert [entry["on"] for entry in first["data"] + rest["data"]] == whole


def test_it_is_narrowed_by_person_and_dates(week: Cast) -> None:
    since: dict[str, Any] = {"from": "2026-11-13"}
    assert list_days(week, personId=week.people[Role.MEMBER]) == ["2026-11-14", "2026-11-12"]
    assert list_days(week, Role.OFFICE, **since) == ["2026-11-14", "2026-11-13"]
    assert list_days(week, until="2026-11-13", personId=week.people[Role.MEMBER]) == ["2026-11-12"]


def test_it_is_narrowed_by_state(cast: Cast) -> None:
    cast = cast_at(cast)
    made = {
        status: make_time_entry(cast, status=status)["id"] for status in ("draft", "submitted", "approved", "rejected")
    }
    made["running"] = cast.perform(start_timer, Role.MEMBER)["id"]
    for status, entry in made.items():
        assert [one["id"] for one in cast.perform(list_hours, status=status)["data"]] == [entry]


def test_it_is_narrowed_by_job_by_id_or_number(week: Cast) -> None:
    job = make_assigned_job(week)
    entry = make_time_entry(week, jobId=job["id"])["id"]
    for name in (job["id"], job["number"]):
        assert [one["id"] for one in week.perform(list_hours, Role.MEMBER, jobId=name)["data"]] == [entry]
    with pytest.raises(NotFound, match=r"^There is no job"):
        week.perform(list_hours, Role.MEMBER, jobId=make_assigned_job(week, assigned=[])["id"])


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_its_own(week: Cast, role: Role) -> None:
    own = {"personId": week.people[role]}
    assert list_days(week, role) == list_days(week, Role.OWNER, **own)
    assert list_days(week, role, personId=week.people[Role.OFFICE]) == []
    make_time_entry(week, role, on="2026-11-15", minutes=5)
    assert list_days(week, role)[0] == "2026-11-15"


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_the_office_sees_everyone_s(week: Cast, role: Role) -> None:
    assert len(list_days(week, role)) == 3


def test_a_subcontractor_sees_none_where_the_settings_do_not_say_so(cast: Cast) -> None:
    set_organisation_columns(cast, grants="")
    with pytest.raises(Forbidden):
        cast.perform(list_hours, Role.SUBCONTRACTOR)


def test_another_organisation_sees_nothing(week: Cast, other_cast: Cast) -> None:
    assert list_days(other_cast) == []
    entry = week.perform(list_hours)["data"][0]["id"]
    with pytest.raises(Invalid, match=r"^startingAfter: is not a record of this list"):
        list_days(other_cast, startingAfter=entry)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"status": "billed"}, "status: is not one of"),
        ({"from": "16.11.2026"}, "from: is not a date"),
        ({"from_": "2026-11-16"}, "from_: is not known here"),
        ({"personId": "Mia"}, "personId: is not the id of a person"),
        ({"startingAfter": "x"}, "startingAfter: is not the id of a time entry"),
    ],
)
def test_what_cannot_be_asked_is_refused(cast: Cast, asked: dict[str, object], problem: str) -> None:
    with pytest.raises(Invalid, match=f"^{problem}"):
        cast.perform(list_hours, **asked)

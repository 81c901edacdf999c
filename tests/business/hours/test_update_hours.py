from typing import Any

import pytest

from mainstay.business.hours.operations import get_time_entry, update_hours
from mainstay.business.hours.timers import start_timer
from mainstay.business.jobs.operations import get_job
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound, Stale
from support.cast import Cast
from support.hours import (
    cast_at,
    make_assigned_job,
    make_time_entry,
    make_visit,
    mark_entry_billed,
    set_organisation_columns,
    set_rates,
)

SPAN: dict[str, Any] = {"startedAt": "2026-11-16T08:00", "endedAt": "2026-11-16T10:00"}


def test_only_what_is_sent_changes(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, note="Pipes", **SPAN)
    changed = cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], note=None)
    assert {name for name in entry if entry[name] != changed[name]} == {"note", "version"}
    assert cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"])["version"] == 2


def test_times_can_be_changed_one_by_one(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, **SPAN)
    for sent, minutes in (({"endedAt": "2026-11-16T11:00"}, 180), ({"breakMinutes": 30}, 150)):
        assert cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], **sent)["minutes"] == minutes
    moved = cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], startedAt="2026-11-15T22:00")
    assert (moved["on"], moved["minutes"]) == ("2026-11-15", 750)


def test_minutes_take_the_place_of_times_and_times_that_of_minutes(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, breakMinutes=30, **SPAN)
    plain = cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], minutes=45)
    assert [plain[name] for name in ("on", "minutes", "startedAt", "endedAt", "breakMinutes")] == [
        "2026-11-16",
        45,
        None,
        None,
        0,
    ]
    timed = cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], **SPAN)
    assert (timed["minutes"], timed["startedAt"]) == (120, "2026-11-16T08:00:00.000Z")


def test_a_form_that_sends_everything_changes_what_is_different(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, breakMinutes=30, **SPAN)
    shown = {"on": "2026-11-16", "minutes": 90, "breakMinutes": 30, "jobId": None, **SPAN}
    form = {"timeEntryId": entry["id"], **shown}
    assert cast.perform(update_hours, Role.MEMBER, **form)["version"] == 1
    assert cast.perform(update_hours, Role.MEMBER, **form | {"endedAt": "2026-11-16T11:00"})["minutes"] == 150
    form["endedAt"] = "2026-11-16T11:00"
    form["minutes"] = 150
    assert cast.perform(update_hours, Role.MEMBER, **form | {"minutes": 200, "breakMinutes": 0})["startedAt"] is None


def test_it_can_be_moved_to_another_job_and_the_visit_stays_behind(cast: Cast) -> None:
    cast = cast_at(cast)
    job, other = make_assigned_job(cast), make_assigned_job(cast, billing="fixed")
    visit = make_visit(cast, job["id"], cast.people[Role.MEMBER])
    entry = make_time_entry(cast, visitId=visit)
    same = cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], jobId=job["number"])
    assert (same["visitId"], same["version"]) == (visit, 1)
    moved = cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], jobId=other["number"])
    assert (moved["jobId"], moved["visitId"]) == (other["id"], None)
    assert cast.perform(get_time_entry, timeEntryId=entry["id"])["billable"] is False
    assert cast.perform(get_job, jobId=other["id"])["status"] == "inProgress"
    assert cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], jobId=None)["jobId"] is None


def test_the_office_says_what_is_billed(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, jobId=make_assigned_job(cast)["id"], status="submitted")
    changed = cast.perform(update_hours, Role.OFFICE, timeEntryId=entry["id"], billable=False)
    assert (changed["billable"], changed["status"]) == (False, "submitted")
    assert cast.perform(update_hours, Role.OFFICE, timeEntryId=entry["id"], billableMinutes=45)["billableMinutes"] == 45
    with pytest.raises(Invalid, match=r"^billable: is only for hours with a job"):
        cast.perform(update_hours, Role.OFFICE, timeEntryId=entry["id"], billable=True, jobId=None)


def test_what_was_rejected_becomes_a_draft(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, status="rejected")
    changed = cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], note="On the boiler")
    assert (changed["status"], changed["reviewNote"]) == ("draft", "Which job?")


def test_the_rates_stay_as_they_were(cast: Cast) -> None:
    cast = cast_at(cast)
    set_rates(cast, Role.MEMBER, 24, 62)
    entry = make_time_entry(cast)
    set_rates(cast, Role.MEMBER, 99, 99)
    assert cast.perform(update_hours, timeEntryId=entry["id"], minutes=5)["costRate"] == "24.00"


def test_what_is_approved_or_billed_is_frozen_for_everyone(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, status="approved")
    for role in (Role.MEMBER, Role.OFFICE, Role.OWNER):
        with pytest.raises(Conflict, match=r"already approved\. The office must undo the approval first"):
            cast.perform(update_hours, role, timeEntryId=entry["id"], note="x")
    mark_entry_billed(cast, entry["id"])
    with pytest.raises(Conflict, match=r"already on an invoice\. Void or credit the invoice"):
        cast.perform(update_hours, timeEntryId=entry["id"], note="x")


def test_what_is_submitted_only_the_office_changes(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, status="submitted")
    with pytest.raises(Conflict, match=r"already submitted\. Ask the office to reject it"):
        cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], minutes=5)
    assert cast.perform(update_hours, Role.OFFICE, timeEntryId=entry["id"], minutes=5)["minutes"] == 5


def test_a_timer_is_stopped_first(cast: Cast) -> None:
    entry = cast_at(cast).perform(start_timer, Role.MEMBER)
    with pytest.raises(Conflict, match=r"^The timer is still running\. Stop it first\.$"):
        cast_at(cast).perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], note="x")


def test_closed_books_stay_closed(cast: Cast) -> None:
    cast = cast_at(cast)
    entry, open_entry = make_time_entry(cast, on="2026-10-31", minutes=60), make_time_entry(cast)
    set_organisation_columns(cast, books_closed_until="2026-10-31")
    with pytest.raises(Conflict, match=r"^The books are closed up to 2026-10-31"):
        cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], note="x")
    with pytest.raises(Conflict, match=r"^The books are closed up to 2026-10-31"):
        cast.perform(update_hours, Role.MEMBER, timeEntryId=open_entry["id"], on="2026-10-31")


def test_it_may_not_come_to_overlap(cast: Cast) -> None:
    cast = cast_at(cast)
    make_time_entry(cast, **SPAN)
    later = make_time_entry(cast, startedAt="2026-11-16T10:00", endedAt="2026-11-16T11:00")
    with pytest.raises(Conflict, match="Choose times that do not overlap"):
        cast.perform(update_hours, Role.MEMBER, timeEntryId=later["id"], startedAt="2026-11-16T09:59")
    # With itself it may.
    assert (
        cast.perform(update_hours, Role.MEMBER, timeEntryId=later["id"], startedAt="2026-11-16T10:30")["version"] == 2
    )


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_the_office_changes_another_s(cast: Cast, role: Role) -> None:
    entry = make_time_entry(cast_at(cast))
    assert cast_at(cast).perform(update_hours, role, timeEntryId=entry["id"], minutes=5)["minutes"] == 5


def test_others_do_not_even_find_it(cast: Cast, other_cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), Role.OFFICE)
    for who, role in ((cast, Role.MEMBER), (cast, Role.SUBCONTRACTOR), (other_cast, Role.OWNER)):
        with pytest.raises(NotFound):
            who.perform(update_hours, role, timeEntryId=entry["id"], minutes=5)


def test_the_field_does_not_say_what_is_billed(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast))
    with pytest.raises(Forbidden, match="You can't change billable"):
        cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], billable=True)


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"endedAt": "2026-11-16T09:00"}, "startedAt: is required"),
        ({"breakMinutes": 5}, "breakMinutes: is only for hours with startedAt and endedAt"),
        ({"minutes": 0}, "minutes: is below 1"),
        ({"minutes": 5, **SPAN}, "minutes: can't be combined with startedAt"),
        ({"on": "2026-11-17"}, "on: is in the future"),
        ({"breakMinutes": None}, "breakMinutes: is not a whole number"),
        ({"personId": "x"}, "personId: is not known here"),
    ],
)
def test_what_cannot_be_is_refused(cast: Cast, sent: dict[str, object], problem: str) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast)
    with pytest.raises(Invalid) as refusal:
        cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], **sent)
    assert refusal.value.text.startswith(problem)


def test_an_outdated_version_is_refused(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast))
    request = RequestDetails("req_1", if_match_versions=frozenset({2}))
    with pytest.raises(Stale):
        cast.answer(update_hours, Role.MEMBER, request=request, timeEntryId=entry["id"], note="x")


def test_whether_it_is_billed_is_said_or_left_out(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast)
    with pytest.raises(Invalid, match=r"^billable: is not true or false"):
        cast.perform(update_hours, Role.OFFICE, timeEntryId=entry["id"], billable=None)

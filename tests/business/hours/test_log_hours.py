from typing import Any

import pytest

from mainstay.business.hours.operations import get_time_entry, log_hours, update_hours
from mainstay.business.hours.timers import start_timer
from mainstay.business.jobs.operations import get_job
from mainstay.business.people.operations import update_person
from mainstay.business.people.roles import remove_person
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, Lapsed, NotFound, UnblockingAction
from support.cast import Cast
from support.customers import close_job
from support.hours import cast_at, make_assigned_job, make_time_entry, make_visit, set_organisation_columns, set_rates
from support.stored_state import read_last_event, to_event_record


def test_hours_are_logged_as_a_date_and_minutes(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = cast.perform(log_hours, Role.MEMBER, on="2026-11-16", minutes=450, note="Flushed the pipes")
    assert (entry["object"], entry["status"], entry["personName"]) == ("timeEntry", "draft", "Mia Member")
    assert (entry["on"], entry["minutes"], entry["startedAt"], entry["note"]) == (
        "2026-11-16",
        450,
        None,
        "Flushed the pipes",
    )
    assert entry["url"].endswith(f"/hours/{entry['id']}")
    assert entry["availableActions"] == ["update_hours", "delete_hours", "submit_hours"]
    assert to_event_record(cast.perform(get_time_entry, Role.MEMBER, timeEntryId=entry["id"])) == to_event_record(entry)


def test_without_a_date_they_are_of_today(cast: Cast) -> None:
    # In London it is the next day already.
    entry = cast_at(cast, "2026-06-15T23:30:00Z").perform(log_hours, Role.MEMBER, minutes=90)
    assert (entry["on"], entry["minutes"]) == ("2026-06-16", 90)


def test_hours_are_logged_from_a_beginning_to_an_end_without_the_break(cast: Cast) -> None:
    entry = cast_at(cast).perform(
        log_hours, Role.MEMBER, startedAt="2026-11-16T07:00", endedAt="2026-11-16T11:30:00Z", breakMinutes=30
    )
    assert (entry["on"], entry["minutes"], entry["breakMinutes"]) == ("2026-11-16", 240, 30)
    assert (entry["startedAt"], entry["endedAt"]) == ("2026-11-16T07:00:00.000Z", "2026-11-16T11:30:00.000Z")


@pytest.mark.parametrize(
    ("started", "ended", "on", "minutes"),
    [
        # On the day with 25 hours a shift from nine to nine is 13 hours long, on that with 23 it is 11.
        ("2026-10-24T21:00", "2026-10-25T09:00", "2026-10-24", 780),
        ("2026-03-28T21:00", "2026-03-29T09:00", "2026-03-28", 660),
        ("2026-10-25T01:30+01:00", "2026-10-25T01:30+00:00", "2026-10-25", 60),
        ("2026-10-25T00:00", "2026-10-25T23:00", "2026-10-25", 1440),
        # Over midnight it belongs to the day on which it began, there.
        ("2026-07-10T22:00", "2026-07-11T06:00", "2026-07-10", 480),
        ("2026-07-10T23:30:00Z", "2026-07-11T06:00:00Z", "2026-07-11", 390),
    ],
)
def test_the_minutes_are_those_that_passed_and_the_date_is_that_of_the_beginning(
    cast: Cast, started: str, ended: str, on: str, minutes: int
) -> None:
    entry = cast_at(cast).perform(log_hours, Role.MEMBER, startedAt=started, endedAt=ended)
    assert (entry["on"], entry["minutes"]) == (on, minutes)


def test_the_day_is_that_of_the_organisation(cast: Cast) -> None:
    set_organisation_columns(cast, time_zone="Pacific/Auckland")
    entry = cast_at(cast).perform(
        log_hours, Role.MEMBER, startedAt="2026-11-15T11:30:00Z", endedAt="2026-11-15T13:00:00Z"
    )
    assert entry["on"] == "2026-11-16"


def test_hours_on_a_job_begin_it(cast: Cast) -> None:
    cast = cast_at(cast)
    job = make_assigned_job(cast)
    entry = make_time_entry(cast, jobId=job["number"])
    assert (entry["jobId"], entry["jobNumber"], entry["jobTitle"]) == (job["id"], job["number"], "Replace the boiler")
    assert cast.perform(get_job, jobId=job["id"])["status"] == "inProgress"
    assert read_last_event(cast)["type"] == "job.started"


@pytest.mark.parametrize(
    ("billing", "billable"), [("timeAndMaterials", True), ("fixed", False), ("nonBillable", False)]
)
def test_hours_are_billable_where_the_job_is_billed_by_time(cast: Cast, billing: str, billable: object) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, Role.OFFICE, jobId=make_assigned_job(cast, billing=billing)["id"])
    assert (entry["billable"], entry["billed"], entry["billableMinutes"]) == (billable, False, None)


def test_the_office_says_what_is_billed(cast: Cast) -> None:
    cast = cast_at(cast)
    entry = make_time_entry(cast, Role.OFFICE, jobId=make_assigned_job(cast)["id"], billable=False, billableMinutes=30)
    assert (entry["billable"], entry["billableMinutes"]) == (False, 30)
    with pytest.raises(Invalid, match=r"^billable: is only for hours with a job"):
        make_time_entry(cast, Role.OFFICE, billable=True)


def test_what_an_hour_costs_is_kept_as_it_was(cast: Cast) -> None:
    cast = cast_at(cast)
    set_rates(cast, Role.MEMBER, 24, 62)
    own = make_time_entry(cast)
    assert [own[name] for name in ("costRate", "billRate", "billable", "billed")] == [None] * 4
    cast.perform(update_person, personId=cast.people[Role.MEMBER], costRate="99", billRate="99")
    entry = cast.perform(get_time_entry, timeEntryId=own["id"])
    assert (entry["costRate"], entry["billRate"]) == ("24.00", "62.00")


@pytest.mark.parametrize("role", list(Role))
def test_everyone_logs_their_own(cast: Cast, role: Role) -> None:
    assert make_time_entry(cast_at(cast), role)["personId"] == cast.people[role]


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_the_office_logs_for_others(cast: Cast, role: Role) -> None:
    entry = make_time_entry(cast_at(cast), role, personId=cast.people[Role.MEMBER])
    assert entry["personName"] == "Mia Member"
    assert entry["createdBy"]["person"]["id"] == cast.people[role]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
@pytest.mark.parametrize("field", [{"personId": ""}, {"billable": True}, {"billableMinutes": 5}])
def test_others_do_not(cast: Cast, role: Role, field: dict[str, object]) -> None:
    given: dict[str, Any] = {name: value or cast.people[Role.OWNER] for name, value in field.items()}
    with pytest.raises(Forbidden, match=f"You can't change {next(iter(field))}"):
        make_time_entry(cast_at(cast), role, **given)


def test_a_subcontractor_logs_only_where_the_settings_say_so(cast: Cast) -> None:
    set_organisation_columns(cast, grants="")
    with pytest.raises(Forbidden):
        make_time_entry(cast_at(cast), Role.SUBCONTRACTOR)


def test_a_job_that_one_does_not_see_is_not_found(cast: Cast) -> None:
    cast = cast_at(cast)
    job = make_assigned_job(cast, assigned=[])
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        for named in (job["id"], job["number"], ""):
            with pytest.raises(NotFound, match=r"^There is no job"):
                make_time_entry(cast, role, jobId=named)
    assert cast.perform(get_job, jobId=job["id"])["status"] == "open"


def test_a_job_that_is_over_takes_no_hours(cast: Cast) -> None:
    cast = cast_at(cast)
    job = make_assigned_job(cast)
    close_job(cast, job["id"])
    with pytest.raises(Conflict, match=rf"^{job['number']} is closed\. Reopen it first\.$"):
        make_time_entry(cast, jobId=job["id"])


def test_a_visit_says_the_job(cast: Cast) -> None:
    cast = cast_at(cast)
    job = make_assigned_job(cast)
    visit = make_visit(cast, job["id"], cast.people[Role.MEMBER])
    entry = make_time_entry(cast, visitId=visit)
    assert (entry["visitId"], entry["jobId"]) == (visit, job["id"])


def test_a_visit_of_another_job_or_person_is_refused(cast: Cast) -> None:
    cast = cast_at(cast)
    job, other = make_assigned_job(cast), make_assigned_job(cast)
    visit = make_visit(cast, job["id"], cast.people[Role.MEMBER])
    with pytest.raises(Invalid, match=r"^visitId: belongs to another job"):
        make_time_entry(cast, visitId=visit, jobId=other["id"])
    with pytest.raises(Invalid, match=r"^visitId: is not a visit of this person"):
        make_time_entry(cast, Role.SUBCONTRACTOR, visitId=visit)
    with pytest.raises(Invalid, match=r"^visitId: is not a visit of this person"):
        make_time_entry(cast, visitId=new_id("visit"))
    with pytest.raises(Invalid, match=r"^visitId: has no job"):
        make_time_entry(cast, visitId=make_visit(cast, None, cast.people[Role.MEMBER]))


START = {"startedAt": "2026-11-16T08:00"}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "minutes: is required: enter minutes, or startedAt and endedAt"),
        ({"on": "2026-11-16"}, "minutes: is required"),
        ({"on": "2026-11-16", "minutes": 0}, "minutes: is below 1"),
        ({"on": "2026-11-16", "minutes": -5}, "minutes: is below 1"),
        ({"on": "2026-11-16", "minutes": 1441}, "minutes: is above 1440"),
        ({"on": "2026-11-17", "minutes": 60}, "on: is in the future"),
        ({"on": "1026-11-17", "minutes": 60}, "on: is too long ago"),
        (
            {"on": "2026-11-16", "minutes": 60, "breakMinutes": 5},
            "breakMinutes: is only for hours with startedAt and endedAt",
        ),
        (START, "endedAt: is required: enter minutes, or startedAt and endedAt"),
        (
            START | {"endedAt": "2026-11-16T09:00", "minutes": 60},
            "minutes: can't be combined with startedAt and endedAt",
        ),
        (START | {"endedAt": "2026-11-16T08:00"}, "endedAt: is not after the start"),
        (START | {"endedAt": "2026-11-16T07:00"}, "endedAt: is not after the start"),
        (START | {"endedAt": "2026-11-16T08:00:59"}, "endedAt: is less than a minute after the start"),
        (START | {"endedAt": "2026-11-16T09:00", "breakMinutes": 60}, "breakMinutes: is as long as the time worked"),
        (START | {"endedAt": "2026-11-16T12:16"}, "endedAt: is in the future"),
        ({"startedAt": "2026-11-16T12:16", "endedAt": "2026-11-16T12:30"}, "startedAt: is in the future"),
        ({"startedAt": "2026-11-14T08:00", "endedAt": "2026-11-15T08:01"}, "endedAt: is more than 24 hours after"),
        ({"startedAt": "2026-03-29T01:30", "endedAt": "2026-03-29T08:00"}, "startedAt: is skipped when the clocks"),
        ({"startedAt": "2026-10-25T01:30", "endedAt": "2026-10-25T08:00"}, "startedAt: occurs twice"),
        ({"startedAt": "0001-01-01T00:00", "endedAt": "0001-01-01T01:00"}, "startedAt: is too long ago"),
        ({"on": "2026-11-16", "minutes": 60, "personId": "person_1"}, "personId: is not the id of a person"),
    ],
)
def test_what_cannot_be_is_refused(cast: Cast, given: dict[str, object], problem: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast_at(cast).perform(log_hours, Role.OFFICE, **given)
    assert refusal.value.text.startswith(problem)


def test_a_quarter_of_an_hour_ahead_is_let_pass(cast: Cast) -> None:
    entry = cast_at(cast).perform(log_hours, Role.MEMBER, startedAt="2026-11-16T08:00", endedAt="2026-11-16T12:15")
    assert entry["minutes"] == 255


def test_nobody_is_in_two_places(cast: Cast) -> None:
    cast = cast_at(cast)
    job = make_assigned_job(cast)
    make_time_entry(cast, startedAt="2026-11-16T08:00", endedAt="2026-11-16T10:00", jobId=job["id"])
    message = (
        r"^Mia Member already logged 2026-11-16 from 08:00 to 10:00 \(Europe/London\)"
        rf" on {job['number']} Replace the boiler\. Choose times that do not overlap\."
    )
    for start, end in (("07:00", "08:01"), ("09:00", "09:30"), ("09:59", "11:00"), ("07:00", "11:00")):
        with pytest.raises(Conflict, match=message):
            make_time_entry(cast, startedAt=f"2026-11-16T{start}", endedAt=f"2026-11-16T{end}")
    # What touches does not overlap, nor what someone else did, nor what has no beginning.
    make_time_entry(cast, startedAt="2026-11-16T07:00", endedAt="2026-11-16T08:00")
    make_time_entry(cast, startedAt="2026-11-16T10:00", endedAt="2026-11-16T11:00")
    make_time_entry(cast, Role.OFFICE, startedAt="2026-11-16T08:00", endedAt="2026-11-16T10:00")
    make_time_entry(cast)


def test_a_timer_that_runs_takes_the_time_since_it_began(cast: Cast) -> None:
    cast_at(cast, "2026-11-15T20:00:00Z").perform(start_timer, Role.MEMBER)
    with pytest.raises(
        Conflict, match=r"^Mia Member's timer has been running since 2026-11-15T20:00 \(Europe/London\)\. Stop it"
    ):
        make_time_entry(cast_at(cast), startedAt="2026-11-16T09:00", endedAt="2026-11-16T10:00")
    make_time_entry(cast_at(cast), startedAt="2026-11-15T19:00", endedAt="2026-11-15T20:00")


def test_closed_books_take_no_hours(cast: Cast) -> None:
    set_organisation_columns(cast, books_closed_until="2026-10-31")
    message = (
        r"^The books are closed up to 2026-10-31, so nothing dated 2026-10-31 can be changed\. An owner or admin can"
    )
    for role in (Role.MEMBER, Role.OWNER):
        with pytest.raises(Conflict, match=message):
            make_time_entry(cast_at(cast), role, on="2026-10-31", minutes=60)
    make_time_entry(cast_at(cast), on="2026-11-01", minutes=60)


def test_someone_who_has_left_worked_no_hours(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(Invalid, match=r"^personId: is Mia Member, who has left"):
        make_time_entry(cast_at(cast), Role.OFFICE, personId=cast.people[Role.MEMBER])


def test_another_organisation_s_people_and_jobs_are_not_known(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^personId: is not part of this organisation"):
        make_time_entry(cast_at(cast), Role.OFFICE, personId=other_cast.people[Role.MEMBER])
    with pytest.raises(NotFound, match=r"^There is no job"):
        make_time_entry(cast_at(cast), Role.OFFICE, jobId=make_assigned_job(other_cast)["id"])


def test_nothing_is_logged_when_lapsed(cast: Cast) -> None:
    cast.lapse()
    with pytest.raises(Lapsed):
        make_time_entry(cast_at(cast))


def test_a_day_has_no_more_than_24_hours(cast: Cast) -> None:
    cast = cast_at(cast)
    first = cast.perform(log_hours, Role.MEMBER, on="2026-11-15", minutes=900)
    cast.perform(log_hours, Role.MEMBER, on="2026-11-15", minutes=540)
    with pytest.raises(
        Conflict, match=r"^24:00 hours are already logged on 2026-11-15, so the day would have more than 24:00"
    ):
        cast.perform(log_hours, Role.MEMBER, on="2026-11-15", minutes=1)
    with pytest.raises(Conflict, match="would have more than 24:00"):
        cast.perform(update_hours, Role.MEMBER, timeEntryId=first["id"], minutes=901)
    cast.perform(update_hours, Role.MEMBER, timeEntryId=first["id"], minutes=899)
    cast.perform(log_hours, Role.MEMBER, on="2026-11-15", minutes=1)
    cast.perform(log_hours, Role.OFFICE, on="2026-11-15", minutes=1440)


def test_hours_with_times_count_beside_those_without(cast: Cast) -> None:
    cast = cast_at(cast)
    for _ in range(2):
        cast.perform(log_hours, Role.MEMBER, on="2026-11-15", minutes=150)
    times = {"startedAt": "2026-11-15T00:00", "endedAt": "2026-11-15T19:46"}
    with pytest.raises(
        Conflict,
        match=r"^5:00 hours are already logged on 2026-11-15, so the day would have more than 24:00\. Change",
    ):
        cast.perform(log_hours, Role.MEMBER, **times)
    entry = cast.perform(log_hours, Role.MEMBER, **times, breakMinutes=46)
    with pytest.raises(Conflict, match=r"^5:00 hours are already logged on 2026-11-15"):
        cast.perform(update_hours, Role.MEMBER, timeEntryId=entry["id"], breakMinutes=45)
    cast.perform(log_hours, Role.OFFICE, **times)


def test_of_a_shift_over_midnight_each_date_has_its_part(cast: Cast) -> None:
    cast = cast_at(cast)
    cast.perform(log_hours, Role.MEMBER, startedAt="2026-11-13T20:00", endedAt="2026-11-14T08:00")
    cast.perform(log_hours, Role.MEMBER, on="2026-11-13", minutes=1200)
    cast.perform(log_hours, Role.MEMBER, on="2026-11-14", minutes=960)
    for on, logged_already in (("2026-11-13", "24:00"), ("2026-11-14", "24:00")):
        with pytest.raises(Conflict, match=f"^{logged_already} hours are already logged on {on}"):
            cast.perform(log_hours, Role.MEMBER, on=on, minutes=1)
    # And the other way round: the shift is what is too much, on the date on which it ends.
    cast.perform(log_hours, Role.MEMBER, on="2026-11-11", minutes=1000)
    with pytest.raises(Conflict, match=r"^16:40 hours are already logged on 2026-11-11"):
        cast.perform(log_hours, Role.MEMBER, startedAt="2026-11-10T20:00", endedAt="2026-11-11T08:00")


@pytest.mark.parametrize(("on", "lasts"), [("2026-10-25", 25), ("2026-03-29", 23)])
def test_a_day_on_which_the_clocks_change_has_its_own_length(cast: Cast, on: str, lasts: int) -> None:
    cast = cast_at(cast)
    cast.perform(log_hours, Role.MEMBER, on=on, minutes=lasts * 30)
    cast.perform(log_hours, Role.MEMBER, on=on, minutes=lasts * 30)
    with pytest.raises(
        Conflict, match=f"^{lasts}:00 hours are already logged on {on}, so the day would have more than {lasts}"
    ):
        cast.perform(log_hours, Role.MEMBER, on=on, minutes=1)


def test_beside_one_s_own_timer_it_is_the_timer_that_is_to_be_stopped(cast: Cast) -> None:
    cast_at(cast, "2026-11-16T08:00:00Z").perform(start_timer, Role.MEMBER)
    times = {"startedAt": "2026-11-16T09:00:00Z", "endedAt": "2026-11-16T10:00:00Z"}
    with pytest.raises(Blocked) as refusal:
        cast_at(cast).perform(log_hours, Role.MEMBER, **times)
    assert refusal.value.unblocking_actions == (UnblockingAction("stop_timer"),)

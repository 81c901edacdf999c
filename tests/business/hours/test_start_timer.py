import pytest

from mainstay.business.hours.operations import get_time_entry, list_hours
from mainstay.business.hours.timers import start_timer, stop_timer
from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound
from support.cast import Cast
from support.customers import close_job
from support.hours import cast_at, make_assigned_job, make_time_entry, set_organisation_columns, set_rates


def test_a_timer_starts_now(cast: Cast) -> None:
    cast = cast_at(cast, "2026-07-15T23:30:00Z")
    set_rates(cast, Role.MEMBER, 24, 62)
    entry = cast.perform(start_timer, Role.MEMBER, note="Pipes")
    assert (entry["status"], entry["startedAt"], entry["endedAt"], entry["minutes"]) == (
        "running",
        "2026-07-15T23:30:00.000Z",
        None,
        None,
    )
    assert (entry["on"], entry["note"]) == ("2026-07-16", "Pipes")
    assert cast.perform(get_time_entry, timeEntryId=entry["id"])["billRate"] == "62.00"


def test_it_begins_the_job_which_is_not_done_while_it_runs(cast: Cast) -> None:
    cast = cast_at(cast)
    job = make_assigned_job(cast)
    cast.perform(start_timer, Role.MEMBER, jobId=job["number"])
    assert cast.perform(get_job, jobId=job["id"])["status"] == "inProgress"
    with pytest.raises(Conflict, match="A timer is still running"):
        cast.perform(change_job_status, jobId=job["id"], status="done")


def test_only_one_runs_for_each_person(cast: Cast) -> None:
    cast = cast_at(cast)
    job = make_assigned_job(cast)
    cast.perform(start_timer, Role.MEMBER, jobId=job["id"])
    message = (
        rf"^A timer on {job['number']} Replace the boiler has been running since 2026-11-16T12:00 \(Europe/London\)\."
        r" Stop it first, or switch to this job\. To switch, send switch: true\.$"
    )
    with pytest.raises(Conflict, match=message):
        cast.perform(start_timer, Role.MEMBER)
    cast.perform(start_timer, Role.SUBCONTRACTOR, jobId=job["id"])


def test_a_switch_stops_the_other(cast: Cast) -> None:
    first, second = make_assigned_job(cast), make_assigned_job(cast)
    morning = cast_at(cast, "2026-11-16T08:00:00Z").perform(start_timer, Role.MEMBER, jobId=first["id"])
    entry = cast_at(cast).perform(start_timer, Role.MEMBER, jobId=second["id"], switch=True)
    stopped = cast.perform(get_time_entry, timeEntryId=morning["id"])
    assert (stopped["status"], stopped["minutes"], stopped["endedAt"]) == ("draft", 240, entry["startedAt"])
    cast.perform(change_job_status, jobId=first["id"], status="done")
    with pytest.raises(Conflict, match="A timer is still running"):
        cast.perform(change_job_status, jobId=second["id"], status="done")


def test_a_switch_of_nothing_just_starts(cast: Cast) -> None:
    assert cast.perform(start_timer, Role.MEMBER, switch=True)["status"] == "running"


def test_a_slip_of_the_hand_counts_as_a_minute_and_the_next_begins_behind_it(cast: Cast) -> None:
    cast = cast_at(cast)
    slip = cast.perform(start_timer, Role.MEMBER)
    entry = cast.perform(start_timer, Role.MEMBER, switch=True)
    assert entry["startedAt"] == "2026-11-16T12:01:00.000Z"
    assert cast.perform(get_time_entry, timeEntryId=slip["id"])["minutes"] == 1
    assert cast.perform(stop_timer, Role.MEMBER)["minutes"] == 1


def test_after_however_many_slips_of_the_hand_one_can_start(cast: Cast) -> None:
    cast = cast_at(cast)
    for minute in range(4):
        assert cast.perform(start_timer, Role.MEMBER)["startedAt"] == f"2026-11-16T12:0{minute}:00.000Z"
        assert cast.perform(stop_timer, Role.MEMBER)["minutes"] == 1


def test_a_timer_forgotten_for_a_day_is_not_switched_silently(cast: Cast) -> None:
    cast_at(cast, "2026-11-15T08:00:00Z").perform(start_timer, Role.MEMBER)
    with pytest.raises(Conflict, match="has been running for more than 24 hours"):
        cast_at(cast).perform(start_timer, Role.MEMBER, switch=True)
    assert len(cast.perform(list_hours, status="running")["data"]) == 1


def test_nobody_starts_within_hours_that_are_logged(cast: Cast) -> None:
    make_time_entry(cast_at(cast), startedAt="2026-11-16T11:00", endedAt="2026-11-16T12:10")
    with pytest.raises(Conflict, match="Choose times that do not overlap"):
        cast_at(cast).perform(start_timer, Role.MEMBER)


def test_a_job_that_is_over_or_unseen_takes_no_timer(cast: Cast) -> None:
    job, unseen = make_assigned_job(cast), make_assigned_job(cast, assigned=[])
    close_job(cast, job["id"])
    with pytest.raises(Conflict, match="is closed"):
        cast.perform(start_timer, Role.MEMBER, jobId=job["id"])
    with pytest.raises(NotFound):
        cast.perform(start_timer, Role.MEMBER, jobId=unseen["id"])


def test_closed_books_take_no_timer(cast: Cast) -> None:
    set_organisation_columns(cast, books_closed_until="2026-11-16")
    with pytest.raises(Conflict, match="books are closed"):
        cast_at(cast).perform(start_timer, Role.MEMBER)


@pytest.mark.parametrize("role", list(Role))
def test_everyone_starts_their_own(cast: Cast, role: Role) -> None:
    assert cast.perform(start_timer, role)["personId"] == cast.people[role]


def test_the_office_starts_another_s_and_the_field_does_not(cast: Cast) -> None:
    assert cast.perform(start_timer, Role.OFFICE, personId=cast.people[Role.MEMBER])["personName"] == "Mia Member"
    with pytest.raises(Forbidden, match="You can't change personId"):
        cast.perform(start_timer, Role.MEMBER, personId=cast.people[Role.OFFICE])
    set_organisation_columns(cast, grants="")
    with pytest.raises(Forbidden):
        cast.perform(start_timer, Role.SUBCONTRACTOR)


def test_however_often_one_starts_and_stops_the_hours_stay_near(cast: Cast) -> None:
    cast = cast_at(cast)
    message = None
    for _ in range(20):
        try:
            cast.perform(start_timer, Role.MEMBER)
        except Conflict as conflict:
            message = conflict
            break
        stopped = cast.perform(stop_timer, Role.MEMBER)
    # Each counts as a minute behind the last, of which fifteen may lie ahead.
    assert stopped["endedAt"] == "2026-11-16T12:16:00.000Z"
    assert "Choose times that do not overlap" in str(message)

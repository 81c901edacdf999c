from typing import Any

import pytest

from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.timers import start_timer, stop_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.records.undo import undo_change
from mainstay.business.schedule.operations import cancel_visit, get_visit, plan_visit
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.customers import close_job
from support.hours import cast_at, make_assigned_job, make_visit
from support.stored_state import list_events_of
from support.visits import plan_test_visit


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_first_start_starts_the_job(cast: Cast, role: Role) -> None:
    visit = plan_test_visit(cast, role)
    event_count = len(list_events_of(cast))
    started = cast.perform(set_visit_status, role, visitId=visit["id"], status="started")
    assert started["status"] == "started"
    assert started["startedAt"] is not None
    assert cast.perform(get_job, jobId=visit["jobId"])["status"] == "inProgress"
    assert [event["type"] for event in list_events_of(cast)][event_count:] == ["job.started"]


def test_it_is_done_and_that_can_be_undone(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    done = cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="done")
    assert None not in {done["startedAt"], done["finishedAt"]}
    job = cast.perform(get_job, jobId=visit["jobId"])
    assert (job["status"], job["nextVisitAt"]) == ("inProgress", None)
    again = cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="planned")
    assert (again["startedAt"], again["finishedAt"]) == (None, None)
    assert cast.perform(get_job, jobId=visit["jobId"])["nextVisitAt"] == visit["startsAt"]


def test_a_repeat_changes_nothing(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    first = cast.perform(set_visit_status, visitId=visit["id"], status="started")
    assert cast.perform(set_visit_status, visitId=visit["id"], status="started")["version"] == first["version"]


def test_a_colleague_s_is_not_theirs_to_start(cast: Cast) -> None:
    visit = plan_test_visit(cast, Role.SUBCONTRACTOR)
    with pytest.raises(Forbidden, match="You can only update your own visits"):
        cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="started")
    other = plan_test_visit(cast, Role.MEMBER)
    with pytest.raises(NotFound):
        cast.perform(set_visit_status, Role.SUBCONTRACTOR, visitId=other["id"], status="started")
    assert cast.perform(set_visit_status, Role.OFFICE, visitId=other["id"], status="done")["status"] == "done"


def test_what_was_cancelled_or_is_of_a_closed_job_is_not_started(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    cast.perform(cancel_visit, visitId=visit["id"])
    with pytest.raises(Blocked, match=r"is cancelled. Plan it again first"):
        cast.perform(set_visit_status, visitId=visit["id"], status="started")
    late = plan_test_visit(cast)
    close_job(cast, late["jobId"])
    with pytest.raises(Blocked, match=r"is closed. Reopen it first"):
        cast.perform(set_visit_status, visitId=late["id"], status="started")


@pytest.mark.parametrize("before", ["started", "done"])
def test_what_is_of_a_closed_job_is_not_set_back_to_planned(cast: Cast, before: str) -> None:
    visit = plan_test_visit(cast)
    cast.perform(set_visit_status, visitId=visit["id"], status=before)
    close_job(cast, visit["jobId"])
    with pytest.raises(Blocked, match=r"^J-0001 is closed\. Reopen it first\.$"):
        cast.perform(set_visit_status, visitId=visit["id"], status="planned")
    assert cast.perform(get_job, jobId=visit["jobId"])["nextVisitAt"] is None
    cast.perform(change_job_status, jobId=visit["jobId"], status="open")
    assert cast.perform(set_visit_status, visitId=visit["id"], status="planned")["status"] == "planned"


MORNING, LUNCH = "2026-11-16T08:05:00Z", "2026-11-16T12:00:00Z"


def plan_own_visit(cast: Cast, **job: object) -> str:
    """Plan a visit of the member to a new job; return its id."""
    given = {"jobId": make_assigned_job(cast, **job)["id"], "personIds": [cast.people[Role.MEMBER]]}
    return str(cast.perform(plan_visit, **given, on="2026-11-16")["id"])


def start_at(cast: Cast, moment: str, visit: str, **given: object) -> dict[str, Any]:
    """Start a visit of the member with their timer."""
    return set_status_at(cast, moment, visit, "started", timer=True, **given)


def set_status_at(cast: Cast, moment: str, visit: str, status: str, **given: object) -> dict[str, Any]:
    """Set the status of a visit of the member at some time."""
    return cast_at(cast, moment).perform(set_visit_status, Role.MEMBER, visitId=visit, status=status, **given)


def list_times(cast: Cast) -> list[tuple[str, str | None, int | None, str | None, str | None]]:
    """Return the member's hours, the latest first."""
    hours = cast.perform(list_hours, Role.MEMBER)["data"]
    return sorted(
        [(one["status"], one["visitId"], one["minutes"], one["startedAt"], one["endedAt"]) for one in hours],
        key=lambda one: str(one[3]),
        reverse=True,
    )


def test_starting_and_finishing_clock_in_and_out(cast: Cast) -> None:
    visit = plan_own_visit(cast)
    started = start_at(cast, MORNING, visit)
    assert (started["status"], started["timeEntry"]["status"]) == ("started", "running")
    assert (started["timeEntry"]["visitId"], started["timeEntry"]["billable"]) == (visit, None)
    done = set_status_at(cast, LUNCH, visit, "done", timer=True, breakMinutes=15, note="Flushed the pipes")
    entry = done["timeEntry"]
    assert (done["status"], entry["status"], entry["minutes"], entry["note"]) == (
        "done",
        "draft",
        220,
        "Flushed the pipes",
    )
    job = cast.perform(get_job, jobId=str(done["jobId"]))
    assert cast.perform(change_job_status, jobId=job["id"], status="done")["status"] == "done"


def test_without_the_timer_only_the_visit_changes(cast: Cast) -> None:
    visit = plan_own_visit(cast)
    started = set_status_at(cast, MORNING, visit, "started")
    assert "timeEntry" not in started
    set_status_at(cast, LUNCH, visit, "done")
    assert list_times(cast) == []


def test_a_timer_on_other_work_is_stopped_and_one_on_the_job_goes_on(cast: Cast) -> None:
    first, second = plan_own_visit(cast), make_visit(cast, None, cast.people[Role.MEMBER])
    start_at(cast, MORNING, first)
    start_at(cast, LUNCH, second)
    assert [one[:3] for one in list_times(cast)] == [("running", None, None), ("draft", first, 235)]
    set_status_at(cast, "2026-11-16T12:30:00Z", second, "done", timer=True)
    job = cast.perform(get_visit, visitId=first)["jobId"]
    cast_at(cast, "2026-11-16T13:00:00Z").perform(start_timer, Role.MEMBER, jobId=job)
    assert start_at(cast, "2026-11-16T13:05:00Z", first)["timeEntry"]["startedAt"] == "2026-11-16T13:00:00.000Z"
    set_status_at(cast, "2026-11-16T14:00:00Z", first, "done", timer=True)
    assert list_times(cast)[0][2] == 60


def test_after_a_break_starting_again_goes_on(cast: Cast) -> None:
    visit = plan_own_visit(cast)
    start_at(cast, MORNING, visit)
    cast_at(cast, "2026-11-16T10:00:00Z").perform(stop_timer, Role.MEMBER)
    again = start_at(cast, "2026-11-16T10:20:00Z", visit)
    assert again["startedAt"] == "2026-11-16T08:05:00.000Z"
    set_status_at(cast, LUNCH, visit, "done", timer=True)
    assert [one[2] for one in list_times(cast)] == [100, 115]


def test_work_that_is_told_later_has_its_own_times(cast: Cast) -> None:
    visit = plan_own_visit(cast)
    started = start_at(cast, LUNCH, visit, startedAt="2026-11-16T08:30")
    assert started["startedAt"] == started["timeEntry"]["startedAt"] == "2026-11-16T08:30:00.000Z"
    done = set_status_at(
        cast,
        "2026-11-16T17:00:00Z",
        visit,
        "done",
        timer=True,
        startedAt="2026-11-16T08:40",
        endedAt="2026-11-16T09:40",
    )
    assert (done["startedAt"], done["finishedAt"]) == ("2026-11-16T08:40:00.000Z", "2026-11-16T09:40:00.000Z")
    assert done["timeEntry"]["minutes"] == 60
    # The next visit began before this was told.
    late = plan_own_visit(cast)
    with pytest.raises(Conflict, match="Choose times that do not overlap"):
        start_at(cast, "2026-11-16T17:00:00Z", late, startedAt="2026-11-16T09:00")
    assert cast.perform(get_visit, visitId=late)["status"] == "planned"


def test_hours_that_no_timer_counted_are_logged(cast: Cast) -> None:
    visit = plan_own_visit(cast)
    done = set_status_at(cast, LUNCH, visit, "done", timer=True, startedAt="2026-11-16T10:00", breakMinutes=30)
    assert (done["timeEntry"]["status"], done["timeEntry"]["minutes"]) == ("draft", 90)
    other = plan_own_visit(cast)
    without = set_status_at(cast, LUNCH, other, "done", timer=True)
    assert without["warnings"] == [
        "No timer was running on this visit, so no hours were logged. Call log_hours with visitId."
    ]


def test_what_does_not_belong_together_is_refused(cast: Cast) -> None:
    visit = plan_own_visit(cast)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"status": "planned", "timer": True}, "timer"),
        ({"status": "started", "endedAt": "2026-11-16T10:00"}, "endedAt"),
        ({"status": "started", "timer": True, "note": "Pipes"}, "note"),
        ({"status": "done", "breakMinutes": 5}, "timer"),
        ({"status": "started", "startedAt": "2026-11-17T10:00"}, "startedAt"),
        ({"status": "done", "startedAt": "2026-11-16T10:00", "endedAt": "2026-11-16T09:00"}, "endedAt"),
    ]
    for given, field in wrong:
        with pytest.raises(Invalid) as refused:
            cast_at(cast, LUNCH).perform(set_visit_status, Role.MEMBER, visitId=visit, **given)
        assert [fault.field for fault in refused.value.faults] == [field], given
    with pytest.raises(Invalid, match="timer: is only for your own visits"):
        cast_at(cast, LUNCH).perform(set_visit_status, Role.OFFICE, visitId=visit, status="started", timer=True)


def test_a_start_with_the_timer_is_undone_unless_another_timer_was_stopped(cast: Cast) -> None:
    visit, other = plan_own_visit(cast), plan_own_visit(cast)
    change = start_to_undo(cast, visit)
    cast_at(cast, LUNCH).perform(undo_change, Role.MEMBER, changeIds=[str(change)])
    assert list_times(cast) == []
    assert cast.perform(get_visit, visitId=visit)["status"] == "planned"
    start_at(cast, MORNING, visit)
    assert start_to_undo(cast, other) is None


def start_to_undo(cast: Cast, visit: str) -> int | None:
    """Start a visit with the timer, and return the id of the change if it can be undone."""
    given = {"visitId": visit, "status": "started", "timer": True}
    return cast_at(cast, LUNCH).answer(set_visit_status, Role.MEMBER, None, **given).undoable_change

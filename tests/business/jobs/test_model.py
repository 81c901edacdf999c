"""The stage of a job and what can become of it, written out by hand."""

from typing import Any, get_args

import pytest

from mainstay.business.jobs.model import Billing, Job, JobProgress, JobStage, JobStatus, next_job_step, stage_of
from mainstay.vocabulary.actor import system_actor
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Permission, Role

TIME = {"billing": "timeAndMaterials"}
FREE = {"billing": "nonBillable"}
STAGES: list[tuple[dict[str, Any], JobStage, str | None]] = [
    ({"status": "enquiry"}, "enquiry", "Send a quote or start the job"),
    ({"status": "enquiry", "quoting": True}, "quoting", "Waiting for an answer"),
    ({"status": "open", "quoting": True}, "quoting", "Waiting for an answer"),
    ({"status": "open"}, "toSchedule", "Plan a visit"),
    ({"status": "open", "planned_visits": 1}, "scheduled", "Visit planned"),
    # Work that is planned is more than a quote that is out.
    ({"status": "open", "planned_visits": 1, "quoting": True}, "scheduled", "Visit planned"),
    ({"status": "inProgress"}, "inProgress", "Finish the work"),
    ({"status": "inProgress", "planned_visits": 2, "quoting": True}, "inProgress", "Finish the work"),
    ({"status": "onHold"}, "onHold", "Resume the job"),
    ({"status": "onHold", "planned_visits": 1}, "onHold", "Resume the job"),
    ({"status": "done"}, "toInvoice", "Invoice the work"),
    ({"status": "done", "billing": "fixed"}, "toInvoice", "Invoice the work"),
    ({"status": "done", "owed": 100}, "toInvoice", "Invoice the work"),
    ({"status": "done", "invoiced": True, "owed": 100}, "invoiced", "Waiting for payment"),
    ({"status": "done", "invoiced": True}, "paid", "Close the job"),
    # What is not billed is not waited for.
    ({"status": "done", **FREE}, "paid", "Close the job"),
    ({"status": "done", **FREE, "owed": 100}, "invoiced", "Waiting for payment"),
    ({"status": "closed", "invoiced": True}, "paid", None),
    # Closed by hand: nothing of it is on an invoice, or not all.
    ({"status": "closed"}, "closed", None),
    ({"status": "closed", "owed": 100}, "closed", None),
    ({"status": "closed", "invoiced": True, "owed": 100}, "closed", None),
    ({"status": "closed", **FREE}, "closed", None),
    ({"status": "closed", "planned_visits": 1, "quoting": True}, "closed", None),
    ({"status": "cancelled"}, "cancelled", None),
    ({"status": "cancelled", "planned_visits": 1}, "cancelled", None),
]


@pytest.mark.parametrize(("standing", "stage", "next_action"), STAGES)
def test_the_stage_follows_from_how_far_it_is(
    standing: dict[str, Any], stage: JobStage, next_action: str | None
) -> None:
    assert stage_of(JobProgress(**TIME | standing)) == (stage, next_action)


def test_every_stage_is_reached_and_every_state_has_one() -> None:
    assert {stage for _, stage, _ in STAGES} == {*get_args(JobStage)}
    for status in get_args(JobStatus):
        for billing in get_args(Billing):
            assert stage_of(JobProgress(status, billing))[0] in get_args(JobStage)


def build_job(**given: Any) -> Job:
    usual: dict[str, Any] = {
        "row": (),
        "id": "job_1",
        "number": "J-0001",
        "title": "Boiler",
        "status": "open",
        "billing": "fixed",
        "customer_id": "customer_1",
        "customer_name": "Calder",
        "site_id": None,
        "lead_person_id": None,
        "assigned": [],
        "budget": None,
        "quote_id": None,
        "planned_visits": 0,
        "running_timers": 0,
        "quoting": False,
        "invoiced": False,
        "owed": 0,
    }
    return Job(**usual | given)


# From each state, what the office may make of it.
MOVES = {
    "enquiry": {"open", "onHold"},
    "open": {"enquiry", "inProgress", "onHold", "done"},
    "inProgress": {"open", "onHold", "done"},
    "onHold": {"open", "inProgress", "done"},
    "done": {"inProgress", "open", "closed"},
    "closed": {"open", "inProgress", "done"},
    "cancelled": {"open"},
}
# And what those who work on it may.
FIELD_STATUSES = {"open", "inProgress", "onHold", "done"}
OFFICE = system_actor("org_1")._replace(role=Role.OFFICE, permissions=ROLE_PERMISSIONS[Role.OFFICE])
MEMBER = system_actor("org_1")._replace(role=Role.MEMBER, permissions=ROLE_PERMISSIONS[Role.MEMBER])
BEFORE = pytest.mark.parametrize("before", MOVES)
AFTER = pytest.mark.parametrize("after", ["enquiry", "open", "inProgress", "onHold", "done", "closed"])


@BEFORE
@AFTER
def test_the_office_moves_it_as_the_table_says(before: Any, after: Any) -> None:
    reasons = build_job(status=before).not_movable(OFFICE, after)
    assert (not reasons) == (after in MOVES[before])
    assert not [reason for reason in reasons if reason.is_missing_permission]
    if reasons and before != after:
        # The refusal names what is possible.
        assert all(possible in reasons[0].text for possible in MOVES[before])


@BEFORE
@AFTER
def test_a_member_moves_it_between_open_and_done(before: Any, after: Any) -> None:
    reasons = build_job(status=before).not_movable(MEMBER, after)
    assert (not reasons) == (after in MOVES[before] and {before, after} <= FIELD_STATUSES)
    if before != after and not {before, after} <= FIELD_STATUSES:
        assert [reason.is_missing_permission for reason in reasons] == [True]
        assert reasons[0].text.endswith("Ask the office.")


@pytest.mark.parametrize(("before", "after"), [("inProgress", "done"), ("done", "closed")])
def test_while_a_timer_runs_it_is_not_over(before: Any, after: Any) -> None:
    timed = build_job(status=before, running_timers=1)
    (reason,) = timed.not_movable(OFFICE, after)
    message = "A timer is still running on J-0001."
    hint = "list_hours of the job with the status `running` shows whose it is."
    assert reason.text == f"{message} Stop it first. {hint}"
    assert reason.first == "stop_timer"
    # People who see only their own hours see no other timer and cannot stop one.
    if after in FIELD_STATUSES:
        (reason,) = timed.not_movable(MEMBER, after)
        assert reason.text == f"{message} If it is not yours, ask the person who started it or the office to stop it."


def test_what_is_owed_keeps_it_from_being_closed() -> None:
    (reason,) = build_job(status="done", invoiced=True, owed=1).not_movable(OFFICE, "closed")
    assert reason.text == "J-0001 is not paid yet. It closes automatically once it is."
    assert build_job(status="done", invoiced=True).not_movable(OFFICE, "closed") == []
    (reason,) = build_job(status="done", owed=1).not_movable(OFFICE, "closed")
    message = "J-0001 has an unpaid invoice. Record the payment, or credit or void the invoice, first."
    assert (reason.text, reason.first) == (message, "record_payment")
    assert build_job(status="done").not_movable(OFFICE, "closed") == []


@pytest.mark.parametrize("status", get_args(JobStatus))
def test_only_what_is_not_over_is_changed_or_worked_on(status: Any) -> None:
    over = status in {"closed", "cancelled"}
    for reasons in (build_job(status=status).not_changeable(OFFICE), build_job(status=status).not_workable()):
        assert [(reason.text, reason.first) for reason in reasons] == (
            [(f"J-0001 is {status}. Reopen it first.", "change_job_status")] if over else []
        )


def test_what_is_closed_or_cancelled_or_timed_is_not_cancelled() -> None:
    texts = {
        status: [reason.text for reason in build_job(status=status).not_cancellable(OFFICE)]
        for status in get_args(JobStatus)
    }
    assert texts == {status: [] for status in get_args(JobStatus)} | {
        "closed": ["J-0001 is closed. Reopen it first."],
        "cancelled": ["J-0001 is already cancelled."],
    }
    (reason,) = build_job(running_timers=2).not_cancellable(OFFICE)
    assert reason.first == "stop_timer"


def test_a_member_lacks_the_right_that_the_office_has() -> None:
    # What the two tables above stand on.
    assert Permission.JOBS_CHANGE in OFFICE.permissions
    assert Permission.JOBS_CHANGE not in MEMBER.permissions


@pytest.mark.parametrize(
    ("stage", "words", "becomes"),
    [
        ("enquiry", "Open the job", "open"),
        ("toSchedule", "Start the work", "inProgress"),
        ("scheduled", "Start the work", "inProgress"),
        ("inProgress", "Finish the work", "done"),
        ("toInvoice", "Close the job", "closed"),
        ("paid", "Close the job", "closed"),
        ("onHold", "Resume the job", "open"),
        ("cancelled", "Reopen the job", "open"),
    ],
)
def test_the_step_at_a_stage_is_one_that_the_job_can_take(stage: JobStage, words: str, becomes: str) -> None:
    assert next_job_step(stage, sees_office_stages=True) == (words, becomes)


@pytest.mark.parametrize("stage", ["quoting", "invoiced"])
def test_where_one_waits_for_the_customer_there_is_no_step(stage: JobStage) -> None:
    assert next_job_step(stage, sees_office_stages=True) is None

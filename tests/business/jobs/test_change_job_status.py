import pytest

from mainstay.business.jobs import store
from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.jobs.store import JOBS
from mainstay.business.records.notes import list_notes
from mainstay.kernel.context import Context, RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import make_assigned_job, make_time_entry
from support.invoices import issue_invoice, make_invoice, pay_invoice
from support.purchases import place_order, receive_order
from support.stored_state import read_last_event, to_event_record


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
@pytest.mark.parametrize(
    ("steps", "event", "at"),
    [
        (["inProgress"], "job.started", "inProgress"),
        (["done"], "job.completed", "toInvoice"),
        (["inProgress", "done"], "job.completed", "toInvoice"),
        (["onHold"], "job.updated", "onHold"),
        (["onHold", "open"], "job.updated", "toSchedule"),
        # What was begun before does not begin again.
        (["inProgress", "onHold", "inProgress"], "job.updated", "inProgress"),
        (["done", "inProgress"], "job.updated", "inProgress"),
    ],
)
def test_it_moves_and_an_event_tells_of_it(cast: Cast, role: Role, steps: list[str], event: str, at: str) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)
    before, after = job, job
    for step in steps:
        cast.perform(change_job_status, role, jobId=job["id"], status=step)
        before, after = after, cast.perform(get_job, jobId=job["id"])
    assert (after["status"], after["stage"]) == (steps[-1], at)
    last = read_last_event(cast)
    assert (last["type"], last["data"]["object"]) == (event, to_event_record(after))
    assert last["data"]["previous"] == {
        name: before[name] for name in ("status", "stage", "nextAction") if before[name] != after[name]
    }


def test_the_office_closes_and_reopens(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    for status, stage in (("done", "toInvoice"), ("closed", "closed"), ("open", "toSchedule"), ("enquiry", "enquiry")):
        assert cast.perform(change_job_status, Role.OFFICE, jobId=job, status=status)["stage"] == stage


def test_what_is_owed_of_a_part_of_it_keeps_it_from_being_closed(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), billing="fixed", budget="1000")["id"]
    half = issue_invoice(cast, make_invoice(cast, jobId=job, lines=[{"description": "First half", "unitPrice": "600"}]))
    cast.perform(change_job_status, jobId=job, status="done")
    with pytest.raises(Blocked, match=r"^J-0001 has an unpaid invoice\. Record the payment, or credit"):
        cast.perform(change_job_status, jobId=job, status="closed")
    pay_invoice(cast, half, "100")
    assert cast.perform(get_job, jobId=job)["stage"] == "toInvoice"
    pay_invoice(cast, half)
    closed = cast.perform(change_job_status, jobId=job, status="closed")
    assert (closed["status"], closed["stage"]) == ("closed", "closed")
    message = "J-0001 is closed without a full invoice. Create one if the customer should pay. Call draft_invoice."
    assert closed["warnings"] == [message]


BILL_IT = " Invoice it if the customer should pay. Call draft_invoice."


@pytest.mark.parametrize(
    ("status", "work"), [("draft", "1:30 h of work and "), ("approved", "1:30 h of work and "), ("rejected", "")]
)
def test_closing_warns_of_work_that_is_on_no_invoice(cast: Cast, status: str, work: str) -> None:
    job, other = make_assigned_job(cast), make_assigned_job(cast)
    for where in (job, other):
        make_time_entry(cast, jobId=where["id"], status=status, minutes=90, on="2026-11-16")
    receive_order(cast, place_order(cast, jobId=job["id"]), "10", "2")
    cast.perform(change_job_status, jobId=job["id"], status="done")
    closed = cast.perform(change_job_status, Role.OFFICE, jobId=job["id"], status="closed")
    assert closed["stage"] == "closed"
    message = f"{job['number']} has work that is not on an invoice: {work}2 lines of materials.{BILL_IT}"
    assert closed["warnings"] == [message]


def test_closing_what_is_not_billed_warns_of_nothing(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), billing="nonBillable")["id"]
    for status in ("done", "closed"):
        assert "warnings" not in cast.perform(change_job_status, jobId=job, status=status)


def test_it_is_refused_in_words_that_say_what_is_possible(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    with pytest.raises(Blocked, match=r"^J-0001 is already open\.$"):
        cast.perform(change_job_status, jobId=job, status="open")
    with pytest.raises(
        Blocked, match=r"^J-0001 is open\. It can only become 'inProgress', 'done', 'onHold' or 'enquiry'\.$"
    ):
        cast.perform(change_job_status, jobId=job, status="closed")
    with pytest.raises(Invalid, match=r"^status: is not one of"):
        cast.perform(change_job_status, jobId=job, status="cancelled")


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_why_it_was_moved_stands_beside_it(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)["id"]
    cast.perform(change_job_status, role, jobId=job, status="onHold", reason="The tank is late.")
    [note] = cast.perform(list_notes, Role.MEMBER, recordId=job)["data"]
    assert (note["body"], note["visibility"]) == ("The tank is late.", "field")
    assert note["createdBy"]["person"]["id"] == cast.people[role]


def test_no_note_is_left_by_a_move_that_is_refused(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    with pytest.raises(Blocked):
        cast.perform(change_job_status, jobId=job, status="open", reason="Again.")
    assert cast.perform(list_notes, recordId=job)["data"] == []


def test_a_running_timer_is_stopped_first(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    with cast.performer.database.write_transaction(cast.organisation) as db:
        ctx = Context(db, cast.actor(Role.OFFICE), RequestDetails("r"), cast.performer.clock)
        store.save(ctx, JOBS.fetch(ctx, job), {"running_timers": 1})
    with pytest.raises(Blocked, match=r"^A timer is still running on J-0001\. Stop it first\. list_hours") as refusal:
        cast.perform(change_job_status, jobId=job, status="done")
    assert [reason.first for reason in refusal.value.reasons] == ["stop_timer"]


@pytest.mark.parametrize("status", ["enquiry", "closed"])
def test_a_member_leaves_the_ends_to_the_office(cast: Cast, status: str) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)["id"]
    cast.perform(change_job_status, Role.MEMBER, jobId=job, status="done")
    with pytest.raises(Forbidden, match=rf"^You can't change the status of J-0001 to {status}\. Ask the office\.$"):
        cast.perform(change_job_status, Role.MEMBER, jobId=job, status=status)


def test_a_member_does_not_take_up_an_enquiry(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER, status="enquiry")["id"]
    with pytest.raises(Forbidden, match="Ask the office"):
        cast.perform(change_job_status, Role.MEMBER, jobId=job, status="open")


def test_a_job_of_others_is_not_found_by_a_member(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.SUBCONTRACTOR)
    for name in (job["id"], job["number"]):
        with pytest.raises(NotFound, match=r"^There is no job with that identifier\.$"):
            cast.perform(change_job_status, Role.MEMBER, jobId=name, status="done")


def test_a_subcontractor_moves_none(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.SUBCONTRACTOR)["id"]
    with pytest.raises(Forbidden):
        cast.perform(change_job_status, Role.SUBCONTRACTOR, jobId=job, status="done")


def test_a_stranger_s_job_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(change_job_status, jobId=make_job(other_cast, make_customer(other_cast))["id"], status="done")

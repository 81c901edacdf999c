"""One job event is emitted whenever invoices, quotes, hours or purchases move a job to another stage."""

from collections.abc import Callable
from datetime import date

import pytest

from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.expiry import TIMERS
from mainstay.business.quotes.operations import revise_quote
from mainstay.business.quotes.sending import withdraw_quote
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import cast_at as at_noon
from support.invoices import (
    credit_issued,
    issue_invoice,
    make_approved_hour,
    make_hourly_job,
    make_invoice,
    pay_invoice,
    void_issued,
)
from support.purchases import make_bill
from support.quotes import cast_later, issue_quote, make_quote
from support.stored_state import list_events_of, to_event_record


@pytest.fixture
def noon(cast: Cast) -> Cast:
    return at_noon(cast)


def track_stage(cast: Cast, job: str, act: Callable[[], object]) -> tuple[str, str]:
    """Return the stages of a job before and after an act, and check that one event describes the change."""
    count, before = len(list_events_of(cast)), cast.perform(get_job, jobId=job)
    act()
    after = cast.perform(get_job, jobId=job)
    [event_of_job] = [event for event in list_events_of(cast)[count:] if event["data"]["object"]["id"] == job]
    assert (event_of_job["type"], event_of_job["data"]["object"]) == ("job.updated", to_event_record(after))
    changed = {name for name in after if after[name] != before[name]} - {"updatedAt", "updatedBy", "version"}
    previous = {name: before[name] for name in changed - {"availableActions"}}
    assert event_of_job["data"]["previous"] == previous
    return before["stage"], after["stage"]


def check_no_event(cast: Cast, job: str, act: Callable[[], object]) -> None:
    """Check that an act emits no event about a job."""
    count = len(list_events_of(cast))
    act()
    assert [event for event in list_events_of(cast)[count:] if event["data"]["object"]["id"] == job] == []


def test_a_quote_that_is_sent_revised_declined_withdrawn_and_expired(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email="ann@calder.example"), status="enquiry")["id"]

    def draft() -> dict[str, object]:
        return make_quote(cast, jobId=job)

    first = draft()
    assert track_stage(cast, job, lambda: issue_quote(cast, first)) == ("enquiry", "quoting")
    # The answer to the next one is waited for just so.
    second = cast.perform(revise_quote, quoteId=first["id"])
    check_no_event(cast, job, lambda: issue_quote(cast, second))
    answer = {"quoteId": second["id"], "decision": "declined", "confirmed": True}
    assert track_stage(cast, job, lambda: cast.perform(record_quote_decision, **answer)) == ("quoting", "enquiry")
    third = issue_quote(cast, draft())
    taken_back = {"quoteId": third["id"], "confirmed": True}
    assert track_stage(cast, job, lambda: cast.perform(withdraw_quote, **taken_back)) == ("quoting", "enquiry")
    issue_quote(cast, draft())
    [timer] = TIMERS
    after = cast_later(cast, days=40)
    expiring = track_stage(
        cast, job, lambda: after.performer.run_daily_timer(timer, cast.organisation, date(2031, 2, 1))
    )
    assert expiring == ("quoting", "enquiry")


def test_an_invoice_that_is_issued_voided_and_paid(noon: Cast) -> None:
    job = make_job(noon, make_customer(noon, email="ann@calder.example"))["id"]
    noon.perform(change_job_status, jobId=job, status="done")
    first, second = make_invoice(noon, jobId=job), make_invoice(noon, jobId=job)
    assert track_stage(noon, job, lambda: issue_invoice(noon, first)) == ("toInvoice", "invoiced")
    assert track_stage(noon, job, lambda: void_issued(noon, first)) == ("invoiced", "toInvoice")
    assert track_stage(noon, job, lambda: issue_invoice(noon, second)) == ("toInvoice", "invoiced")
    # The stage does not show how much is owed.
    check_no_event(noon, job, lambda: pay_invoice(noon, second, "999"))
    assert track_stage(noon, job, lambda: pay_invoice(noon, second)) == ("invoiced", "paid")
    assert noon.perform(get_job, jobId=job)["status"] == "closed"


def test_an_invoice_that_is_credited_in_whole(noon: Cast) -> None:
    job = make_job(noon, make_customer(noon, email="ann@calder.example"))["id"]
    noon.perform(change_job_status, jobId=job, status="done")
    sent_one = issue_invoice(noon, make_invoice(noon, jobId=job))
    assert track_stage(noon, job, lambda: credit_issued(noon, sent_one)) == ("invoiced", "toInvoice")


@pytest.mark.parametrize("more", ["hours", "purchases"])
def test_what_is_to_be_billed_besides(noon: Cast, more: str) -> None:
    job = make_hourly_job(noon)
    make_approved_hour(noon, job, on="2026-11-15")
    noon.perform(change_job_status, jobId=job["id"], status="done")
    issue_invoice(noon, make_invoice(noon, jobId=job["id"], unbilled=True))

    def act() -> None:
        if more == "hours":
            make_approved_hour(noon, job, on="2026-11-16")
        else:
            make_bill(noon, jobId=job["id"])

    assert track_stage(noon, job["id"], act) == ("invoiced", "toInvoice")

"""What happens to a job when it is invoiced and paid: its stage moves on, and finished work is closed."""

from typing import Any

import pytest

from mainstay.business.invoices.drafting.operations import delete_draft_invoice
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.jobs.operations import change_job_status, get_job, update_job
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job, run_all_tasks
from support.hours import cast_at as at_noon
from support.invoices import (
    BOILER,
    FLUE,
    credit_issued,
    issue_invoice,
    make_accepted_quote,
    make_approved_hour,
    make_hourly_job,
    make_invoice,
    pay_invoice,
    void_issued,
)
from support.purchases import make_bill
from support.quotes import cast_later
from support.stored_state import list_events_of


def stage_of(cast: Cast, job: str) -> str:
    return str(cast.perform(get_job, jobId=job)["stage"])


def finish_job(cast: Cast, job: dict[str, Any]) -> str:
    """Set a job to done; return its id."""
    if cast.perform(get_job, jobId=job["id"])["status"] != "inProgress":
        cast.perform(change_job_status, jobId=job["id"], status="inProgress")
    return str(cast.perform(change_job_status, jobId=job["id"], status="done")["id"])


@pytest.fixture
def noon(cast: Cast) -> Cast:
    return at_noon(cast)


def test_work_that_is_done_is_to_be_invoiced_then_invoiced_then_paid_and_closed(noon: Cast) -> None:
    job = finish_job(noon, make_job(noon, make_customer(noon)))
    assert stage_of(noon, job) == "toInvoice"
    sent = issue_invoice(noon, make_invoice(noon, jobId=job))
    assert stage_of(noon, job) == "invoiced"
    pay_invoice(noon, sent, "999")
    assert stage_of(noon, job) == "invoiced"
    pay_invoice(noon, sent)
    after = noon.perform(get_job, jobId=job)
    assert (after["status"], after["stage"]) == ("closed", "paid")
    job_event, invoice_event = list_events_of(noon)[-2:]
    assert (job_event["type"], job_event["data"]["previous"]["status"]) == ("job.updated", "done")
    assert invoice_event["type"] == "invoice.paid"


def test_work_that_goes_on_stays_open_until_it_is_done(noon: Cast) -> None:
    job = make_job(noon, make_customer(noon))
    noon.perform(change_job_status, jobId=job["id"], status="inProgress")
    pay_invoice(noon, issue_invoice(noon, make_invoice(noon, jobId=job["id"])))
    assert noon.perform(get_job, jobId=job["id"])["status"] == "inProgress"
    noon.perform(change_job_status, jobId=job["id"], status="done")
    run_all_tasks(cast_later(noon, days=1))
    assert noon.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_a_job_whose_purchases_are_in_the_price_after_all_is_closed(noon: Cast) -> None:
    job = make_job(noon, make_customer(noon))
    make_bill(noon, jobId=job["id"])
    pay_invoice(noon, issue_invoice(noon, make_invoice(noon, jobId=job["id"])))
    finish_job(noon, job)
    run_all_tasks(cast_later(noon, days=1))
    assert stage_of(noon, job["id"]) == "toInvoice"
    noon.perform(update_job, jobId=job["id"], billing="fixed")
    run_all_tasks(cast_later(noon, days=1))
    assert noon.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_a_job_whose_purchases_are_billed_after_all_is_to_be_invoiced(noon: Cast) -> None:
    job = make_job(noon, make_customer(noon), billing="fixed")
    make_bill(noon, jobId=job["id"])
    issue_invoice(noon, make_invoice(noon, jobId=job["id"]))
    finish_job(noon, job)
    assert stage_of(noon, job["id"]) == "invoiced"
    noon.perform(update_job, jobId=job["id"], billing="timeAndMaterials")
    run_all_tasks(cast_later(noon, days=1))
    assert stage_of(noon, job["id"]) == "toInvoice"


def test_a_deposit_that_is_paid_closes_nothing(noon: Cast) -> None:
    quote = make_accepted_quote(noon, BOILER)
    job = finish_job(noon, {"id": quote["jobId"]})
    pay_invoice(noon, issue_invoice(noon, make_invoice(noon, quoteId=quote["id"], part={"percent": "50"})))
    assert (noon.perform(get_job, jobId=job)["status"], stage_of(noon, job)) == ("done", "toInvoice")
    pay_invoice(noon, issue_invoice(noon, make_invoice(noon, quoteId=quote["id"])))
    assert noon.perform(get_job, jobId=job)["status"] == "closed"


def test_a_line_of_the_quote_that_is_on_no_invoice_keeps_it_open(noon: Cast) -> None:
    quote = make_accepted_quote(noon, BOILER, FLUE)
    job = finish_job(noon, {"id": quote["jobId"]})
    boiler, flue = (line["id"] for line in quote["lines"])
    pay_invoice(noon, issue_invoice(noon, make_invoice(noon, quoteId=quote["id"], quoteLines=[boiler])))
    assert (noon.perform(get_job, jobId=job)["status"], stage_of(noon, job)) == ("done", "toInvoice")
    second = issue_invoice(noon, make_invoice(noon, quoteId=quote["id"], quoteLines=[flue]))
    assert stage_of(noon, job) == "invoiced"
    pay_invoice(noon, second)
    assert noon.perform(get_job, jobId=job)["status"] == "closed"


def test_a_quote_that_is_billed_in_parts_or_on_other_lines_is_invoiced_once_it_is_all_there(noon: Cast) -> None:
    quotes = [make_accepted_quote(noon, BOILER, FLUE) for _ in range(2)]
    jobs = [finish_job(noon, {"id": quote["jobId"]}) for quote in quotes]
    issue_invoice(noon, make_invoice(noon, quoteId=quotes[0]["id"], part={"percent": "33.33"}))
    issue_invoice(noon, make_invoice(noon, jobId=jobs[1], lines=[{"description": "Heating", "unitPrice": "1091.09"}]))
    assert [stage_of(noon, job) for job in jobs] == ["toInvoice", "toInvoice"]
    issue_invoice(noon, make_invoice(noon, quoteId=quotes[0]["id"], part={"percent": "66.67"}))
    issue_invoice(noon, make_invoice(noon, jobId=jobs[1], lines=[{"description": "Rest", "unitPrice": "0.01"}]))
    assert [stage_of(noon, job) for job in jobs] == ["invoiced", "invoiced"]


def test_each_quote_that_was_agreed_for_it_must_be_invoiced(noon: Cast) -> None:
    first = make_accepted_quote(noon, BOILER)
    job = finish_job(noon, {"id": first["jobId"]})
    more = make_accepted_quote(noon, FLUE, customerId=first["customerId"], jobId=job)
    assert noon.perform(get_job, jobId=job)["budget"] == "1091.10"
    for quote in (first, more):
        assert stage_of(noon, job) == "toInvoice"
        pay_invoice(noon, issue_invoice(noon, make_invoice(noon, quoteId=quote["id"])))
    assert noon.perform(get_job, jobId=job)["status"] == "closed"


def test_hours_on_a_draft_keep_it_open_whatever_becomes_of_the_draft(noon: Cast) -> None:
    job = make_hourly_job(noon)
    make_approved_hour(noon, job, on="2026-11-15")
    first = make_invoice(noon, jobId=job["id"], unbilled=True)
    make_approved_hour(noon, job, on="2026-11-16")
    second = make_invoice(noon, jobId=job["id"], unbilled=True)
    finish_job(noon, job)
    pay_invoice(noon, issue_invoice(noon, first))
    assert stage_of(noon, job["id"]) == "toInvoice"
    noon.perform(delete_draft_invoice, Role.OFFICE, invoiceId=second["id"], confirmed=True)
    assert stage_of(noon, job["id"]) == "toInvoice"


def test_what_is_left_of_a_price_keeps_it_open_and_what_is_credited_of_it_does_not(noon: Cast) -> None:
    job = finish_job(noon, make_job(noon, make_customer(noon), billing="fixed", budget="1000"))
    issue_invoice(noon, make_invoice(noon, jobId=job, lines=[{"description": "First half", "unitPrice": "999.99"}]))
    assert stage_of(noon, job) == "toInvoice"
    rest = issue_invoice(noon, make_invoice(noon, jobId=job, lines=[{"description": "Rest", "unitPrice": "10"}]))
    assert stage_of(noon, job) == "invoiced"
    credit_issued(noon, rest, amount="5")
    assert stage_of(noon, job) == "invoiced"
    noon.perform(update_job, jobId=job, budget="1010")
    run_all_tasks(cast_later(noon, days=1))
    assert stage_of(noon, job) == "toInvoice"


def test_what_is_not_billed_yet_keeps_it_open(noon: Cast) -> None:
    job = make_hourly_job(noon)
    make_approved_hour(noon, job, on="2026-11-15")
    first = make_invoice(noon, jobId=job["id"], unbilled=True)
    make_approved_hour(noon, job, on="2026-11-16")
    finish_job(noon, job)
    pay_invoice(noon, issue_invoice(noon, first))
    assert stage_of(noon, job["id"]) == "toInvoice"
    pay_invoice(noon, issue_invoice(noon, make_invoice(noon, jobId=job["id"], unbilled=True)))
    assert noon.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_void_or_credited_it_is_to_be_invoiced_again(noon: Cast) -> None:
    job = finish_job(noon, make_job(noon, make_customer(noon)))
    for undone in (void_issued, credit_issued):
        sent = issue_invoice(noon, make_invoice(noon, jobId=job))
        assert stage_of(noon, job) == "invoiced"
        undone(noon, sent)
        assert stage_of(noon, job) == "toInvoice"
    assert noon.perform(get_job, jobId=job)["status"] == "done"


def test_one_payment_closes_each_job_that_it_settles(noon: Cast) -> None:
    customer = make_customer(noon)
    jobs = [finish_job(noon, make_job(noon, customer)) for _ in range(2)]
    for job in jobs:
        issue_invoice(noon, make_invoice(noon, jobId=job))
    noon.perform(record_payment, customerId=customer, amount="2000")
    assert [noon.perform(get_job, jobId=job)["status"] for job in jobs] == ["closed", "closed"]
    assert [event["type"] for event in list_events_of(noon)].count("invoice.paid") == 2

"""What follows for a job when it is invoiced and paid: it moves on, and work that is done is closed."""

from typing import Any

import pytest

from billing import BOILER, FLUE, a_sold_quote, an_hour, an_invoice, credited, issued, paid, voided, worked_job
from cast import Cast
from evidence import events
from labour import at as at_noon
from mainstay.business.invoices.operations import delete_draft_invoice
from mainstay.business.invoices.paying import record_payment
from mainstay.business.jobs.operations import change_job_status, get_job, update_job
from mainstay.terms.rights import Role
from ordering import a_bill
from quoting import later
from trade import a_customer, a_job, work_off


def stage_of(cast: Cast, job: str) -> str:
    return str(cast.perform(get_job, jobId=job)["stage"])


def done(cast: Cast, job: dict[str, Any]) -> str:
    """The job, when its work is done; its id."""
    if cast.perform(get_job, jobId=job["id"])["status"] != "inProgress":
        cast.perform(change_job_status, jobId=job["id"], status="inProgress")
    return str(cast.perform(change_job_status, jobId=job["id"], status="done")["id"])


@pytest.fixture
def noon(cast: Cast) -> Cast:
    return at_noon(cast)


def test_work_that_is_done_is_to_be_invoiced_then_invoiced_then_paid_and_closed(noon: Cast) -> None:
    job = done(noon, a_job(noon, a_customer(noon)))
    assert stage_of(noon, job) == "toInvoice"
    sent = issued(noon, an_invoice(noon, jobId=job))
    assert stage_of(noon, job) == "invoiced"
    paid(noon, sent, "999")
    assert stage_of(noon, job) == "invoiced"
    paid(noon, sent)
    after = noon.perform(get_job, jobId=job)
    assert (after["status"], after["stage"]) == ("closed", "paid")
    job_told, invoice_told = events(noon)[-2:]
    assert (job_told["type"], job_told["data"]["previous"]["status"]) == ("job.updated", "done")
    assert invoice_told["type"] == "invoice.paid"


def test_work_that_goes_on_stays_open_until_it_is_done(noon: Cast) -> None:
    job = a_job(noon, a_customer(noon))
    noon.perform(change_job_status, jobId=job["id"], status="inProgress")
    paid(noon, issued(noon, an_invoice(noon, jobId=job["id"])))
    assert noon.perform(get_job, jobId=job["id"])["status"] == "inProgress"
    noon.perform(change_job_status, jobId=job["id"], status="done")
    work_off(later(noon, days=1))
    assert noon.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_a_job_whose_purchases_are_in_the_price_after_all_is_closed(noon: Cast) -> None:
    job = a_job(noon, a_customer(noon))
    a_bill(noon, jobId=job["id"])
    paid(noon, issued(noon, an_invoice(noon, jobId=job["id"])))
    done(noon, job)
    work_off(later(noon, days=1))
    assert stage_of(noon, job["id"]) == "toInvoice"
    noon.perform(update_job, jobId=job["id"], billing="fixed")
    work_off(later(noon, days=1))
    assert noon.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_a_job_whose_purchases_are_billed_after_all_is_to_be_invoiced(noon: Cast) -> None:
    job = a_job(noon, a_customer(noon), billing="fixed")
    a_bill(noon, jobId=job["id"])
    issued(noon, an_invoice(noon, jobId=job["id"]))
    done(noon, job)
    assert stage_of(noon, job["id"]) == "invoiced"
    noon.perform(update_job, jobId=job["id"], billing="timeAndMaterials")
    work_off(later(noon, days=1))
    assert stage_of(noon, job["id"]) == "toInvoice"


def test_a_deposit_that_is_paid_closes_nothing(noon: Cast) -> None:
    quote = a_sold_quote(noon, BOILER)
    job = done(noon, {"id": quote["jobId"]})
    paid(noon, issued(noon, an_invoice(noon, quoteId=quote["id"], part={"percent": "50"})))
    assert (noon.perform(get_job, jobId=job)["status"], stage_of(noon, job)) == ("done", "toInvoice")
    paid(noon, issued(noon, an_invoice(noon, quoteId=quote["id"])))
    assert noon.perform(get_job, jobId=job)["status"] == "closed"


def test_a_line_of_the_quote_that_is_on_no_invoice_keeps_it_open(noon: Cast) -> None:
    quote = a_sold_quote(noon, BOILER, FLUE)
    job = done(noon, {"id": quote["jobId"]})
    boiler, flue = (line["id"] for line in quote["lines"])
    paid(noon, issued(noon, an_invoice(noon, quoteId=quote["id"], quoteLines=[boiler])))
    assert (noon.perform(get_job, jobId=job)["status"], stage_of(noon, job)) == ("done", "toInvoice")
    second = issued(noon, an_invoice(noon, quoteId=quote["id"], quoteLines=[flue]))
    assert stage_of(noon, job) == "invoiced"
    paid(noon, second)
    assert noon.perform(get_job, jobId=job)["status"] == "closed"


def test_a_quote_that_is_billed_in_parts_or_on_other_lines_is_invoiced_once_it_is_all_there(noon: Cast) -> None:
    quotes = [a_sold_quote(noon, BOILER, FLUE) for _ in range(2)]
    jobs = [done(noon, {"id": quote["jobId"]}) for quote in quotes]
    issued(noon, an_invoice(noon, quoteId=quotes[0]["id"], part={"percent": "33.33"}))
    issued(noon, an_invoice(noon, jobId=jobs[1], lines=[{"description": "Heating", "unitPrice": "1091.09"}]))
    assert [stage_of(noon, job) for job in jobs] == ["toInvoice", "toInvoice"]
    issued(noon, an_invoice(noon, quoteId=quotes[0]["id"], part={"percent": "66.67"}))
    issued(noon, an_invoice(noon, jobId=jobs[1], lines=[{"description": "Rest", "unitPrice": "0.01"}]))
    assert [stage_of(noon, job) for job in jobs] == ["invoiced", "invoiced"]


def test_each_quote_that_was_agreed_for_it_must_be_invoiced(noon: Cast) -> None:
    first = a_sold_quote(noon, BOILER)
    job = done(noon, {"id": first["jobId"]})
    more = a_sold_quote(noon, FLUE, customerId=first["customerId"], jobId=job)
    assert noon.perform(get_job, jobId=job)["budget"] == "1091.10"
    for quote in (first, more):
        assert stage_of(noon, job) == "toInvoice"
        paid(noon, issued(noon, an_invoice(noon, quoteId=quote["id"])))
    assert noon.perform(get_job, jobId=job)["status"] == "closed"


def test_hours_on_a_draft_keep_it_open_whatever_becomes_of_the_draft(noon: Cast) -> None:
    job = worked_job(noon)
    an_hour(noon, job, on="2026-11-15")
    first = an_invoice(noon, jobId=job["id"], unbilled=True)
    an_hour(noon, job, on="2026-11-16")
    second = an_invoice(noon, jobId=job["id"], unbilled=True)
    done(noon, job)
    paid(noon, issued(noon, first))
    assert stage_of(noon, job["id"]) == "toInvoice"
    noon.perform(delete_draft_invoice, Role.OFFICE, invoiceId=second["id"], confirmed=True)
    assert stage_of(noon, job["id"]) == "toInvoice"


def test_what_is_left_of_a_price_keeps_it_open_and_what_is_credited_of_it_does_not(noon: Cast) -> None:
    job = done(noon, a_job(noon, a_customer(noon), billing="fixed", budget="1000"))
    issued(noon, an_invoice(noon, jobId=job, lines=[{"description": "First half", "unitPrice": "999.99"}]))
    assert stage_of(noon, job) == "toInvoice"
    rest = issued(noon, an_invoice(noon, jobId=job, lines=[{"description": "Rest", "unitPrice": "10"}]))
    assert stage_of(noon, job) == "invoiced"
    credited(noon, rest, amount="5")
    assert stage_of(noon, job) == "invoiced"
    noon.perform(update_job, jobId=job, budget="1010")
    work_off(later(noon, days=1))
    assert stage_of(noon, job) == "toInvoice"


def test_what_is_not_billed_yet_keeps_it_open(noon: Cast) -> None:
    job = worked_job(noon)
    an_hour(noon, job, on="2026-11-15")
    first = an_invoice(noon, jobId=job["id"], unbilled=True)
    an_hour(noon, job, on="2026-11-16")
    done(noon, job)
    paid(noon, issued(noon, first))
    assert stage_of(noon, job["id"]) == "toInvoice"
    paid(noon, issued(noon, an_invoice(noon, jobId=job["id"], unbilled=True)))
    assert noon.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_void_or_credited_it_is_to_be_invoiced_again(noon: Cast) -> None:
    job = done(noon, a_job(noon, a_customer(noon)))
    for undone in (voided, credited):
        sent = issued(noon, an_invoice(noon, jobId=job))
        assert stage_of(noon, job) == "invoiced"
        undone(noon, sent)
        assert stage_of(noon, job) == "toInvoice"
    assert noon.perform(get_job, jobId=job)["status"] == "done"


def test_one_payment_closes_each_job_that_it_settles(noon: Cast) -> None:
    customer = a_customer(noon)
    jobs = [done(noon, a_job(noon, customer)) for _ in range(2)]
    for job in jobs:
        issued(noon, an_invoice(noon, jobId=job))
    noon.perform(record_payment, customerId=customer, amount="2000")
    assert [noon.perform(get_job, jobId=job)["status"] for job in jobs] == ["closed", "closed"]
    assert [event["type"] for event in events(noon)].count("invoice.paid") == 2

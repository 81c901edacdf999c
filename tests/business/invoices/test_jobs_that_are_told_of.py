"""Wherever a job stands elsewhere by what becomes of its papers, hours and purchases, it is told of, once."""

from collections.abc import Callable
from datetime import date

import pytest

from billing import an_hour, an_invoice, credited, issued, paid, voided, worked_job
from cast import Cast
from evidence import as_told, events
from labour import at as at_noon
from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.quotes.deciding import record_quote_decision
from mainstay.business.quotes.expiring import TIMERS
from mainstay.business.quotes.operations import revise_quote
from mainstay.business.quotes.sending import withdraw_quote
from ordering import a_bill
from quoting import a_draft, later, sent
from trade import a_customer, a_job


@pytest.fixture
def noon(cast: Cast) -> Cast:
    return at_noon(cast)


def moved(cast: Cast, job: str, act: Callable[[], object]) -> tuple[str, str]:
    """From which stage to which an act moves a job, as the one event says that tells of the job as it is."""
    count, before = len(events(cast)), cast.perform(get_job, jobId=job)
    act()
    after = cast.perform(get_job, jobId=job)
    [told] = [event for event in events(cast)[count:] if event["data"]["object"]["id"] == job]
    assert (told["type"], told["data"]["object"]) == ("job.updated", as_told(after))
    changed = {name for name in after if after[name] != before[name]} - {"updatedAt", "updatedBy", "version"}
    previous = {name: before[name] for name in changed - {"availableActions"}}
    assert told["data"]["previous"] == previous
    return before["stage"], after["stage"]


def untold(cast: Cast, job: str, act: Callable[[], object]) -> None:
    """What an act does tells nobody of a job."""
    count = len(events(cast))
    act()
    assert [event for event in events(cast)[count:] if event["data"]["object"]["id"] == job] == []


def test_a_quote_that_is_sent_revised_declined_withdrawn_and_expired(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast, email="ann@calder.example"), status="enquiry")["id"]

    def draft() -> dict[str, object]:
        return a_draft(cast, jobId=job)

    first = draft()
    assert moved(cast, job, lambda: sent(cast, first)) == ("enquiry", "quoting")
    # The answer to the next one is waited for just so.
    second = cast.perform(revise_quote, quoteId=first["id"])
    untold(cast, job, lambda: sent(cast, second))
    answer = {"quoteId": second["id"], "decision": "declined", "confirmed": True}
    assert moved(cast, job, lambda: cast.perform(record_quote_decision, **answer)) == ("quoting", "enquiry")
    third = sent(cast, draft())
    taken_back = {"quoteId": third["id"], "confirmed": True}
    assert moved(cast, job, lambda: cast.perform(withdraw_quote, **taken_back)) == ("quoting", "enquiry")
    sent(cast, draft())
    [timer] = TIMERS
    after = later(cast, days=40)
    expiring = moved(cast, job, lambda: after.stage.begin_day(timer, cast.organisation, date(2031, 2, 1)))
    assert expiring == ("quoting", "enquiry")


def test_an_invoice_that_is_issued_voided_and_paid(noon: Cast) -> None:
    job = a_job(noon, a_customer(noon, email="ann@calder.example"))["id"]
    noon.perform(change_job_status, jobId=job, status="done")
    first, second = an_invoice(noon, jobId=job), an_invoice(noon, jobId=job)
    assert moved(noon, job, lambda: issued(noon, first)) == ("toInvoice", "invoiced")
    assert moved(noon, job, lambda: voided(noon, first)) == ("invoiced", "toInvoice")
    assert moved(noon, job, lambda: issued(noon, second)) == ("toInvoice", "invoiced")
    # What is owed of it, its stage does not tell.
    untold(noon, job, lambda: paid(noon, second, "999"))
    assert moved(noon, job, lambda: paid(noon, second)) == ("invoiced", "paid")
    assert noon.perform(get_job, jobId=job)["status"] == "closed"


def test_an_invoice_that_is_credited_in_whole(noon: Cast) -> None:
    job = a_job(noon, a_customer(noon, email="ann@calder.example"))["id"]
    noon.perform(change_job_status, jobId=job, status="done")
    sent_one = issued(noon, an_invoice(noon, jobId=job))
    assert moved(noon, job, lambda: credited(noon, sent_one)) == ("invoiced", "toInvoice")


@pytest.mark.parametrize("more", ["hours", "purchases"])
def test_what_is_to_be_billed_besides(noon: Cast, more: str) -> None:
    job = worked_job(noon)
    an_hour(noon, job, on="2026-11-15")
    noon.perform(change_job_status, jobId=job["id"], status="done")
    issued(noon, an_invoice(noon, jobId=job["id"], unbilled=True))

    def act() -> None:
        if more == "hours":
            an_hour(noon, job, on="2026-11-16")
        else:
            a_bill(noon, jobId=job["id"])

    assert moved(noon, job["id"], act) == ("invoiced", "toInvoice")

"""What an accepted quote causes: emails to the office and the customer, a deposit invoice, and nothing twice."""

from dataclasses import replace
from typing import Any

import pytest

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.issuing.document_files import PRINT
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.overview.operations import get_overview
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.operations import get_quote, list_quotes
from mainstay.business.quotes.public import accept_offered_quote
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.identity.authenticate import actor_of_link
from mainstay.identity.emails import EMAIL_TASK
from mainstay.values.moments import system_clock
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked
from mainstay.worker.worker import Worker
from support.cast import EMAILS, Cast
from support.customers import make_customer, make_job
from support.quotes import accept_quote, cast_later, issue_quote, make_default_tax_rate, make_quote
from support.stored_state import list_events_of, operations_on
from support.webhooks import set_columns

CUSTOMER = "ann@calder.example"


def send_mails(cast: Cast) -> dict[str, dict[str, str]]:
    """Run the worker; return the emails it sends, by address."""
    mails: dict[str, dict[str, str]] = {}

    def deliver(work: LeasedTask) -> None:
        mails[work.payload["to"]] = dict(work.payload)

    moment = max(cast.performer.clock(), system_clock())
    worker = Worker(replace(cast.performer, clock=lambda: moment), {EMAIL_TASK: deliver, PRINT: lambda _: None}, ())
    while worker.run_next_tasks():
        pass
    return mails


def accept_online(cast: Cast, quote: dict[str, Any]) -> None:
    """Accept a quote as its customer does, through the link they were sent."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        customer = actor_of_link(db, quote["id"])
    cast.perform(accept_offered_quote, customer, quoteId=quote["id"], name="Ann Boyle")


def test_the_office_people_who_follow_it_are_told_and_the_customer_gets_a_confirmation(cast: Cast) -> None:
    make_default_tax_rate(cast)
    job = make_job(cast, make_customer(cast, email=CUSTOMER), leadPersonId=cast.people[Role.ADMIN])
    quote = issue_quote(cast, make_quote(cast, jobId=job["id"], deposit={"percent": "25"}), deliver="none")
    send_mails(cast)
    accept_online(cast, quote)
    mails = send_mails(cast)
    assert mails.keys() == {EMAILS[Role.OFFICE], EMAILS[Role.ADMIN], CUSTOMER}
    result = mails[EMAILS[Role.OFFICE]]
    assert result["subject"] == "Calder Property accepted Q-0001"
    for part in (
        "Calder Property accepted Q-0001 New heating: 1200.00 GBP.",
        "Accepted by Ann Boyle, online.",
        "Job J-0001 Replace the boiler will be invoiced at the quoted fixed price.",
        "A draft deposit invoice for 300.00 GBP was created. The customer won't get it until you send it.",
    ):
        assert part in result["text"]
    confirmed = mails[CUSTOMER]
    assert confirmed["subject"] == "Thank you for accepting quote Q-0001"
    assert "for £1,200.00" in confirmed["text"]
    assert "You will get an invoice for the deposit of £300.00." in confirmed["text"]
    assert (confirmed["link_kind"], confirmed["paper"]) == ("quote", quote["id"])
    assert operations_on(cast, quote["id"])[-1] == "confirm_acceptance"


def test_whoever_records_it_is_not_told_and_without_anyone_to_follow_it_owners_and_admins_are(cast: Cast) -> None:
    quote = issue_quote(cast, deliver="none")
    accept_quote(cast, quote)
    assert send_mails(cast).keys() == {CUSTOMER}
    other = issue_quote(cast, make_quote(cast), deliver="none")
    set_columns(cast, "person", cast.people[Role.OFFICE], status="left")
    accept_online(cast, other)
    assert send_mails(cast).keys() == {EMAILS[Role.OWNER], EMAILS[Role.ADMIN], CUSTOMER}


def test_a_customer_without_an_address_gets_none(cast: Cast) -> None:
    quote = issue_quote(cast, make_quote(cast, customerId=make_customer(cast)), deliver="none")
    accept_quote(cast, quote)
    assert send_mails(cast) == {}


def test_it_stands_on_home_for_a_week(cast: Cast) -> None:
    accept_quote(cast, issue_quote(cast, deliver="none"))
    accept_quote(cast, issue_quote(cast, make_quote(cast), deliver="none"))

    def waiting(now: Cast) -> list[dict[str, Any]]:
        needs = now.perform(get_overview, Role.OFFICE)["needs"]
        return [need for need in needs if need["what"] == "Quotes accepted in the last week"]

    (need,) = waiting(cast)
    assert need["count"] == 2
    assert len(cast.perform(list_quotes, Role.OFFICE, **need["given"])["data"]) == 2
    assert waiting(cast_later(cast, days=9)) == []


def test_the_answer_names_the_deposit_that_it_drafted(cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = issue_quote(cast, make_quote(cast, deposit={"percent": "30"}), deliver="none")
    given = {"quoteId": quote["id"], "decision": "accepted", "name": "Ann"}
    preview = cast.perform(record_quote_decision, Role.OFFICE, **given)
    message = "A draft deposit invoice for 360.00 GBP will be created, for you to send."
    assert message in preview["effects"]
    assert cast.perform(list_invoices)["data"] == []
    answer = cast.perform(record_quote_decision, Role.OFFICE, **given, confirmed=True)
    send_mails(cast)
    (deposit,) = cast.perform(list_invoices, quoteId=quote["id"])["data"]
    assert (deposit["kind"], deposit["status"], deposit["total"]) == ("deposit", "draft", "360.00")
    assert answer["depositInvoiceId"] == deposit["id"]
    (accepted_event,) = [event for event in list_events_of(cast) if event["type"] == "quote.accepted"]
    assert accepted_event["data"]["object"]["depositInvoiceId"] == deposit["id"]


def test_what_changes_of_the_billing_of_its_job_is_said(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email=CUSTOMER), billing="timeAndMaterials")
    quote = issue_quote(cast, make_quote(cast, jobId=job["id"]), deliver="none")
    preview = cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], decision="accepted", name="Ann")
    assert preview["effects"][0] == (
        "J-0001 Replace the boiler is invoiced at the fixed price of 1000.00 GBP excluding tax, instead of by hours and"
        " materials."
    )


def test_a_repeated_acceptance_answers_with_the_same_job_and_changes_nothing(cast: Cast) -> None:
    quote = issue_quote(cast, make_quote(cast, deposit={"percent": "25"}), deliver="none")
    first = accept_quote(cast, quote)
    send_mails(cast)
    again = accept_quote(cast, quote, method="email", name="Someone else")
    assert again == first
    preview = cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], decision="accepted", name="Ann")
    assert preview["summary"] == "Q-0001 New heating: this was already done. Nothing changes."
    assert send_mails(cast) == {}
    assert len(cast.perform(list_jobs)["data"]) == len(cast.perform(list_invoices)["data"]) == 1
    with pytest.raises(Blocked, match=r"^Q-0001 was already accepted\. Its job is J-0001\.$"):
        cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], decision="declined", confirmed=True)
    assert cast.perform(get_quote, quoteId=quote["id"])["version"] == first["version"]

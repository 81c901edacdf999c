"""What an accepted quote sets off: emails to the office and to the customer, Home, the deposit, and nothing twice."""

from dataclasses import replace
from typing import Any

import pytest

from cast import EMAILS, Cast
from evidence import events, history
from mainstay.business.invoices.operations import list_invoices
from mainstay.business.issuing.printed import PRINT
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.overview.operations import get_overview
from mainstay.business.quotes.deciding import record_quote_decision
from mainstay.business.quotes.operations import get_quote, list_quotes
from mainstay.business.quotes.public import accept_offered_quote
from mainstay.identity.authenticate import actor_of_link
from mainstay.identity.mails import MAIL
from mainstay.ledger.outbox_queue import Work
from mainstay.terms.refusal import Blocked
from mainstay.terms.rights import Role
from mainstay.values.moments import system_clock
from mainstay.worker.worker import Worker
from quoting import a_draft, accepted, later, sent, usual_tax
from telling import set_columns
from trade import a_customer, a_job

CUSTOMER = "ann@calder.example"


def mailed(cast: Cast) -> dict[str, dict[str, str]]:
    """The mails that a worker sends now, by their address."""
    letters: dict[str, dict[str, str]] = {}

    def deliver(work: Work) -> None:
        letters[work.payload["to"]] = dict(work.payload)

    moment = max(cast.stage.clock(), system_clock())
    worker = Worker(replace(cast.stage, clock=lambda: moment), {MAIL: deliver, PRINT: lambda _: None}, ())
    while worker.step():
        pass
    return letters


def accept_online(cast: Cast, quote: dict[str, Any]) -> None:
    """Accept a quote as its customer does, by the link that they were sent."""
    with cast.stage.database.reading(cast.organisation) as rows:
        customer = actor_of_link(rows, quote["id"])
    cast.perform(accept_offered_quote, customer, quoteId=quote["id"], name="Ann Boyle")


def test_the_office_people_who_follow_it_are_told_and_the_customer_gets_a_confirmation(cast: Cast) -> None:
    usual_tax(cast)
    job = a_job(cast, a_customer(cast, email=CUSTOMER), leadPersonId=cast.people[Role.ADMIN])
    quote = sent(cast, a_draft(cast, jobId=job["id"], deposit={"percent": "25"}), deliver="none")
    mailed(cast)
    accept_online(cast, quote)
    letters = mailed(cast)
    assert letters.keys() == {EMAILS[Role.OFFICE], EMAILS[Role.ADMIN], CUSTOMER}
    told = letters[EMAILS[Role.OFFICE]]
    assert told["subject"] == "Calder Property accepted Q-0001"
    for part in (
        "Calder Property accepted Q-0001 New heating: 1200.00 GBP.",
        "Accepted by Ann Boyle, online.",
        "Job J-0001 Replace the boiler is billed at the fixed price that was quoted.",
        "The deposit invoice of 300.00 GBP is drafted.",
    ):
        assert part in told["text"]
    confirmed = letters[CUSTOMER]
    assert confirmed["subject"] == "Thank you for accepting quote Q-0001"
    assert "for £1,200.00" in confirmed["text"]
    assert "You will get an invoice for the deposit of £300.00." in confirmed["text"]
    assert (confirmed["link_kind"], confirmed["paper"]) == ("quote", quote["id"])
    assert history(cast, quote["id"])[-1] == "confirm_acceptance"


def test_whoever_records_it_is_not_told_and_without_anyone_to_follow_it_owners_and_admins_are(cast: Cast) -> None:
    quote = sent(cast, deliver="none")
    accepted(cast, quote)
    assert mailed(cast).keys() == {CUSTOMER}
    other = sent(cast, a_draft(cast), deliver="none")
    set_columns(cast, "person", cast.people[Role.OFFICE], status="left")
    accept_online(cast, other)
    assert mailed(cast).keys() == {EMAILS[Role.OWNER], EMAILS[Role.ADMIN], CUSTOMER}


def test_a_customer_without_an_address_gets_none(cast: Cast) -> None:
    quote = sent(cast, a_draft(cast, customerId=a_customer(cast)), deliver="none")
    accepted(cast, quote)
    assert mailed(cast) == {}


def test_it_stands_on_home_for_a_week(cast: Cast) -> None:
    accepted(cast, sent(cast, deliver="none"))
    accepted(cast, sent(cast, a_draft(cast), deliver="none"))

    def waiting(now: Cast) -> list[dict[str, Any]]:
        needs = now.perform(get_overview, Role.OFFICE)["needs"]
        return [need for need in needs if need["what"] == "Quotes accepted in the last week"]

    (need,) = waiting(cast)
    assert need["count"] == 2
    assert len(cast.perform(list_quotes, Role.OFFICE, **need["given"])["data"]) == 2
    assert waiting(later(cast, days=9)) == []


def test_the_answer_names_the_deposit_that_it_drafted(cast: Cast) -> None:
    usual_tax(cast)
    quote = sent(cast, a_draft(cast, deposit={"percent": "30"}), deliver="none")
    given = {"quoteId": quote["id"], "decision": "accepted", "name": "Ann"}
    preview = cast.perform(record_quote_decision, Role.OFFICE, **given)
    told = "The deposit invoice is drafted: 360.00 GBP. Nobody gets it until you send it."
    assert told in preview["effects"]
    assert cast.perform(list_invoices)["data"] == []
    answer = cast.perform(record_quote_decision, Role.OFFICE, **given, confirmed=True)
    mailed(cast)
    (deposit,) = cast.perform(list_invoices, quoteId=quote["id"])["data"]
    assert (deposit["kind"], deposit["status"], deposit["total"]) == ("deposit", "draft", "360.00")
    assert answer["depositInvoiceId"] == deposit["id"]
    (told_of,) = [event for event in events(cast) if event["type"] == "quote.accepted"]
    assert told_of["data"]["object"]["depositInvoiceId"] == deposit["id"]


def test_what_changes_of_the_billing_of_its_job_is_said(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast, email=CUSTOMER), billing="timeAndMaterials")
    quote = sent(cast, a_draft(cast, jobId=job["id"]), deliver="none")
    preview = cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], decision="accepted", name="Ann")
    assert preview["effects"][0] == (
        "J-0001 Replace the boiler goes on with it, and is billed at the fixed price of 1000.00 GBP before tax;"
        " it was billed by its hours and materials before."
    )


def test_a_repeated_acceptance_answers_with_the_same_job_and_changes_nothing(cast: Cast) -> None:
    quote = sent(cast, a_draft(cast, deposit={"percent": "25"}), deliver="none")
    first = accepted(cast, quote)
    mailed(cast)
    again = accepted(cast, quote, method="email", name="Someone else")
    assert again == first
    preview = cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], decision="accepted", name="Ann")
    assert preview["summary"] == "Q-0001 New heating: this was done before, and nothing changes."
    assert mailed(cast) == {}
    assert len(cast.perform(list_jobs)["data"]) == len(cast.perform(list_invoices)["data"]) == 1
    with pytest.raises(Blocked, match=r"^Q-0001 was accepted\. Its job is J-0001\.$"):
        cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], decision="declined", confirmed=True)
    assert cast.perform(get_quote, quoteId=quote["id"])["version"] == first["version"]

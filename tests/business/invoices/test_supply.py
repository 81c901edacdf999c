"""The date or period of supply of invoices and credit notes: from what they bill, or typed."""

from typing import Any

import pytest

from billing import a_sold_quote, an_hour, an_invoice, changed, credited, issued, notes_of, now, worked_job
from cast import Cast
from labour import at
from mainstay.business.hours.operations import log_hours
from mainstay.business.invoices.crediting import get_credit_note
from mainstay.business.invoices.operations import update_invoice
from mainstay.business.invoices.sending import send_invoice
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.quotes.operations import get_quote
from mainstay.business.schedule.operations import plan_visit, set_visit_status
from mainstay.terms.refusal import Invalid
from mainstay.terms.rights import Role
from ordering import ordered, received
from trade import a_customer, a_job

TODAY = "2026-11-16"


@pytest.fixture
def noon(cast: Cast) -> Cast:
    """The cast at noon of TODAY."""
    return at(cast)


def supply(document: dict[str, Any]) -> tuple[str | None, str | None]:
    return document["suppliedFrom"], document["suppliedUntil"]


def a_visit(cast: Cast, job: str, begins: str, kind: str = "work", *, done: bool = True) -> None:
    about = {"jobId": job, "personIds": [cast.people[Role.MEMBER]], "startsAt": begins, "kind": kind}
    visit = cast.perform(plan_visit, Role.OFFICE, **about, durationMinutes=60)
    if done:
        cast.perform(set_visit_status, Role.OFFICE, visitId=visit["id"], status="done")


def test_hours_and_goods_that_are_billed_say_the_period(noon: Cast) -> None:
    job = worked_job(noon)
    for day in ("2026-11-10", "2026-11-12"):
        an_hour(noon, job, on=day)
    order = ordered(noon, jobId=job["id"])
    received(noon, order, "10", on="2026-11-09")
    # What is not billed here says nothing.
    a_visit(noon, job["id"], "2026-11-02T09:00")
    draft = an_invoice(noon, jobId=job["id"], unbilled=True)
    assert supply(draft) == ("2026-11-09", "2026-11-12")
    pipes = next(line for line in draft["lines"] if line["source"]["kind"] == "orderLine")
    assert supply(changed(noon, draft, {"edit": "remove", "lineId": pipes["id"]})) == ("2026-11-10", "2026-11-12")
    assert supply(issued(noon, draft)) == ("2026-11-10", "2026-11-12")


def test_visits_that_are_done_say_when_a_price_was_earned(noon: Cast) -> None:
    quote = a_sold_quote(noon)
    job = noon.perform(get_quote, Role.OFFICE, quoteId=quote["id"])["jobId"]
    draft = an_invoice(noon, quoteId=quote["id"])
    assert supply(draft) == (None, None)
    a_visit(noon, job, "2026-11-03T09:00")
    # Over midnight, there.
    a_visit(noon, job, "2026-11-05T23:30")
    a_visit(noon, job, "2026-11-01T09:00", "assessment")
    a_visit(noon, job, "2026-11-20T09:00", done=False)
    assert supply(issued(noon, draft)) == ("2026-11-03", "2026-11-06")


def test_hours_say_it_where_no_visit_was_planned(noon: Cast) -> None:
    job = a_job(noon, a_customer(noon), Role.MEMBER, billing="fixed", budget="500")
    noon.perform(log_hours, Role.MEMBER, jobId=job["id"], on="2026-11-11", minutes=60)
    assert supply(an_invoice(noon, jobId=job["id"])) == ("2026-11-11", "2026-11-11")


def test_what_is_typed_wins_until_it_is_cleared(noon: Cast) -> None:
    job = worked_job(noon)
    entry = an_hour(noon, job, on="2026-11-10")
    draft = an_invoice(noon, jobId=job["id"], sources=[entry], suppliedFrom="2026-10-31")
    assert supply(draft) == ("2026-10-31", "2026-10-31")

    def update(**given: object) -> dict[str, Any]:
        return noon.perform(update_invoice, Role.OFFICE, invoiceId=draft["id"], **given)

    assert supply(update(suppliedUntil="2026-11-02")) == ("2026-10-31", "2026-11-02")
    later = an_hour(noon, job, on="2026-11-13")
    assert supply(update(sources=[later])) == ("2026-10-31", "2026-11-02")
    with pytest.raises(Invalid, match=r"^suppliedUntil: is before suppliedFrom, send both to change the period"):
        update(suppliedUntil="2026-10-30")
    assert supply(update(suppliedFrom=None)) == ("2026-11-02", "2026-11-02")
    assert supply(update(suppliedFrom=None, suppliedUntil=None)) == ("2026-11-10", "2026-11-13")
    assert supply(update(suppliedFrom="2026-11-01", suppliedUntil="2026-11-30", title="November")) == (
        "2026-11-01",
        "2026-11-30",
    )
    assert supply(issued(noon, draft)) == ("2026-11-01", "2026-11-30")


@pytest.mark.parametrize(("country", "stated"), [("DE", TODAY), ("GB", TODAY), ("US", None)])
def test_without_any_it_is_the_date_of_issue_where_the_country_wants_one(
    noon: Cast, country: str, stated: str | None
) -> None:
    noon.perform(update_organisation, country=country)
    draft = an_invoice(noon)
    assert supply(draft) == (None, None)
    invoice = issued(noon, draft)
    assert supply(invoice) == (stated, stated)
    credited(noon, invoice)
    assert supply(last_note(noon, invoice)) == (stated, stated)


def test_a_deposit_has_none_for_nothing_is_supplied_yet(noon: Cast) -> None:
    quote = a_sold_quote(noon)
    deposit = issued(noon, an_invoice(noon, quoteId=quote["id"], part={"percent": "30"}))
    assert supply(deposit) == (None, None)


def test_a_credit_note_keeps_that_of_its_invoice(noon: Cast) -> None:
    draft = an_invoice(noon, suppliedFrom="2026-11-02", suppliedUntil="2026-11-06")
    invoice = issued(noon, draft)
    credited(noon, invoice, amount="10")
    assert supply(last_note(noon, invoice)) == ("2026-11-02", "2026-11-06")


def test_a_preview_keeps_none(noon: Cast) -> None:
    draft = an_invoice(noon)
    noon.perform(send_invoice, Role.OFFICE, invoiceId=draft["id"])
    assert supply(now(noon, draft)) == (None, None)


def last_note(cast: Cast, invoice: dict[str, Any]) -> dict[str, Any]:
    note = notes_of(cast, invoice)[-1]
    return cast.perform(get_credit_note, Role.OFFICE, creditNoteId=note["id"])

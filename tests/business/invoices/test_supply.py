"""The date or period of supply of invoices and credit notes, taken from what they bill or typed."""

from typing import Any

import pytest

from mainstay.business.hours.operations import log_hours
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.invoices.drafting.operations import update_invoice
from mainstay.business.invoices.issuing.crediting import get_credit_note
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.quotes.operations import get_quote
from mainstay.business.schedule.operations import plan_visit
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import cast_at
from support.invoices import (
    credit_issued,
    credit_notes_of,
    edit_invoice,
    issue_invoice,
    make_accepted_quote,
    make_approved_hour,
    make_hourly_job,
    make_invoice,
    reread_invoice,
)
from support.purchases import place_order, receive_order

TODAY = "2026-11-16"


@pytest.fixture
def noon(cast: Cast) -> Cast:
    """The cast at noon of TODAY."""
    return cast_at(cast)


def supply_period(document: dict[str, Any]) -> tuple[str | None, str | None]:
    return document["suppliedFrom"], document["suppliedUntil"]


def plan_visit_at(cast: Cast, job: str, begins: str, kind: str = "work", *, done: bool = True) -> None:
    job_and_people = {"jobId": job, "personIds": [cast.people[Role.MEMBER]], "startsAt": begins, "kind": kind}
    visit = cast.perform(plan_visit, Role.OFFICE, **job_and_people, durationMinutes=60)
    if done:
        cast.perform(set_visit_status, Role.OFFICE, visitId=visit["id"], status="done")


def test_hours_and_goods_that_are_billed_say_the_period(noon: Cast) -> None:
    job = make_hourly_job(noon)
    for day in ("2026-11-10", "2026-11-12"):
        make_approved_hour(noon, job, on=day)
    order = place_order(noon, jobId=job["id"])
    receive_order(noon, order, "10", on="2026-11-09")
    # What is not billed here says nothing.
    plan_visit_at(noon, job["id"], "2026-11-02T09:00")
    draft = make_invoice(noon, jobId=job["id"], unbilled=True)
    assert supply_period(draft) == ("2026-11-09", "2026-11-12")
    pipes = next(line for line in draft["lines"] if line["source"]["kind"] == "orderLine")
    assert supply_period(edit_invoice(noon, draft, {"edit": "remove", "lineId": pipes["id"]})) == (
        "2026-11-10",
        "2026-11-12",
    )
    assert supply_period(issue_invoice(noon, draft)) == ("2026-11-10", "2026-11-12")


def test_visits_that_are_done_say_when_a_price_was_earned(noon: Cast) -> None:
    quote = make_accepted_quote(noon)
    job = noon.perform(get_quote, Role.OFFICE, quoteId=quote["id"])["jobId"]
    draft = make_invoice(noon, quoteId=quote["id"])
    assert supply_period(draft) == (None, None)
    plan_visit_at(noon, job, "2026-11-03T09:00")
    # Over midnight, there.
    plan_visit_at(noon, job, "2026-11-05T23:30")
    plan_visit_at(noon, job, "2026-11-01T09:00", "assessment")
    plan_visit_at(noon, job, "2026-11-20T09:00", done=False)
    assert supply_period(issue_invoice(noon, draft)) == ("2026-11-03", "2026-11-06")


def test_hours_say_it_where_no_visit_was_planned(noon: Cast) -> None:
    job = make_job(noon, make_customer(noon), Role.MEMBER, billing="fixed", budget="500")
    noon.perform(log_hours, Role.MEMBER, jobId=job["id"], on="2026-11-11", minutes=60)
    assert supply_period(make_invoice(noon, jobId=job["id"])) == ("2026-11-11", "2026-11-11")


def test_what_is_typed_wins_until_it_is_cleared(noon: Cast) -> None:
    job = make_hourly_job(noon)
    entry = make_approved_hour(noon, job, on="2026-11-10")
    draft = make_invoice(noon, jobId=job["id"], sources=[entry], suppliedFrom="2026-10-31")
    assert supply_period(draft) == ("2026-10-31", "2026-10-31")

    def update(**given: object) -> dict[str, Any]:
        return noon.perform(update_invoice, Role.OFFICE, invoiceId=draft["id"], **given)

    assert supply_period(update(suppliedUntil="2026-11-02")) == ("2026-10-31", "2026-11-02")
    later = make_approved_hour(noon, job, on="2026-11-13")
    assert supply_period(update(sources=[later])) == ("2026-10-31", "2026-11-02")
    with pytest.raises(Invalid, match=r"^suppliedUntil: is before suppliedFrom, send both to change the period"):
        update(suppliedUntil="2026-10-30")
    assert supply_period(update(suppliedFrom=None)) == ("2026-11-02", "2026-11-02")
    assert supply_period(update(suppliedFrom=None, suppliedUntil=None)) == ("2026-11-10", "2026-11-13")
    assert supply_period(update(suppliedFrom="2026-11-01", suppliedUntil="2026-11-30", title="November")) == (
        "2026-11-01",
        "2026-11-30",
    )
    assert supply_period(issue_invoice(noon, draft)) == ("2026-11-01", "2026-11-30")


@pytest.mark.parametrize(("country", "stated"), [("DE", TODAY), ("GB", TODAY), ("US", None)])
def test_without_any_it_is_the_date_of_issue_where_the_country_wants_one(
    noon: Cast, country: str, stated: str | None
) -> None:
    noon.perform(update_organisation, country=country)
    draft = make_invoice(noon)
    assert supply_period(draft) == (None, None)
    invoice = issue_invoice(noon, draft)
    assert supply_period(invoice) == (stated, stated)
    credit_issued(noon, invoice)
    assert supply_period(fetch_last_note(noon, invoice)) == (stated, stated)


def test_a_deposit_has_none_for_nothing_is_supplied_yet(noon: Cast) -> None:
    quote = make_accepted_quote(noon)
    deposit = issue_invoice(noon, make_invoice(noon, quoteId=quote["id"], part={"percent": "30"}))
    assert supply_period(deposit) == (None, None)


def test_a_credit_note_keeps_that_of_its_invoice(noon: Cast) -> None:
    draft = make_invoice(noon, suppliedFrom="2026-11-02", suppliedUntil="2026-11-06")
    invoice = issue_invoice(noon, draft)
    credit_issued(noon, invoice, amount="10")
    assert supply_period(fetch_last_note(noon, invoice)) == ("2026-11-02", "2026-11-06")


def test_a_preview_keeps_none(noon: Cast) -> None:
    draft = make_invoice(noon)
    noon.perform(send_invoice, Role.OFFICE, invoiceId=draft["id"])
    assert supply_period(reread_invoice(noon, draft)) == (None, None)


def fetch_last_note(cast: Cast, invoice: dict[str, Any]) -> dict[str, Any]:
    note = credit_notes_of(cast, invoice)[-1]
    return cast.perform(get_credit_note, Role.OFFICE, creditNoteId=note["id"])

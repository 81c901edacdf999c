from typing import Any

import pytest

from billing import an_invoice, issued, now, paid
from cast import Cast
from evidence import as_told, events, history
from labour import at as at_noon
from labour import decide
from mainstay.business.invoices.paying import get_payment, record_payment, reverse_payment
from mainstay.business.invoices.statement import find_paid_invoices
from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.reporting.journal import list_postings
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from trade import a_customer, a_job


def reversed_(cast: Cast, payment: dict[str, object], role: Role = Role.OFFICE, **given: object) -> dict[str, object]:
    return cast.perform(reverse_payment, role, paymentId=payment["id"], reason="Bounced", confirmed=True, **given)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_what_it_was_for_is_to_be_paid_again(cast: Cast, role: Role) -> None:
    customer = a_customer(cast)
    one, two = (issued(cast, an_invoice(cast, customerId=customer)) for _ in range(2))
    payment = cast.perform(record_payment, Role.OFFICE, customerId=customer, amount="1400")
    after = reversed_(cast, payment, role)
    assert (after["status"], after["reverseReason"], after["allocations"]) == ("reversed", "Bounced", [])
    assert after["reversedAt"] is not None
    assert after["availableActions"] == []
    assert [now(cast, invoice)["due"] for invoice in (one, two)] == ["1000.00", "1000.00"]
    assert [event["type"] for event in events(cast)][-2:] == ["invoice.updated", "invoice.updated"]
    assert history(cast, one["id"])[-1] == "reverse_payment"


def test_a_preview_reverses_nothing_and_says_what_would_happen(cast: Cast) -> None:
    noon = at_noon(cast)
    payment = paid(noon, issued(noon), "250")
    preview = noon.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="x")
    assert preview["summary"] == "The payment 250.00 GBP of 2026-11-16 by Calder Property is reversed."
    assert preview["effects"][0] == "INV-0001 is to be paid again: 250.00 GBP."
    assert as_told(cast.perform(get_payment, paymentId=payment["id"])) == as_told(payment)


def test_it_is_reversed_once(cast: Cast) -> None:
    payment = paid(cast, issued(cast), "1")
    reversed_(cast, payment)
    with pytest.raises(Blocked, match=r"^The payment 1\.00 GBP of .* is reversed already\.$"):
        reversed_(cast, payment)


def test_what_a_bank_calls_it_is_recorded_again_for_whom_it_was(cast: Cast) -> None:
    wrong, right = issued(cast), issued(cast)
    entry = {"on": "2026-11-03", "amount": "10", "text": "INV-0002"}

    def suggested() -> dict[str, Any]:
        acting = cast.actor(Role.OFFICE, door=Door.OFFICE)
        [found] = cast.perform(find_paid_invoices, acting, entries=[entry])["suggestions"]
        return dict(found)

    called = suggested()["externalRef"]
    first = paid(cast, wrong, "10", externalRef=called)
    assert suggested()["paymentId"] == first["id"]
    reversed_(cast, first)
    again = suggested()
    assert (again["paymentId"], again["externalRef"]) == (None, called)
    assert [one["invoiceNumber"] for one in again["allocations"]] == ["INV-0002"]
    second = paid(cast, right, "10", externalRef=called)
    assert (second["status"], suggested()["paymentId"]) == ("recorded", second["id"])
    with pytest.raises(Invalid, match=rf"^externalRef: is known already, .*{second['id']}"):
        paid(cast, right, "10", externalRef=called)
    # What stood there before stays as it was.
    assert cast.perform(get_payment, paymentId=first["id"])["externalRef"] == called


def test_a_payment_of_a_closed_month_is_taken_back_in_an_open_one(cast: Cast) -> None:
    noon = at_noon(cast)
    invoice = issued(noon)
    payment = paid(noon, invoice, "250", on="2026-10-10")
    october = postings(noon, "2026-10-01", "2026-10-31")
    decide(cast, books_closed_until="2026-10-31")
    after = reversed_(noon, payment, on="2026-11-12")
    assert (after["status"], after["on"], after["reversedOn"]) == ("reversed", "2026-10-10", "2026-11-12")
    assert now(noon, invoice)["due"] == "1000.00"
    assert postings(noon, "2026-10-01", "2026-10-31") == october
    assert october[0] == ("payment", "2026-10-10", "bank", "250.00", None)
    assert postings(noon, "2026-11-01", "2026-11-15") == [
        ("reversal", "2026-11-12", "bank", None, "250.00"),
        ("reversal", "2026-11-12", "receivable", "250.00", None),
    ]


def test_it_is_taken_back_today_where_no_date_is_sent(cast: Cast) -> None:
    noon = at_noon(cast)
    assert reversed_(noon, paid(noon, issued(noon), "1", on="2026-11-10"))["reversedOn"] == "2026-11-16"


@pytest.mark.parametrize(
    ("on", "told"),
    [("2026-11-17", r"^on: is ahead"), ("2026-11-09", r"^on: is before the payment, which is of 2026-11-10$")],
)
def test_it_is_taken_back_neither_before_it_was_paid_nor_ahead(cast: Cast, on: str, told: str) -> None:
    noon = at_noon(cast)
    payment = paid(noon, issued(noon), "1", on="2026-11-10")
    with pytest.raises(Invalid, match=told):
        reversed_(noon, payment, on=on)


def test_not_on_a_day_of_closed_books(cast: Cast) -> None:
    noon = at_noon(cast)
    payment = paid(noon, issued(noon), "1", on="2026-11-09")
    decide(cast, books_closed_until="2026-11-10")
    with pytest.raises(
        Blocked, match=r"^The books are closed until 2026-11-10, so nothing of 2026-11-10 changes"
    ) as it:
        reversed_(noon, payment, on="2026-11-10")
    assert [reason.unblock for reason in it.value.reasons] == ["update_settings"]


def postings(cast: Cast, first: str, last: str) -> list[tuple[str | None, ...]]:
    """What the journal moves on these days."""
    found = cast.perform(list_postings, **{"from": first, "until": last})["data"]
    return [tuple(one[name] for name in ("document", "on", "account", "debit", "credit")) for one in found]


def test_a_job_that_was_closed_when_all_was_paid_is_owed_again(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast))
    cast.perform(change_job_status, jobId=job["id"], status="inProgress")
    cast.perform(change_job_status, jobId=job["id"], status="done")
    sent = issued(cast, an_invoice(cast, jobId=job["id"]))
    payment = paid(cast, sent)
    assert cast.perform(get_job, jobId=job["id"])["status"] == "closed"
    reversed_(cast, payment)
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one("SELECT owed FROM job WHERE organisation_id = :organisation AND id = :id", id=job["id"])
    assert row == (100_000,)
    again = cast.perform(get_job, jobId=job["id"])
    assert (again["status"], again["stage"]) == ("done", "invoiced")
    paid(cast, sent)
    assert cast.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_why_is_required(cast: Cast) -> None:
    payment = paid(cast, issued(cast), "1")
    with pytest.raises(Invalid, match=r"^reason"):
        cast.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], confirmed=True)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_reverse_none(cast: Cast, role: Role) -> None:
    payment = paid(cast, issued(cast), "1")
    with pytest.raises(Forbidden):
        reversed_(cast, payment, role)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    payment = paid(cast, issued(cast), "1")
    with pytest.raises(NotFound):
        reversed_(stranger, payment)
    cast.lapse()
    with pytest.raises(Lapsed):
        reversed_(cast, payment)

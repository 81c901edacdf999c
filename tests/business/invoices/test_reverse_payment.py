from typing import Any

import pytest

from mainstay.business.invoices.payments.bank_statement import find_paid_invoices
from mainstay.business.invoices.payments.recording import get_payment, record_payment, reverse_payment
from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.reporting.journal import list_postings
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import cast_at as at_noon
from support.hours import set_organisation_columns
from support.invoices import issue_invoice, make_invoice, pay_invoice, reread_invoice
from support.stored_state import list_events_of, operations_on, to_event_record


def reverse(cast: Cast, payment: dict[str, object], role: Role = Role.OFFICE, **given: object) -> dict[str, object]:
    return cast.perform(reverse_payment, role, paymentId=payment["id"], reason="Bounced", confirmed=True, **given)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_what_it_was_for_is_to_be_paid_again(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    one, two = (issue_invoice(cast, make_invoice(cast, customerId=customer)) for _ in range(2))
    payment = cast.perform(record_payment, Role.OFFICE, customerId=customer, amount="1400")
    after = reverse(cast, payment, role)
    assert (after["status"], after["reverseReason"], after["allocations"]) == ("reversed", "Bounced", [])
    assert after["reversedAt"] is not None
    assert after["availableActions"] == []
    assert [reread_invoice(cast, invoice)["due"] for invoice in (one, two)] == ["1000.00", "1000.00"]
    assert [event["type"] for event in list_events_of(cast)][-2:] == ["invoice.updated", "invoice.updated"]
    assert operations_on(cast, one["id"])[-1] == "reverse_payment"


def test_a_preview_reverses_nothing_and_says_what_would_happen(cast: Cast) -> None:
    noon = at_noon(cast)
    payment = pay_invoice(noon, issue_invoice(noon), "250")
    preview = noon.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="x")
    assert preview["summary"] == "The payment of 250.00 GBP on 2026-11-16 by Calder Property will be reversed."
    assert preview["effects"][0] == "250.00 GBP of INV-0001 will be unpaid again."
    assert to_event_record(cast.perform(get_payment, paymentId=payment["id"])) == to_event_record(payment)


def test_it_is_reversed_once(cast: Cast) -> None:
    payment = pay_invoice(cast, issue_invoice(cast), "1")
    reverse(cast, payment)
    with pytest.raises(Blocked, match=r"^The payment of 1\.00 GBP on .* is already reversed\.$"):
        reverse(cast, payment)


def test_what_a_bank_calls_it_is_recorded_again_for_whom_it_was(cast: Cast) -> None:
    wrong, right = issue_invoice(cast), issue_invoice(cast)
    entry = {"on": "2026-11-03", "amount": "10", "text": "INV-0002"}

    def suggested() -> dict[str, Any]:
        acting = cast.actor(Role.OFFICE, door=Door.OFFICE)
        [found] = cast.perform(find_paid_invoices, acting, entries=[entry])["suggestions"]
        return dict(found)

    called = suggested()["externalRef"]
    first = pay_invoice(cast, wrong, "10", externalRef=called)
    assert suggested()["paymentId"] == first["id"]
    reverse(cast, first)
    again = suggested()
    assert (again["paymentId"], again["externalRef"]) == (None, called)
    assert [one["invoiceNumber"] for one in again["allocations"]] == ["INV-0002"]
    second = pay_invoice(cast, right, "10", externalRef=called)
    assert (second["status"], suggested()["paymentId"]) == ("recorded", second["id"])
    with pytest.raises(Invalid, match=rf"^externalRef: already belongs to .*{second['id']}"):
        pay_invoice(cast, right, "10", externalRef=called)
    # What stood there before stays as it was.
    assert cast.perform(get_payment, paymentId=first["id"])["externalRef"] == called


def test_a_payment_of_a_closed_month_is_taken_back_in_an_open_one(cast: Cast) -> None:
    noon = at_noon(cast)
    invoice = issue_invoice(noon)
    payment = pay_invoice(noon, invoice, "250", on="2026-10-10")
    october = list_posting_rows(noon, "2026-10-01", "2026-10-31")
    set_organisation_columns(cast, books_closed_until="2026-10-31")
    after = reverse(noon, payment, on="2026-11-12")
    assert (after["status"], after["on"], after["reversedOn"]) == ("reversed", "2026-10-10", "2026-11-12")
    assert reread_invoice(noon, invoice)["due"] == "1000.00"
    assert list_posting_rows(noon, "2026-10-01", "2026-10-31") == october
    assert october[0] == ("payment", "2026-10-10", "bank", "250.00", None)
    assert list_posting_rows(noon, "2026-11-01", "2026-11-15") == [
        ("reversal", "2026-11-12", "bank", None, "250.00"),
        ("reversal", "2026-11-12", "receivable", "250.00", None),
    ]


def test_it_is_taken_back_today_where_no_date_is_sent(cast: Cast) -> None:
    noon = at_noon(cast)
    assert reverse(noon, pay_invoice(noon, issue_invoice(noon), "1", on="2026-11-10"))["reversedOn"] == "2026-11-16"


@pytest.mark.parametrize(
    ("on", "told"),
    [("2026-11-17", r"^on: is in the future"), ("2026-11-09", r"^on: is before the date of the payment, 2026-11-10$")],
)
def test_it_is_taken_back_neither_before_it_was_paid_nor_ahead(cast: Cast, on: str, told: str) -> None:
    noon = at_noon(cast)
    payment = pay_invoice(noon, issue_invoice(noon), "1", on="2026-11-10")
    with pytest.raises(Invalid, match=told):
        reverse(noon, payment, on=on)


def test_not_on_a_day_of_closed_books(cast: Cast) -> None:
    noon = at_noon(cast)
    payment = pay_invoice(noon, issue_invoice(noon), "1", on="2026-11-09")
    set_organisation_columns(cast, books_closed_until="2026-11-10")
    with pytest.raises(
        Blocked, match=r"^The books are closed up to 2026-11-10, so nothing dated 2026-11-10 can be changed"
    ) as it:
        reverse(noon, payment, on="2026-11-10")
    assert [reason.first for reason in it.value.reasons] == [("update_settings", "update_organisation")]


def list_posting_rows(cast: Cast, first: str, last: str) -> list[tuple[str | None, ...]]:
    """Return the journal postings of these days."""
    found = cast.perform(list_postings, **{"from": first, "until": last})["data"]
    return [tuple(one[name] for name in ("document", "on", "account", "debit", "credit")) for one in found]


def test_a_job_that_was_closed_when_all_was_paid_is_owed_again(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))
    cast.perform(change_job_status, jobId=job["id"], status="inProgress")
    cast.perform(change_job_status, jobId=job["id"], status="done")
    sent = issue_invoice(cast, make_invoice(cast, jobId=job["id"]))
    payment = pay_invoice(cast, sent)
    assert cast.perform(get_job, jobId=job["id"])["status"] == "closed"
    reverse(cast, payment)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT owed FROM job WHERE organisation_id = :organisation AND id = :id", id=job["id"])
    assert row == (100_000,)
    again = cast.perform(get_job, jobId=job["id"])
    assert (again["status"], again["stage"]) == ("done", "invoiced")
    pay_invoice(cast, sent)
    assert cast.perform(get_job, jobId=job["id"])["status"] == "closed"


def test_why_is_required(cast: Cast) -> None:
    payment = pay_invoice(cast, issue_invoice(cast), "1")
    with pytest.raises(Invalid, match=r"^reason"):
        cast.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], confirmed=True)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_reverse_none(cast: Cast, role: Role) -> None:
    payment = pay_invoice(cast, issue_invoice(cast), "1")
    with pytest.raises(Forbidden):
        reverse(cast, payment, role)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    payment = pay_invoice(cast, issue_invoice(cast), "1")
    with pytest.raises(NotFound):
        reverse(other_cast, payment)
    cast.lapse()
    with pytest.raises(Lapsed):
        reverse(cast, payment)


def test_no_allocation_of_it_is_left(cast: Cast) -> None:
    payment = pay_invoice(cast, issue_invoice(cast), "1")
    cast.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="x", confirmed=True)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        assert db.all("SELECT amount FROM allocation WHERE organisation_id = :organisation") == []

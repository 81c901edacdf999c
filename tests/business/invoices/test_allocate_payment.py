from typing import Any

import pytest

from mainstay.business.invoices.payments.recording import allocate_payment, record_payment, reverse_payment
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, reread_invoice
from support.stored_state import list_events_of


def record_on_account(cast: Cast, customer: str, amount: str = "1000") -> dict[str, Any]:
    return cast.perform(record_payment, Role.OFFICE, customerId=customer, amount=amount, allocations=[])


def allocate(cast: Cast, payment: dict[str, Any], **shares: str) -> dict[str, Any]:
    """Allocate a payment to invoices, named by their numbers."""
    wanted = [{"invoiceId": name.replace("_", "-"), "amount": amount} for name, amount in shares.items()]
    return cast.perform(allocate_payment, Role.OFFICE, paymentId=payment["id"], allocations=wanted)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_what_is_on_account_is_put_to_an_invoice_later(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    payment = record_on_account(cast, customer)
    sent = issue_invoice(cast, make_invoice(cast, customerId=customer))
    wanted = [{"invoiceId": sent["number"], "amount": "600"}]
    after = cast.perform(allocate_payment, role, paymentId=payment["id"], allocations=wanted)
    assert [(one["invoiceId"], one["amount"]) for one in after["allocations"]] == [(sent["id"], "600.00")]
    assert (after["unallocated"], reread_invoice(cast, sent)["due"]) == ("400.00", "400.00")


def test_those_that_are_not_named_stay_and_nothing_lets_one_go(cast: Cast) -> None:
    customer = make_customer(cast)
    one, two = (issue_invoice(cast, make_invoice(cast, customerId=customer)) for _ in range(2))
    payment = pay_invoice(cast, one, "1000")
    allocate(cast, payment, INV_0001="300")
    after = allocate(cast, payment, INV_0002="700")
    assert (after["unallocated"], reread_invoice(cast, one)["paid"], reread_invoice(cast, two)["paid"]) == (
        "0.00",
        "300.00",
        "700.00",
    )
    after = allocate(cast, payment, INV_0001="0")
    assert [part["invoiceNumber"] for part in after["allocations"]] == ["INV-0002"]
    assert (after["unallocated"], reread_invoice(cast, one)["status"]) == ("300.00", "sent")
    new_events = [event["type"] for event in list_events_of(cast) if event["data"]["object"]["id"] == one["id"]]
    assert new_events == ["invoice.created", "invoice.sent", "invoice.paid", "invoice.updated", "invoice.updated"]


def test_money_moves_from_one_to_the_other_at_once(cast: Cast) -> None:
    customer = make_customer(cast)
    one, two = (issue_invoice(cast, make_invoice(cast, customerId=customer)) for _ in range(2))
    payment = pay_invoice(cast, two, "1000")
    allocate(cast, payment, INV_0001="1000", INV_0002="0")
    assert (reread_invoice(cast, one)["status"], reread_invoice(cast, two)["status"]) == ("paid", "sent")


def test_what_cannot_be_is_refused_and_changes_nothing(cast: Cast) -> None:
    customer = make_customer(cast)
    sent = issue_invoice(cast, make_invoice(cast, customerId=customer))
    payment = record_on_account(cast, customer, "1500")
    issue_invoice(cast)
    for shares, expected in [
        ({"INV_0001": "1000.01"}, "put 1000.01 GBP on INV-0001, but only 1000.00 GBP is due"),
        ({"INV_0002": "1"}, "include INV-0002 New heating, which is for another customer, Calder Property"),
    ]:
        with pytest.raises(Invalid, match=f"^allocations: {expected}"):
            allocate(cast, payment, **shares)
    another = issue_invoice(cast, make_invoice(cast, customerId=customer))
    allocate(cast, payment, INV_0001="1000")
    with pytest.raises(Invalid, match=r"^allocations: add up to 0\.01 GBP more than was paid$"):
        allocate(cast, payment, INV_0003="500.01")
    assert (reread_invoice(cast, sent)["paid"], reread_invoice(cast, another)["paid"]) == ("1000.00", "0.00")
    credit_issued(cast, another)
    with pytest.raises(Blocked, match=r"^INV-0003 is credited"):
        allocate(cast, payment, INV_0003="1")


def test_a_paid_invoice_takes_not_even_a_penny_more(cast: Cast) -> None:
    customer = make_customer(cast)
    sent = issue_invoice(cast, make_invoice(cast, customerId=customer))
    pay_invoice(cast, sent)
    with pytest.raises(Blocked, match=r"^INV-0001 is already paid"):
        allocate(cast, record_on_account(cast, customer), INV_0001="0.01")
    assert reread_invoice(cast, sent)["paid"] == "1000.00"


def test_what_was_reversed_is_for_nothing_any_more(cast: Cast) -> None:
    payment = pay_invoice(cast, issue_invoice(cast), "1")
    cast.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="x", confirmed=True)
    with pytest.raises(Blocked, match=r"^The payment of 1\.00 GBP on .* was reversed, so it can't be allocated\.$"):
        allocate(cast, payment, INV_0001="1")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_put_none(cast: Cast, role: Role) -> None:
    payment = pay_invoice(cast, issue_invoice(cast), "1")
    with pytest.raises(Forbidden):
        cast.perform(allocate_payment, role, paymentId=payment["id"], allocations=[])


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    payment = record_on_account(cast, make_customer(cast))
    issue_invoice(other_cast)
    with pytest.raises(NotFound, match="payment"):
        allocate(other_cast, payment, INV_0001="1")
    with pytest.raises(NotFound, match="invoice"):
        allocate(cast, payment, INV_0001="1")
    cast.lapse()
    with pytest.raises(Lapsed):
        allocate(cast, payment)

from typing import Any

import pytest

from billing import an_invoice, credited, issued, now, paid
from cast import Cast
from evidence import events
from mainstay.business.invoices.paying import allocate_payment, record_payment, reverse_payment
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from trade import a_customer


def on_account(cast: Cast, customer: str, amount: str = "1000") -> dict[str, Any]:
    return cast.perform(record_payment, Role.OFFICE, customerId=customer, amount=amount, allocations=[])


def put(cast: Cast, payment: dict[str, Any], **shares: str) -> dict[str, Any]:
    """Put a payment to invoices, by their numbers."""
    wanted = [{"invoiceId": name.replace("_", "-"), "amount": amount} for name, amount in shares.items()]
    return cast.perform(allocate_payment, Role.OFFICE, paymentId=payment["id"], allocations=wanted)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_what_is_on_account_is_put_to_an_invoice_later(cast: Cast, role: Role) -> None:
    customer = a_customer(cast)
    payment = on_account(cast, customer)
    sent = issued(cast, an_invoice(cast, customerId=customer))
    wanted = [{"invoiceId": sent["number"], "amount": "600"}]
    after = cast.perform(allocate_payment, role, paymentId=payment["id"], allocations=wanted)
    assert [(one["invoiceId"], one["amount"]) for one in after["allocations"]] == [(sent["id"], "600.00")]
    assert (after["unallocated"], now(cast, sent)["due"]) == ("400.00", "400.00")


def test_those_that_are_not_named_stay_and_nothing_lets_one_go(cast: Cast) -> None:
    customer = a_customer(cast)
    one, two = (issued(cast, an_invoice(cast, customerId=customer)) for _ in range(2))
    payment = paid(cast, one, "1000")
    put(cast, payment, INV_0001="300")
    after = put(cast, payment, INV_0002="700")
    assert (after["unallocated"], now(cast, one)["paid"], now(cast, two)["paid"]) == ("0.00", "300.00", "700.00")
    after = put(cast, payment, INV_0001="0")
    assert [part["invoiceNumber"] for part in after["allocations"]] == ["INV-0002"]
    assert (after["unallocated"], now(cast, one)["status"]) == ("300.00", "sent")
    told = [event["type"] for event in events(cast) if event["data"]["object"]["id"] == one["id"]]
    assert told == ["invoice.created", "invoice.sent", "invoice.paid", "invoice.updated", "invoice.updated"]


def test_money_moves_from_one_to_the_other_at_once(cast: Cast) -> None:
    customer = a_customer(cast)
    one, two = (issued(cast, an_invoice(cast, customerId=customer)) for _ in range(2))
    payment = paid(cast, two, "1000")
    put(cast, payment, INV_0001="1000", INV_0002="0")
    assert (now(cast, one)["status"], now(cast, two)["status"]) == ("paid", "sent")


def test_what_cannot_be_is_refused_and_changes_nothing(cast: Cast) -> None:
    customer = a_customer(cast)
    sent = issued(cast, an_invoice(cast, customerId=customer))
    payment = on_account(cast, customer, "1500")
    issued(cast)
    for shares, told in [
        ({"INV_0001": "1000.01"}, "puts 1000.01 to INV-0001, of which 1000.00 GBP is due"),
        ({"INV_0002": "1"}, "INV-0002 is for another customer, Calder Property"),
    ]:
        with pytest.raises(Invalid, match=f"^allocations: {told}"):
            put(cast, payment, **shares)
    another = issued(cast, an_invoice(cast, customerId=customer))
    put(cast, payment, INV_0001="1000")
    with pytest.raises(Invalid, match=r"^allocations: come to 0\.01 more than was paid$"):
        put(cast, payment, INV_0003="500.01")
    assert (now(cast, sent)["paid"], now(cast, another)["paid"]) == ("1000.00", "0.00")
    credited(cast, another)
    with pytest.raises(Blocked, match=r"^INV-0003 is credited"):
        put(cast, payment, INV_0003="1")


def test_what_was_reversed_is_for_nothing_any_more(cast: Cast) -> None:
    payment = paid(cast, issued(cast), "1")
    cast.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="x", confirmed=True)
    with pytest.raises(Blocked, match=r"^The payment 1\.00 GBP of .* was reversed\.$"):
        put(cast, payment, INV_0001="1")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_put_none(cast: Cast, role: Role) -> None:
    payment = paid(cast, issued(cast), "1")
    with pytest.raises(Forbidden):
        cast.perform(allocate_payment, role, paymentId=payment["id"], allocations=[])


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    payment = on_account(cast, a_customer(cast))
    issued(stranger)
    with pytest.raises(NotFound, match="payment"):
        put(stranger, payment, INV_0001="1")
    with pytest.raises(NotFound, match="invoice"):
        put(cast, payment, INV_0001="1")
    cast.lapse()
    with pytest.raises(Lapsed):
        put(cast, payment)

from typing import Any

import pytest

from mainstay.business.invoices.payments.bank_statement import find_paid_invoices
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.customers import make_customer
from support.invoices import issue_invoice, make_invoice, pay_invoice, reread_invoice
from support.recorded_statements import count_reads


def find_matches(cast: Cast, *entries: tuple[str, str]) -> list[dict[str, Any]]:
    rows = [{"on": "2026-11-03", "amount": amount, "text": text} for amount, text in entries]
    return list(
        cast.perform(find_paid_invoices, cast.actor(Role.OFFICE, door=Door.OFFICE), entries=rows)["suggestions"]
    )


def list_shares(suggestion: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["invoiceNumber"], one["amount"]) for one in suggestion["allocations"]]


def test_an_invoice_is_found_by_its_number_however_it_is_written(cast: Cast) -> None:
    issue_invoice(cast)
    for text in ("INV-0001", "Payment inv 0001, thank you", "INV0001/Calder"):
        [found] = find_matches(cast, ("1000.00", text))
        assert (list_shares(found), found["why"]) == ([("INV-0001", "1000.00")], "number and amount")
    for text in ("INV-00011", "0001", "nothing"):
        [found] = find_matches(cast, ("12.00", text))
        assert (list_shares(found), found["why"]) == ([], None)


def test_a_part_and_too_much_are_told_by_the_number_alone(cast: Cast) -> None:
    issue_invoice(cast)
    part, more = find_matches(cast, ("400", "INV-0001"), ("5000", "INV-0001"))
    assert (list_shares(part), part["why"]) == ([("INV-0001", "400.00")], "number")
    # What the entry before pays is taken off.
    assert list_shares(more) == [("INV-0001", "600.00")]


def test_several_invoices_of_one_customer_are_paid_at_once(cast: Cast) -> None:
    customer = make_customer(cast)
    for _ in range(2):
        issue_invoice(cast, make_invoice(cast, customerId=customer))
    issue_invoice(cast)
    [found] = find_matches(cast, ("2000.00", "INV-0001 INV-0002 INV-0003"))
    assert list_shares(found) == [("INV-0001", "1000.00"), ("INV-0002", "1000.00")]
    assert found["why"] == "number and amount"


def test_without_a_number_name_and_amount_say_it_or_the_amount_of_only_one(cast: Cast) -> None:
    ann, ben = make_customer(cast, "Ann Boyle"), make_customer(cast, "Ben Sutcliffe")
    issue_invoice(cast, make_invoice(cast, customerId=ann))
    [found] = find_matches(cast, ("1000.00", "transfer"))
    assert (list_shares(found), found["why"]) == ([("INV-0001", "1000.00")], "amount")
    issue_invoice(cast, make_invoice(cast, customerId=ben))
    [unclear] = find_matches(cast, ("1000.00", "transfer"))
    assert list_shares(unclear) == []
    [found] = find_matches(cast, ("1000.00", "FPI SUTCLIFFE B"))
    assert (list_shares(found), found["why"], found["customerName"]) == (
        [("INV-0002", "1000.00")],
        "name and amount",
        "Ben Sutcliffe",
    )


def test_a_part_from_a_known_customer_is_suggested_by_the_name_alone(cast: Cast) -> None:
    ann, ben = make_customer(cast, "Ann Boyle"), make_customer(cast, "Ben Sutcliffe")
    for customer in (ann, ann, ben):
        issue_invoice(cast, make_invoice(cast, customerId=customer))
    [part, more] = find_matches(cast, ("400.00", "A BOYLE PART"), ("1600.00", "BOYLE"))
    assert (list_shares(part), part["why"], part["customerName"]) == ([("INV-0001", "400.00")], "name", "Ann Boyle")
    # What the entry before pays is taken off, and the rest goes to the next invoice.
    assert list_shares(more) == [("INV-0001", "600.00"), ("INV-0002", "1000.00")]


def test_the_name_says_more_than_the_amount_of_another_customer(cast: Cast) -> None:
    ann, ben = make_customer(cast, "Ann Boyle"), make_customer(cast, "Ben Sutcliffe")
    issue_invoice(cast, make_invoice(cast, customerId=ann))
    pay_invoice(cast, issue_invoice(cast, make_invoice(cast, customerId=ben)), "300")
    [found] = find_matches(cast, ("1000.00", "SUTCLIFFE"))
    assert (found["customerName"], found["why"]) == ("Ben Sutcliffe", "name")


def issue_to_each(cast: Cast, *names: str) -> None:
    """Issue an invoice of the same amount to a new customer of each name."""
    for name in names:
        issue_invoice(cast, make_invoice(cast, customerId=make_customer(cast, name)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("HOLLER GMBH", None),
        ("Bauer Bau GmbH Abschlag", "Bauer Bau GmbH"),
        ("Kessler Services", None),
        ("The Harbour Trust and Sons", None),
        ("MILL LANE", None),
        ("Harbour Mill Services Limited", "The Harbour Mill Limited"),
        ("B and Q", "B & Q Ltd"),
        ("Group Services", "Services Group"),
    ],
)
def test_a_name_is_known_by_all_that_is_its_own_and_not_by_a_word_of_many(
    cast: Cast, text: str, name: str | None
) -> None:
    issue_to_each(cast, "Bauer Bau GmbH", "The Harbour Mill Limited", "B & Q Ltd", "Services Group")
    [found] = find_matches(cast, ("1000.00", text))
    assert (found["customerName"], found["why"]) == (name, "name and amount" if name else None)


def test_where_several_customers_are_named_none_is_suggested(cast: Cast) -> None:
    issue_to_each(cast, "Calder Ltd", "Calder Property", "Calder Property")
    [one, several] = find_matches(cast, ("1000.00", "CALDER"), ("1000.00", "CALDER PROPERTY"))
    assert one["customerName"] == "Calder Ltd"
    assert (several["allocations"], several["why"]) == ([], None)


def test_of_one_customer_s_invoices_the_oldest_is_suggested(cast: Cast) -> None:
    calder = make_customer(cast, "Calder Ltd")
    for _ in range(2):
        issue_invoice(cast, make_invoice(cast, customerId=calder))
    first, second = find_matches(cast, ("1000.00", "CALDER"), ("1000.00", "CALDER"))
    assert (list_shares(first), list_shares(second)) == ([("INV-0001", "1000.00")], [("INV-0002", "1000.00")])


def test_an_entry_that_was_recorded_is_known_again_and_two_of_the_same_are_two(cast: Cast) -> None:
    invoice = issue_invoice(cast)
    first, second = find_matches(cast, ("10", "INV-0001"), ("10", "INV-0001"))
    assert first["externalRef"] != second["externalRef"]
    payment = pay_invoice(cast, invoice, "10", externalRef=first["externalRef"])
    again, other = find_matches(cast, ("10", "INV-0001"), ("10", "INV-0001"))
    assert (again["paymentId"], again["allocations"]) == (payment["id"], [])
    assert other["paymentId"] is None
    with pytest.raises(Invalid, match="externalRef: already belongs to the payment"):
        cast.perform(record_payment, invoiceId=invoice["id"], amount="10", externalRef=first["externalRef"])
    assert reread_invoice(cast, invoice)["paid"] == "10.00"


def test_what_is_paid_or_void_is_not_suggested_and_the_field_asks_nothing(cast: Cast) -> None:
    pay_invoice(cast, issue_invoice(cast))
    [found] = find_matches(cast, ("1000.00", "INV-0001"))
    assert found["allocations"] == []
    with pytest.raises(Forbidden):
        cast.perform(find_paid_invoices, cast.actor(Role.MEMBER, door=Door.OFFICE), entries=[])


def test_a_long_statement_is_looked_up_as_a_short_one(cast: Cast) -> None:
    entries = [("1.00", f"Entry {number}") for number in range(60)]
    first, last = find_matches(cast, *entries)[:: len(entries) - 1]
    for one in (first, last):
        given = {"customerId": make_customer(cast), "amount": "1", "externalRef": one["externalRef"]}
        assert cast.perform(record_payment, **given)["externalRef"] == one["externalRef"]
    known = [one["paymentId"] is not None for one in find_matches(cast, *entries)]
    assert known == [True, *[False] * 58, True]
    few = count_reads(cast, "payment", lambda watched: find_matches(watched, entries[0]))
    many = count_reads(cast, "payment", lambda watched: find_matches(watched, *entries))
    assert few == many == 1

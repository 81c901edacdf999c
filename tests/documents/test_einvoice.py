"""Which documents are e-invoices, and what they say as such."""

from typing import Any

import pytest

from mainstay.documents.einvoice import EInvoiceCheck, check_einvoice, einvoice_terms_of
from mainstay.documents.snapshot import Snapshot
from mainstay.values.totals import Discount
from support.snapshots import (
    BUYER,
    EXEMPT,
    GST_QST,
    OUTSIDE,
    REVERSE_CHARGE,
    SELLER,
    VAT7,
    VAT19,
    SnapshotItem,
    make_rate,
    make_snapshot,
)

INCLUDED = EInvoiceCheck("included")
NOT_APPLICABLE = EInvoiceCheck("notApplicable")


def drop_fields(party: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in party.items() if name not in names}


def with_country(party: dict[str, Any], country: str | None) -> dict[str, Any]:
    return {**party, "address": {**party["address"], "country": country}}


DUTCH = {
    **SELLER,
    "taxNumber": "NL001234567B01",
    "registrationNumber": "17131139",
    "address": {"line1": "Markt 1", "city": "Delft", "postalCode": "2611 GP", "country": "NL"},
}


def test_a_whole_invoice_is_one_and_can_go_into_the_network() -> None:
    found = check_einvoice(make_snapshot(SnapshotItem(), reference="04011000-12345-03"))
    assert (found.e_invoice, found.peppol) == (INCLUDED, INCLUDED)


@pytest.mark.parametrize(
    "snapshot",
    [
        make_snapshot(SnapshotItem(), kind="quote"),
        make_snapshot(SnapshotItem(), kind="purchaseOrder"),
        make_snapshot(SnapshotItem(rate=GST_QST)),
        make_snapshot(SnapshotItem(), currency="KWD"),
        make_snapshot(SnapshotItem(), currency="STN"),
        make_snapshot("Only words"),
        make_snapshot(SnapshotItem(rate=OUTSIDE), SnapshotItem()),
        make_snapshot(SnapshotItem(rate=make_rate("19", "reverseCharge"))),
    ],
    ids=[
        "a quote",
        "an order",
        "two taxes",
        "three decimals",
        "an unlisted currency",
        "no line",
        "outside and inside",
        "tax where none is",
    ],
)
def test_what_the_norm_has_no_words_for_is_none(snapshot: Snapshot) -> None:
    found = check_einvoice(snapshot)
    assert (found.e_invoice, found.peppol) == (NOT_APPLICABLE, NOT_APPLICABLE)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"seller": drop_fields(SELLER, "taxNumber")}, ["seller.taxNumber"]),
        (
            {"seller": drop_fields(SELLER, "taxNumber", "registrationNumber")},
            ["seller.taxNumber", "seller.registrationNumber"],
        ),
        (
            {"seller": {**drop_fields(SELLER, "registrationNumber"), "taxNumber": "22/815/08156"}},
            ["seller.registrationNumber"],
        ),
        ({"seller": {**SELLER, "taxNumber": "22/815/08156"}}, []),
        ({"seller": drop_fields(SELLER, "address")}, ["seller.address.country"]),
        ({"buyer": with_country(BUYER, None)}, ["buyer.address.country"]),
        ({"dueOn": None}, ["dueOn"]),
        ({"buyer": drop_fields(BUYER, "taxNumber")}, []),
    ],
)
def test_what_is_missing_is_named(given: dict[str, Any], missing: list[str]) -> None:
    found = check_einvoice(make_snapshot(SnapshotItem(), reference="x", **given)).e_invoice
    assert found == EInvoiceCheck("incomplete" if missing else "included", tuple(missing))


def test_who_owes_the_tax_of_another_has_a_number() -> None:
    nameless = drop_fields(BUYER, "taxNumber")
    assert check_einvoice(make_snapshot(SnapshotItem(rate=REVERSE_CHARGE), buyer=nameless)).e_invoice.missing == (
        "buyer.taxNumber",
    )
    assert (
        check_einvoice(
            make_snapshot(SnapshotItem(rate=REVERSE_CHARGE), buyer={**nameless, "registrationNumber": "HRB 1"})
        ).e_invoice
        == INCLUDED
    )


def test_outside_of_tax_a_seller_is_known_by_registration() -> None:
    bare = drop_fields(SELLER, "registrationNumber")
    assert check_einvoice(make_snapshot(SnapshotItem(rate=OUTSIDE), seller=bare)).e_invoice.missing == (
        "seller.registrationNumber",
    )
    assert (
        check_einvoice(make_snapshot(SnapshotItem(rate=OUTSIDE), seller=drop_fields(SELLER, "taxNumber"))).e_invoice
        == INCLUDED
    )


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"reference": None}, ["reference"]),
        ({"reference": None, "orderNumber": "PO 77"}, []),
        ({"seller": drop_fields(SELLER, "eInvoiceAddress")}, ["seller.eInvoiceAddress"]),
        ({"buyer": drop_fields(BUYER, "eInvoiceAddress")}, ["buyer.eInvoiceAddress"]),
        ({"buyer": {**BUYER, "eInvoiceAddress": {"scheme": "GLN", "id": "1"}}}, ["buyer.eInvoiceAddress"]),
        ({"buyer": {**BUYER, "eInvoiceAddress": {"scheme": "EM", "id": "a@b.example"}}}, ["buyer.eInvoiceAddress"]),
        ({"seller": drop_fields(SELLER, "phone", "bank")}, ["seller.phone", "seller.bank"]),
        ({"seller": drop_fields(SELLER, "phone", "bank"), "buyer": with_country(BUYER, "FR")}, []),
        ({"seller": drop_fields(SELLER, "phone", "bank"), "kind": "creditNote"}, ["seller.phone"]),
        ({"dueOn": None, "reference": None}, ["dueOn", "reference"]),
        ({"seller": {**DUTCH, "bank": None}}, ["seller.bank"]),
        (
            {"seller": {**DUTCH, "address": {"country": "NL", "city": "Delft"}}},
            ["seller.address.line1", "seller.address.postalCode"],
        ),
        (
            {"seller": DUTCH, "buyer": {**BUYER, "address": {"country": "NL", "line1": "Markt 1"}}},
            ["buyer.address.city", "buyer.address.postalCode"],
        ),
        ({"seller": DUTCH, "kind": "creditNote", "preceding": []}, ["preceding"]),
        ({"seller": DUTCH}, []),
    ],
)
def test_the_network_asks_for_more(given: dict[str, Any], missing: list[str]) -> None:
    found = check_einvoice(make_snapshot(SnapshotItem(), **{"reference": "x", **given})).peppol
    assert found == EInvoiceCheck("incomplete" if missing else "included", tuple(missing))


def test_where_we_do_not_know_the_rules_nothing_goes_into_the_network() -> None:
    found = check_einvoice(make_snapshot(SnapshotItem(), reference="x", seller=with_country(SELLER, "DK")))
    assert (found.e_invoice, found.peppol) == (INCLUDED, NOT_APPLICABLE)


def test_the_number_of_a_dutch_company_says_which_list_it_is_from() -> None:
    seller = einvoice_terms_of(make_snapshot(SnapshotItem(), seller=DUTCH)).seller
    assert (seller.registration, seller.register) == ("17131139", "0106")
    assert einvoice_terms_of(make_snapshot(SnapshotItem())).seller.register is None


def test_a_negative_price_is_a_negative_quantity() -> None:
    (line,) = einvoice_terms_of(make_snapshot(SnapshotItem(price="-12.5", quantity="2"))).lines
    assert (str(line.quantity), str(line.price), str(line.net)) == ("-2", "12.5", "-25.00")


def test_rates_that_are_the_same_there_are_one() -> None:
    terms = einvoice_terms_of(
        make_snapshot(SnapshotItem(), SnapshotItem(rate=make_rate(name="MwSt")), SnapshotItem(rate=VAT7))
    )
    assert [(group.kind.category, str(group.net)) for group in terms.taxes] == [("S", "200.00"), ("S", "100.00")]


def test_a_discount_is_taken_off_each_category() -> None:
    terms = einvoice_terms_of(
        make_snapshot(
            SnapshotItem(price="100"), SnapshotItem(price="50", rate=VAT7), discount=Discount(percent=100_000)
        )
    )
    assert [str(each.amount) for each in terms.allowances] == ["10.00", "5.00"]
    assert terms.lines_net - terms.sum_allowances(charges=False) == terms.net


def test_lines_with_tax_in_them_come_to_the_sum_without_it() -> None:
    terms = einvoice_terms_of(make_snapshot(*[SnapshotItem(price="0.99", rate=VAT19)] * 7, pricesIncludeTax=True))
    assert terms.lines_net == terms.net
    assert {str(line.net) for line in terms.lines} == {"0.83", "0.84"}
    assert str(terms.lines[0].price) == "0.83193277"


def test_a_vat_number_says_its_country_and_another_number_is_the_tax_office_s() -> None:
    seller = einvoice_terms_of(make_snapshot(SnapshotItem(), seller={**SELLER, "taxNumber": "DE 136 695 976"})).seller
    assert (seller.vat_number, seller.tax_number) == ("DE136695976", None)
    seller = einvoice_terms_of(make_snapshot(SnapshotItem(), seller={**SELLER, "taxNumber": "22/815/08156"})).seller
    assert (seller.vat_number, seller.tax_number) == (None, "22/815/08156")


def test_why_there_is_no_tax_is_told_and_only_there() -> None:
    noted = {**EXEMPT, "note": "§ 4 Nr. 12 UStG"}
    terms = einvoice_terms_of(
        make_snapshot(SnapshotItem(), SnapshotItem(rate=noted), SnapshotItem(rate=REVERSE_CHARGE), language="nl")
    )
    assert [group.reason for group in terms.taxes] == [None, "§ 4 Nr. 12 UStG", "Btw verlegd (Reverse charge)"]


def test_words_between_the_lines_are_left_out() -> None:
    terms = einvoice_terms_of(make_snapshot("# Labour", SnapshotItem("Pipe\n22 mm"), "As agreed"))
    assert [(line.id, line.name, line.description) for line in terms.lines] == [("1", "Pipe", "22 mm")]


def test_a_credit_note_has_payment_instructions_that_name_no_account() -> None:
    payment = einvoice_terms_of(make_snapshot(SnapshotItem(), kind="creditNote")).payment
    assert payment is not None
    assert (payment.code, payment.account, payment.holder) == ("1", None, None)


def test_who_is_not_paid_into_an_account_is_told_none() -> None:
    assert einvoice_terms_of(make_snapshot(SnapshotItem(), seller=drop_fields(SELLER, "bank"))).payment is None
    account = {"account": "12345678", "sortCode": "12-34-56"}
    payment = einvoice_terms_of(make_snapshot(SnapshotItem(), seller={**SELLER, "bank": account})).payment
    assert payment is not None
    assert (payment.code, payment.account, payment.is_iban) == ("30", "12-34-56 12345678", False)

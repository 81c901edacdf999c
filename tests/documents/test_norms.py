"""E-invoices of every kind pass the official schemas and rules, in both forms; what is wrong does not."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import count
from xml.etree import ElementTree as ET

import pytest

from mainstay.documents import cii, ubl
from mainstay.documents.codes import _UNITS, unit_code
from mainstay.documents.einvoice import EInvoiceTerms, check_einvoice, einvoice_terms_of
from mainstay.documents.snapshot import Snapshot
from mainstay.values.countries import COUNTRIES
from mainstay.values.money import CURRENCIES
from mainstay.values.totals import Discount
from support.einvoice_rules import find_faults, find_german_faults
from support.snapshots import (
    BUYER,
    EXEMPT,
    NASTY_TEXTS,
    OUTSIDE,
    REVERSE_CHARGE,
    SELLER,
    VAT7,
    VAT19,
    ZERO,
    SnapshotItem,
    make_random_snapshot,
    make_snapshot,
)

# One word for each code.
UNITS = {unit_code(word): word for words in _UNITS.values() for word in words.split()}.values()
XmlWriter = Callable[[EInvoiceTerms], bytes]
FORMS = pytest.mark.parametrize("write", [cii.write_cii, ubl.write_ubl], ids=["CII", "UBL"])
# There is nothing to say of the delivery where nobody said when the work was done; the schema wants the element anyway.
_EMPTY_DELIVERY = "PEPPOL-EN16931-R008"

GOLDEN = {
    "plain": make_snapshot(SnapshotItem(), reference="x"),
    "four taxes": make_snapshot(
        SnapshotItem(),
        SnapshotItem(rate=VAT7),
        SnapshotItem(rate=ZERO),
        SnapshotItem(rate=EXEMPT),
        SnapshotItem(rate=REVERSE_CHARGE),
    ),
    "outside": make_snapshot(SnapshotItem(rate=OUTSIDE), discount=Discount(amount=500)),
    "with tax": make_snapshot(
        SnapshotItem(price="379", quantity="2"), SnapshotItem(price="0.99"), pricesIncludeTax=True
    ),
    "discounts": make_snapshot(
        SnapshotItem(discount_percent="12.5", price="19.99"), SnapshotItem(rate=VAT7), discount=Discount(percent=33_333)
    ),
    "deposit": make_snapshot(SnapshotItem(), type="deposit"),
    "final": make_snapshot(
        SnapshotItem(price="8500"),
        SnapshotItem("Deposit", "-1", "7500", deduction=True),
        type="final",
        preceding=[{"number": "INV-0100", "issuedOn": "2026-10-01"}, {"number": "INV-0101"}],
    ),
    "credit note": make_snapshot(SnapshotItem(rate=VAT19), kind="creditNote", reason="Valve returned"),
    "no bank": make_snapshot(SnapshotItem(), seller={**SELLER, "bank": None}),
    "tax office's number": make_snapshot(SnapshotItem(), seller={**SELLER, "taxNumber": "22/815/08156"}),
    "texts": make_snapshot(
        *[SnapshotItem(text) for text in NASTY_TEXTS],
        notes="\n".join(NASTY_TEXTS),
        title=NASTY_TEXTS[2],
        orderNumber=NASTY_TEXTS[1],
    ),
    "Dutch": make_snapshot(
        SnapshotItem(),
        reference="x",
        seller={
            **SELLER,
            "taxNumber": "NL001234567B01",
            "registrationNumber": "17131139",
            "address": {"line1": "Markt 1", "city": "Delft", "postalCode": "2611 GP", "country": "NL"},
        },
    ),
    "an address in no scheme": make_snapshot(
        SnapshotItem(), buyer={**BUYER, "eInvoiceAddress": {"scheme": "GLN", "id": "1"}}
    ),
    "every unit": make_snapshot(*[SnapshotItem(unit=unit) for unit in UNITS]),
    "nothing due": make_snapshot(SnapshotItem(price="0")),
    "negative": make_snapshot(SnapshotItem(price="-100")),
    "yen": make_snapshot(SnapshotItem(price="1190"), currency="JPY"),
}


def find_serious_faults(xml: bytes) -> list[str]:
    return [fault for fault in find_faults(xml) if _EMPTY_DELIVERY not in fault]


@FORMS
@pytest.mark.parametrize("snapshot", GOLDEN.values(), ids=GOLDEN)
def test_e_invoices_pass(snapshot: Snapshot, write: XmlWriter) -> None:
    assert check_einvoice(snapshot).e_invoice.status == "included"
    assert find_serious_faults(write(einvoice_terms_of(snapshot))) == []


@pytest.mark.parametrize("kind", ["invoice", "creditNote"])
def test_what_can_go_into_the_network_passes_its_german_rules(kind: str) -> None:
    snapshot = make_snapshot(SnapshotItem(), kind=kind, reference="x")
    assert check_einvoice(snapshot).peppol.status == "included"
    assert find_german_faults(ubl.write_ubl(einvoice_terms_of(snapshot))) == []


def check_random_documents(wanted: int, seeds: Iterator[int]) -> None:
    """Check that this many random e-invoices pass, and that the documents between them name what they lack."""
    passed = 0
    while passed < wanted:
        seed = next(seeds)
        snapshot = make_random_snapshot(seed)
        found = check_einvoice(snapshot).e_invoice
        assert (found.status == "incomplete") == bool(found.missing), seed
        if found.status == "included":
            terms = einvoice_terms_of(snapshot)
            assert find_serious_faults(cii.write_cii(terms)) == [], seed
            assert find_serious_faults(ubl.write_ubl(terms)) == [], seed
            check_lines(ubl.write_ubl(terms), seed)
            passed += 1


def test_documents_by_chance_pass() -> None:
    check_random_documents(20, count())


@pytest.mark.long
def test_every_currency_and_every_country_passes_where_it_is_said_to() -> None:
    for currency in CURRENCIES:
        check_document(make_snapshot(SnapshotItem(), currency=currency), currency)
    for country in sorted(COUNTRIES):
        buyer = {**BUYER, "address": {"country": country}}
        check_document(
            make_snapshot(SnapshotItem(), seller={**SELLER, "taxNumber": f"{country}123456"}, buyer=buyer), country
        )


def check_document(snapshot: Snapshot, what: str) -> None:
    if check_einvoice(snapshot).e_invoice.status == "included":
        assert (
            find_serious_faults(cii.write_cii(einvoice_terms_of(snapshot)))
            + find_serious_faults(ubl.write_ubl(einvoice_terms_of(snapshot)))
            == []
        ), what


@pytest.mark.long
def test_five_hundred_documents_by_chance_pass() -> None:
    check_random_documents(500, count(1000))


# What the network asks of each line, whose rules are not among the official ones that come with a library.
_UBL = {
    "cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
    "cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2",
}
_TOLERANCE = Decimal("0.02")


def check_lines(xml: bytes, seed: int) -> None:
    """A line is its quantity by its price less its discounts (R120), and a percentage comes to its amount (R040)."""
    root = ET.fromstring(xml)
    for line in [*root.findall("cac:InvoiceLine", _UBL), *root.findall("cac:CreditNoteLine", _UBL)]:

        def amount(path: str, inside: ET.Element = line) -> Decimal:
            return Decimal(inside.findtext(path, "0", _UBL))

        expected = amount("cac:Price/cbc:PriceAmount") * (
            amount("cbc:InvoicedQuantity") + amount("cbc:CreditedQuantity")
        )
        for part in line.findall("cac:AllowanceCharge", _UBL):
            less = amount("cbc:Amount", part)
            expected += less if part.findtext("cbc:ChargeIndicator", "", _UBL) == "true" else -less
            if (percent := part.findtext("cbc:MultiplierFactorNumeric", None, _UBL)) is not None:
                share = amount("cbc:BaseAmount", part) * Decimal(percent) / 100
                assert abs(share - less) <= _TOLERANCE, (seed, share, less)
        assert abs(expected - amount("cbc:LineExtensionAmount")) <= _TOLERANCE, (seed, expected)


# Each is wrong in one way, and must be found out: rules that find nothing wrong with anything would prove nothing.
@pytest.mark.parametrize(
    ("write", "right", "wrong", "rule"),
    [
        (cii.write_cii, ">INV-0207</ram:ID>", "></ram:ID>", ""),
        (cii.write_cii, ">119.00</ram:GrandTotalAmount>", ">119.01</ram:GrandTotalAmount>", "BR-CO-15"),
        (cii.write_cii, "<ram:LineTotalAmount>100.00<", "<ram:LineTotalAmount>100.01<", "BR-S-08"),
        (cii.write_cii, ">EUR</ram:InvoiceCurrencyCode>", ">XYZ</ram:InvoiceCurrencyCode>", ""),
        (cii.write_cii, 'unitCode="HUR"', 'unitCode="HOURS"', ""),
        (cii.write_cii, ">DE136695976</ram:ID>", ">136695976</ram:ID>", "BR-CO-09"),
        (ubl.write_ubl, "<cbc:ID>INV-0207</cbc:ID><cbc:IssueDate>", "<cbc:IssueDate>", ""),
        (ubl.write_ubl, ">119.00</cbc:TaxInclusiveAmount>", ">119.01</cbc:TaxInclusiveAmount>", "BR-CO-15"),
        (
            ubl.write_ubl,
            ">100.00</cbc:LineExtensionAmount><cac:Item>",
            ">100.01</cbc:LineExtensionAmount><cac:Item>",
            "CO-10",
        ),
        (ubl.write_ubl, ">EUR</cbc:DocumentCurrencyCode>", ">XYZ</cbc:DocumentCurrencyCode>", "BR-CL-04"),
        (ubl.write_ubl, 'unitCode="HUR"', 'unitCode="HOURS"', "BR-CL-23"),
    ],
)
def test_what_is_wrong_does_not_pass(write: XmlWriter, right: str, wrong: str, rule: str) -> None:
    xml = write(einvoice_terms_of(GOLDEN["plain"])).decode()
    assert right in xml
    found = find_serious_faults(xml.replace(right, wrong).encode())
    assert found
    assert any(rule in fault for fault in found), found


def test_only_what_the_network_takes_says_that_it_is_for_the_network() -> None:
    assert b"peppol" in ubl.write_ubl(einvoice_terms_of(GOLDEN["plain"]))
    assert b"peppol" not in ubl.write_ubl(einvoice_terms_of(make_snapshot(SnapshotItem())))


def test_the_same_snapshot_is_written_as_the_same_bytes() -> None:
    for write in (cii.write_cii, ubl.write_ubl):
        assert write(einvoice_terms_of(make_random_snapshot(7))) == write(einvoice_terms_of(make_random_snapshot(7)))

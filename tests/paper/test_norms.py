"""E-invoices of every kind pass the official schemas and rules, in both forms; what is wrong does not."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import count
from xml.etree import ElementTree as ET

import pytest

from mainstay.paper import cii, ubl
from mainstay.paper.codes import _UNITS, unit_code
from mainstay.paper.einvoice import Terms, standing, terms_of
from mainstay.paper.snapshot import Snapshot
from mainstay.values.money import CURRENCIES
from mainstay.values.places import COUNTRIES
from mainstay.values.totals import Discount
from norms import faults, german_faults
from papers import BUYER, EXEMPT, NASTY, OUTSIDE, REVERSE, SELLER, VAT7, VAT19, ZERO, Item, by_chance, issued

# One word for each code.
UNITS = {unit_code(word): word for words in _UNITS.values() for word in words.split()}.values()
Write = Callable[[Terms], bytes]
FORMS = pytest.mark.parametrize("write", [cii.written, ubl.written], ids=["CII", "UBL"])
# There is nothing to say of the delivery where nobody said when the work was done; the schema wants the element anyway.
_EMPTY_DELIVERY = "PEPPOL-EN16931-R008"

GOLDEN = {
    "plain": issued(Item(), reference="x"),
    "four taxes": issued(Item(), Item(rate=VAT7), Item(rate=ZERO), Item(rate=EXEMPT), Item(rate=REVERSE)),
    "outside": issued(Item(rate=OUTSIDE), discount=Discount(amount=500)),
    "with tax": issued(Item(price="379", quantity="2"), Item(price="0.99"), pricesIncludeTax=True),
    "discounts": issued(Item(less="12.5", price="19.99"), Item(rate=VAT7), discount=Discount(percent=33_333)),
    "deposit": issued(Item(), type="deposit"),
    "final": issued(
        Item(price="8500"),
        Item("Deposit", "-1", "7500", deduction=True),
        type="final",
        preceding=[{"number": "INV-0100", "issuedOn": "2026-10-01"}, {"number": "INV-0101"}],
    ),
    "credit note": issued(Item(rate=VAT19), kind="creditNote", reason="Valve returned"),
    "no bank": issued(Item(), seller={**SELLER, "bank": None}),
    "tax office's number": issued(Item(), seller={**SELLER, "taxNumber": "22/815/08156"}),
    "texts": issued(*[Item(text) for text in NASTY], notes="\n".join(NASTY), title=NASTY[2], orderNumber=NASTY[1]),
    "Dutch": issued(
        Item(),
        reference="x",
        seller={
            **SELLER,
            "taxNumber": "NL001234567B01",
            "registrationNumber": "17131139",
            "address": {"line1": "Markt 1", "city": "Delft", "postalCode": "2611 GP", "country": "NL"},
        },
    ),
    "an address in no scheme": issued(Item(), buyer={**BUYER, "eInvoiceAddress": {"scheme": "GLN", "id": "1"}}),
    "every unit": issued(*[Item(unit=unit) for unit in UNITS]),
    "nothing due": issued(Item(price="0")),
    "negative": issued(Item(price="-100")),
    "yen": issued(Item(price="1190"), currency="JPY"),
}


def serious(xml: bytes) -> list[str]:
    return [fault for fault in faults(xml) if _EMPTY_DELIVERY not in fault]


@FORMS
@pytest.mark.parametrize("snapshot", GOLDEN.values(), ids=GOLDEN)
def test_e_invoices_pass(snapshot: Snapshot, write: Write) -> None:
    assert standing(snapshot).e_invoice.status == "included"
    assert serious(write(terms_of(snapshot))) == []


@pytest.mark.parametrize("kind", ["invoice", "creditNote"])
def test_what_can_go_into_the_network_passes_its_german_rules(kind: str) -> None:
    snapshot = issued(Item(), kind=kind, reference="x")
    assert standing(snapshot).peppol.status == "included"
    assert german_faults(ubl.written(terms_of(snapshot))) == []


def check(wanted: int, seeds: Iterator[int]) -> None:
    """Whatever is said to be an e-invoice passes, so many of them; what comes between is said to lack something."""
    passed = 0
    while passed < wanted:
        seed = next(seeds)
        snapshot = by_chance(seed)
        found = standing(snapshot).e_invoice
        assert (found.status == "incomplete") == bool(found.missing), seed
        if found.status == "included":
            terms = terms_of(snapshot)
            assert serious(cii.written(terms)) == [], seed
            assert serious(ubl.written(terms)) == [], seed
            check_lines(ubl.written(terms), seed)
            passed += 1


def test_documents_by_chance_pass() -> None:
    check(20, count())


@pytest.mark.long
def test_every_currency_and_every_country_passes_where_it_is_said_to() -> None:
    for currency in CURRENCIES:
        check_one(issued(Item(), currency=currency), currency)
    for country in sorted(COUNTRIES):
        buyer = {**BUYER, "address": {"country": country}}
        check_one(issued(Item(), seller={**SELLER, "taxNumber": f"{country}123456"}, buyer=buyer), country)


def check_one(snapshot: Snapshot, what: str) -> None:
    if standing(snapshot).e_invoice.status == "included":
        assert serious(cii.written(terms_of(snapshot))) + serious(ubl.written(terms_of(snapshot))) == [], what


@pytest.mark.long
def test_five_hundred_documents_by_chance_pass() -> None:
    check(500, count(1000))


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
        (cii.written, ">INV-0207</ram:ID>", "></ram:ID>", ""),
        (cii.written, ">119.00</ram:GrandTotalAmount>", ">119.01</ram:GrandTotalAmount>", "BR-CO-15"),
        (cii.written, "<ram:LineTotalAmount>100.00<", "<ram:LineTotalAmount>100.01<", "BR-S-08"),
        (cii.written, ">EUR</ram:InvoiceCurrencyCode>", ">XYZ</ram:InvoiceCurrencyCode>", ""),
        (cii.written, 'unitCode="HUR"', 'unitCode="HOURS"', ""),
        (cii.written, ">DE136695976</ram:ID>", ">136695976</ram:ID>", "BR-CO-09"),
        (ubl.written, "<cbc:ID>INV-0207</cbc:ID><cbc:IssueDate>", "<cbc:IssueDate>", ""),
        (ubl.written, ">119.00</cbc:TaxInclusiveAmount>", ">119.01</cbc:TaxInclusiveAmount>", "BR-CO-15"),
        (
            ubl.written,
            ">100.00</cbc:LineExtensionAmount><cac:Item>",
            ">100.01</cbc:LineExtensionAmount><cac:Item>",
            "CO-10",
        ),
        (ubl.written, ">EUR</cbc:DocumentCurrencyCode>", ">XYZ</cbc:DocumentCurrencyCode>", "BR-CL-04"),
        (ubl.written, 'unitCode="HUR"', 'unitCode="HOURS"', "BR-CL-23"),
    ],
)
def test_what_is_wrong_does_not_pass(write: Write, right: str, wrong: str, rule: str) -> None:
    xml = write(terms_of(GOLDEN["plain"])).decode()
    assert right in xml
    found = serious(xml.replace(right, wrong).encode())
    assert found
    assert any(rule in fault for fault in found), found


def test_only_what_the_network_takes_says_that_it_is_for_the_network() -> None:
    assert b"peppol" in ubl.written(terms_of(GOLDEN["plain"]))
    assert b"peppol" not in ubl.written(terms_of(issued(Item())))


def test_the_same_snapshot_is_written_as_the_same_bytes() -> None:
    for write in (cii.written, ubl.written):
        assert write(terms_of(by_chance(7))) == write(terms_of(by_chance(7)))

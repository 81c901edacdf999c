"""Snapshots for tests: documents of one firm, and random documents of every kind, with correct totals."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from mainstay.documents.snapshot import Snapshot
from mainstay.values.money import CURRENCIES, Money, parse_price, price_text
from mainstay.values.totals import Charge, Discount, FixedAmount, Rate, Totals, calculate_totals

SELLER: dict[str, Any] = {
    "name": "Rohr & Söhne",
    "legalName": "Rohr & Söhne GmbH",
    "contactName": "Karla Rohr",
    "taxNumber": "DE136695976",
    "registrationNumber": "HRB 4711",
    "eInvoiceAddress": {"scheme": "9930", "id": "DE136695976"},
    "address": {"line1": "Werkstraße 5", "city": "Köln", "postalCode": "50667", "country": "DE"},
    "email": "office@rohr.example",
    "phone": "+49 221 555 0100",
    "bank": {"name": "Commerzbank", "iban": "DE89 3704 0044 0532 0130 00", "bic": "COBADEFFXXX"},
}
BUYER: dict[str, Any] = {
    "name": "Müller Bau AG",
    "contactName": "Anna Müller",
    "taxNumber": "DE129273398",
    "eInvoiceAddress": {"scheme": "0204", "id": "04011000-12345-03"},
    "address": {"line1": "Lindenallee 14", "city": "Bonn", "postalCode": "53113", "country": "DE"},
    "email": "rechnung@mueller.example",
}


def make_rate(percent: str = "19", category: str = "standard", name: str = "VAT", **more: Any) -> dict[str, Any]:
    """Make a tax rate of one part."""
    return {
        "id": f"{category}-{percent}-{name}",
        "name": f"{name} {percent} %" if percent != "0" else name,
        "category": category,
        "components": [{"name": name, "percent": percent}],
        **more,
    }


VAT19, VAT7 = make_rate(), make_rate("7")
GST_QST = {
    "id": "gst-qst",
    "name": "GST + QST",
    "category": "standard",
    "components": [{"name": "GST", "percent": "5"}, {"name": "QST", "percent": "9.975"}],
}
EXEMPT = make_rate("0", "exempt", "Exempt")
REVERSE_CHARGE = make_rate("0", "reverseCharge", "Reverse charge")
ZERO = make_rate("0", "zero", "Zero rated")
OUTSIDE = make_rate("0", "outside", "Outside the scope")


@dataclass
class SnapshotItem:
    """A line that costs something, before it is added up."""

    description: str = "Work"
    quantity: str = "1"
    price: str = "100"
    rate: dict[str, Any] = field(default_factory=lambda: VAT19)
    unit: str | None = "h"
    discount_percent: str = "0"
    optional: bool = False
    chosen: bool = True
    deduction: bool = False


SnapshotLine = SnapshotItem | str


def make_snapshot(
    *given: SnapshotLine, kind: str = "invoice", discount: Discount | None = None, **more: Any
) -> Snapshot:
    """Make a document with these lines: `# Words` is a heading, other words are text lines."""
    currency, inclusive = more.get("currency", "EUR"), bool(more.get("pricesIncludeTax"))
    items = [each for each in given if isinstance(each, SnapshotItem)]
    charged_items = [item for item in items if item.chosen or not item.optional]
    decimals = CURRENCIES[currency]
    amounts = iter(
        calculate_totals([_make_charge(item, decimals, inclusive=inclusive) for item in items], decimals).amounts
    )
    charges = [_make_charge(item, decimals, inclusive=inclusive) for item in charged_items]
    totals = calculate_totals(charges, decimals, discount, inclusive=inclusive)
    rates = {item.rate["id"]: item.rate for item in items}
    values: dict[str, Any] = {
        "kind": kind,
        "number": {"invoice": "INV-0207", "creditNote": "CN-0012", "quote": "Q-0318", "purchaseOrder": "PO-0031"}[kind],
        "currency": currency,
        "issuedOn": "2026-11-16",
        "seller": SELLER,
        "buyer": BUYER,
        "taxRates": list(rates.values()),
        "lines": [_make_line(place, each, amounts, currency) for place, each in enumerate(given)],
        "discount": _make_discount(discount, totals, currency),
        "totals": _make_totals(totals, rates, currency),
    }
    kind_defaults: dict[str, dict[str, Any]] = {
        "invoice": {"dueOn": "2026-11-30"},
        "creditNote": {"preceding": [{"number": "INV-0207", "issuedOn": "2026-11-02"}]},
    }
    return Snapshot.model_validate({**values, **kind_defaults.get(kind, {}), **more})


def _make_charge(item: SnapshotItem, decimals: int, *, inclusive: bool) -> Charge:
    parts = tuple(parse_price(part["percent"]) for part in item.rate["components"])
    rate = Rate(item.rate["id"], parts)
    charge = Charge(parse_price(item.quantity), parse_price(item.price), rate, parse_price(item.discount_percent))
    if not item.deduction:
        return charge
    # As it was invoiced before.
    (before,) = calculate_totals([charge], decimals, inclusive=inclusive).groups
    return replace(charge, fixed_amount=FixedAmount(before.net, before.taxes))


def _make_line(place: int, given: SnapshotLine, amounts: Any, currency: str) -> dict[str, Any]:
    if isinstance(given, str):
        heading = given.startswith("# ")
        return {"id": f"line{place}", "kind": "heading" if heading else "text", "description": given.removeprefix("# ")}
    return {
        "id": f"line{place}",
        "description": given.description,
        "quantity": given.quantity,
        "unit": given.unit,
        "unitPrice": given.price,
        "discountPercent": given.discount_percent,
        "taxRateId": given.rate["id"],
        "amount": Money(next(amounts), currency).to_text(),
        "optional": given.optional,
        "chosen": given.chosen,
        "deduction": given.deduction,
    }


def _make_discount(discount: Discount | None, totals: Totals, currency: str) -> dict[str, Any] | None:
    if discount is None:
        return None
    percent = price_text(discount.percent) if discount.percent else None
    return {"percent": percent, "taken": Money(totals.discount, currency).to_text()}


def _make_totals(totals: Totals, rates: dict[str, Any], currency: str) -> dict[str, Any]:
    def text(minor: int) -> str:
        return Money(minor, currency).to_text()

    return {
        "net": text(totals.net),
        "total": text(totals.total),
        "tax": [
            {
                "taxRateId": group.rate.id,
                "net": text(group.net),
                "amount": text(group.tax),
                "components": [
                    {**part, "amount": text(tax)}
                    for part, tax in zip(rates[group.rate.id]["components"], group.taxes, strict=True)
                ],
            }
            for group in totals.groups
        ],
    }


# Texts that broke one thing or another.
NASTY_TEXTS = (
    '#eval("1+1") $x^2$ @ref *bold* _it_ `raw` \\ {x} [y] #import "x" //',
    "<script>alert(1)</script> & ]]> &amp; <!-- -->",
    "👷 Bau 漢字 ไทย \x07\x1b[0m ￿",
    "\ud800 lone",
    "خدمة صيانة التدفئة (١٢)",
    "עבודות צנרת ABC 12",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenhalter" * 2,
    "a\nb\n\nc",
)
_CATEGORIES = (
    VAT19,
    VAT7,
    make_rate("5.5"),
    make_rate("21"),
    make_rate("19", name="MwSt"),
    ZERO,
    EXEMPT,
    REVERSE_CHARGE,
)
_UNITS = ("h", "pcs", "m", "m²", "kg", None, "lump", "Stk", "day", "l", "weird")


def make_random_snapshot(seed: int) -> Snapshot:
    """Make a random invoice or credit note; most can be e-invoices."""
    random = Random(seed)
    outside = random.random() < 0.1
    rates = [OUTSIDE] if outside else random.sample(_CATEGORIES, random.randint(1, 4))
    items: list[SnapshotLine] = [_make_random_item(random, random.choice(rates)) for _ in range(random.randint(1, 12))]
    more: dict[str, Any] = {}
    kind = random.choice(("invoice", "invoice", "creditNote"))
    if kind == "invoice" and random.random() < 0.3:
        items += [SnapshotItem("Deposit", "-1", _choose_price(random), rates[0], None, deduction=True)]
        more = {
            "type": "final",
            "preceding": [{"number": "INV-0100", "issuedOn": "2026-10-01"}, {"number": "INV-0101"}],
        }
    if random.random() < 0.3:
        items += ["# Materials", "As agreed on the phone"]
    if random.random() < 0.3:
        more["servicePeriod"] = {"from": "2026-11-09", "until": random.choice(("2026-11-09", "2026-11-10"))}
    if random.random() < 0.3:
        more["site"] = {"name": "North barn", "address": {"line1": "2 Weir Lane", "country": "DE"}}
    percent = parse_price(str(random.choice((0, 2, 3.5, 10, 33.3333))))
    discount = Discount(percent=percent) if percent else random.choice((None, Discount(amount=random.randint(1, 500))))
    return make_snapshot(
        *items,
        kind=kind,
        discount=discount,
        seller=_make_random_party(random, SELLER),
        buyer=_make_random_party(random, BUYER),
        currency=random.choice(("EUR", "EUR", "GBP", "JPY")),
        pricesIncludeTax=random.random() < 0.5,
        language=random.choice(("en", "de", "fr", "nl", "es")),
        reference=random.choice(("04011000-12345-03", NASTY_TEXTS[1])),
        orderNumber=random.choice((None, "PO 77-2026")),
        notes=random.choice((None, "Thank you.", *NASTY_TEXTS)),
        **more,
    )


def _make_random_party(random: Random, party: dict[str, Any]) -> dict[str, Any]:
    """Make a party with some details left out."""
    known = {name: value for name, value in party.items() if name in {"name", "address"} or random.random() < 0.85}
    numbers = ("DE136695976", "22/815/08156", "FR 40 303 265 045", "CHE-116.281.710 MWST", NASTY_TEXTS[1])
    if "taxNumber" in known and random.random() < 0.4:
        known["taxNumber"] = random.choice(numbers)
    if random.random() < 0.3:
        known["address"] = {"country": random.choice(("DE", "NL", "GB", "FR", "AT", "US", None)), "line1": "1 High St"}
    return known


def _make_random_item(random: Random, rate: dict[str, Any]) -> SnapshotItem:
    quantity = random.choice(("1", "2.5", "12", "0.3333", "1000", "-1", "0", f"{random.randint(1, 999)}.25"))
    discount_percent = random.choice(("0", "0", "5", "12.5", "100", "33.3333"))
    return SnapshotItem(
        random.choice(("Labour", "Pipe\n22 mm", *NASTY_TEXTS)),
        quantity,
        _choose_price(random),
        rate,
        random.choice(_UNITS),
        discount_percent,
    )


def _choose_price(random: Random) -> str:
    return random.choice(
        ("0", "0.005", "19.99", "100", "1234.5678", f"{random.randint(0, 10**6)}.{random.randint(0, 99):02}")
    )

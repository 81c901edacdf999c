"""Snapshots for tests: one firm's documents, and documents of every kind by chance. All come to what they should."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from mainstay.paper.snapshot import Snapshot
from mainstay.values.money import CURRENCIES, Money, parse_price, price_text
from mainstay.values.totals import Charge, Discount, Rate, Settled, Totals, total_up

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


def rate(percent: str = "19", category: str = "standard", name: str = "VAT", **more: Any) -> dict[str, Any]:
    """A rate of tax of one part."""
    return {
        "id": f"{category}-{percent}-{name}",
        "name": f"{name} {percent} %" if percent != "0" else name,
        "category": category,
        "components": [{"name": name, "percent": percent}],
        **more,
    }


VAT19, VAT7 = rate(), rate("7")
GST_QST = {
    "id": "gst-qst",
    "name": "GST + QST",
    "category": "standard",
    "components": [{"name": "GST", "percent": "5"}, {"name": "QST", "percent": "9.975"}],
}
EXEMPT = rate("0", "exempt", "Exempt")
REVERSE = rate("0", "reverseCharge", "Reverse charge")
ZERO = rate("0", "zero", "Zero rated")
OUTSIDE = rate("0", "outside", "Outside the scope")


@dataclass
class Item:
    """A line that costs something, before it is added up."""

    description: str = "Work"
    quantity: str = "1"
    price: str = "100"
    rate: dict[str, Any] = field(default_factory=lambda: VAT19)
    unit: str | None = "h"
    less: str = "0"
    optional: bool = False
    chosen: bool = True
    deduction: bool = False


Given = Item | str


def issued(*given: Given, kind: str = "invoice", discount: Discount | None = None, **more: Any) -> Snapshot:
    """A document with these lines: `# Words` is a heading, other words stand between the lines."""
    currency, inclusive = more.get("currency", "EUR"), bool(more.get("pricesIncludeTax"))
    items = [each for each in given if isinstance(each, Item)]
    counted = [item for item in items if item.chosen or not item.optional]
    decimals = CURRENCIES[currency]
    amounts = iter(total_up([_charge(item, decimals, inclusive=inclusive) for item in items], decimals).amounts)
    charges = [_charge(item, decimals, inclusive=inclusive) for item in counted]
    totals = total_up(charges, decimals, discount, inclusive=inclusive)
    rates = {item.rate["id"]: item.rate for item in items}
    told: dict[str, Any] = {
        "kind": kind,
        "number": {"invoice": "INV-0207", "creditNote": "CN-0012", "quote": "Q-0318", "purchaseOrder": "PO-0031"}[kind],
        "currency": currency,
        "issuedOn": "2026-11-16",
        "seller": SELLER,
        "buyer": BUYER,
        "taxRates": list(rates.values()),
        "lines": [_line(place, each, amounts, currency) for place, each in enumerate(given)],
        "discount": _discount(discount, totals, currency),
        "totals": _totals(totals, rates, currency),
    }
    usual: dict[str, dict[str, Any]] = {
        "invoice": {"dueOn": "2026-11-30"},
        "creditNote": {"preceding": [{"number": "INV-0207", "issuedOn": "2026-11-02"}]},
    }
    return Snapshot.model_validate({**told, **usual.get(kind, {}), **more})


def _charge(item: Item, decimals: int, *, inclusive: bool) -> Charge:
    parts = tuple(parse_price(part["percent"]) for part in item.rate["components"])
    rate = Rate(item.rate["id"], parts)
    charge = Charge(parse_price(item.quantity), parse_price(item.price), rate, parse_price(item.less))
    if not item.deduction:
        return charge
    # As it was invoiced before.
    (before,) = total_up([charge], decimals, inclusive=inclusive).groups
    return replace(charge, settled=Settled(before.net, before.taxes))


def _line(place: int, given: Given, amounts: Any, currency: str) -> dict[str, Any]:
    if isinstance(given, str):
        heading = given.startswith("# ")
        return {"id": f"line{place}", "kind": "heading" if heading else "text", "description": given.removeprefix("# ")}
    return {
        "id": f"line{place}",
        "description": given.description,
        "quantity": given.quantity,
        "unit": given.unit,
        "unitPrice": given.price,
        "discountPercent": given.less,
        "taxRateId": given.rate["id"],
        "amount": Money(next(amounts), currency).text(),
        "optional": given.optional,
        "chosen": given.chosen,
        "deduction": given.deduction,
    }


def _discount(discount: Discount | None, totals: Totals, currency: str) -> dict[str, Any] | None:
    if discount is None:
        return None
    percent = price_text(discount.percent) if discount.percent else None
    return {"percent": percent, "taken": Money(totals.discount, currency).text()}


def _totals(totals: Totals, rates: dict[str, Any], currency: str) -> dict[str, Any]:
    def text(minor: int) -> str:
        return Money(minor, currency).text()

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
NASTY = (
    '#eval("1+1") $x^2$ @ref *bold* _it_ `raw` \\ {x} [y] #import "x" //',
    "<script>alert(1)</script> & ]]> &amp; <!-- -->",
    "👷 Bau 漢字 ไทย \x07\x1b[0m ￿",
    "\ud800 lone",
    "خدمة صيانة التدفئة (١٢)",
    "עבודות צנרת ABC 12",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenhalter" * 2,
    "a\nb\n\nc",
)
_CATEGORIES = (VAT19, VAT7, rate("5.5"), rate("21"), rate("19", name="MwSt"), ZERO, EXEMPT, REVERSE)
_UNITS = ("h", "pcs", "m", "m²", "kg", None, "lump", "Stk", "day", "l", "weird")


def by_chance(seed: int) -> Snapshot:
    """An invoice or a credit note of any kind; most can be e-invoices."""
    chance = Random(seed)
    outside = chance.random() < 0.1
    rates = [OUTSIDE] if outside else chance.sample(_CATEGORIES, chance.randint(1, 4))
    items: list[Given] = [_item_by_chance(chance, chance.choice(rates)) for _ in range(chance.randint(1, 12))]
    more: dict[str, Any] = {}
    kind = chance.choice(("invoice", "invoice", "creditNote"))
    if kind == "invoice" and chance.random() < 0.3:
        items += [Item("Deposit", "-1", _price(chance), rates[0], None, deduction=True)]
        more = {
            "type": "final",
            "preceding": [{"number": "INV-0100", "issuedOn": "2026-10-01"}, {"number": "INV-0101"}],
        }
    if chance.random() < 0.3:
        items += ["# Materials", "As agreed on the phone"]
    if chance.random() < 0.3:
        more["servicePeriod"] = {"from": "2026-11-09", "until": chance.choice(("2026-11-09", "2026-11-10"))}
    if chance.random() < 0.3:
        more["site"] = {"name": "North barn", "address": {"line1": "2 Weir Lane", "country": "DE"}}
    percent = parse_price(str(chance.choice((0, 2, 3.5, 10, 33.3333))))
    discount = Discount(percent=percent) if percent else chance.choice((None, Discount(amount=chance.randint(1, 500))))
    return issued(
        *items,
        kind=kind,
        discount=discount,
        seller=_party_by_chance(chance, SELLER),
        buyer=_party_by_chance(chance, BUYER),
        currency=chance.choice(("EUR", "EUR", "GBP", "JPY")),
        pricesIncludeTax=chance.random() < 0.5,
        language=chance.choice(("en", "de", "fr", "nl", "es")),
        reference=chance.choice(("04011000-12345-03", NASTY[1])),
        orderNumber=chance.choice((None, "PO 77-2026")),
        notes=chance.choice((None, "Thank you.", *NASTY)),
        **more,
    )


def _party_by_chance(chance: Random, party: dict[str, Any]) -> dict[str, Any]:
    """Someone of whom not everything is known."""
    known = {name: value for name, value in party.items() if name in {"name", "address"} or chance.random() < 0.85}
    numbers = ("DE136695976", "22/815/08156", "FR 40 303 265 045", "CHE-116.281.710 MWST", NASTY[1])
    if "taxNumber" in known and chance.random() < 0.4:
        known["taxNumber"] = chance.choice(numbers)
    if chance.random() < 0.3:
        known["address"] = {"country": chance.choice(("DE", "NL", "GB", "FR", "AT", "US", None)), "line1": "1 High St"}
    return known


def _item_by_chance(chance: Random, of: dict[str, Any]) -> Item:
    quantity = chance.choice(("1", "2.5", "12", "0.3333", "1000", "-1", "0", f"{chance.randint(1, 999)}.25"))
    less = chance.choice(("0", "0", "5", "12.5", "100", "33.3333"))
    return Item(
        chance.choice(("Labour", "Pipe\n22 mm", *NASTY)), quantity, _price(chance), of, chance.choice(_UNITS), less
    )


def _price(chance: Random) -> str:
    return chance.choice(
        ("0", "0.005", "19.99", "100", "1234.5678", f"{chance.randint(0, 10**6)}.{chance.randint(0, 99):02}")
    )

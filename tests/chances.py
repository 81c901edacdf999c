"""What firms bill, by chance: quotes that are sold, asked for in parts, billed and credited, as the office does it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from billing import a_sold_quote, an_invoice, credited, issued, notes_of, now
from cast import Cast
from labour import decide
from mainstay.business.customers.operations import create_customer
from mainstay.business.invoices.crediting import get_credit_note
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.terms.refusal import Invalid
from mainstay.values.money import CURRENCIES, Money, amount_text, price_text

_SELLER: dict[str, Any] = {
    "name": "Rohr & Söhne",
    "legalName": "Rohr & Söhne GmbH",
    "taxNumber": "DE136695976",
    "registrationNumber": "HRB 4711",
    "address": {"line1": "Werkstraße 5", "city": "Köln", "postalCode": "50667", "country": "DE"},
    "email": "office@rohr.example",
    "country": "DE",
}
_BUYER: dict[str, Any] = {
    "name": "Müller Bau AG",
    "taxNumber": "DE129273398",
    "billingAddress": {"line1": "Lindenallee 14", "city": "Bonn", "postalCode": "53113", "country": "DE"},
}
# Rates by their category and parts. Those of e-invoices have one part, and are known by it there.
_ONE_PART = {"standard": [("19",), ("7",), ("5.5",)], "zero": [("0",)], "exempt": [("0",)], "reverseCharge": [("0",)]}
_SEVERAL_PARTS = [("5", "9.975"), ("3", "3", "3.333"), ("20", "2.5")]


@dataclass(frozen=True)
class Firm:
    """An organisation of which is known what an e-invoice has to say, with rates of every kind."""

    cast: Cast
    customer: str
    currency: str
    # Those that an e-invoice has words for, and the others; None taxes nothing.
    told: list[str]
    untold: list[str | None]


@dataclass
class Story:
    """A quote, all that was issued of it, and what was credited of each."""

    quote: dict[str, Any]
    invoices: list[dict[str, Any]] = field(default_factory=list)
    # By the id of the invoice.
    notes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def open_firm(cast: Cast, currency: str = "EUR") -> Firm:
    """Make one."""
    cast.perform(update_organisation, currency=currency, **_SELLER)
    customer = str(cast.perform(create_customer, **_BUYER)["id"])
    told = [_rate(cast, parts, category) for category, rates in _ONE_PART.items() for parts in rates]
    return Firm(cast, customer, currency, told, [*(_rate(cast, parts) for parts in _SEVERAL_PARTS), None])


def story(firm: Firm, seed: int, *, e_invoices: bool = False) -> Story:
    """What is billed of a quote by chance; with `e_invoices`, only at taxes that those have words for."""
    chance = Random(f"{firm.currency} {seed}")
    decide(firm.cast, prices_include_tax=chance.randint(0, 1))
    told = Story(_sold(firm, chance, [*firm.told] if e_invoices else [*firm.told, *firm.untold]))
    left = _minor(firm, told.quote["total"])
    for kind in ("deposit", "progress", "progress")[: chance.randint(0, 3)]:
        asked = left if chance.random() < 0.1 else chance.randint(1, max(left // 2, 1))
        if 0 < asked <= left:
            part = an_invoice(firm.cast, quoteId=told.quote["id"], part=_amount(firm, asked), kind=kind)
            left -= asked - _issue(firm, told, part, chance, whole=False)
    final = an_invoice(firm.cast, quoteId=told.quote["id"])
    # A part that was all of it may leave less than nothing of a rate, but never of the whole.
    _issue(firm, told, final, chance, whole=chance.random() < 0.8)
    return told


def sold_before_tax(firm: Firm, chance: Random) -> dict[str, Any]:
    """A quote that its customer has accepted, with prices before tax, and lines that take something off."""
    decide(firm.cast, prices_include_tax=0)
    return _sold(firm, chance, [*firm.told, *firm.untold])


def tally(*documents: dict[str, Any]) -> Counter[tuple[str, ...]]:
    """What documents come to together: in sum, and at each rate the net and each part of the tax."""
    found: Counter[tuple[str, ...]] = Counter()
    for one in documents:
        found.update({(name,): _exact(one[name]) for name in ("net", "tax", "total")})
        for tax in one["taxes"]:
            rate = str(tax["taxRateId"])
            found.update({(rate, "net"): _exact(tax["net"]), (rate, "tax"): _exact(tax["amount"])})
            found.update({(rate, part["name"]): _exact(part["amount"]) for part in tax["components"]})
    return Counter({name: amount for name, amount in found.items() if amount})


def less(whole: Counter[tuple[str, ...]], part: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    """What is left of a tally without another."""
    left = Counter(whole)
    left.subtract(part)
    return Counter({name: amount for name, amount in left.items() if amount})


def _exact(amount: str) -> int:
    """An amount as a whole number, whatever the decimals of its currency."""
    return int(Decimal(amount) * 1000)


def _rate(cast: Cast, parts: Iterable[str], category: str = "standard") -> str:
    components = [{"name": f"T{place}", "percent": percent} for place, percent in enumerate(parts)]
    name = f"{category} {' + '.join(part['percent'] for part in components)}"
    return str(cast.perform(save_tax_rate, name=name, category=category, components=components)["id"])


def _sold(firm: Firm, chance: Random, rates: list[Any]) -> dict[str, Any]:
    chosen = chance.sample(rates, chance.randint(1, 3))
    lines = [_line(chance, chosen) for _ in range(chance.randint(1, 7))]
    # Whatever is less comes to less than this.
    lines.append(
        {"description": "Boiler", "unitPrice": price_text(chance.randint(10**7, 10**9)), "taxRateId": chosen[0]}
    )
    discount = chance.choice(
        [None, {"percent": price_text(chance.randint(1, 500_000))}, _amount(firm, chance.randint(1, 99))]
    )
    return a_sold_quote(firm.cast, *lines, customerId=firm.customer, discount=discount)


def _line(chance: Random, rates: list[Any]) -> dict[str, Any]:
    if chance.random() < 0.1:
        return {"kind": chance.choice(["text", "heading"]), "description": "As agreed"}
    turned = -1 if chance.random() < 0.3 else 1
    return {
        "description": chance.choice(["Flue", "Work\nof two", "Rohr & <Söhne>"]),
        "quantity": price_text(turned * chance.choice([10_000, chance.randint(1, 50_000)])),
        "unitPrice": price_text(chance.choice([0, chance.randint(1, 200_000), chance.randint(1, 2_000) * 100])),
        "discountPercent": price_text(chance.choice([0, 0, chance.randint(1, 10**6)])),
        "unit": chance.choice([None, "h", "pcs"]),
        "taxRateId": chance.choice(rates),
    }


def _issue(firm: Firm, told: Story, draft: dict[str, Any], chance: Random, *, whole: bool) -> int:
    """Issue a draft and credit some of it, or all; how much."""
    invoice = issued(firm.cast, draft)
    told.invoices.append(invoice)
    for _ in range(chance.randint(0, 2)):
        _credit_some(firm, invoice, chance)
    if whole and _minor(firm, invoice["total"]) and now(firm.cast, invoice)["status"] != "credited":
        credited(firm.cast, invoice)
    told.notes[invoice["id"]] = [
        firm.cast.perform(get_credit_note, creditNoteId=note["id"]) for note in notes_of(firm.cast, invoice)
    ]
    return _minor(firm, now(firm.cast, invoice)["credited"])


def _credit_some(firm: Firm, invoice: dict[str, Any], chance: Random) -> None:
    left = _minor(firm, invoice["total"]) - _minor(firm, now(firm.cast, invoice)["credited"])
    if left < 2:
        return
    if chance.random() < 0.5:
        credited(firm.cast, invoice, amount=amount_text(chance.randint(1, left - 1), firm.currency))
        return
    line = chance.choice([line for line in invoice["lines"] if line["kind"] == "item"])
    of_it = price_text(int(Decimal(line["quantity"]) * 10_000 * chance.randint(1, 9) // 10))
    quantity = chance.choice([{}, {"quantity": of_it}])
    try:
        credited(firm.cast, invoice, lines=[{"lineId": line["id"], **quantity}])
    except Invalid:
        # It comes to nothing, to less than nothing or to more than is left: that is refused, and changes nothing.
        return


def _amount(firm: Firm, minor: int) -> dict[str, str]:
    return {"amount": amount_text(minor, firm.currency)}


def _minor(firm: Firm, amount: str) -> int:
    assert firm.currency in CURRENCIES
    return Money.parse(amount, firm.currency).minor

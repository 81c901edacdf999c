"""Random billing: quotes that are accepted, billed in parts and credited, as the office does it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from mainstay.business.customers.operations import create_customer
from mainstay.business.invoices.issuing.crediting import get_credit_note
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.values.money import CURRENCIES, Money, amount_text, price_text
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.hours import set_organisation_columns
from support.invoices import (
    credit_issued,
    credit_notes_of,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
    reread_invoice,
)

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
_RATES_OF_ONE_PART = {
    "standard": [("19",), ("7",), ("5.5",)],
    "zero": [("0",)],
    "exempt": [("0",)],
    "reverseCharge": [("0",)],
}
_RATES_OF_SEVERAL_PARTS = [("5", "9.975"), ("3", "3", "3.333"), ("20", "2.5")]


@dataclass(frozen=True)
class BillingFirm:
    """An organisation with all details for e-invoices, and with tax rates of every kind."""

    cast: Cast
    customer: str
    currency: str
    # Those that an e-invoice has words for, and the others; None taxes nothing.
    e_invoice_rates: list[str]
    other_rates: list[str | None]


@dataclass
class BilledQuote:
    """A quote, its invoices, and the credit notes of each."""

    quote: dict[str, Any]
    invoices: list[dict[str, Any]] = field(default_factory=list)
    # By the id of the invoice.
    credit_notes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def make_billing_firm(cast: Cast, currency: str = "EUR") -> BillingFirm:
    """Make the firm."""
    cast.perform(update_organisation, currency=currency, **_SELLER)
    customer = str(cast.perform(create_customer, **_BUYER)["id"])
    e_invoice_rates = [
        _make_rate(cast, parts, category) for category, rates in _RATES_OF_ONE_PART.items() for parts in rates
    ]
    return BillingFirm(
        cast,
        customer,
        currency,
        e_invoice_rates,
        [*(_make_rate(cast, parts) for parts in _RATES_OF_SEVERAL_PARTS), None],
    )


def bill_at_random(firm: BillingFirm, seed: int, *, e_invoices: bool = False) -> BilledQuote:
    """Bill a random quote; with `e_invoices`, only at tax rates that e-invoices can express."""
    random = Random(f"{firm.currency} {seed}")
    set_organisation_columns(firm.cast, prices_include_tax=random.randint(0, 1))
    billed = BilledQuote(
        _make_accepted_quote(
            firm, random, [*firm.e_invoice_rates] if e_invoices else [*firm.e_invoice_rates, *firm.other_rates]
        )
    )
    left = _to_minor(firm, billed.quote["total"])
    for kind in ("deposit", "progress", "progress")[: random.randint(0, 3)]:
        amount = left if random.random() < 0.1 else random.randint(1, max(left // 2, 1))
        if 0 < amount <= left:
            part = make_invoice(firm.cast, quoteId=billed.quote["id"], part=_to_amount(firm, amount), kind=kind)
            left -= amount - _issue_and_credit(firm, billed, part, random, credit_rest=False)
    final = make_invoice(firm.cast, quoteId=billed.quote["id"])
    # A part that billed everything may leave a rate negative, but never the whole.
    _issue_and_credit(firm, billed, final, random, credit_rest=random.random() < 0.8)
    return billed


def make_quote_before_tax(firm: BillingFirm, random: Random) -> dict[str, Any]:
    """Make an accepted quote with prices before tax, some of them negative."""
    set_organisation_columns(firm.cast, prices_include_tax=0)
    return _make_accepted_quote(firm, random, [*firm.e_invoice_rates, *firm.other_rates])


def add_up_documents(*documents: dict[str, Any]) -> Counter[tuple[str, ...]]:
    """Add documents up: the totals, and for each rate the net and each part of the tax."""
    found: Counter[tuple[str, ...]] = Counter()
    for one in documents:
        found.update({(name,): _to_integer(one[name]) for name in ("net", "tax", "total")})
        for tax in one["taxes"]:
            rate = str(tax["taxRateId"])
            found.update({(rate, "net"): _to_integer(tax["net"]), (rate, "tax"): _to_integer(tax["amount"])})
            found.update({(rate, part["name"]): _to_integer(part["amount"]) for part in tax["components"]})
    return Counter({name: amount for name, amount in found.items() if amount})


def subtract(whole: Counter[tuple[str, ...]], part: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    """Subtract one sum of documents from another."""
    left = Counter(whole)
    left.subtract(part)
    return Counter({name: amount for name, amount in left.items() if amount})


def _to_integer(amount: str) -> int:
    """Convert an amount to a whole number, for any number of decimals."""
    return int(Decimal(amount) * 1000)


def _make_rate(cast: Cast, parts: Iterable[str], category: str = "standard") -> str:
    components = [{"name": f"T{place}", "percent": percent} for place, percent in enumerate(parts)]
    name = f"{category} {' + '.join(part['percent'] for part in components)}"
    return str(cast.perform(save_tax_rate, name=name, category=category, components=components)["id"])


def _make_accepted_quote(firm: BillingFirm, random: Random, rates: list[Any]) -> dict[str, Any]:
    chosen_rates = random.sample(rates, random.randint(1, 3))
    lines = [_make_line(random, chosen_rates) for _ in range(random.randint(1, 7))]
    # Whatever is less comes to less than this.
    lines.append(
        {"description": "Boiler", "unitPrice": price_text(random.randint(10**7, 10**9)), "taxRateId": chosen_rates[0]}
    )
    discount = random.choice(
        [None, {"percent": price_text(random.randint(1, 500_000))}, _to_amount(firm, random.randint(1, 99))]
    )
    return make_accepted_quote(firm.cast, *lines, customerId=firm.customer, discount=discount)


def _make_line(random: Random, rates: list[Any]) -> dict[str, Any]:
    if random.random() < 0.1:
        return {"kind": random.choice(["text", "heading"]), "description": "As agreed"}
    sign = -1 if random.random() < 0.3 else 1
    return {
        "description": random.choice(["Flue", "Work\nof two", "Rohr & <Söhne>"]),
        "quantity": price_text(sign * random.choice([10_000, random.randint(1, 50_000)])),
        "unitPrice": price_text(random.choice([0, random.randint(1, 200_000), random.randint(1, 2_000) * 100])),
        "discountPercent": price_text(random.choice([0, 0, random.randint(1, 10**6)])),
        "unit": random.choice([None, "h", "pcs"]),
        "taxRateId": random.choice(rates),
    }


def _issue_and_credit(
    firm: BillingFirm, billed: BilledQuote, draft: dict[str, Any], random: Random, *, credit_rest: bool
) -> int:
    """Issue a draft and credit some of it, or all; return how much was credited."""
    invoice = issue_invoice(firm.cast, draft)
    billed.invoices.append(invoice)
    for _ in range(random.randint(0, 2)):
        _credit_some(firm, invoice, random)
    if credit_rest and _to_minor(firm, invoice["total"]) and reread_invoice(firm.cast, invoice)["status"] != "credited":
        credit_issued(firm.cast, invoice)
    billed.credit_notes[invoice["id"]] = [
        firm.cast.perform(get_credit_note, creditNoteId=note["id"]) for note in credit_notes_of(firm.cast, invoice)
    ]
    return _to_minor(firm, reread_invoice(firm.cast, invoice)["credited"])


def _credit_some(firm: BillingFirm, invoice: dict[str, Any], random: Random) -> None:
    left = _to_minor(firm, invoice["total"]) - _to_minor(firm, reread_invoice(firm.cast, invoice)["credited"])
    if left < 2:
        return
    if random.random() < 0.5:
        credit_issued(firm.cast, invoice, amount=amount_text(random.randint(1, left - 1), firm.currency))
        return
    line = random.choice([line for line in invoice["lines"] if line["kind"] == "item"])
    part_quantity = price_text(int(Decimal(line["quantity"]) * 10_000 * random.randint(1, 9) // 10))
    quantity = random.choice([{}, {"quantity": part_quantity}])
    try:
        credit_issued(firm.cast, invoice, lines=[{"lineId": line["id"], **quantity}])
    except Invalid:
        # It comes to nothing, to less than nothing or to more than is left: that is refused, and changes nothing.
        return


def _to_amount(firm: BillingFirm, minor: int) -> dict[str, str]:
    return {"amount": amount_text(minor, firm.currency)}


def _to_minor(firm: BillingFirm, amount: str) -> int:
    assert firm.currency in CURRENCIES
    return Money.parse(amount, firm.currency).minor

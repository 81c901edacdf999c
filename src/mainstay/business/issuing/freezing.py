"""Freezes what a document says: everything that is printed on it, as it is at this moment."""

from typing import Any, NamedTuple

import orjson

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import SITES
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.model import Drawn, Line, Terms, draw_up
from mainstay.business.lines.pricing import rates_of
from mainstay.business.organisation.store import ORGANISATION
from mainstay.business.pricelist.model import Supplier
from mainstay.kernel.context import Context
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.shapes import Kept
from mainstay.terms.wire import to_json
from mainstay.values.money import amount_text


class Order(NamedTuple):
    """Whom and what an order is about: the supplier, and the ids of the site it goes to and of the job."""

    supplier: Supplier
    site: str | None = None
    job: str | None = None
    # Whether the organisation fetches it; what goes to no site comes to its own address.
    collected: bool = False


class About(NamedTuple):
    """Whom and what a document is about: the customer, and the ids of the site and the job."""

    customer: Customer
    site: str | None = None
    job: str | None = None


class Frozen(NamedTuple):
    """All that a document says, and how it was drawn up: at the rates of tax as they are called now."""

    snapshot: Snapshot
    drawn: Drawn


def freeze(ctx: Context, about: About, lines: list[Line], terms: Terms, told: dict[str, Any]) -> Frozen:
    """A document of the organisation for a customer, with these lines, as it is issued now.

    `told` is what else it says, by the names of a snapshot: its kind, number, dates, words.
    """
    return _frozen(ctx, {"seller": _house(ctx), **_around(ctx, about)}, lines, terms, told)


def freeze_order(ctx: Context, order: Order, lines: list[Line], terms: Terms, told: dict[str, Any]) -> Frozen:
    """The same where the organisation buys."""
    house, supplier = _house(ctx), _told(order.supplier)
    here = None if order.collected else {"name": house["name"], "address": house["address"]}
    around = {
        "seller": supplier,
        "buyer": house,
        "reference": supplier["accountNumber"],
        "site": _told(SITES.fetch(ctx, order.site)) if order.site else here,
        "collected": order.collected,
        "job": _told(JOBS.fetch(ctx, order.job)) if order.job else None,
    }
    return _frozen(ctx, around, lines, terms, told)


def freeze_statement(ctx: Context, customer: Customer, told: dict[str, Any]) -> Snapshot:
    """Return a statement of account of a customer as it is sent now; `told` is what it says, as for other documents."""
    return Snapshot.model_validate(
        {"kind": "statement", "seller": _house(ctx), **_around(ctx, About(customer)), **told}
    )


def _frozen(ctx: Context, around: dict[str, Any], lines: list[Line], terms: Terms, told: dict[str, Any]) -> Frozen:
    rates = rates_of(ctx, lines)
    drawn = draw_up(lines, rates, terms)
    # A discount that takes nothing off any line is left out.
    discount, taken = told.pop("discount", None), amount_text(drawn.totals.discount, terms.currency)
    snapshot = Snapshot.model_validate(
        {
            "currency": terms.currency,
            "pricesIncludeTax": terms.inclusive,
            **around,
            "taxRates": [_told(rate) for rate in rates.values()],
            "lines": [shown | {"deduction": line.deducts} for shown, line in zip(drawn.lines, lines, strict=True)],
            "discount": {**discount, "taken": taken} if discount and drawn.totals.is_discounted else None,
            "totals": {
                "net": amount_text(drawn.totals.net, terms.currency),
                "tax": [group for group in drawn.taxes if group["taxRateId"]],
                "total": amount_text(drawn.totals.total, terms.currency),
            },
            **told,
        }
    )
    return Frozen(snapshot, drawn)


def _house(ctx: Context) -> dict[str, Any]:
    house = ORGANISATION.fetch(ctx, None)
    return _told(house) | {"logo": house.logo}


def _around(ctx: Context, about: About) -> dict[str, Any]:
    customer = _told(about.customer)
    return {
        "buyer": customer | {"address": customer["billingAddress"]},
        "reference": customer["reference"],
        "site": _told(SITES.fetch(ctx, about.site)) if about.site else None,
        "job": (job := _told(JOBS.fetch(ctx, about.job)) if about.job else None),
        "orderNumber": job["customerOrderNumber"] if job else None,
    }


def _told(record: Kept) -> dict[str, Any]:
    """All that is known of a record, by the names it has in JSON."""
    told: dict[str, Any] = orjson.loads(to_json(record))
    return told

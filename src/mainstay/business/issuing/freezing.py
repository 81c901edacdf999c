"""Freezes what a document says: everything that is printed on it, as it is at this moment."""

from typing import Any, NamedTuple

import orjson

from mainstay.business.customers.store import CUSTOMERS, SITES
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.model import Line, Terms, draw_up
from mainstay.business.lines.pricing import rates_of
from mainstay.business.organisation.store import ORGANISATION
from mainstay.kernel.context import Context
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.shapes import Kept
from mainstay.terms.wire import to_json
from mainstay.values.money import amount_text


class About(NamedTuple):
    """Whom and what a document is about: the ids of the customer, the site and the job."""

    customer: str
    site: str | None = None
    job: str | None = None


def freeze(ctx: Context, about: About, lines: list[Line], terms: Terms, told: dict[str, Any]) -> Snapshot:
    """A document of the organisation for a customer, with these lines, as it is issued now.

    `told` is what else it says, by the names of a snapshot: its kind, number, dates, words.
    """
    rates = rates_of(ctx, lines)
    drawn = draw_up(lines, rates, terms)
    taken = drawn.totals.discount
    house = ORGANISATION.fetch(ctx, None)
    return Snapshot.model_validate(
        {
            "currency": terms.currency,
            "pricesIncludeTax": terms.inclusive,
            "seller": _told(house) | {"logo": house.logo},
            **_around(ctx, about),
            "taxRates": [_told(rate) for rate in rates.values()],
            "lines": [line | {"deduction": _deducts(line)} for line in drawn.lines],
            "discount": {**told.pop("discount"), "taken": amount_text(taken, terms.currency)} if taken else None,
            "totals": {
                "net": amount_text(drawn.totals.net, terms.currency),
                "tax": [group for group in drawn.taxes if group["taxRateId"]],
                "total": amount_text(drawn.totals.total, terms.currency),
            },
            **told,
        }
    )


def _deducts(line: dict[str, Any]) -> bool:
    return bool(line["source"] and line["source"]["kind"] == "deposit")


def _around(ctx: Context, about: About) -> dict[str, Any]:
    customer = _told(CUSTOMERS.fetch(ctx, about.customer))
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

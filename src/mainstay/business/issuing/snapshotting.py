"""Takes the snapshot of a document: everything that is printed on it, as it is at this moment."""

from typing import Any, NamedTuple

import orjson

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import SITES
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.model import Line, PricedDocument, PricingTerms, price_document
from mainstay.business.lines.pricing import rates_of
from mainstay.business.organisation.store import ORGANISATION
from mainstay.business.pricelist.model import Supplier
from mainstay.documents.snapshot import Snapshot
from mainstay.kernel.context import Context
from mainstay.values.money import amount_text
from mainstay.vocabulary.record_json import to_json
from mainstay.vocabulary.schemas import StoredRecord


class OrderParties(NamedTuple):
    """The supplier of an order, the ids of its site and its job, and how the goods come."""

    supplier: Supplier
    site: str | None = None
    job: str | None = None
    # Whether the organisation collects the goods. If not, they go to the site or else to the organisation's address.
    collected: bool = False


class DocumentParties(NamedTuple):
    """The customer of a document, and the ids of its site and its job."""

    customer: Customer
    site: str | None = None
    job: str | None = None


class SnapshotWithAmounts(NamedTuple):
    """The snapshot of a document, and the amounts in it, with the tax rates as they are named now."""

    snapshot: Snapshot
    priced: PricedDocument


def take_snapshot(
    ctx: Context, parties: DocumentParties, lines: list[Line], terms: PricingTerms, fields: dict[str, Any]
) -> SnapshotWithAmounts:
    """Take the snapshot of a document for a customer, as it is issued now.

    `fields` are the other fields of the snapshot, by their JSON names: kind, number, dates, texts.
    """
    return _build_snapshot(
        ctx, {"seller": _organisation_fields(ctx), **_customer_fields(ctx, parties)}, lines, terms, fields
    )


def take_order_snapshot(
    ctx: Context, parties: OrderParties, lines: list[Line], terms: PricingTerms, fields: dict[str, Any]
) -> SnapshotWithAmounts:
    """Take the snapshot of an order, as it is sent now; `fields` as for other documents."""
    organisation, supplier = _organisation_fields(ctx), _json_fields_of(parties.supplier)
    own_address = None if parties.collected else {"name": organisation["name"], "address": organisation["address"]}
    party_fields = {
        "seller": supplier,
        "buyer": organisation,
        "reference": supplier["accountNumber"],
        "site": _json_fields_of(SITES.fetch(ctx, parties.site)) if parties.site else own_address,
        "collected": parties.collected,
        "job": _json_fields_of(JOBS.fetch(ctx, parties.job)) if parties.job else None,
    }
    return _build_snapshot(ctx, party_fields, lines, terms, fields)


def take_statement_snapshot(ctx: Context, customer: Customer, fields: dict[str, Any]) -> Snapshot:
    """Take the snapshot of a customer's statement of account, as it is sent now; `fields` as for other documents."""
    return Snapshot.model_validate(
        {
            "kind": "statement",
            "seller": _organisation_fields(ctx),
            **_customer_fields(ctx, DocumentParties(customer)),
            **fields,
        }
    )


def _build_snapshot(
    ctx: Context, party_fields: dict[str, Any], lines: list[Line], terms: PricingTerms, fields: dict[str, Any]
) -> SnapshotWithAmounts:
    rates = rates_of(ctx, lines)
    priced = price_document(lines, rates, terms)
    # Leave out a discount that takes nothing off any line.
    discount, discount_text = fields.pop("discount", None), amount_text(priced.totals.discount, terms.currency)
    snapshot = Snapshot.model_validate(
        {
            "currency": terms.currency,
            "pricesIncludeTax": terms.inclusive,
            **party_fields,
            "taxRates": [_json_fields_of(rate) for rate in rates.values()],
            "lines": [
                line_json | {"deduction": line.is_deduction}
                for line_json, line in zip(priced.lines, lines, strict=True)
            ],
            "discount": {**discount, "taken": discount_text} if discount and priced.totals.is_discounted else None,
            "totals": {
                "net": amount_text(priced.totals.net, terms.currency),
                "tax": [group for group in priced.taxes if group["taxRateId"]],
                "total": amount_text(priced.totals.total, terms.currency),
            },
            **fields,
        }
    )
    return SnapshotWithAmounts(snapshot, priced)


def _organisation_fields(ctx: Context) -> dict[str, Any]:
    organisation = ORGANISATION.fetch(ctx, None)
    return _json_fields_of(organisation) | {"logo": organisation.logo}


def _customer_fields(ctx: Context, parties: DocumentParties) -> dict[str, Any]:
    customer = _json_fields_of(parties.customer)
    return {
        "buyer": customer | {"address": customer["billingAddress"]},
        "reference": customer["reference"],
        "site": _json_fields_of(SITES.fetch(ctx, parties.site)) if parties.site else None,
        "job": (job := _json_fields_of(JOBS.fetch(ctx, parties.job)) if parties.job else None),
        "orderNumber": job["customerOrderNumber"] if job else None,
    }


def _json_fields_of(record: StoredRecord) -> dict[str, Any]:
    """Return a record's JSON fields."""
    fields: dict[str, Any] = orjson.loads(to_json(record))
    return fields

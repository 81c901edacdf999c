"""The sources that invoices bill, each at most once: hours, materials, lines of quotes, and earlier invoices."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mainstay.business.hours import store as hours
from mainstay.business.invoices.model import Invoice
from mainstay.business.lines.model import Line
from mainstay.business.purchasing import materials
from mainstay.kernel.context import Context
from mainstay.values.message import Message
from mainstay.values.money import CURRENCIES
from mainstay.vocabulary.refusal import Reason, raise_if_blocked

# The kinds of sources with a `billed` column of their own, and the functions that set it.
_MARKERS = {"timeEntry": hours.mark_billed, "orderLine": materials.mark_billed, "billLine": materials.mark_billed}


def reserve_sources(ctx: Context, invoice: Invoice) -> None:
    """Reserve the sources of an invoice's lines for it; release those that are no longer on any of its lines."""
    reserved, wanted = _find_reserved(ctx, invoice), sources_of(invoice.lines)
    _release(ctx, {source: kind for source, kind in reserved.items() if source not in wanted})
    added = {source: kind for source, kind in wanted.items() if source not in reserved}
    raise_if_blocked(
        [reason for source, kind in added.items() for reason in _reserve_source(ctx, invoice, source, kind)]
    )
    _mark_sources(ctx, added, billed=True)


def release_all_sources(ctx: Context, invoice: Invoice) -> int:
    """Release all sources of an invoice, so that they can be billed again; return how many they are."""
    reserved = _find_reserved(ctx, invoice)
    _release(ctx, reserved)
    return len(reserved)


def release_sources(ctx: Context, invoice: Invoice, source_ids: Collection[str]) -> list[str]:
    """Release these sources of an invoice; return the ids of those that it still held."""
    reserved = {source: kind for source, kind in _find_reserved(ctx, invoice).items() if source in source_ids}
    _release(ctx, reserved)
    return list(reserved)


def sources_of(lines: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the sources of stored lines: their kinds by id."""
    return {line["source"]["id"]: line["source"]["kind"] for line in lines if line["source"]}


def sum_other_costs(lines: Iterable[Line], currency: str) -> int:
    """Add up the known costs, in minor units, of the lines that bill neither hours nor materials."""
    return sum(
        line.compute_cost(CURRENCIES[currency])
        for line in lines
        if line.is_counted and not (line.source and line.source["kind"] in _MARKERS)
    )


def has_work_lines(invoice: Invoice) -> bool:
    """Return whether an invoice bills hours or materials."""
    return any(kind in _MARKERS for kind in sources_of(invoice.lines).values())


def _reserve_source(ctx: Context, invoice: Invoice, source: str, kind: str) -> list[Reason]:
    """Reserve a source; return a reason if another invoice has it."""
    is_free = ctx.db.run(
        "INSERT INTO billed_source (organisation_id, source_id, kind, invoice_id)"
        " VALUES (:organisation, :source, :kind, :invoice) ON CONFLICT DO NOTHING",
        source=source,
        kind=kind,
        invoice=invoice.id,
    )
    return [] if is_free else reasons_if_billed(ctx, source)


def reasons_if_billed(ctx: Context, source: str) -> list[Reason]:
    """Return a reason that names the invoice that bills a source already; none if nothing bills it."""
    row = ctx.db.one(
        "SELECT invoice.number, customer.name FROM billed_source"
        " JOIN invoice ON invoice.organisation_id = :organisation AND invoice.id = billed_source.invoice_id"
        " JOIN customer ON customer.organisation_id = :organisation AND customer.id = invoice.customer_id"
        " WHERE billed_source.organisation_id = :organisation AND billed_source.source_id = :source",
        source=source,
    )
    if row is None:
        return []
    number, customer_name = row
    if number is None:
        message = Message(
            "{source} is already on a draft for {customer}. Remove it there first.",
            source=source,
            customer=str(customer_name),
        )
    else:
        message = Message(
            "{source} is already on {invoice}. Void or credit that invoice first.", source=source, invoice=str(number)
        )
    return [Reason(message, "list_invoices")]


def _find_reserved(ctx: Context, invoice: Invoice) -> dict[str, str]:
    rows = ctx.db.all(
        "SELECT source_id, kind FROM billed_source WHERE organisation_id = :organisation AND invoice_id = :invoice",
        invoice=invoice.id,
    )
    return {str(source): str(kind) for source, kind in rows}


def _release(ctx: Context, sources: Mapping[str, str]) -> None:
    for source in sources:
        ctx.db.run(
            "DELETE FROM billed_source WHERE organisation_id = :organisation AND source_id = :source", source=source
        )
    _mark_sources(ctx, sources, billed=False)


def _mark_sources(ctx: Context, sources: Mapping[str, str], *, billed: bool) -> None:
    for kind, mark in _MARKERS.items():
        if source_ids := [source for source, kind_of_source in sources.items() if kind_of_source == kind]:
            mark(ctx, source_ids, billed=billed)

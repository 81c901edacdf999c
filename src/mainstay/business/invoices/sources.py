"""What an invoice bills, each at most once: hours, materials, lines of quotes, and what was invoiced before."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mainstay.business.hours import store as hours
from mainstay.business.invoices.model import Invoice
from mainstay.business.lines.model import Line
from mainstay.business.purchasing import materials
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Reason, refuse
from mainstay.values.money import CURRENCIES

# What knows itself whether it is billed, by the kind of source it is.
_MARKED = {"timeEntry": hours.mark_billed, "orderLine": materials.mark_billed, "billLine": materials.mark_billed}


def reserve(ctx: Context, invoice: Invoice) -> None:
    """Let what the lines of an invoice bill be billed by no other; what is on none of its lines any more is free."""
    held, wanted = _held(ctx, invoice), sources_of(invoice.lines)
    _let_go(ctx, {source: kind for source, kind in held.items() if source not in wanted})
    taken = {source: kind for source, kind in wanted.items() if source not in held}
    refuse([reason for source, kind in taken.items() for reason in _take(ctx, invoice, source, kind)])
    _mark(ctx, taken, billed=True)


def free(ctx: Context, invoice: Invoice) -> int:
    """Let all that an invoice bills be billed again; how much that is."""
    held = _held(ctx, invoice)
    _let_go(ctx, held)
    return len(held)


def free_these(ctx: Context, invoice: Invoice, wanted: Collection[str]) -> list[str]:
    """Let these of what an invoice bills be billed again, as far as it still has them; which those are."""
    held = {source: kind for source, kind in _held(ctx, invoice).items() if source in wanted}
    _let_go(ctx, held)
    return list(held)


def sources_of(lines: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The kinds of what these lines bill, by id."""
    return {line["source"]["id"]: line["source"]["kind"] for line in lines if line["source"]}


def other_cost(lines: Iterable[Line], currency: str) -> int:
    """Add up what lines cost that bill no recorded work, in minor units, as far as it is known."""
    return sum(
        line.costs(CURRENCIES[currency])
        for line in lines
        if line.counts and not (line.source and line.source["kind"] in _MARKED)
    )


def bills_work(invoice: Invoice) -> bool:
    """Whether hours or materials are on an invoice."""
    return any(kind in _MARKED for kind in sources_of(invoice.lines).values())


def _take(ctx: Context, invoice: Invoice, source: str, kind: str) -> list[Reason]:
    """Take a source, or the reason that another invoice has it."""
    is_free = ctx.rows.run(
        "INSERT INTO billed_source (organisation_id, source_id, kind, invoice_id)"
        " VALUES (:organisation, :source, :kind, :invoice) ON CONFLICT DO NOTHING",
        source=source,
        kind=kind,
        invoice=invoice.id,
    )
    return [] if is_free else if_billed(ctx, source)


def if_billed(ctx: Context, source: str) -> list[Reason]:
    """The reason that something is on an invoice already, which it names."""
    row = ctx.rows.one(
        "SELECT coalesce(invoice.number, 'a draft for ' || customer.name) FROM billed_source"
        " JOIN invoice ON invoice.organisation_id = :organisation AND invoice.id = billed_source.invoice_id"
        " JOIN customer ON customer.organisation_id = :organisation AND customer.id = invoice.customer_id"
        " WHERE billed_source.organisation_id = :organisation AND billed_source.source_id = :source",
        source=source,
    )
    if row is None:
        return []
    told = f"{source} is on {row[0]} already. Void or credit that invoice, or take it out of the draft, first."
    return [Reason(told, "list_invoices")]


def _held(ctx: Context, invoice: Invoice) -> dict[str, str]:
    rows = ctx.rows.all(
        "SELECT source_id, kind FROM billed_source WHERE organisation_id = :organisation AND invoice_id = :invoice",
        invoice=invoice.id,
    )
    return {str(source): str(kind) for source, kind in rows}


def _let_go(ctx: Context, sources: Mapping[str, str]) -> None:
    for source in sources:
        ctx.rows.run(
            "DELETE FROM billed_source WHERE organisation_id = :organisation AND source_id = :source", source=source
        )
    _mark(ctx, sources, billed=False)


def _mark(ctx: Context, sources: Mapping[str, str], *, billed: bool) -> None:
    for kind, mark in _MARKED.items():
        if named := [source for source, of in sources.items() if of == kind]:
            mark(ctx, named, billed=billed)

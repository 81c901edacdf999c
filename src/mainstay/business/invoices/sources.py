"""What an invoice bills, each at most once: hours, materials, lines of quotes, and what was invoiced before."""

from collections.abc import Iterable
from typing import Any

from mainstay.business.invoices.model import Invoice
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Reason, refuse

# The records that know themselves whether they are billed, by the kind of source they are.
_MARKED = {"timeEntry": "time_entry"}


def reserve(ctx: Context, invoice: Invoice) -> None:
    """Let what the lines of an invoice bill be billed by no other; what is on none of its lines any more is free."""
    free(ctx, invoice)
    reasons = []
    for source, kind in sources_of(invoice.lines).items():
        is_free = ctx.rows.run(
            "INSERT INTO billed_source (organisation_id, source_id, kind, invoice_id)"
            " VALUES (:organisation, :source, :kind, :invoice) ON CONFLICT DO NOTHING",
            source=source,
            kind=kind,
            invoice=invoice.id,
        )
        if not is_free:
            reasons.append(Reason(_TAKEN.format(source, _holder(ctx, source)), "list_invoices"))
    refuse(reasons)
    _mark(ctx, invoice, billed=1)


def free(ctx: Context, invoice: Invoice) -> int:
    """Let all that an invoice bills be billed again; how much that is."""
    _mark(ctx, invoice, billed=0)
    return ctx.rows.run(
        "DELETE FROM billed_source WHERE organisation_id = :organisation AND invoice_id = :invoice",
        invoice=invoice.id,
    )


def sources_of(lines: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The kinds of what these lines bill, by id."""
    return {line["source"]["id"]: line["source"]["kind"] for line in lines if line["source"]}


_TAKEN = "{} is on {} already. Void or credit that invoice, or take it out of the draft, first."


def _holder(ctx: Context, source: str) -> str:
    row = ctx.rows.one(
        "SELECT coalesce(invoice.number, 'a draft for ' || customer.name) FROM billed_source"
        " JOIN invoice ON invoice.organisation_id = :organisation AND invoice.id = billed_source.invoice_id"
        " JOIN customer ON customer.organisation_id = :organisation AND customer.id = invoice.customer_id"
        " WHERE billed_source.organisation_id = :organisation AND billed_source.source_id = :source",
        source=source,
    )
    return str(row[0]) if row else "another invoice"


def _mark(ctx: Context, invoice: Invoice, *, billed: int) -> None:
    for kind, table in _MARKED.items():
        ctx.rows.run(
            f"UPDATE {table} SET billed = :billed WHERE organisation_id = :organisation AND id IN"
            " (SELECT source_id FROM billed_source WHERE organisation_id = :organisation"
            " AND invoice_id = :invoice AND kind = :kind)",
            invoice=invoice.id,
            kind=kind,
            billed=billed,
        )

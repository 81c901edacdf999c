"""What the lines of a quote come to together on invoices, against what was quoted for them.

Before tax, whose rates may change; where prices include it, as they are told. Whoever adds a line of their own to an
invoice agrees on something else with the customer, which is not judged here.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from mainstay.business.invoices import store
from mainstay.business.invoices.model import Invoice
from mainstay.business.lines.model import Line, Terms, draw_up, read_lines
from mainstay.business.lines.pricing import rates_of
from mainstay.business.quotes.model import Quote
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Reason
from mainstay.values.money import amount_text
from mainstay.values.totals import Discount


class _Quoted(NamedTuple):
    """A line of a quote: what it comes to, and what the quote's discount takes off it."""

    line: Line
    amount: int
    less: int


def beyond_together(ctx: Context, quote: Quote, invoice: Invoice, billed: Collection[str]) -> list[Reason]:
    """Why lines of a quote come to more than was quoted though none of them does; those `billed` are on invoices."""
    items = [line for line in read_lines(invoice.lines) if line.kind == "item"]
    if len(_of_quote(invoice)) + sum(line.deducts for line in items) < len(items):
        return []
    counted = [line for line in read_lines(quote.lines) if line.counts]
    totals = draw_up(counted, rates_of(ctx, counted), quote.reckoned).totals
    quoted = [_Quoted(*one) for one in zip(counted, totals.amounts, totals.discounts, strict=True)]
    return [
        *_if_less_is_taken_off(ctx, quote, quoted, invoice),
        *_if_left_out(ctx, quote, quoted, invoice, billed),
    ]


def _if_less_is_taken_off(ctx: Context, quote: Quote, quoted: Sequence[_Quoted], invoice: Invoice) -> list[Reason]:
    """The reason that the discount of an invoice is smaller than the quote's for the same lines."""
    lines = _of_quote(invoice)
    ids = {line.source["id"] for line in lines if line.source}
    same = [one for one in quoted if one.line.id in ids]
    # The same percentage of some of the lines may be rounded otherwise than their shares of the whole.
    alone = _come_to(ctx, [one.line for one in same], quote.reckoned)
    agreed = max(sum(one.amount - one.less for one in same), alone)
    billed = _come_to(ctx, lines, invoice.reckoned)
    if billed <= agreed:
        return []
    told = f"Less discounts, {amount_text(billed, quote.currency)} is billed for lines of {quote.named}, and"
    told += f" {amount_text(agreed, quote.currency)} was quoted. Take off as much as the quote does, or bill what is"
    return [Reason(f"{told} more on another line.", "update_invoice")]


def _if_left_out(
    ctx: Context, quote: Quote, quoted: Sequence[_Quoted], invoice: Invoice, billed: Collection[str]
) -> list[Reason]:
    """The reasons that lines which take something off are on no invoice, while more than the rest of it is."""
    left_out = [one for one in quoted if one.amount < 0 and one.line.id not in billed]
    if not left_out or _billed_with(ctx, quote, invoice) <= sum(one.amount for one in quoted):
        return []
    told = "{} of {} was quoted too and is on no invoice, so more is billed of {} than was quoted."
    told += " Delete this draft, and draft it anew with that line."
    return [
        Reason(
            told.format(one.line.description.splitlines()[0], amount_text(one.amount, quote.currency), quote.named),
            "delete_draft_invoice",
        )
        for one in left_out
    ]


def _billed_with(ctx: Context, quote: Quote, invoice: Invoice) -> int:
    """What is billed of the lines of a quote once this invoice is issued too, less what was credited."""
    before = [one for one in store.of_quote(ctx, quote.id) if one.is_issued and one.status != "credited"]
    lines = [line for one in (*before, invoice) for line in _of_quote(one)]
    undiscounted = replace(quote.reckoned, discount=Discount())
    return _come_to(ctx, lines, undiscounted) - sum(one.credited for one in before)


def _of_quote(invoice: Invoice) -> list[Line]:
    return [line for line in read_lines(invoice.lines) if line.source and line.source["kind"] == "quoteLine"]


def _come_to(ctx: Context, lines: Sequence[Line], terms: Terms) -> int:
    """What lines come to as their prices are told, less the discount."""
    totals = draw_up(lines, rates_of(ctx, lines), terms).totals
    return sum(totals.amounts) - totals.discount

"""The limits of what may be billed for the lines of a quote: no more in total than was quoted for them.

Amounts are compared before tax, because tax rates may change; if prices include tax, with it. An invoice with lines
that are not from the quote is not checked, because those lines were agreed separately.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from mainstay.business.invoices import store
from mainstay.business.invoices.model import Invoice
from mainstay.business.lines.model import Line, PricingTerms, price_document, read_lines
from mainstay.business.lines.pricing import rates_of
from mainstay.business.quotes.model import Quote
from mainstay.kernel.context import Context
from mainstay.values.message import Amount, Message
from mainstay.values.money import amount_text
from mainstay.values.totals import Discount
from mainstay.vocabulary.refusal import Reason


class _QuotedLine(NamedTuple):
    """A line of a quote, its amount, and its share of the quote's discount."""

    line: Line
    amount: int
    discount: int


def find_total_overbilling(ctx: Context, quote: Quote, invoice: Invoice, billed_ids: Collection[str]) -> list[Reason]:
    """Return reasons if lines of a quote add up to more than was quoted, although each single line does not.

    `billed_ids` are the ids of the quote's lines that are on invoices.
    """
    items = [line for line in read_lines(invoice.lines) if line.kind == "item"]
    if len(_quote_lines_of(invoice)) + sum(line.is_deduction for line in items) < len(items):
        return []
    counted = [line for line in read_lines(quote.lines) if line.is_counted]
    totals = price_document(counted, rates_of(ctx, counted), quote.pricing_terms).totals
    quoted = [_QuotedLine(*one) for one in zip(counted, totals.amounts, totals.discounts, strict=True)]
    return [
        *_reasons_if_discount_smaller(ctx, quote, quoted, invoice),
        *_reasons_if_left_out(ctx, quote, quoted, invoice, billed_ids),
    ]


def _reasons_if_discount_smaller(
    ctx: Context, quote: Quote, quoted: Sequence[_QuotedLine], invoice: Invoice
) -> list[Reason]:
    """Return a reason if the invoice's discount is smaller than the quote's discount for the same lines."""
    lines = _quote_lines_of(invoice)
    ids = {line.source["id"] for line in lines if line.source}
    same_lines = [one for one in quoted if one.line.id in ids]
    # A percentage of some lines may be rounded differently from their shares of the whole discount.
    without_shares = _discounted_total_of(ctx, [one.line for one in same_lines], quote.pricing_terms)
    quoted_amount = max(sum(one.amount - one.discount for one in same_lines), without_shares)
    billed = _discounted_total_of(ctx, lines, invoice.pricing_terms)
    if billed <= quoted_amount:
        return []
    message = Message(
        "After discounts, {billed} is invoiced for lines of {quote}, but {quoted} was quoted. Give the same discount as"
        " the quote, or put the extra on another line.",
        billed=Amount(amount_text(billed, quote.currency), quote.currency),
        quote=quote.short_name,
        quoted=Amount(amount_text(quoted_amount, quote.currency), quote.currency),
    )
    return [Reason(message, "update_invoice")]


def _reasons_if_left_out(
    ctx: Context, quote: Quote, quoted: Sequence[_QuotedLine], invoice: Invoice, billed_ids: Collection[str]
) -> list[Reason]:
    """Return reasons if lines with negative amounts are on no invoice, and the others exceed the quoted total."""
    left_out = [one for one in quoted if one.amount < 0 and one.line.id not in billed_ids]
    if not left_out or _amount_billed_with(ctx, quote, invoice) <= sum(one.amount for one in quoted):
        return []
    return [
        Reason(
            Message(
                "{line} ({amount}) was quoted too but is not on any invoice, so {quote} is invoiced above the quoted"
                " total. Delete this draft and create it again with that line.",
                line=quoted_line.line.description.splitlines()[0],
                amount=Amount(amount_text(quoted_line.amount, quote.currency), quote.currency),
                quote=quote.short_name,
            ),
            instead="delete_draft_invoice",
        )
        for quoted_line in left_out
    ]


def _amount_billed_with(ctx: Context, quote: Quote, invoice: Invoice) -> int:
    """Return what is billed of a quote's lines once this invoice is issued too, less what was credited."""
    earlier = [one for one in store.find_invoices_of_quote(ctx, quote.id) if one.is_issued and one.status != "credited"]
    lines = [line for counted_invoice in (*earlier, invoice) for line in _quote_lines_of(counted_invoice)]
    undiscounted = replace(quote.pricing_terms, discount=Discount())
    return _discounted_total_of(ctx, lines, undiscounted) - sum(one.credited for one in earlier)


def _quote_lines_of(invoice: Invoice) -> list[Line]:
    return [line for line in read_lines(invoice.lines) if line.source and line.source["kind"] == "quoteLine"]


def _discounted_total_of(ctx: Context, lines: Sequence[Line], terms: PricingTerms) -> int:
    """Return the total of lines less the discount, with tax if their prices include it."""
    totals = price_document(lines, rates_of(ctx, lines), terms).totals
    return sum(totals.amounts) - totals.discount

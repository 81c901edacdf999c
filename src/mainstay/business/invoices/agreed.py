"""What was agreed for a job without a quote, as it is billed: its price, less what is on invoices already."""

from collections.abc import Sequence

from mainstay.business.invoices import store
from mainstay.business.invoices.billing import Billed, remaining
from mainstay.business.invoices.model import PARTS, Invoice
from mainstay.business.jobs.model import Job
from mainstay.business.lines.model import Line, Terms, draw_up, read_lines, read_share
from mainstay.business.lines.pricing import PriceBook, rates_of
from mainstay.business.organisation.house import House
from mainstay.kernel.context import Context
from mainstay.values.ids import new_id
from mainstay.values.money import CURRENCIES, UNIT, amount_text, in_parts
from mainstay.values.totals import rounded

# The sources of lines that are work, which was billed as such and not as a part of the price.
_WORK = {"timeEntry", "orderLine", "billLine"}


def price_of(ctx: Context, job: Job, house: House) -> Billed:
    """What is left of the price of a job as one line; where there is none, what is missing is told."""
    agreed = _agreed(job, house.currency)
    if not agreed:
        ctx.warnings.append(f"Nothing is billed on it yet. {_instead(job)}")
        return Billed([], None, house.prices_include_tax)
    before = [(one, part) for one in store.of_job(ctx, job.id) if (part := _of_price(ctx, one))]
    billed = sum(part for _, part in before)
    if before:
        ctx.warnings.append(_told(job, house.currency, agreed, billed, [one for one, _ in before]))
    left = agreed - billed
    if left <= 0:
        return Billed([], None, house.prices_include_tax)
    # A price is agreed before tax, also where others include it.
    rate, price = PriceBook(ctx, inclusive=False).usual_rate, in_parts(left, house.currency)
    return Billed([Line(new_id("line"), job.title, unit_price=price, tax_rate_id=rate)], None, inclusive=False)


def is_price_invoiced(ctx: Context, job: Job, issued: Sequence[Invoice]) -> bool:
    """Whether the price of a job is on these invoices; where it has none, whether one bills more than a part."""
    agreed = _agreed(job, issued[0].currency)
    if not agreed:
        return any(one.kind not in PARTS for one in issued)
    return sum(_but_work(ctx, one) for one in issued) >= agreed


def _agreed(job: Job, currency: str) -> int | None:
    """In minor units; what is only an estimate was not agreed, and a quote is billed by its lines."""
    if job.billing != "fixed" or job.quote_id or not job.budget:
        return None
    return rounded(job.budget * 10 ** CURRENCIES[currency], UNIT)


def _instead(job: Job) -> str:
    if job.quote_id:
        return f"{job.number} was quoted: draft it of the quote, or add lines."
    if job.billing == "fixed":
        return f"No price was agreed for {job.number}: add lines."
    return f"{job.number} is not billed at a fixed price: bill its hours and materials, or add lines."


def _of_price(ctx: Context, invoice: Invoice) -> int:
    """What an invoice bills of the price, before tax, less what was credited."""
    return min(_but_work(ctx, invoice), sum(settled.net for settled in remaining(ctx, invoice).values()))


def _but_work(ctx: Context, invoice: Invoice) -> int:
    """What an invoice comes to before tax, without the work on it."""
    lines = [line for line in read_lines(invoice.lines) if line.kind == "item"]
    priced = [line for line in lines if not line.source or line.source["kind"] not in _WORK]
    if len(priced) == len(lines):
        return invoice.net
    terms = Terms(invoice.currency, invoice.prices_include_tax, read_share(None, invoice.currency))
    return draw_up(priced, rates_of(ctx, priced), terms).totals.net


def _told(job: Job, currency: str, agreed: int, billed: int, before: list[Invoice]) -> str:
    numbers = ", ".join(one.number or "a draft" for one in before)
    told = f"Of the {amount_text(agreed, currency)} {currency} that was agreed for {job.number},"
    told += f" {amount_text(billed, currency)} {currency} is on invoices already: {numbers}."
    return f"{told} The rest is billed." if billed < agreed else f"{told} Nothing is left: add lines for what is more."

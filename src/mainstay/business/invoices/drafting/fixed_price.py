"""Billing of a job's fixed price without a quote: the price, less what is on invoices already."""

from collections.abc import Sequence

from mainstay.business.invoices import store
from mainstay.business.invoices.drafting.billable_lines import BillableLines, uncredited_amounts_of
from mainstay.business.invoices.model import ADVANCE_KINDS, Invoice
from mainstay.business.jobs.model import Job
from mainstay.business.lines.model import Line, PricingTerms, price_document, read_lines, share_to_discount
from mainstay.business.lines.pricing import PriceBook, rates_of
from mainstay.business.organisation.organisation_settings import OrganisationSettings
from mainstay.kernel.context import Context
from mainstay.values.ids import new_id
from mainstay.values.message import Amount, Message
from mainstay.values.money import CURRENCIES, UNIT, amount_text, minor_to_price
from mainstay.values.totals import round_fraction

# The sources of lines that bill hours and materials, which are not a part of the price.
_WORK_SOURCES = {"timeEntry", "orderLine", "billLine"}


def build_price_line(ctx: Context, job: Job, settings: OrganisationSettings) -> BillableLines:
    """Return one line for what is left of a job's price; warn if there is no price or nothing is left."""
    agreed_price = _agreed_price_of(job, settings.currency)
    if not agreed_price:
        ctx.warnings.append(_warn_of_no_price(job))
        return BillableLines([], None, settings.prices_include_tax)
    before = [(one, part) for one in store.find_invoices_of_job(ctx, job.id) if (part := _billed_of_price(ctx, one))]
    billed = sum(part for _, part in before)
    if before:
        ctx.warnings.append(_describe_billed(job, settings.currency, agreed_price, billed, [one for one, _ in before]))
    unbilled = agreed_price - billed
    if unbilled <= 0:
        return BillableLines([], None, settings.prices_include_tax)
    # A fixed price is agreed before tax, even if the organisation's prices include tax.
    rate, price = PriceBook(ctx, inclusive=False).usual_rate_id, minor_to_price(unbilled, settings.currency)
    return BillableLines([Line(new_id("line"), job.title, unit_price=price, tax_rate_id=rate)], None, inclusive=False)


def is_price_invoiced(ctx: Context, job: Job, issued: Sequence[Invoice]) -> bool:
    """Return whether these invoices bill the price of a job or, if it has none, whether one is no advance invoice."""
    agreed_price = _agreed_price_of(job, issued[0].currency)
    if not agreed_price:
        return any(one.kind not in ADVANCE_KINDS for one in issued)
    return sum(_net_without_work(ctx, one) for one in issued) >= agreed_price


def _agreed_price_of(job: Job, currency: str) -> int | None:
    """Return a job's fixed price in minor units; None for an estimate, or if a quote is billed instead."""
    if job.billing != "fixed" or job.quote_id or not job.budget:
        return None
    return round_fraction(job.budget * 10 ** CURRENCIES[currency], UNIT)


def _warn_of_no_price(job: Job) -> Message:
    if job.quote_id:
        return Message("This draft is empty. {job} was quoted: invoice its quote, or add lines.", job=job.number)
    if job.billing == "fixed":
        return Message("This draft is empty, because no price was agreed for {job}. Add lines.", job=job.number)
    return Message(
        "This draft is empty, because {job} has no fixed price. Invoice its hours and materials, or add lines.",
        job=job.number,
    )


def _billed_of_price(ctx: Context, invoice: Invoice) -> int:
    """Return what an invoice bills of the price, before tax, less what was credited."""
    return min(
        _net_without_work(ctx, invoice), sum(settled.net for settled in uncredited_amounts_of(ctx, invoice).values())
    )


def _net_without_work(ctx: Context, invoice: Invoice) -> int:
    """Return the net amount of an invoice without its lines for hours and materials."""
    lines = [line for line in read_lines(invoice.lines) if line.kind == "item"]
    priced = [line for line in lines if not line.source or line.source["kind"] not in _WORK_SOURCES]
    if len(priced) == len(lines):
        return invoice.net
    terms = PricingTerms(invoice.currency, invoice.prices_include_tax, share_to_discount(None, invoice.currency))
    return price_document(priced, rates_of(ctx, priced), terms).totals.net


def _describe_billed(job: Job, currency: str, agreed_price: int, billed: int, invoices: list[Invoice]) -> Message:
    amount = Amount(amount_text(billed, currency), currency)
    agreed = Amount(amount_text(agreed_price, currency), currency)
    numbers: list[Message | str] = [one.number or Message("a draft") for one in invoices]
    if billed < agreed_price:
        return Message(
            "{amount} of the {agreed} agreed for {job} is already on {invoices}. This invoice is for the rest.",
            amount=amount,
            agreed=agreed,
            job=job.number,
            invoices=numbers,
        )
    return Message(
        "{amount} of the {agreed} agreed for {job} is already on {invoices}, so nothing is left. Add lines for extras.",
        amount=amount,
        agreed=agreed,
        job=job.number,
        invoices=numbers,
    )

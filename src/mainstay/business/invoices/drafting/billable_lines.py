"""Creates the lines of an invoice from what can be billed: a quote or a part of it, hours and materials."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from mainstay.business.customers.model import Customer
from mainstay.business.hours import store as hours
from mainstay.business.invoices import store
from mainstay.business.invoices.drafting import sources
from mainstay.business.invoices.drafting.quote_limits import find_total_overbilling
from mainstay.business.invoices.model import ADVANCE_KINDS, Invoice
from mainstay.business.invoices.store import INVOICES
from mainstay.business.lines.edits import LineEdit
from mainstay.business.lines.model import Line, Share, price_document, read_lines, settled_to_json, share_to_discount
from mainstay.business.lines.pricing import PriceBook, rates_of
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.purchasing import materials
from mainstay.business.purchasing.materials import Material
from mainstay.business.quotes.model import Quote
from mainstay.business.quotes.store import QUOTES
from mainstay.documents.locales import Locale
from mainstay.documents.messages import translate
from mainstay.kernel.context import Context
from mainstay.values.ids import new_id
from mainstay.values.message import Amount, Message
from mainstay.values.money import UNIT, Money, amount_text, minor_to_price, spread_total
from mainstay.values.totals import FixedAmount, round_fraction
from mainstay.vocabulary.refusal import Fault, Invalid, Reason, raise_if_blocked

StoredTax = dict[str, Any]

# The sources of lines that belong to a quote: quoted lines, and deductions of advance invoices.
_QUOTE_SOURCES = ("quoteLine", "deposit")


class LineWording(NamedTuple):
    """The language and locale of generated lines: the customer's language, the organisation's country."""

    language: str
    locale: Locale


def wording_for(customer: Customer, settings: OrganisationSettings) -> LineWording:
    """Return the language and locale of an invoice for this customer."""
    language = customer.language or settings.language
    return LineWording(language, Locale(language, settings.country))


class BillableLines(NamedTuple):
    """The lines to bill, their discount, and whether prices include tax."""

    lines: list[Line]
    discount: dict[str, str | None] | None
    # Whether prices include tax. A part of a quote always does, because it is a part of the total to pay.
    inclusive: bool
    # What the discount takes off each line, if only some lines of a quote are billed.
    shares: Mapping[str, int] = MappingProxyType({})

    def shares_of(self, lines: Sequence[Line]) -> dict[str, int]:
        """Return the shares of the discount of all lines of the invoice: zero for lines that are not from the quote."""
        if not self.shares:
            return {}
        return {line.id: self.shares.get(line.id, 0) for line in lines if line.is_counted and not line.is_settled}


def build_advance_lines(ctx: Context, quote: Quote, part: Share, kind: str, wording: LineWording) -> BillableLines:
    """Return lines for a part of a quote's total, to be paid in advance: its share of each tax rate, to the cent."""
    share = part.to_stored_json(quote.currency, "part")
    wanted = share_to_discount(share, quote.currency).calculate(quote.total)
    unbilled = unbilled_amount_of(ctx, quote)
    if wanted <= 0 or wanted > unbilled:
        message = Message(
            "is {amount}, but {unbilled} of {quote} is left to invoice",
            amount=Amount(amount_text(wanted, quote.currency), quote.currency),
            unbilled=Amount(amount_text(max(unbilled, 0), quote.currency), quote.currency),
            quote=quote.short_name,
        )
        raise Invalid([Fault("part", message)])
    if kind == "deposit":
        warn_of_deposits(ctx, quote)
    groups = [(tax["taxRateId"], _gross_of(tax, quote.currency)) for tax in quote.taxes]
    words = _describe_part(share, kind, quote, wording)
    amounts = spread_total(wanted, [gross for _, gross in groups])
    lines = [
        Line(new_id("line"), words, unit_price=minor_to_price(amount, quote.currency), tax_rate_id=rate)
        for (rate, _), amount in zip(groups, amounts, strict=True)
        if amount
    ]
    return BillableLines(lines, None, inclusive=True)


def warn_of_deposits(ctx: Context, quote: Quote, except_id: str = "") -> None:
    """Warn if a quote has other deposit invoices."""
    descriptions = [
        _describe_deposit(one)
        for one in store.find_invoices_of_quote(ctx, quote.id)
        if one.kind == "deposit" and one.id != except_id and one.status != "credited"
    ]
    if descriptions:
        ctx.warnings.append(
            Message(
                "{quote} already has another deposit invoice: {invoices}. Check that you want a second one.",
                quote=quote.short_name,
                invoices=descriptions,
            )
        )


def _describe_deposit(invoice: Invoice) -> Message:
    if invoice.number is None:
        return Message("a draft for {total}", total=invoice.total_amount)
    return Message("{invoice} for {total}", invoice=invoice.number, total=invoice.total_amount)


def refuse_other_lines(invoice: Invoice, edits: Sequence[LineEdit], sources: Sequence[str]) -> None:
    """Refuse other lines on an advance invoice, because the final invoice deducts all of it."""
    if invoice.kind not in ADVANCE_KINDS:
        return
    paths = [f"edits.{index}" for index, edit in enumerate(edits) if edit.edit == "add" and edit.has_price]
    paths += ["sources"] if sources else []
    hint = Message("create one: call draft_invoice")
    messages = {
        "deposit": Message("can't be added to a deposit invoice: put it on another invoice", for_programs=hint),
        "progress": Message("can't be added to a progress invoice: put it on another invoice", for_programs=hint),
    }
    if faults := [Fault(name, messages[invoice.kind]) for name in paths]:
        raise Invalid(faults)


def unbilled_amount_of(ctx: Context, quote: Quote) -> int:
    """Return what of a quote's total is on no invoice or draft; lines that are not from the quote do not count."""
    return quote.total - sum(
        min(one.total - one.credited, _amount_billed_of(ctx, quote, one))
        for one in store.find_invoices_of_quote(ctx, quote.id)
    )


def _amount_billed_of(ctx: Context, quote: Quote, invoice: Invoice) -> int:
    """Return how much of an invoice is for its quote: all of an advance invoice, else the quote's own lines."""
    lines = [line for line in read_lines(invoice.lines) if line.kind == "item"]
    quoted = [line for line in lines if line.source and line.source["kind"] in _QUOTE_SOURCES]
    if invoice.kind in ADVANCE_KINDS or len(quoted) == len(lines):
        return invoice.total
    terms = replace(quote.pricing_terms, shares=_compute_discount_shares(ctx, quote, quoted))
    return price_document(quoted, rates_of(ctx, quoted), terms).totals.total


def find_overbilling(ctx: Context, invoice: Invoice) -> list[Reason]:
    """Return reasons if more would be billed of a quote than was quoted: higher lines, or an advance not deducted."""
    if invoice.quote_id is None:
        return []
    quote = QUOTES.fetch(ctx, invoice.quote_id)
    if invoice.kind in ADVANCE_KINDS:
        return _find_overbilled_advance(ctx, quote)
    quoted = {line["id"]: line["amount"] for line in quote.lines}
    reasons = []
    for line in invoice.lines:
        quoted_amount = quoted.get(line["source"]["id"]) if line["source"] else None
        if quoted_amount is not None and Decimal(line["amount"]) > Decimal(quoted_amount):
            message = Message(
                "{line} is invoiced at {billed}, but {quoted} was quoted. Put the extra on another line.",
                line=line["description"].splitlines()[0],
                billed=Amount(line["amount"], quote.currency),
                quoted=Amount(quoted_amount, quote.currency),
            )
            reasons.append(Reason(message, "update_invoice"))
    reasons += find_total_overbilling(ctx, quote, invoice, _find_billed_line_ids(ctx, quote))
    reasons += _find_partial_deductions(ctx, invoice)
    if is_fully_billed(ctx, quote):
        reasons += _find_missing_deductions(ctx, quote)
    return reasons


def _find_missing_deductions(ctx: Context, quote: Quote) -> list[Reason]:
    """Return reasons for the advance invoices of a quote that no invoice deducts."""
    return [
        Reason(
            Message(
                "{advance} invoiced a part of {quote} and isn't deducted here. Create this draft again to deduct it, or"
                " credit {advance} first.",
                advance=advance.short_name,
                quote=quote.short_name,
            ),
            instead="delete_draft_invoice",
        )
        for advance in store.find_invoices_of_quote(ctx, quote.id)
        if advance.kind in ADVANCE_KINDS
        and advance.is_issued
        and advance.total > advance.credited
        and advance.deducted_on is None
    ]


def _find_partial_deductions(ctx: Context, invoice: Invoice) -> list[Reason]:
    """Return reasons if an advance invoice is deducted at some of its tax rates only, since lines were removed."""
    deducted_rates: defaultdict[str, set[str | None]] = defaultdict(set)
    for line in read_lines(invoice.lines):
        if line.source and line.is_deduction:
            deducted_rates[line.source["id"]].add(line.tax_rate_id)
    parts = [(INVOICES.fetch(ctx, part), rates) for part, rates in deducted_rates.items()]
    return [
        Reason(
            Message(
                "Only some lines of {invoice} are deducted here. Delete this draft and create it again.",
                invoice=part.short_name,
            ),
            instead="delete_draft_invoice",
        )
        for part, rates in parts
        if rates != uncredited_amounts_of(ctx, part).keys()
    ]


def _find_overbilled_advance(ctx: Context, quote: Quote) -> list[Reason]:
    excess = -unbilled_amount_of(ctx, quote)
    # If the quote's lines are billed already, an advance comes too late; another check refuses that.
    if excess <= 0 or is_fully_billed(ctx, quote):
        return []
    message = Message(
        "With this invoice, {quote} is invoiced {excess} above the quoted total. Invoice less, or put the extra on a"
        " separate invoice.",
        quote=quote.short_name,
        excess=Amount(amount_text(excess, quote.currency), quote.currency),
    )
    return [Reason(message, "update_invoice")]


def build_quote_lines(
    ctx: Context, quote: Quote, chosen: Sequence[str] | None, wording: LineWording, *, is_alone: bool
) -> BillableLines:
    """Return a quote's lines, all or the chosen ones, that are on no invoice yet; the last of them deduct advances.

    `is_alone` says that nothing else is on the invoice, so that the quote's own discount can apply to it.
    """
    lines = _counted_lines_of(quote)
    billed_ids = _find_billed_line_ids(ctx, quote)
    if chosen is not None:
        _check_chosen(chosen, lines, billed_ids)
    unbilled = [line for line in lines if line.id not in billed_ids]
    wanted = [line for line in unbilled if chosen is None or line.id in chosen]
    if not any(line.kind == "item" for line in wanted):
        message = Message(
            "All of {quote} is already on invoices. Add a line for anything else you want to invoice.",
            quote=quote.short_name,
        )
        raise_if_blocked([Reason(message, instead="list_invoices")])
    copied = [replace(line, id=new_id("line"), optional=False, chosen=True, source=_source_of(line)) for line in wanted]
    shares = _compute_discount_shares(ctx, quote, copied)
    discount = quote.discount if is_alone and len(wanted) == len(lines) else _sum_shares(shares, quote.currency)
    is_last = all(line in wanted for line in unbilled if line.kind == "item")
    deductions = _build_deductions(ctx, quote, wording) if is_last else []
    return BillableLines([*copied, *deductions], discount, quote.prices_include_tax, shares)


def is_fully_billed(ctx: Context, quote: Quote) -> bool:
    """Return whether every line of a quote is on an invoice."""
    billed_ids = _find_billed_line_ids(ctx, quote)
    return all(line.id in billed_ids for line in _counted_lines_of(quote) if line.kind == "item")


def are_quotes_invoiced(ctx: Context, quotes: Sequence[Quote], issued: Sequence[Invoice]) -> bool:
    """Return whether these invoices bill all of the quotes: by their lines or, if billed otherwise, by their totals."""
    without_quote = sum(one.total for one in issued if one.quote_id is None)
    return sum(_uninvoiced_amount_of(ctx, quote, issued) for quote in quotes) <= without_quote


def _uninvoiced_amount_of(ctx: Context, quote: Quote, issued: Sequence[Invoice]) -> int:
    own = [one for one in issued if one.quote_id == quote.id]
    billed_ids = {line["source"]["id"] for invoice in own for line in invoice.lines if line["source"]}
    if all(line.id in billed_ids for line in _counted_lines_of(quote) if line.kind == "item"):
        return 0
    return max(quote.total - sum(_amount_billed_of(ctx, quote, one) for one in own), 0)


def build_work_lines(
    prices: PriceBook, job_id: str, source_ids: Sequence[str] | None, until: str | None, wording: LineWording
) -> list[Line]:
    """Return lines for a job's unbilled hours and materials: all up to a date, or those in `source_ids`."""
    ctx = prices.ctx
    entries = hours.find_billable_entries(ctx, settings_of(ctx), job_id, until)
    unbilled_materials = materials.find_unbilled_materials(ctx, job_id, until)
    if source_ids is not None:
        known = {one.id for one in entries} | {one.id for one in unbilled_materials}
        unknown = [source_id for source_id in source_ids if source_id not in known]
        raise_if_blocked([reason for source_id in unknown for reason in sources.reasons_if_billed(ctx, source_id)])
        if unknown:
            message = Message(
                "includes {source_id}, which is not approved work of this job that is still to invoice",
                source_id=unknown[0],
                for_programs=Message("list_unbilled lists what can be invoiced"),
            )
            raise Invalid([Fault("sources", message)])
        entries = [one for one in entries if one.id in source_ids]
        unbilled_materials = [one for one in unbilled_materials if one.id in source_ids]
    if unpriced := sum(entry.bill_rate is None for entry in entries):
        ctx.warnings.append(
            Message(
                "{count} time entry has no hourly rate and is invoiced at zero. Set its price.",
                plural="{count} time entries have no hourly rate and are invoiced at zero. Set their prices.",
                count=unpriced,
            )
        )
    hours_lines = [_build_hours_line(entry, wording, prices) for entry in entries]
    return [*hours_lines, *(_build_material_line(one, prices) for one in unbilled_materials)]


def _build_material_line(material: Material, prices: PriceBook) -> Line:
    rate = material.tax_rate_id or prices.usual_rate_id
    return Line(
        new_id("line"),
        material.description,
        item_id=material.item_id,
        quantity=material.quantity,
        unit=material.unit,
        unit_price=prices.convert_price(material.price, rate),
        tax_rate_id=rate,
        cost=round_fraction(material.cost * UNIT, material.quantity) if material.quantity else None,
        source={"kind": material.kind, "id": material.id},
    )


def _build_hours_line(entry: hours.BillableEntry, wording: LineWording, prices: PriceBook) -> Line:
    head = translate(wording.language, "line.hours", day=wording.locale.format_day(entry.on), name=entry.person_name)
    return Line(
        new_id("line"),
        "\n".join(filter(None, (head, entry.note))),
        quantity=entry.quantity,
        unit="h",
        unit_price=prices.convert_price(entry.bill_rate or 0, prices.usual_rate_id),
        tax_rate_id=prices.usual_rate_id,
        cost=entry.cost_per_billed_hour,
        source={"kind": "timeEntry", "id": entry.id, "minutes": entry.billed_minutes},
    )


def _gross_of(tax: StoredTax, currency: str) -> int:
    return Money.parse(tax["net"], currency).minor + Money.parse(tax["amount"], currency).minor


def _describe_part(share: dict[str, str | None], kind: str, quote: Quote, wording: LineWording) -> str:
    if share["percent"] is None:
        return translate(wording.language, "line.depositAmount", number=quote.number)
    key = "line.deposit" if kind == "deposit" else "line.progress"
    return translate(
        wording.language, key, percent=wording.locale.format_percent(share["percent"]), number=quote.number
    )


def _counted_lines_of(quote: Quote) -> list[Line]:
    return [line for line in read_lines(quote.lines) if line.is_counted or line.kind != "item"]


def _source_of(line: Line) -> dict[str, str] | None:
    return {"kind": "quoteLine", "id": line.id} if line.kind == "item" else None


def _find_billed_line_ids(ctx: Context, quote: Quote) -> set[str]:
    """Return the ids of a quote's lines that are on invoices."""
    rows = ctx.db.all(
        "SELECT billed_source.source_id FROM invoice JOIN billed_source"
        " ON billed_source.organisation_id = :organisation AND billed_source.invoice_id = invoice.id"
        " WHERE invoice.organisation_id = :organisation AND invoice.quote_id = :quote"
        " AND billed_source.kind = 'quoteLine'",
        quote=quote.id,
    )
    return {str(source) for (source,) in rows}


def _check_chosen(chosen: Sequence[str], lines: Sequence[Line], billed_ids: set[str]) -> None:
    known = {line.id for line in lines}
    faults = [
        Fault(
            f"quoteLines.{index}",
            Message("is already on an invoice") if line_id in billed_ids else Message("is not a line of this quote"),
        )
        for index, line_id in enumerate(chosen)
        if line_id not in known or line_id in billed_ids
    ]
    if faults:
        raise Invalid(faults)


def _compute_discount_shares(ctx: Context, quote: Quote, copied: Sequence[Line]) -> dict[str, int]:
    """Return the share of a quote's discount of each of these copies of its lines, by the ids of the copies."""
    if quote.discount is None:
        return {}
    counted = [line for line in read_lines(quote.lines) if line.is_counted]
    totals = price_document(counted, rates_of(ctx, counted), quote.pricing_terms).totals
    shares = {line.id: share for line, share in zip(counted, totals.discounts, strict=True)}
    quoted_ids = {line.id: line.source["id"] for line in copied if line.source and not line.is_settled}
    return {record_id: shares.get(quoted, 0) for record_id, quoted in quoted_ids.items()}


def _sum_shares(shares: Mapping[str, int], currency: str) -> dict[str, str | None] | None:
    """Return the discount that is the sum of these shares; None if they are all zero."""
    if not any(shares.values()):
        return None
    return {"percent": None, "amount": amount_text(sum(shares.values()), currency)}


def _build_deductions(ctx: Context, quote: Quote, wording: LineWording) -> list[Line]:
    """Return lines that deduct the advance invoices of a quote, less what was credited of them."""
    lines = []
    for advance in store.find_invoices_of_quote(ctx, quote.id):
        if advance.kind not in ADVANCE_KINDS or advance.deducted_on is not None:
            continue
        if advance.status == "draft":
            ctx.warnings.append(_warn_of_draft(advance, quote))
        elif advance.is_issued:
            lines += _build_deduction(ctx, quote, advance, wording)
    return lines


def _warn_of_draft(advance: Invoice, quote: Quote) -> Message:
    """Return the warning that a draft of an advance invoice is not deducted."""
    if advance.kind == "deposit":
        return Message(
            "A draft deposit invoice for {quote} ({total}) hasn't been sent, so it isn't deducted here. Delete it; or"
            " delete this draft, send the deposit invoice and create this one again.",
            quote=quote.short_name,
            total=advance.total_amount,
        )
    return Message(
        "A draft progress invoice for {quote} ({total}) hasn't been sent, so it isn't deducted here. Delete it; or"
        " delete this draft, send the progress invoice and create this one again.",
        quote=quote.short_name,
        total=advance.total_amount,
    )


def _build_deduction(ctx: Context, quote: Quote, advance: Invoice, wording: LineWording) -> list[Line]:
    title = translate(wording.language, f"title.{advance.kind}")
    words = translate(
        wording.language,
        "line.deducted",
        title=title,
        number=advance.short_name,
        day=wording.locale.format_day(advance.issued_on or ""),
    )
    lines = []
    for rate, settled in uncredited_amounts_of(ctx, advance).items():
        amount = settled.net + sum(settled.taxes) if quote.prices_include_tax else settled.net
        deducted = FixedAmount(-settled.net, tuple(-tax for tax in settled.taxes))
        source = {"kind": "deposit", "id": advance.id, "settled": settled_to_json(deducted, quote.currency)}
        price = minor_to_price(amount, quote.currency)
        lines.append(Line(new_id("line"), words, quantity=-UNIT, unit_price=price, tax_rate_id=rate, source=source))
    return lines


def uncredited_amounts_of(ctx: Context, invoice: Invoice) -> dict[str | None, FixedAmount]:
    """Return the amounts of an invoice that are not credited, by the id of the tax rate."""
    uncredited = {tax["taxRateId"]: _read_settled(tax, invoice.currency) for tax in invoice.taxes}
    for taxes in store.find_credited_taxes(ctx, invoice.id):
        for tax in taxes:
            credited = _read_settled(tax, invoice.currency)
            before = uncredited[tax["taxRateId"]]
            uncredited[tax["taxRateId"]] = before + FixedAmount(-credited.net, tuple(-part for part in credited.taxes))
    return {rate: settled for rate, settled in uncredited.items() if settled.net or any(settled.taxes)}


def _read_settled(tax: StoredTax, currency: str) -> FixedAmount:
    parts = tuple(Money.parse(part["amount"], currency).minor for part in tax["components"])
    return FixedAmount(Money.parse(tax["net"], currency).minor, parts)

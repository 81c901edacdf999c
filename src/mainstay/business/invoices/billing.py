"""The lines of an invoice out of what there is to bill: a quote or a part of it, and work that was done."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from mainstay.business.customers.model import Customer
from mainstay.business.hours import store as hours
from mainstay.business.invoices import sources, store
from mainstay.business.invoices.model import PARTS, Invoice
from mainstay.business.invoices.quoted import beyond_together
from mainstay.business.invoices.store import INVOICES
from mainstay.business.lines.edits import LineEdit
from mainstay.business.lines.model import Line, Share, draw_up, read_lines, read_share, settled_text
from mainstay.business.lines.pricing import PriceBook, rates_of
from mainstay.business.organisation.house import House, house_of
from mainstay.business.purchasing import materials
from mainstay.business.purchasing.materials import Material
from mainstay.business.quotes.model import Quote
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.paper.locales import Locale
from mainstay.paper.messages import say
from mainstay.terms.refusal import Fault, Invalid, Reason, refuse
from mainstay.values.ids import new_id
from mainstay.values.money import UNIT, Money, amount_text, in_parts, spread
from mainstay.values.totals import Settled, rounded

KeptTax = dict[str, Any]

# The sources of lines that are a quote's own: what was quoted, and what was asked for before.
_OF_QUOTE = ("quoteLine", "deposit")


class Reader(NamedTuple):
    """In which words the lines are written that nobody types: the customer's language, the organisation's country."""

    language: str
    locale: Locale


def reader_of(customer: Customer, house: House) -> Reader:
    """Who reads an invoice for this customer."""
    language = customer.language or house.language
    return Reader(language, Locale(language, house.country))


class Billed(NamedTuple):
    """What was taken out of a quote: lines, and what is taken off them together."""

    lines: list[Line]
    discount: dict[str, str | None] | None
    # Whether prices are with tax; a part of a quote is a part of what is to be paid.
    inclusive: bool
    # What of the discount is taken off each line, where only some lines of a quote are billed.
    shares: Mapping[str, int] = MappingProxyType({})

    def shares_of(self, lines: Sequence[Line]) -> dict[str, int]:
        """Return the shares of all lines of the invoice: nothing is taken off those that are not the quote's."""
        if not self.shares:
            return {}
        return {line.id: self.shares.get(line.id, 0) for line in lines if line.counts and not line.is_settled}


def part_of(ctx: Context, quote: Quote, part: Share, kind: str, reader: Reader) -> Billed:
    """A part of what a quote comes to, before the work is billed: so much of each of its taxes, to the cent."""
    share = part.kept(quote.currency, "part")
    asked = read_share(share, quote.currency).of(quote.total)
    left = left_of(ctx, quote)
    if asked <= 0 or asked > left:
        told = f"comes to {amount_text(asked, quote.currency)}, and {amount_text(max(left, 0), quote.currency)}"
        raise Invalid([Fault("part", f"{told} of {quote.named} is left to be invoiced")])
    if kind == "deposit":
        warn_of_deposits(ctx, quote)
    groups = [(tax["taxRateId"], _gross(tax, quote.currency)) for tax in quote.taxes]
    words = _words_of_part(share, kind, quote, reader)
    amounts = spread(asked, [gross for _, gross in groups])
    lines = [
        Line(new_id("line"), words, unit_price=in_parts(amount, quote.currency), tax_rate_id=rate)
        for (rate, _), amount in zip(groups, amounts, strict=True)
        if amount
    ]
    return Billed(lines, None, inclusive=True)


def warn_of_deposits(ctx: Context, quote: Quote, but: str = "") -> None:
    """Warn of deposit invoices for a quote that are there beside this one."""
    others = [one for one in store.of_quote(ctx, quote.id) if one.kind == "deposit" and one.id != but]
    told = [f"{one.number or 'a draft'} of {one.total_text}" for one in others if one.status != "credited"]
    if told:
        ctx.warnings.append(f"{quote.named} has another deposit invoice: {', '.join(told)}. Is a second one meant?")


def check_part(invoice: Invoice, edits: Sequence[LineEdit], sources: Sequence[str]) -> None:
    """Refuse to bill more on a part of a quote: the last invoice takes all of it off again."""
    if invoice.kind not in PARTS:
        return
    named = [f"edits.{place}" for place, edit in enumerate(edits) if edit.edit == "add" and edit.bills]
    named += ["sources"] if sources else []
    told = f"is for another invoice: on a {invoice.kind} invoice, a part of the quote stands alone"
    if faults := [Fault(name, f"{told}. Draft one with draft_invoice") for name in named]:
        raise Invalid(faults)


def left_of(ctx: Context, quote: Quote) -> int:
    """What of a quote is neither invoiced nor drafted; what an invoice bills on top of it does not count."""
    return quote.total - sum(
        min(one.total - one.credited, _billed_of_quote(ctx, quote, one)) for one in store.of_quote(ctx, quote.id)
    )


def _billed_of_quote(ctx: Context, quote: Quote, invoice: Invoice) -> int:
    """What of an invoice is for its quote: a part of it, or lines of it with their share of its discount."""
    lines = [line for line in read_lines(invoice.lines) if line.kind == "item"]
    quoted = [line for line in lines if line.source and line.source["kind"] in _OF_QUOTE]
    if invoice.kind in PARTS or len(quoted) == len(lines):
        return invoice.total
    terms = replace(quote.reckoned, shares=_shares_among(ctx, quote, quoted))
    return draw_up(quoted, rates_of(ctx, quoted), terms).totals.total


def beyond_quote(ctx: Context, invoice: Invoice) -> list[Reason]:
    """Why more would be billed of a quote than was quoted: lines that grew, or a part that is not taken off."""
    if invoice.quote_id is None:
        return []
    quote = QUOTES.fetch(ctx, invoice.quote_id)
    if invoice.kind in PARTS:
        return _beyond_rest(ctx, quote, invoice)
    quoted = {line["id"]: line["amount"] for line in quote.lines}
    reasons = []
    for line in invoice.lines:
        agreed = quoted.get(line["source"]["id"]) if line["source"] else None
        if agreed is not None and Decimal(line["amount"]) > Decimal(agreed):
            what = line["description"].splitlines()[0]
            told = f"{what} is billed at {line['amount']}, and {agreed} was quoted. Bill what is more on another line."
            reasons.append(Reason(told, "update_invoice"))
    reasons += beyond_together(ctx, quote, invoice, _billed_among(ctx, quote))
    reasons += _half_taken_off(ctx, invoice)
    if is_billed(ctx, quote):
        told = "{} is a part of {} that is not taken off here. Draft the invoice anew, or credit {} first."
        reasons += [
            Reason(told.format(one.named, quote.named, one.named), "draft_invoice")
            for one in store.of_quote(ctx, quote.id)
            if one.kind in PARTS and one.is_issued and one.total > one.credited and one.deducted_on is None
        ]
    return reasons


def _half_taken_off(ctx: Context, invoice: Invoice) -> list[Reason]:
    """Why a part counts as taken off that is not: it has a line for each of its taxes, and some of them are gone."""
    taken: defaultdict[str, set[str | None]] = defaultdict(set)
    for line in read_lines(invoice.lines):
        if line.source and line.deducts:
            taken[line.source["id"]].add(line.tax_rate_id)
    parts = [(INVOICES.fetch(ctx, part), rates) for part, rates in taken.items()]
    told = "Only some lines of {} are taken off here. Delete this draft, and draft the invoice anew."
    return [
        Reason(told.format(part.named), "delete_draft_invoice")
        for part, rates in parts
        if rates != remaining(ctx, part).keys()
    ]


def _beyond_rest(ctx: Context, quote: Quote, part: Invoice) -> list[Reason]:
    over = -left_of(ctx, quote)
    # Where the lines themselves are billed, it comes too late altogether, which is told elsewhere.
    if over <= 0 or is_billed(ctx, quote):
        return []
    told = f"With {part.named}, {amount_text(over, quote.currency)} more is billed of {quote.named} than was quoted."
    return [Reason(f"{told} Bill less, or bill what is more on an invoice of its own.", "update_invoice")]


def lines_of(ctx: Context, quote: Quote, chosen: Sequence[str] | None, reader: Reader, *, alone: bool) -> Billed:
    """Lines of a quote, all or these, that are on no invoice yet; with the last of them, what was asked for before.

    `alone` where nothing else is on the invoice, which the quote's discount is not for.
    """
    lines = _that_count(quote)
    billed = _billed_among(ctx, quote)
    if chosen is not None:
        _check_chosen(chosen, lines, billed)
    waiting = [line for line in lines if line.id not in billed]
    wanted = [line for line in waiting if chosen is None or line.id in chosen]
    if not any(line.kind == "item" for line in wanted):
        told = f"All of {quote.named} is on invoices already. Bill anything else of it on a line of its own."
        refuse([Reason(told, "list_invoices")])
    copied = [replace(line, id=new_id("line"), optional=False, chosen=True, source=_source(line)) for line in wanted]
    shares = _shares_among(ctx, quote, copied)
    discount = quote.discount if alone and len(wanted) == len(lines) else _amount_of(shares, quote.currency)
    is_last = all(line in wanted for line in waiting if line.kind == "item")
    deducted = _deductions(ctx, quote, reader) if is_last else []
    return Billed([*copied, *deducted], discount, quote.prices_include_tax, shares)


def is_billed(ctx: Context, quote: Quote) -> bool:
    """Whether every line of a quote is on an invoice."""
    billed = _billed_among(ctx, quote)
    return all(line.id in billed for line in _that_count(quote) if line.kind == "item")


def are_quotes_invoiced(ctx: Context, quotes: Sequence[Quote], issued: Sequence[Invoice]) -> bool:
    """Whether all of some quotes is on these invoices: line by line or, billed otherwise, by what they come to."""
    of_none = sum(one.total for one in issued if one.quote_id is None)
    return sum(_not_invoiced(ctx, quote, issued) for quote in quotes) <= of_none


def _not_invoiced(ctx: Context, quote: Quote, issued: Sequence[Invoice]) -> int:
    own = [one for one in issued if one.quote_id == quote.id]
    billed = {line["source"]["id"] for one in own for line in one.lines if line["source"]}
    if all(line.id in billed for line in _that_count(quote) if line.kind == "item"):
        return 0
    return max(quote.total - sum(_billed_of_quote(ctx, quote, one) for one in own), 0)


def work_of(prices: PriceBook, job: str, only: Sequence[str] | None, until: str | None, reader: Reader) -> list[Line]:
    """What was worked and bought for a job and is billable and on no invoice: all up to a date, or these."""
    ctx = prices.ctx
    entries = hours.to_bill(ctx, house_of(ctx), job, until)
    bought = materials.unbilled(ctx, job, until)
    if only is not None:
        known = {one.id for one in entries} | {one.id for one in bought}
        unknown = [one for one in only if one not in known]
        refuse([reason for one in unknown for reason in sources.if_billed(ctx, one)])
        if unknown:
            told = "is nothing of this job that is approved and to be billed; list_unbilled tells what is"
            raise Invalid([Fault("sources", f"{unknown[0]} {told}")])
        entries = [one for one in entries if one.id in only]
        bought = [one for one in bought if one.id in only]
    if without := sum(entry.bill_rate is None for entry in entries):
        ctx.warnings.append(f"{without} of the hours have no rate to bill at, and come to nothing. Set their prices.")
    worked = [_hours_line(entry, reader, prices) for entry in entries]
    return [*worked, *(_material_line(one, prices) for one in bought)]


def _material_line(material: Material, prices: PriceBook) -> Line:
    rate = material.tax_rate_id or prices.usual_rate
    return Line(
        new_id("line"),
        material.description,
        item_id=material.item_id,
        quantity=material.quantity,
        unit=material.unit,
        unit_price=prices.as_told_here(material.price, rate),
        tax_rate_id=rate,
        cost=rounded(material.cost * UNIT, material.quantity) if material.quantity else None,
        source={"kind": material.kind, "id": material.id},
    )


def _hours_line(entry: hours.ToBill, reader: Reader, prices: PriceBook) -> Line:
    head = say(reader.language, "line.hours", day=reader.locale.day(entry.on), name=entry.person_name)
    return Line(
        new_id("line"),
        "\n".join(filter(None, (head, entry.note))),
        quantity=entry.quantity,
        unit="h",
        unit_price=prices.as_told_here(entry.bill_rate or 0, prices.usual_rate),
        tax_rate_id=prices.usual_rate,
        cost=entry.cost,
        source={"kind": "timeEntry", "id": entry.id, "minutes": entry.billed},
    )


def _gross(tax: KeptTax, currency: str) -> int:
    return Money.parse(tax["net"], currency).minor + Money.parse(tax["amount"], currency).minor


def _words_of_part(share: dict[str, str | None], kind: str, quote: Quote, reader: Reader) -> str:
    if share["percent"] is None:
        return say(reader.language, "line.depositAmount", number=quote.number)
    key = "line.deposit" if kind == "deposit" else "line.progress"
    return say(reader.language, key, percent=reader.locale.percent(share["percent"]), number=quote.number)


def _that_count(quote: Quote) -> list[Line]:
    return [line for line in read_lines(quote.lines) if line.counts or line.kind != "item"]


def _source(line: Line) -> dict[str, str] | None:
    return {"kind": "quoteLine", "id": line.id} if line.kind == "item" else None


def _billed_among(ctx: Context, quote: Quote) -> set[str]:
    """The lines of a quote that are on invoices."""
    rows = ctx.rows.all(
        "SELECT billed_source.source_id FROM invoice JOIN billed_source"
        " ON billed_source.organisation_id = :organisation AND billed_source.invoice_id = invoice.id"
        " WHERE invoice.organisation_id = :organisation AND invoice.quote_id = :quote"
        " AND billed_source.kind = 'quoteLine'",
        quote=quote.id,
    )
    return {str(source) for (source,) in rows}


def _check_chosen(chosen: Sequence[str], lines: Sequence[Line], billed: set[str]) -> None:
    known = {line.id for line in lines}
    faults = [
        Fault(
            f"quoteLines.{place}",
            "is on an invoice already" if one in billed else "is no line of the quote that counts",
        )
        for place, one in enumerate(chosen)
        if one not in known or one in billed
    ]
    if faults:
        raise Invalid(faults)


def _shares_among(ctx: Context, quote: Quote, copied: Sequence[Line]) -> dict[str, int]:
    """Find what a quote's discount takes off each of its lines that are billed, by the ids that they have there."""
    if quote.discount is None:
        return {}
    counted = [line for line in read_lines(quote.lines) if line.counts]
    totals = draw_up(counted, rates_of(ctx, counted), quote.reckoned).totals
    shares = {line.id: share for line, share in zip(counted, totals.discounts, strict=True)}
    billed = {line.id: line.source["id"] for line in copied if line.source and not line.is_settled}
    return {identity: shares.get(quoted, 0) for identity, quoted in billed.items()}


def _amount_of(shares: Mapping[str, int], currency: str) -> dict[str, str | None] | None:
    """Return a discount that takes off these shares together; none where it takes nothing off any line."""
    if not any(shares.values()):
        return None
    return {"percent": None, "amount": amount_text(sum(shares.values()), currency)}


def _deductions(ctx: Context, quote: Quote, reader: Reader) -> list[Line]:
    """What was invoiced of a quote in parts, each as it was, less what was credited of it."""
    lines = []
    for before in store.of_quote(ctx, quote.id):
        if before.kind not in PARTS or before.deducted_on:
            continue
        if before.status == "draft":
            ctx.warnings.append(
                f"A draft of a {before.kind} invoice for {quote.named} is there, which is not taken off."
                " Delete this draft, send that one and draft this anew; or delete that one."
            )
        elif before.is_issued:
            lines += _deduction(ctx, quote, before, reader)
    return lines


def _deduction(ctx: Context, quote: Quote, before: Invoice, reader: Reader) -> list[Line]:
    title = say(reader.language, f"title.{before.kind}")
    words = say(
        reader.language,
        "line.deducted",
        title=title,
        number=before.named,
        day=reader.locale.day(before.issued_on or ""),
    )
    lines = []
    for rate, settled in remaining(ctx, before).items():
        amount = settled.net + sum(settled.taxes) if quote.prices_include_tax else settled.net
        taken = Settled(-settled.net, tuple(-tax for tax in settled.taxes))
        source = {"kind": "deposit", "id": before.id, "settled": settled_text(taken, quote.currency)}
        price = in_parts(amount, quote.currency)
        lines.append(Line(new_id("line"), words, quantity=-UNIT, unit_price=price, tax_rate_id=rate, source=source))
    return lines


def remaining(ctx: Context, invoice: Invoice) -> dict[str | None, Settled]:
    """What is left of an invoice without what was credited of it, by the rate of tax."""
    left = {tax["taxRateId"]: _settled(tax, invoice.currency) for tax in invoice.taxes}
    for taxes in store.credited_taxes(ctx, invoice.id):
        for tax in taxes:
            less = _settled(tax, invoice.currency)
            before = left[tax["taxRateId"]]
            left[tax["taxRateId"]] = before + Settled(-less.net, tuple(-part for part in less.taxes))
    return {rate: settled for rate, settled in left.items() if settled.net or any(settled.taxes)}


def _settled(tax: KeptTax, currency: str) -> Settled:
    parts = tuple(Money.parse(part["amount"], currency).minor for part in tax["components"])
    return Settled(Money.parse(tax["net"], currency).minor, parts)

"""What a customer sees of a quote, and what they can do with it, by the link that was sent to them."""

from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from mainstay.business.issuing.printed import PaperOut, paper_of
from mainstay.business.lines.model import choose, draw_up, read_lines, read_share
from mainstay.business.lines.pricing import rates_of
from mainstay.business.organisation.house import house_of
from mainstay.business.quotes.deciding import MOST_CHOSEN, Accepted, accept, decline
from mainstay.business.quotes.events import QuoteViewed
from mainstay.business.quotes.model import Quote, Status
from mainstay.business.quotes.store import QUOTES, STATUS
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.actor import Actor, Door
from mainstay.terms.listed import Own
from mainstay.terms.refusal import Conflict, NotFound, Reason
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Kept, Shown
from mainstay.values.fields import Line, Paragraph
from mainstay.values.models import TOLD
from mainstay.values.moments import local_date, parse_moment
from mainstay.values.money import amount_text

_BY_LINK = frozenset({Door.LINK})


class OfferedLine(BaseModel):
    """A line as the customer reads it."""

    model_config = TOLD

    id: str
    kind: str
    description: str
    quantity: str
    unit: str | None
    unit_price: str
    discount_percent: str
    optional: bool
    chosen: bool
    amount: str


class OfferedQuoteOut(Shown):
    """A quote as its customer sees it."""

    noun = "offeredQuote"

    id: str
    status: Status
    number: str
    revision: int
    language: str
    snapshot: dict[str, Any] = Field(description="What was sent, as it was.")
    lines: list[OfferedLine]
    subtotal: str | None = Field(description="What the lines come to, where something is taken off the whole.")
    taken_off: str | None
    net: str
    taxes: list[dict[str, Any]]
    total: str
    deposit: str | None
    accepted_by: str | None
    accepted_on: str | None
    can_answer: bool = Field(description="Whether it can be accepted or declined now.")
    can_accept: bool = Field(description="Whether it can be accepted now with these options.")


def outcome_of(status: Status) -> str:
    """The message that tells its customer why there is nothing to answer any more."""
    return _OUTCOMES.get(status, "public.closed")


def was_taken_back(status: Status) -> bool:
    """Whether a quote counts no more, so that nothing is shown of it."""
    return status in {"withdrawn", "superseded"}


_OUTCOMES: dict[Status, str] = {
    "accepted": "public.accepted",
    "declined": "public.declined",
    "expired": "public.expired",
    "withdrawn": "public.withdrawn",
    "superseded": "public.superseded",
}


class TakenBack(Conflict):
    """The quote was withdrawn or replaced, so nothing of it is shown any more."""

    def __init__(self, quote: Quote) -> None:
        super().__init__(f"{quote.number} is no longer offered. Ask for the present quote.")


class GetOfferedQuote(Input):
    """Which quote, and with which options it is reckoned."""

    quote_id: str = Field(description="The quote's id.")
    chosen: list[str] | None = Field(None, max_length=MOST_CHOSEN, description="The optional lines to reckon with.")


class GetOfferedQuotePdf(Input):
    """Which quote."""

    quote_id: str = Field(description="The quote's id.")


class SeeOfferedQuote(Input):
    """Which quote."""

    quote_id: str = Field(description="The quote's id.")


class AcceptOfferedQuote(Input):
    """Which quote, by whom, and with which options."""

    quote_id: str = Field(description="The quote's id.")
    name: Line = Field(description="The name of the one who accepts.")
    chosen: list[str] = Field(default_factory=list, max_length=MOST_CHOSEN, description="The optional lines they want.")


class DeclineOfferedQuote(Input):
    """Which quote, and why not."""

    quote_id: str = Field(description="The quote's id.")
    reason: Paragraph | None = Field(None, description="Why not.")


@dataclass(frozen=True, slots=True)
class Offered(Kept):
    """A quote as the rules for its customer see it; nothing of its row is shown as it is."""

    shown = OfferedQuoteOut

    status: Status
    number: str

    def not_acceptable(self, _by: Actor) -> list[Reason]:
        """Why the customer cannot accept it; once accepted, it is accepted however often they say so."""
        return [] if self.status in {"sent", "accepted"} else [Reason(f"{self.number} can no longer be accepted.")]

    def not_declinable(self, _by: Actor) -> list[Reason]:
        """Why the customer cannot decline it."""
        return [] if self.status in {"sent", "declined"} else [Reason(f"{self.number} can no longer be declined.")]


# What is no column, but follows from the lines, the options and the moment.
_FOUND_OUT = (
    "lines",
    "subtotal",
    "taken_off",
    "taxes",
    "deposit",
    "accepted_by",
    "accepted_on",
    "can_answer",
    "can_accept",
)
# Only what is told here is read: the customer's page is made of what was frozen.
OFFERED = Listing(
    Offered,
    source="quote",
    what="quote",
    prefix="quote",
    id_field="quote_id",
    columns={"status": STATUS} | dict.fromkeys(_FOUND_OUT, "NULL"),
    own=Own("quote.id", unless=Right.QUOTES_READ),
)


@operation(right=Right.LINKED_QUOTE_READ, effect=Effect.READ, offered=_BY_LINK)
def get_offered_quote(ctx: Context, given: GetOfferedQuote) -> OfferedQuoteOut:
    """Read a quote that was sent to you.

    With the options that are chosen, or with others to see what it comes to.
    """
    return _shown(ctx, _quote(ctx, given.quote_id), given.chosen)


@operation(right=Right.LINKED_QUOTE_READ, effect=Effect.READ, offered=_BY_LINK, gives="application/pdf")
def get_offered_quote_pdf(ctx: Context, given: GetOfferedQuotePdf) -> PaperOut:
    """Get the PDF of a quote that was sent to you.

    As it was sent, unless it was withdrawn or replaced since.
    """
    quote = _quote(ctx, given.quote_id)
    if was_taken_back(quote.status):
        raise TakenBack(quote)
    return paper_of(quote)


@operation(right=Right.LINKED_QUOTE_READ, effect=Effect.CHANGE, offered=_BY_LINK, on=OFFERED)
def see_offered_quote(ctx: Context, _given: SeeOfferedQuote, offered: Offered) -> OfferedQuoteOut:
    """Say that a quote was seen.

    The first time counts.
    """
    quote = _quote(ctx, offered.id)
    return _shown(ctx, _seen(ctx, quote))


@operation(
    right=Right.LINKED_QUOTE_ANSWER,
    effect=Effect.CHANGE,
    offered=_BY_LINK,
    on=OFFERED,
    unless=Offered.not_acceptable,
)
def accept_offered_quote(ctx: Context, given: AcceptOfferedQuote, offered: Offered) -> OfferedQuoteOut:
    """Accept a quote that was sent to you.

    Once: whoever accepts it again finds it accepted.
    """
    quote = _seen(ctx, _quote(ctx, offered.id))
    if quote.status != "accepted":
        quote = accept(ctx, quote, Accepted("online", given.name, given.chosen))
    return _shown(ctx, quote)


@operation(
    right=Right.LINKED_QUOTE_ANSWER,
    effect=Effect.CHANGE,
    offered=_BY_LINK,
    on=OFFERED,
    unless=Offered.not_declinable,
)
def decline_offered_quote(ctx: Context, given: DeclineOfferedQuote, offered: Offered) -> OfferedQuoteOut:
    """Decline a quote that was sent to you.

    With a reason, if you like.
    """
    quote = _seen(ctx, _quote(ctx, offered.id))
    return _shown(ctx, decline(ctx, quote, given.reason) if quote.status != "declined" else quote)


OPERATIONS = (
    get_offered_quote,
    get_offered_quote_pdf,
    see_offered_quote,
    accept_offered_quote,
    decline_offered_quote,
)


def _quote(ctx: Context, identity: str) -> Quote:
    """The quote of a link, and no other."""
    OFFERED.fetch(ctx, identity)
    quote = QUOTES.find(ctx, "quote.id = :id AND quote.snapshot IS NOT NULL", id=identity)
    if quote is None:
        raise NotFound(QUOTES.what)
    return quote


def _seen(ctx: Context, quote: Quote) -> Quote:
    """Note that the customer has seen it, the first time."""
    if quote.viewed_at:
        return quote
    after = QUOTES.save(ctx, quote, {"viewed_at": ctx.at})
    ctx.record(QuoteViewed(after, quote))
    return after


def _shown(ctx: Context, quote: Quote, chosen: list[str] | None = None) -> OfferedQuoteOut:
    snapshot = orjson.loads(quote.snapshot or "{}")
    lines = read_lines(quote.lines)
    if chosen is not None and quote.status == "sent":
        lines = choose(lines, chosen)
    drawn = draw_up(lines, rates_of(ctx, lines), quote.reckoned)
    total, subtotal = drawn.totals.total, sum(drawn.totals.amounts)
    deposit = read_share(quote.deposit, quote.currency).of(total) if quote.deposit else None
    acceptance = quote.acceptance or {}
    can_answer = quote.status == "sent" and ctx.actor.subscribed
    return OfferedQuoteOut(
        object=OfferedQuoteOut.noun,
        id=quote.id,
        status=quote.status,
        number=quote.number,
        revision=quote.revision,
        language=Snapshot.model_validate(snapshot).language,
        snapshot=snapshot,
        lines=[OfferedLine.model_validate({name: line[name] for name in _TOLD}) for line in drawn.lines],
        subtotal=amount_text(subtotal, quote.currency) if drawn.totals.is_discounted else None,
        taken_off=amount_text(drawn.totals.discount, quote.currency) if drawn.totals.is_discounted else None,
        net=amount_text(drawn.totals.net, quote.currency),
        taxes=drawn.taxes,
        total=amount_text(total, quote.currency),
        deposit=None if deposit is None else amount_text(deposit, quote.currency),
        accepted_by=acceptance.get("name"),
        accepted_on=str(local_date(parse_moment(acceptance["at"]), house_of(ctx).time_zone)) if acceptance else None,
        can_answer=can_answer,
        can_accept=can_answer and not quote.not_agreeable_at(total),
    )


_TOLD = [to_camel(name) for name in OfferedLine.model_fields]

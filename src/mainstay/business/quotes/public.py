"""The quote that a customer sees by the link that was sent to them, and how they accept or decline it."""

from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from mainstay.business.issuing.document_files import PaperOut, document_file_of
from mainstay.business.lines.model import choose_optional_lines, price_document, read_lines, share_to_discount
from mainstay.business.lines.pricing import rates_of
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.quotes.decisions import MAX_CHOSEN, AcceptanceDetails, accept_quote, decline_quote
from mainstay.business.quotes.events import QuoteViewed
from mainstay.business.quotes.model import Quote, QuoteStatus
from mainstay.business.quotes.store import QUOTES, STATUS
from mainstay.documents.snapshot import Snapshot
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import RecordStore
from mainstay.values.descriptions import describe
from mainstay.values.fields import Paragraph, TextLine
from mainstay.values.message import Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.moments import local_date, parse_moment
from mainstay.values.money import amount_text
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.list_queries import Visibility
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, NotFound, Reason
from mainstay.vocabulary.schemas import Input, Output, StoredRecord

_LINK_DOORS = frozenset({Door.LINK})


class OfferedLine(BaseModel):
    """A line as the customer reads it."""

    model_config = OUTPUT_CONFIG

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


class OfferedQuoteOut(Output):
    """A quote as its customer sees it."""

    noun = "offeredQuote"

    id: str
    status: QuoteStatus
    number: str
    revision: int
    language: str
    snapshot: dict[str, Any] = Field(description="The quote as it was sent.")
    lines: list[OfferedLine]
    subtotal: str | None = Field(description="The total of the lines before the discount; null without one.")
    taken_off: str | None
    net: str
    taxes: list[dict[str, Any]]
    total: str
    deposit: str | None
    accepted_by: str | None
    accepted_on: str | None
    can_answer: bool = Field(description="Whether it can be accepted or declined now.")
    can_accept: bool = Field(description="Whether it can be accepted now with these options.")


def closed_message_of(status: QuoteStatus) -> str:
    """Return the key of the message that says why a quote can no longer be answered."""
    return _CLOSED_MESSAGES.get(status, "public.closed")


def is_retracted(status: QuoteStatus) -> bool:
    """Return whether a quote was withdrawn or replaced, so that it is no longer shown."""
    return status in {"withdrawn", "superseded"}


_CLOSED_MESSAGES: dict[QuoteStatus, str] = {
    "accepted": "public.accepted",
    "declined": "public.declined",
    "expired": "public.expired",
    "withdrawn": "public.withdrawn",
    "superseded": "public.superseded",
}


class QuoteRetracted(Conflict):
    """A refusal because the quote was withdrawn or replaced, so that it is no longer shown."""

    def __init__(self, quote: Quote) -> None:
        super().__init__(Message("{quote} is no longer valid. Ask for the current quote.", quote=quote.number))


class GetOfferedQuote(Input):
    """The quote, and the options to include."""

    quote_id: str = Field(description=describe("[[The quote's ID.]]"))
    chosen: list[str] | None = Field(None, max_length=MAX_CHOSEN, description="IDs of the optional lines to include.")


class GetOfferedQuotePdf(Input):
    """The quote."""

    quote_id: str = Field(description=describe("[[The quote's ID.]]"))


class AcceptOfferedQuote(Input):
    """The quote, who accepts it, and the chosen options."""

    quote_id: str = Field(description=describe("[[The quote's ID.]]"))
    name: TextLine = Field(description="Your name.")
    chosen: list[str] = Field(
        default_factory=list, max_length=MAX_CHOSEN, description="IDs of the optional lines you want."
    )


class DeclineOfferedQuote(Input):
    """The quote, and the reason."""

    quote_id: str = Field(description=describe("[[The quote's ID.]]"))
    reason: Paragraph | None = Field(None, description="The reason you are declining it.")


@dataclass(frozen=True, slots=True)
class OfferedQuote(StoredRecord):
    """A quote for the customer's link; its output is not made from its row."""

    output = OfferedQuoteOut

    status: QuoteStatus
    number: str

    def not_acceptable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why the customer cannot accept it; accepting it again is allowed."""
        if self.status in {"sent", "accepted"}:
            return []
        return [Reason(Message("{quote} can no longer be accepted.", quote=self.number))]

    def not_declinable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why the customer cannot decline it."""
        if self.status in {"sent", "declined"}:
            return []
        return [Reason(Message("{quote} can no longer be declined.", quote=self.number))]


# Output fields that are not columns: they are computed from the lines, the chosen options and the time.
_COMPUTED_FIELDS = (
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
# Only the status and the number are read from the row: the customer's page is made from the snapshot.
OFFERED_QUOTES = RecordStore(
    OfferedQuote,
    source="quote",
    columns={"status": STATUS} | dict.fromkeys(_COMPUTED_FIELDS, "NULL"),
    visibility=Visibility("quote.id", unrestricted_with=Permission.QUOTES_READ),
)


@operation(permission=Permission.LINKED_QUOTE_READ, effect=Effect.READ, doors=_LINK_DOORS)
def get_offered_quote(ctx: Context, given: GetOfferedQuote) -> OfferedQuoteOut:
    """View quote.

    With the chosen options, or with others to see their total.
    """
    return _build_output(ctx, _fetch_offered_quote(ctx, given.quote_id), given.chosen)


@operation(
    permission=Permission.LINKED_QUOTE_READ, effect=Effect.READ, doors=_LINK_DOORS, returns_file="application/pdf"
)
def get_offered_quote_pdf(ctx: Context, given: GetOfferedQuotePdf) -> PaperOut:
    """Get PDF of quote you received.

    As it was sent, unless it was withdrawn or replaced since.
    """
    quote = _fetch_offered_quote(ctx, given.quote_id)
    if is_retracted(quote.status):
        raise QuoteRetracted(quote)
    return document_file_of(quote)


@operation(
    permission=Permission.LINKED_QUOTE_READ,
    effect=Effect.CHANGE,
    doors=_LINK_DOORS,
    on=OFFERED_QUOTES,
    not_undone=Message("The customer has seen the quote."),
    past_text="Quote viewed",
)
def see_offered_quote(ctx: Context, _given: Input, offered: OfferedQuote) -> OfferedQuoteOut:
    """Record that the customer viewed the quote.

    Only the first time counts.
    """
    quote = _fetch_offered_quote(ctx, offered.id)
    return _build_output(ctx, _record_view(ctx, quote))


@operation(
    permission=Permission.LINKED_QUOTE_ANSWER,
    effect=Effect.CHANGE,
    doors=_LINK_DOORS,
    on=OFFERED_QUOTES,
    blocked_by=OfferedQuote.not_acceptable,
    not_undone=Message("The customer has decided. Create a new quote instead."),
    past_text="Quote accepted",
)
def accept_offered_quote(ctx: Context, given: AcceptOfferedQuote, offered: OfferedQuote) -> OfferedQuoteOut:
    """Accept quote.

    Accepting it again changes nothing.
    """
    quote = _record_view(ctx, _fetch_offered_quote(ctx, offered.id))
    if quote.status != "accepted":
        quote = accept_quote(ctx, quote, AcceptanceDetails("online", given.name, given.chosen))
    return _build_output(ctx, quote)


@operation(
    permission=Permission.LINKED_QUOTE_ANSWER,
    effect=Effect.CHANGE,
    doors=_LINK_DOORS,
    on=OFFERED_QUOTES,
    blocked_by=OfferedQuote.not_declinable,
    not_undone=Message("The customer has decided. Revise the quote instead."),
    past_text="Quote declined",
)
def decline_offered_quote(ctx: Context, given: DeclineOfferedQuote, offered: OfferedQuote) -> OfferedQuoteOut:
    """Decline quote.

    A reason is optional.
    """
    quote = _record_view(ctx, _fetch_offered_quote(ctx, offered.id))
    return _build_output(ctx, decline_quote(ctx, quote, given.reason) if quote.status != "declined" else quote)


OPERATIONS = (
    get_offered_quote,
    get_offered_quote_pdf,
    see_offered_quote,
    accept_offered_quote,
    decline_offered_quote,
)


def _fetch_offered_quote(ctx: Context, record_id: str) -> Quote:
    """Fetch the quote that the link belongs to; refuse any other."""
    OFFERED_QUOTES.fetch(ctx, record_id)
    quote = QUOTES.find(ctx, "quote.id = :id AND quote.snapshot IS NOT NULL", id=record_id)
    if quote is None:
        raise NotFound(QUOTES.label)
    return quote


def _record_view(ctx: Context, quote: Quote) -> Quote:
    """Record that the customer saw the quote, if it is the first time."""
    if quote.viewed_at:
        return quote
    after = QUOTES.save(ctx, quote, {"viewed_at": ctx.now_text})
    ctx.emit(QuoteViewed(after, quote))
    return after


def _build_output(ctx: Context, quote: Quote, chosen: list[str] | None = None) -> OfferedQuoteOut:
    snapshot = orjson.loads(quote.snapshot or "{}")
    lines = read_lines(quote.lines)
    if chosen is not None and quote.status == "sent":
        lines = choose_optional_lines(lines, chosen)
    priced = price_document(lines, rates_of(ctx, lines), quote.pricing_terms)
    total, subtotal = priced.totals.total, sum(priced.totals.amounts)
    deposit = share_to_discount(quote.deposit, quote.currency).calculate(total) if quote.deposit else None
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
        lines=[OfferedLine.model_validate({name: line[name] for name in _LINE_FIELDS}) for line in priced.lines],
        subtotal=amount_text(subtotal, quote.currency) if priced.totals.is_discounted else None,
        taken_off=amount_text(priced.totals.discount, quote.currency) if priced.totals.is_discounted else None,
        net=amount_text(priced.totals.net, quote.currency),
        taxes=priced.taxes,
        total=amount_text(total, quote.currency),
        deposit=None if deposit is None else amount_text(deposit, quote.currency),
        accepted_by=acceptance.get("name"),
        accepted_on=str(local_date(parse_moment(acceptance["at"]), settings_of(ctx).time_zone)) if acceptance else None,
        can_answer=can_answer,
        can_accept=can_answer and not quote.not_acceptable_at(total),
    )


_LINE_FIELDS = [to_camel(name) for name in OfferedLine.model_fields]

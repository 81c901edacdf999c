"""What happens to quotes."""

from mainstay.business.quotes.model import QuoteOut
from mainstay.kernel.event import Event


class QuoteCreated(Event):
    """A quote was drafted."""

    name = "quote.created"
    output = QuoteOut


class QuoteUpdated(Event):
    """A draft of a quote changed, or a quote went over to another customer."""

    name = "quote.updated"
    output = QuoteOut


class QuoteSent(Event):
    """A quote was sent."""

    name = "quote.sent"
    output = QuoteOut


class QuoteViewed(Event):
    """A customer saw their quote."""

    name = "quote.viewed"
    output = QuoteOut


class QuoteAccepted(Event):
    """A customer accepted a quote."""

    name = "quote.accepted"
    output = QuoteOut


class QuoteDeclined(Event):
    """A customer declined a quote."""

    name = "quote.declined"
    output = QuoteOut


class QuoteExpired(Event):
    """A quote is no longer valid."""

    name = "quote.expired"
    output = QuoteOut


class QuoteSuperseded(Event):
    """A later revision was sent in place of a quote."""

    name = "quote.superseded"
    output = QuoteOut


class QuoteWithdrawn(Event):
    """A quote was taken back."""

    name = "quote.withdrawn"
    output = QuoteOut


EVENTS = (
    QuoteCreated,
    QuoteUpdated,
    QuoteSent,
    QuoteViewed,
    QuoteAccepted,
    QuoteDeclined,
    QuoteExpired,
    QuoteSuperseded,
    QuoteWithdrawn,
)

"""What happens to quotes."""

from mainstay.business.quotes.model import QuoteOut
from mainstay.kernel.event import Event


class QuoteCreated(Event):
    """A quote was drafted."""

    name = "quote.created"
    output = QuoteOut


class QuoteUpdated(Event):
    """A draft quote changed, or the customer of a quote changed."""

    name = "quote.updated"
    output = QuoteOut


class QuoteSent(Event):
    """A quote was sent."""

    name = "quote.sent"
    output = QuoteOut


class QuoteViewed(Event):
    """A customer viewed their quote."""

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
    """A quote expired."""

    name = "quote.expired"
    output = QuoteOut


class QuoteSuperseded(Event):
    """A quote was replaced by a later revision."""

    name = "quote.superseded"
    output = QuoteOut


class QuoteWithdrawn(Event):
    """A quote was withdrawn."""

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

"""What happens to quotes."""

from mainstay.business.quotes.model import QuoteOut
from mainstay.kernel.event import Event


class QuoteCreated(Event):
    """A quote was drafted."""

    name = "quote.created"
    about = QuoteOut


class QuoteUpdated(Event):
    """A draft of a quote changed, or a quote went over to another customer."""

    name = "quote.updated"
    about = QuoteOut


class QuoteSent(Event):
    """A quote was sent."""

    name = "quote.sent"
    about = QuoteOut


class QuoteViewed(Event):
    """A customer saw their quote."""

    name = "quote.viewed"
    about = QuoteOut


class QuoteAccepted(Event):
    """A customer accepted a quote."""

    name = "quote.accepted"
    about = QuoteOut


class QuoteDeclined(Event):
    """A customer declined a quote."""

    name = "quote.declined"
    about = QuoteOut


class QuoteExpired(Event):
    """A quote is no longer valid."""

    name = "quote.expired"
    about = QuoteOut


class QuoteSuperseded(Event):
    """A later revision was sent in place of a quote."""

    name = "quote.superseded"
    about = QuoteOut


class QuoteWithdrawn(Event):
    """A quote was taken back."""

    name = "quote.withdrawn"
    about = QuoteOut


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

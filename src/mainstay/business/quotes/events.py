"""The events of quotes."""

from mainstay.business.quotes.model import QuoteOut
from mainstay.kernel.event import declare_event

QuoteCreated = declare_event("quote.created", QuoteOut, "A quote was drafted.")
QuoteUpdated = declare_event("quote.updated", QuoteOut, "A draft quote changed, or the customer of a quote changed.")
QuoteSent = declare_event("quote.sent", QuoteOut, "A quote was sent.")
QuoteViewed = declare_event("quote.viewed", QuoteOut, "A customer viewed their quote.")
QuoteAccepted = declare_event("quote.accepted", QuoteOut, "A customer accepted a quote.")
QuoteDeclined = declare_event("quote.declined", QuoteOut, "A customer declined a quote.")
QuoteExpired = declare_event("quote.expired", QuoteOut, "A quote expired.")
QuoteSuperseded = declare_event("quote.superseded", QuoteOut, "A quote was replaced by a later revision.")
QuoteWithdrawn = declare_event("quote.withdrawn", QuoteOut, "A quote was withdrawn.")


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

"""Quotes in several states, and for each of their operations an input that it takes."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.business.quotes.operations import draft_quote
from mainstay.business.quotes.sending import send_quote
from support.cast import Cast

ExampleInput = dict[str, object]

QUOTE_LINE: ExampleInput = {"description": "Combi boiler", "unitPrice": "890"}


@dataclass(frozen=True)
class QuoteSamples:
    """Quotes of one customer."""

    customer: str
    draft: str
    sent: str


def make_quote_samples(cast: Cast, customer: str) -> QuoteSamples:
    """Make the samples."""
    given: ExampleInput = {"customerId": customer, "title": "New heating", "lines": [QUOTE_LINE]}
    draft, sent = (str(cast.perform(draft_quote, **given)["id"]) for _ in range(2))
    cast.perform(send_quote, quoteId=sent, deliver="none", confirmed=True)
    return QuoteSamples(customer, draft, sent)


QUOTE_EXAMPLES: dict[str, Callable[[QuoteSamples], ExampleInput]] = {
    "list_quotes": lambda _: {},
    "get_quote": lambda quotes: {"quoteId": quotes.draft},
    "get_quote_proof": lambda quotes: {"quoteId": quotes.draft},
    "get_quote_pdf": lambda quotes: {"quoteId": quotes.sent},
    "draft_quote": lambda quotes: {"customerId": quotes.customer, "title": "Bathroom", "lines": [QUOTE_LINE]},
    "update_quote": lambda quotes: {"quoteId": quotes.draft, "edits": [{"edit": "add", **QUOTE_LINE}]},
    "revise_quote": lambda quotes: {"quoteId": quotes.sent},
    "send_quote": lambda quotes: {"quoteId": quotes.draft, "to": ["ann@calder.example"], "confirmed": True},
    "record_quote_decision": lambda quotes: {
        "quoteId": quotes.sent,
        "decision": "accepted",
        "name": "Ann Boyle",
        "confirmed": True,
    },
    "get_offered_quote": lambda quotes: {"quoteId": quotes.sent},
    "get_offered_quote_pdf": lambda quotes: {"quoteId": quotes.sent},
    "see_offered_quote": lambda quotes: {"quoteId": quotes.sent},
    "accept_offered_quote": lambda quotes: {"quoteId": quotes.sent, "name": "Ann Boyle"},
    "decline_offered_quote": lambda quotes: {"quoteId": quotes.sent},
    "withdraw_quote": lambda quotes: {"quoteId": quotes.sent, "confirmed": True},
}

"""Quotes that went over to another customer are told of."""

from mainstay.business.customers.moved import telling_of
from mainstay.business.quotes.events import QuoteUpdated
from mainstay.business.quotes.store import QUOTES

CHORES = (telling_of(QUOTES, QuoteUpdated),)

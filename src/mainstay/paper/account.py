"""What a statement of account shows: the table of its entries, and its sums."""

from collections.abc import Iterator
from typing import Any, Protocol

from mainstay.paper.locales import Locale
from mainstay.paper.snapshot import Account, EntryKind

_COLUMNS = {
    "date": "account.date",
    "entry": "account.entry",
    "reference": "account.reference",
    "charged": "account.charged",
    "paid": "account.paid",
    "balance": "account.balance",
}
_ENTRIES: dict[EntryKind, str] = {
    "invoice": "account.invoice",
    "void": "account.void",
    "creditNote": "account.creditNote",
    "payment": "account.payment",
    "reversal": "account.reversal",
}


class Writer(Protocol):
    """What puts words, amounts and dates as the reader of a document writes them."""

    locale: Locale

    def say(self, key: str, **values: object) -> str:
        """Return a message in the reader's language."""

    def amount(self, text: str) -> str:
        """Return an amount as the reader writes it."""


def account_table(account: Account, writer: Writer) -> dict[str, Any]:
    """Return the headings of the table and its rows: what was brought forward, then each entry."""
    before = writer.amount(account.brought_forward)
    forward = {
        "date": writer.locale.day(account.from_),
        "entry": writer.say("account.broughtForward"),
        "reference": "",
        "charged": "",
        "paid": "",
        "balance": before,
    }
    entries = [
        {
            "date": writer.locale.day(entry.on),
            "entry": writer.say(_ENTRIES[entry.kind]),
            "reference": entry.reference or "",
            "charged": "" if entry.charged is None else writer.amount(entry.charged),
            "paid": "" if entry.paid is None else writer.amount(entry.paid),
            "balance": writer.amount(entry.balance),
        }
        for entry in account.entries
    ]
    return {"columns": {name: writer.say(key) for name, key in _COLUMNS.items()}, "rows": [forward, *entries]}


def account_sums(account: Account, writer: Writer) -> Iterator[tuple[str, str]]:
    """Yield what the balance is made of."""
    yield writer.say("account.broughtForward"), writer.amount(account.brought_forward)
    yield writer.say("account.charged"), writer.amount(account.charged)
    yield writer.say("account.paid"), writer.amount(account.paid)

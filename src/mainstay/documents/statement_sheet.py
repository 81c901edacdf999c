"""The content of a statement of account: the table of its entries, and its sums."""

from collections.abc import Iterator
from typing import Any, Protocol

from mainstay.documents.locales import Locale
from mainstay.documents.snapshot import AccountSnapshot, EntryKind

_COLUMNS = {
    "date": "account.date",
    "entry": "account.entry",
    "reference": "account.reference",
    "charged": "account.charged",
    "paid": "account.paid",
    "balance": "account.balance",
}
_ENTRY_LABELS: dict[EntryKind, str] = {
    "invoice": "account.invoice",
    "void": "account.void",
    "creditNote": "account.creditNote",
    "payment": "account.payment",
    "reversal": "account.reversal",
}


class ContentFormatter(Protocol):
    """Provides messages, amounts and dates in the language of a document's reader."""

    locale: Locale

    def translate(self, key: str, **values: object) -> str:
        """Return a message in the reader's language."""

    def format_amount(self, text: str) -> str:
        """Format an amount for the reader."""


def build_account_table(account: AccountSnapshot, formatter: ContentFormatter) -> dict[str, Any]:
    """Return the column headings and the rows: the balance brought forward, then each entry."""
    opening_balance = formatter.format_amount(account.brought_forward)
    first_row = {
        "date": formatter.locale.format_day(account.from_),
        "entry": formatter.translate("account.broughtForward"),
        "reference": "",
        "charged": "",
        "paid": "",
        "balance": opening_balance,
    }
    entries = [
        {
            "date": formatter.locale.format_day(entry.on),
            "entry": formatter.translate(_ENTRY_LABELS[entry.kind]),
            "reference": entry.reference or "",
            "charged": "" if entry.charged is None else formatter.format_amount(entry.charged),
            "paid": "" if entry.paid is None else formatter.format_amount(entry.paid),
            "balance": formatter.format_amount(entry.balance),
        }
        for entry in account.entries
    ]
    return {
        "columns": {name: formatter.translate(key) for name, key in _COLUMNS.items()},
        "rows": [first_row, *entries],
    }


def build_account_sums(account: AccountSnapshot, formatter: ContentFormatter) -> Iterator[tuple[str, str]]:
    """Yield the amounts that the balance consists of, with their labels."""
    yield formatter.translate("account.broughtForward"), formatter.format_amount(account.brought_forward)
    yield formatter.translate("account.charged"), formatter.format_amount(account.charged)
    yield formatter.translate("account.paid"), formatter.format_amount(account.paid)

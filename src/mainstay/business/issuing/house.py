"""What an organisation has decided that its documents need to know."""

from datetime import date, timedelta
from typing import Any, NamedTuple

import orjson

from mainstay.kernel.context import Context
from mainstay.terms.refusal import Reason
from mainstay.values.moments import beginning_of, local_date, moment_text

# When the last day of all is over.
_NEVER = "9999-12-31T23:59:59.999Z"


class House(NamedTuple):
    """The organisation's decisions as they stand."""

    currency: str
    time_zone: str
    language: str
    prices_include_tax: bool
    mail_texts: dict[str, Any]
    quote_valid_days: int
    quote_terms: str | None
    payment_terms_days: int
    invoice_notes: str | None
    books_closed_until: str | None

    def ends_at(self, day: str) -> str:
        """The moment at which a date is over there."""
        try:
            return moment_text(beginning_of(date.fromisoformat(day) + timedelta(days=1), self.time_zone))
        except OverflowError:
            return _NEVER

    def if_closed(self, day: str) -> list[Reason]:
        """The reason that the books are closed for a date."""
        if self.books_closed_until is None or day > self.books_closed_until:
            return []
        text = f"The books are closed until {self.books_closed_until}, so nothing of {day} changes any more."
        return [Reason(f"{text} An owner or admin can open them again.", unblock="update_settings")]


def house_of(ctx: Context) -> House:
    """What the organisation has decided."""
    row = ctx.rows.one(f"SELECT {', '.join(House._fields)} FROM organisation WHERE id = :organisation")
    told: dict[str, Any] = dict(zip(House._fields, row or (), strict=True))
    told["prices_include_tax"] = bool(told["prices_include_tax"])
    told["mail_texts"] = orjson.loads(told["mail_texts"])
    return House(**told)


def today_of(ctx: Context, house: House) -> date:
    """Which date it is there."""
    return local_date(ctx.now, house.time_zone)

"""What an organisation has decided, for all that depends on it."""

from datetime import date, timedelta
from typing import Any, NamedTuple

import orjson

from mainstay.business.organisation.books import if_closed
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Reason
from mainstay.values.moments import beginning_of, local_date, moment_text
from mainstay.values.once import once_each

# When the last day of all is over.
_NEVER = "9999-12-31T23:59:59.999Z"


class House(NamedTuple):
    """The organisation's decisions as they stand."""

    country: str
    currency: str
    time_zone: str
    language: str
    prices_include_tax: bool
    # As JSON: few who ask want them.
    mail_texts: str
    quote_valid_days: int
    quote_terms: str | None
    payment_terms_days: int
    invoice_notes: str | None
    hours_rounding_minutes: int
    materials_markup_percent: int
    books_closed_until: str | None
    # The tax that is taken where nothing else is said.
    default_tax_rate_id: str | None

    def begins_at(self, day: str) -> str:
        """The moment at which a date begins there; of one that no clock shows, a text that lies there too."""
        try:
            return moment_text(beginning_of(date.fromisoformat(day), self.time_zone))
        except OverflowError:
            return day

    def ends_at(self, day: str) -> str:
        """The moment at which a date is over there."""
        try:
            return moment_text(beginning_of(date.fromisoformat(day) + timedelta(days=1), self.time_zone))
        except OverflowError:
            return _NEVER

    def if_closed(self, day: str) -> list[Reason]:
        """The reason that the books are closed for a date."""
        return if_closed(day, self.books_closed_until)

    def if_foreign(self, currency: str, instead: str, unblock: str) -> list[Reason]:
        """The reason that a document is in another currency: no amounts of two are added up."""
        if currency == self.currency:
            return []
        return [Reason(f"It is in {currency}, and amounts here are in {self.currency}. {instead}", unblock)]

    def words_for(self, mail: str) -> dict[str, str] | None:
        """The organisation's own words for a kind of mail, if it has any."""
        own: dict[str, str] | None = orjson.loads(self.mail_texts).get(mail)
        return own

    def today(self, ctx: Context) -> date:
        """Which date it is there."""
        return local_date(ctx.now, self.time_zone)


def house_of(ctx: Context) -> House:
    """What the organisation has decided; read once for each act, but for one that has changed it itself."""
    return _as_it_is(ctx) if ctx.actor.organisation in ctx.pen.touched else _as_it_was(ctx)


def _as_it_is(ctx: Context) -> House:
    row = ctx.rows.one(f"SELECT {', '.join(House._fields)} FROM organisation WHERE id = :organisation")
    told: dict[str, Any] = dict(zip(House._fields, row or (), strict=True))
    return House(**told | {"prices_include_tax": bool(told["prices_include_tax"])})


_as_it_was = once_each(_as_it_is)

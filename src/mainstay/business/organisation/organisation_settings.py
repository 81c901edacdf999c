"""The organisation's settings, as used by other areas."""

from datetime import date, timedelta
from typing import Any, NamedTuple

import orjson

from mainstay.business.organisation.closed_books import reasons_if_closed
from mainstay.kernel.context import Context
from mainstay.values.memo import cached_on_owner
from mainstay.values.message import Message, ShownMessage
from mainstay.values.moments import local_date, moment_text, start_of_day
from mainstay.vocabulary.refusal import Reason

# Stands for the end of a day that lies beyond the last representable date.
_LATEST_MOMENT = "9999-12-31T23:59:59.999Z"


class OrganisationSettings(NamedTuple):
    """The organisation's current settings."""

    country: str
    currency: str
    time_zone: str
    language: str
    prices_include_tax: bool
    # JSON, parsed only when needed.
    mail_texts: str
    quote_valid_days: int
    quote_terms: str | None
    payment_terms_days: int
    invoice_notes: str | None
    hours_rounding_minutes: int
    materials_markup_percent: int
    books_closed_until: str | None
    # Used for lines that name no other tax rate.
    default_tax_rate_id: str | None

    def start_of_day(self, day: str) -> str:
        """Return the moment at which a date begins in the organisation's time zone.

        For a date that cannot be converted, return the date itself, which sorts correctly among moments.
        """
        try:
            return moment_text(start_of_day(date.fromisoformat(day), self.time_zone))
        except OverflowError:
            return day

    def end_of_day(self, day: str) -> str:
        """Return the moment at which a date ends in the organisation's time zone."""
        try:
            return moment_text(start_of_day(date.fromisoformat(day) + timedelta(days=1), self.time_zone))
        except OverflowError:
            return _LATEST_MOMENT

    def reasons_if_closed(self, day: str) -> list[Reason]:
        """Return the reason that the books are closed for a date, or nothing if they are open."""
        return reasons_if_closed(day, self.books_closed_until)

    def reasons_if_foreign(self, currency: str, advice: ShownMessage, alternative: str) -> list[Reason]:
        """Return the reason that a document is in a foreign currency: amounts of two currencies are never added up."""
        if currency == self.currency:
            return []
        message = Message(
            "This is in {currency}, but your organisation uses {own_currency}. {advice}",
            currency=currency,
            own_currency=self.currency,
            advice=advice,
        )
        return [Reason(message, instead=alternative)]

    def own_email_text(self, kind: str) -> dict[str, str] | None:
        """Return the organisation's own wording for a kind of email, if it has any."""
        own_text: dict[str, str] | None = orjson.loads(self.mail_texts).get(kind)
        return own_text

    def today(self, ctx: Context) -> date:
        """Return today's date in the organisation's time zone."""
        return local_date(ctx.now, self.time_zone)


def settings_of(ctx: Context) -> OrganisationSettings:
    """Return the organisation's settings.

    They are read once for each operation, and read again if the operation has changed the organisation itself.
    """
    return _read_settings(ctx) if ctx.actor.organisation in ctx.writer.touched else _read_settings_once(ctx)


def _read_settings(ctx: Context) -> OrganisationSettings:
    row = ctx.db.one(f"SELECT {', '.join(OrganisationSettings._fields)} FROM organisation WHERE id = :organisation")
    values: dict[str, Any] = dict(zip(OrganisationSettings._fields, row or (), strict=True))
    return OrganisationSettings(**values | {"prices_include_tax": bool(values["prices_include_tax"])})


_read_settings_once = cached_on_owner(_read_settings)

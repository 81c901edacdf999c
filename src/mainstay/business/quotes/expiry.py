"""Expiry of quotes that were not answered in time, by the organisation's time zone."""

from collections.abc import Mapping
from datetime import date

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteExpired
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import DailyTimer


def expire_quotes(ctx: Context, _day: date) -> None:
    """Emit an event for each quote that has expired, once."""
    expired = ctx.db.all(f"{QUOTES.select_all} AND {_NEWLY_EXPIRED} ORDER BY quote.expires_at, quote.id")
    for quote in map(QUOTES.from_row, expired):
        after = QUOTES.save(ctx, quote, {"told_expired": 1})
        store.update_quoted_job(ctx, after.job_id)
        ctx.emit(QuoteExpired(after))


def recompute_quote_expiry(ctx: Context, _payload: Mapping[str, str]) -> None:
    """Recompute when waiting quotes expire, after the organisation changed its time zone."""
    settings = settings_of(ctx)
    waiting = ctx.db.all(
        "SELECT id, valid_until FROM quote WHERE organisation_id = :organisation AND status = 'sent'"
        " AND told_expired = 0 AND valid_until IS NOT NULL"
    )
    for record_id, until in waiting:
        ctx.db.run(
            "UPDATE quote SET expires_at = :ends WHERE organisation_id = :organisation AND id = :id",
            id=record_id,
            ends=settings.end_of_day(str(until)),
        )
        ctx.writer.mark_written(QUOTES.table, str(record_id))


def has_expired_quotes(ctx: Context) -> bool:
    """Return whether a quote has expired without an event for it."""
    return ctx.db.one(f"SELECT 1 FROM quote WHERE {_NEWLY_EXPIRED} LIMIT 1") is not None


_NEWLY_EXPIRED = (
    "quote.organisation_id = :organisation AND quote.status = 'sent' AND quote.told_expired = 0"
    " AND quote.expires_at <= :now"
)

TIMERS = (DailyTimer(expire_quotes, "Quote expired", has_expired_quotes),)

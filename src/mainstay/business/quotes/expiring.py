"""What time does to quotes: those that were not answered expire, by the clocks of the organisation."""

from collections.abc import Mapping
from datetime import date

from mainstay.business.organisation.house import house_of
from mainstay.business.quotes import store
from mainstay.business.quotes.events import QuoteExpired
from mainstay.business.quotes.store import QUOTES
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Timer


def expire_quotes(ctx: Context, _day: date) -> None:
    """Tell of each quote that can no longer be accepted, once."""
    expired = ctx.rows.all(f"{QUOTES.everything} AND {_EXPIRED} ORDER BY quote.expires_at, quote.id")
    for quote in map(QUOTES.keep, expired):
        after = QUOTES.save(ctx, quote, {"told_expired": 1})
        store.hand_down(ctx, after.job_id)
        ctx.record(QuoteExpired(after))


def reckon_quotes_anew(ctx: Context, _told: Mapping[str, str]) -> None:
    """Let quotes expire at the midnight of the time zone that the organisation is in now."""
    house = house_of(ctx)
    waiting = ctx.rows.all(
        "SELECT id, valid_until FROM quote WHERE organisation_id = :organisation AND status = 'sent'"
        " AND told_expired = 0 AND valid_until IS NOT NULL"
    )
    for identity, until in waiting:
        ctx.rows.run(
            "UPDATE quote SET expires_at = :ends WHERE organisation_id = :organisation AND id = :id",
            id=identity,
            ends=house.ends_at(str(until)),
        )
        ctx.pen.mark_written(QUOTES.table, str(identity))


def has_expired_quotes(ctx: Context) -> bool:
    """Whether a quote can no longer be accepted, and nobody was told."""
    return ctx.rows.one(f"SELECT 1 FROM quote WHERE {_EXPIRED} LIMIT 1") is not None


_EXPIRED = (
    "quote.organisation_id = :organisation AND quote.status = 'sent' AND quote.told_expired = 0"
    " AND quote.expires_at <= :now"
)

TIMERS = (Timer(expire_quotes, has_expired_quotes),)

"""Delete old deliveries: they are stored as long as the events that they deliver."""

from datetime import date, datetime, timedelta

from mainstay.changes import events
from mainstay.changes.events import RETENTION
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import DailyTimer
from mainstay.values.moments import moment_text

# No delivery is ever postponed for this long.
MAX_DELAY = timedelta(days=2)
# Few enough that no change waits long for it.
BATCH_SIZE = 500


def delete_old(db: DatabaseHandle, now: datetime) -> bool:
    """Delete a batch of the deliveries that are too old, with their attempts. Return whether there may be more."""
    # Takes turns with the dispatchers, which may be about to send one of them.
    db.run("UPDATE turnstile SET passed_at = :at WHERE name = 'webhooks'", at=moment_text(now))
    removed = db.run(
        "DELETE FROM delivery WHERE (organisation_id, id) IN (SELECT organisation_id, id FROM delivery"
        " WHERE created_at < :before ORDER BY created_at LIMIT :most)",
        before=moment_text(now - RETENTION),
        most=BATCH_SIZE,
    )
    return removed == BATCH_SIZE


def bring_deliveries_forward(db: DatabaseHandle, now: datetime) -> None:
    """Make deliveries due now if their due time is so far off that a clock that ran ahead must have set it."""
    bound = {"at": moment_text(now), "latest": moment_text(now + MAX_DELAY)}
    # A webhook is due when the first of its deliveries is.
    db.run(
        "UPDATE delivery SET due_at = :at WHERE due_at IS NOT NULL AND (organisation_id, webhook_id) IN"
        " (SELECT organisation_id, id FROM webhook WHERE due_at > :latest)",
        **bound,
    )
    db.run("UPDATE webhook SET due_at = :at WHERE due_at > :latest", **bound)


def forget_old_events(ctx: Context, _day: date) -> None:
    """Delete the events that are too old."""
    events.delete_old(ctx.db, ctx.now)


def has_old_events(ctx: Context) -> bool:
    """Return whether there are events that are too old."""
    return events.has_old(ctx.db, ctx.now)


TIMERS = (DailyTimer(forget_old_events, "Old events removed", has_old_events),)

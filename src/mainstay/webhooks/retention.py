"""Events are kept for a while, and deliveries as long as the events they tell of."""

from datetime import date, datetime

from mainstay.backing.database import Handle
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Timer
from mainstay.ledger import events
from mainstay.ledger.events import KEPT
from mainstay.values.moments import moment_text

# So few at once that no change waits long for it.
AT_ONCE = 500


def forget_old(rows: Handle, now: datetime) -> bool:
    """Remove some of the deliveries that are kept no longer, with their attempts; whether there may be more."""
    # In turn with the dispatchers, which may be about to send one of them.
    rows.run("UPDATE turnstile SET passed_at = :at WHERE name = 'webhooks'", at=moment_text(now))
    removed = rows.run(
        "DELETE FROM delivery WHERE (organisation_id, id) IN (SELECT organisation_id, id FROM delivery"
        " WHERE created_at < :before ORDER BY created_at LIMIT :most)",
        before=moment_text(now - KEPT),
        most=AT_ONCE,
    )
    return removed == AT_ONCE


def forget_old_events(ctx: Context, _day: date) -> None:
    """Remove the events that are kept no longer."""
    events.forget_old(ctx.rows, ctx.now)


TIMERS = (Timer(forget_old_events),)

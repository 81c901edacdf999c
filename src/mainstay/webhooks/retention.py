"""Events are kept for a while, and deliveries as long as the events they tell of."""

from datetime import date, datetime, timedelta

from mainstay.backing.database import Handle
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Timer
from mainstay.ledger import events
from mainstay.ledger.events import KEPT
from mainstay.values.moments import moment_text

# Nothing is ever put off for so long.
NEVER_SO_LONG = timedelta(days=2)
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


def bring_forward(rows: Handle, now: datetime) -> None:
    """Let what waits for a moment that only a clock can have set which ran ahead be sent now."""
    given = {"at": moment_text(now), "latest": moment_text(now + NEVER_SO_LONG)}
    # A webhook is due when the first of its deliveries is.
    rows.run(
        "UPDATE delivery SET due_at = :at WHERE due_at IS NOT NULL AND (organisation_id, webhook_id) IN"
        " (SELECT organisation_id, id FROM webhook WHERE due_at > :latest)",
        **given,
    )
    rows.run("UPDATE webhook SET due_at = :at WHERE due_at > :latest", **given)


def forget_old_events(ctx: Context, _day: date) -> None:
    """Remove the events that are kept no longer."""
    events.forget_old(ctx.rows, ctx.now)


def has_old_events(ctx: Context) -> bool:
    """Whether there are events that are kept no longer."""
    return events.has_old(ctx.rows, ctx.now)


TIMERS = (Timer(forget_old_events, has_old_events),)

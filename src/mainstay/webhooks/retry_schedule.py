"""Decide when a delivery is tried again, and when a webhook is disabled. Time and randomness are arguments."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

# The wait before each attempt of a delivery. The first attempt is made at once, and the last more than three days
# later.
WAITS = tuple(
    timedelta(seconds=seconds) for seconds in (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
# How far a wait may differ from the list above, so that deliveries that failed together are not tried again together.
JITTER = 0.2
# The longest wait that a receiver can ask for.
MAX_REQUESTED_WAIT = timedelta(hours=24)
# How long every attempt of a webhook may fail before it is disabled.
MAX_FAILING = timedelta(days=5)

GONE = "It answered 410 Gone."
FAILING = "Every attempt failed for five days."


def find_next_try(now: datetime, failed: int, jitter: float, retry_after: str | None = None) -> datetime | None:
    """Return when to try again after so many failed attempts, or None if that was the last one.

    `jitter` is from -1 to 1. A busy receiver may ask for a longer wait than ours, but not for a shorter one.
    """
    if failed >= len(WAITS):
        return None
    wait = WAITS[failed] * (1 + JITTER * jitter)
    return now + max(wait, min(_parse_wait(retry_after, now), MAX_REQUESTED_WAIT))


def requested_wait_of(status: int | None, retry_after: str | None) -> str | None:
    """Return the `Retry-After` header of an answer if its status gives the header this meaning."""
    return retry_after if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE} else None


def reason_to_disable(status: int | None, failing_since: datetime, now: datetime) -> str | None:
    """Return why a webhook should be disabled after a failed attempt, or None if it should not."""
    if status == HTTPStatus.GONE:
        return GONE
    return FAILING if now - failing_since >= MAX_FAILING else None


_MAX_DIGITS = 9


def _parse_wait(retry_after: str | None, now: datetime) -> timedelta:
    """Return the wait that a header asks for, in seconds or as a date. Return zero if it cannot be read."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdecimal():
        digits = text.lstrip("0")
        # A number with more digits exceeds the longest wait, and may be too large to compute with.
        return timedelta(seconds=int(digits or 0)) if len(digits) < _MAX_DIGITS else MAX_REQUESTED_WAIT
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return timedelta()
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now

"""When a delivery is tried again, and when a webhook is given up. Time and chance are handed in."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

# Before each attempt of a delivery: the first is made at once, and the last more than three days later.
WAITS = tuple(
    timedelta(seconds=seconds) for seconds in (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
# How far a wait may be from what stands above, so that what failed together does not come back together.
JITTER = 0.2
# The longest that a receiver can have us wait.
LONGEST_ASKED = timedelta(hours=24)
# How long a webhook may do nothing but fail.
PATIENCE = timedelta(days=5)

GONE = "It answered 410 Gone."
FAILING = "Every attempt failed for five days."


def next_try(now: datetime, failed: int, chance: float, retry_after: str | None = None) -> datetime | None:
    """When to try again after so many attempts have failed, or None when that was the last; chance is from -1 to 1.

    A receiver that is busy may ask for a longer wait than ours, not for a shorter one.
    """
    if failed >= len(WAITS):
        return None
    wait = WAITS[failed] * (1 + JITTER * chance)
    return now + max(wait, min(_asked(retry_after, now), LONGEST_ASKED))


def wait_asked(status: int | None, retry_after: str | None) -> str | None:
    """The `Retry-After` of an answer, where it means what we take it for."""
    return retry_after if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE} else None


def reason_to_disable(status: int | None, failing_since: datetime, now: datetime) -> str | None:
    """Why a webhook whose attempt failed is not to be tried any more, if it is not."""
    if status == HTTPStatus.GONE:
        return GONE
    return FAILING if now - failing_since >= PATIENCE else None


_MOST_DIGITS = 9


def _asked(retry_after: str | None, now: datetime) -> timedelta:
    """The wait that a header asks for, in seconds or as a date; nothing where it cannot be read."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdecimal():
        digits = text.lstrip("0")
        # A number of more digits is beyond the longest wait, and may be beyond what can be reckoned with.
        return timedelta(seconds=int(digits or 0)) if len(digits) < _MOST_DIGITS else LONGEST_ASKED
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return timedelta()
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now

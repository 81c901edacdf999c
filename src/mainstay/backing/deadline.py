"""One deadline for all that a request waits for: a thread, those who change something before it, another program."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

WAIT_SECONDS = 10.0

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


def deadline() -> float:
    """When whoever runs here has waited enough; it begins when it is first asked for, and stays."""
    until = _deadline.get()
    if until is None:
        until = monotonic() + WAIT_SECONDS
        _deadline.set(until)
    return until


def begin_anew() -> None:
    """Begin when it is next asked for: until now someone outside was waited for, who was slow to send."""
    _deadline.set(None)


@contextmanager
def under(until: float) -> Iterator[None]:
    """Let what happens here, perhaps in another thread, be under this deadline."""
    token = _deadline.set(until)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """How long to wait at most: until the deadline where there is one, never less than nothing."""
    until = _deadline.get()
    return WAIT_SECONDS if until is None else max(until - monotonic(), 0.0)

"""One deadline for everything that a request waits for: a thread, other changes, another program."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

WAIT_SECONDS = 10.0

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


def current_deadline() -> float:
    """Return the deadline of the code that runs here; it starts when it is first asked for and then stays."""
    until = _deadline.get()
    if until is None:
        until = monotonic() + WAIT_SECONDS
        _deadline.set(until)
    return until


def reset_deadline() -> None:
    """Clear the deadline, so that it starts again when it is next asked for.

    The time until now was spent waiting for a slow sender outside.
    """
    _deadline.set(None)


@contextmanager
def use_deadline(until: float) -> Iterator[None]:
    """Use this deadline for the enclosed code, perhaps in another thread."""
    token = _deadline.set(until)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """Return how long to wait at most: until the deadline if there is one, and never less than zero."""
    until = _deadline.get()
    return WAIT_SECONDS if until is None else max(until - monotonic(), 0.0)

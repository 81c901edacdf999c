"""Wait for something in another thread or process."""

import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

_TIMEOUT_SECONDS = 60.0
_POLL_SECONDS = 0.01


def wait_until(look: Callable[[], T | None]) -> T:
    """Call a function again and again until it returns something; return that."""
    pause, ends = threading.Event(), monotonic() + _TIMEOUT_SECONDS
    while not (seen := look()):
        # By the clock: some looks take longer than others.
        assert monotonic() < ends, "It never came to be."
        pause.wait(_POLL_SECONDS)
    return seen

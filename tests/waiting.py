"""Waiting for what comes about in another thread or process."""

import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

_PATIENCE_SECONDS = 60.0
_GLANCE_SECONDS = 0.01


def wait_until(look: Callable[[], T | None]) -> T:
    """Look again and again until there is something to see; what was seen."""
    pause, ends = threading.Event(), monotonic() + _PATIENCE_SECONDS
    while not (seen := look()):
        # By the clock: some looks take longer than others.
        assert monotonic() < ends, "It never came to be."
        pause.wait(_GLANCE_SECONDS)
    return seen

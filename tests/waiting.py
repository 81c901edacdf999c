"""Waiting for what comes about in another thread or process."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_PATIENCE_SECONDS = 60.0
_GLANCE_SECONDS = 0.01


def wait_until(look: Callable[[], T | None]) -> T:
    """Look again and again until there is something to see; what was seen."""
    pause = threading.Event()
    for _ in range(int(_PATIENCE_SECONDS / _GLANCE_SECONDS)):
        if seen := look():
            return seen
        pause.wait(_GLANCE_SECONDS)
    raise AssertionError("It never came to be.")

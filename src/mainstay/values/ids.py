"""Ids: a prefix that tells the kind and a ULID that sorts by time, such as `job_01JCDZ8Q4X0V9M2T6W3B7K5N1R`."""

import os
import re
import threading
import time
from collections.abc import Callable


def new_id(prefix: str) -> str:
    """Make an id later in order than every id this process made before."""
    return f"{prefix}_{_encode(_ULIDS.next())}"


def derived_id(prefix: str, seed: bytes) -> str:
    """The id that follows from a seed of ten bytes or more: always the same, and earlier in order than any other."""
    return f"{prefix}_{_encode(int.from_bytes(seed[:_RANDOM_BYTES]))}"


def is_id(text: str, prefix: str) -> bool:
    """Tell whether the text has exactly the shape of an id with this prefix."""
    return text.startswith(f"{prefix}_") and _ULID.fullmatch(text, len(prefix) + 1) is not None


def has_id(text: str) -> bool:
    """Tell whether an id stands somewhere in the text, of whatever kind."""
    return _ANY_ID.search(text) is not None


class Ulids:
    """Strictly increasing 128-bit numbers: 48 bits of milliseconds, then 80 random bits."""

    def __init__(self, milliseconds: Callable[[], int]) -> None:
        self._milliseconds = milliseconds
        self._last = 0
        self._lock = threading.Lock()

    def next(self) -> int:
        """Give the next number, whatever the clock does."""
        random = int.from_bytes(os.urandom(_RANDOM_BYTES))
        with self._lock:
            now = self._milliseconds()
            if now > self._last >> 80:
                self._last = now << 80 | random
            else:
                # A random step rather than one: an id does not tell its neighbours, and forked processes part ways.
                # One millisecond holds tens of thousands of steps; after that the time part runs a little ahead.
                self._last += 1 + (random >> 16)
            return self._last


def _encode(number: int) -> str:
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


_RANDOM_BYTES = 10
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]  # two characters at once: half the time
_SHIFTS = range(120, -1, -10)
_ULID = re.compile(f"[0-7][{_ALPHABET}]{{25}}")
_ANY_ID = re.compile(rf"\b[a-z]+_{_ULID.pattern}\b")
_ULIDS = Ulids(lambda: time.time_ns() // 1_000_000)

"""Ids: a prefix for the kind of record and a ULID that sorts by time, such as `job_01JCDZ8Q4X0V9M2T6W3B7K5N1R`."""

import os
import re
import threading
import time
from collections.abc import Callable


def new_id(prefix: str) -> str:
    """Return a new id that sorts after every id this process made before."""
    return f"{prefix}_{_encode(_ULIDS.next())}"


def derive_id(prefix: str, seed: bytes) -> str:
    """Return the id derived from a seed of ten bytes or more.

    The same seed always gives the same id. It sorts before every other id.
    """
    return f"{prefix}_{_encode(int.from_bytes(seed[:_RANDOM_BYTES]))}"


def is_id(text: str, prefix: str) -> bool:
    """Return whether the text has exactly the form of an id with this prefix."""
    return text.startswith(f"{prefix}_") and _ULID.fullmatch(text, len(prefix) + 1) is not None


def contains_id(text: str) -> bool:
    """Return whether the text contains an id of any kind."""
    return _ANY_ID.search(text) is not None


class Ulids:
    """A source of strictly increasing 128-bit numbers: 48 bits of milliseconds, then 80 random bits."""

    def __init__(self, milliseconds: Callable[[], int]) -> None:
        self._milliseconds = milliseconds
        self._last = 0
        self._lock = threading.Lock()

    def next(self) -> int:
        """Return the next number, even if the clock goes backwards."""
        random = int.from_bytes(os.urandom(_RANDOM_BYTES))
        with self._lock:
            now = self._milliseconds()
            if now > self._last >> 80:
                self._last = now << 80 | random
            else:
                # Step by a random amount, not by one: an id does not reveal its neighbours, and forked processes
                # diverge. One millisecond holds tens of thousands of steps; after that the time part runs a little
                # ahead.
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

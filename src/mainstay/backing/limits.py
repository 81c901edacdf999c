"""How often something may be done in a moving window of time, exact over all processes of a machine."""

import hashlib
import mmap
import os
import secrets
import threading
import time
from bisect import bisect_left
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_UN, lockf
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, Protocol

from mainstay.backing.mapped import hold, write_fresh

CAPACITY = 600
WINDOW = 60.0


class Verdict(NamedTuple):
    """Whether a request may pass, and how many more may follow it at this moment."""

    accepted: bool
    limit: int
    remaining: int


class Limits(Protocol):
    """Any `window` seconds hold at most `limit` accepted requests of a name; refused ones are not counted.

    A name keeps to one limit and one window.
    """

    async def take(self, name: str, limit: int = CAPACITY, window: float = WINDOW) -> Verdict:
        """Accept one request of this name, or refuse it."""
        ...


# The file: an opening, a table of buckets, and a ring of the last accepted times for each slot of a bucket. A bucket
# holds the digests of its slots side by side, so that one search finds a name, then three words for each slot: how
# many were ever accepted, when the newest was, and for how long it counts.
_BUCKETS = 1024
_WAYS = 32  # 16,000 names at once fill half the table, and a bucket overflows about once in ten thousand
_WORD = 8
_DIGEST = 16
_FACTS = 3
_DIGESTS_BYTES = _WAYS * _DIGEST
_BUCKET_BYTES = _DIGESTS_BYTES + _WAYS * _FACTS * _WORD
_MARK = b"mainstay limits1"
_KEY = 16
_TABLE_AT = len(_MARK) + _KEY
_RINGS_AT = _TABLE_AT + _BUCKETS * _BUCKET_BYTES
_RING_BYTES = CAPACITY * _WORD
_SIZE = _RINGS_AT + _WAYS * _BUCKETS * _RING_BYTES
_EMPTY_RING = bytes(_RING_BYTES)
# From a ring of a bucket to its next, in words.
_RINGS_APART = _BUCKETS * CAPACITY


class MachineLimits:
    """The limits of one machine: a file that all its processes hold in memory and lock bucket by bucket.

    The names of a bucket are told apart by a keyed digest, so that nobody can choose names that push out another. A
    slot whose newest time no longer counts is free; in a full bucket the slot that was idle longest is given away.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._file = os.open(path, os.O_RDWR)
        try:
            self._map: mmap.mmap = hold(self._file, _SIZE, _MARK)
        except (OSError, ValueError):
            os.close(self._file)
            raise
        # Names come again and again.
        self._place = lru_cache(4096)(partial(_place, self._map[len(_MARK) : _TABLE_AT]))
        self._times = memoryview(self._map).cast("d")
        self._counts = memoryview(self._map).cast("Q")
        self._threads = threading.Lock()  # a lock on a file does not part the threads of one process

    @staticmethod
    def create(path: Path) -> None:
        """Make the file with no names in it, in the place of any earlier one.

        The table and the first ring of every bucket get their room at once, so that a full disk stops nobody.
        """
        reserved = _RINGS_AT + _BUCKETS * _RING_BYTES
        write_fresh(path, (_MARK + secrets.token_bytes(_KEY)).ljust(reserved, b"\0"), _SIZE)

    def close(self) -> None:
        """Let go of the file."""
        self._times.release()
        self._counts.release()
        self._map.close()
        os.close(self._file)

    async def take(self, name: str, limit: int = CAPACITY, window: float = WINDOW) -> Verdict:
        """Accept one request of this name, or refuse it."""
        if not 0 < limit <= CAPACITY:
            raise ValueError(f"A limit lies between 1 and {CAPACITY}.")
        place = self._place(name)
        with self._threads:
            lockf(self._file, LOCK_EX, 1, place.bucket)
            try:
                return self._decide(place, limit, window)
            finally:
                lockf(self._file, LOCK_UN, 1, place.bucket)

    def has_room(self, name: str, limit: int = CAPACITY, window: float = WINDOW) -> bool:
        """Whether a request of this name would be accepted now; a glance, which counts nothing and locks nothing."""
        place = self._place(name)
        found = self._map.find(place.digest, place.digests, place.digests + _DIGESTS_BYTES)
        if found < 0:
            return True
        way = (found - place.digests) // _DIGEST
        count = self._counts[place.facts + way * _FACTS]
        ring = place.ring + way * _RINGS_APART
        return count < limit or self._times[ring + (count - limit) % CAPACITY] < self._clock() - window

    def _decide(self, place: "_Place", limit: int, window: float) -> Verdict:
        times, counts = self._times, self._counts
        now = self._clock()  # read under the lock, so that the times of a ring never run backward
        digests = place.digests
        found = self._map.find(place.digest, digests, digests + _DIGESTS_BYTES)
        way = (found - digests) // _DIGEST if found >= 0 else self._claim(place, now)
        facts = place.facts + way * _FACTS
        ring = place.ring + way * _RINGS_APART
        count = counts[facts]
        horizon = now - window
        if count >= limit and times[ring + (count - limit) % CAPACITY] >= horizon:
            return Verdict(accepted=False, limit=limit, remaining=0)
        times[ring + count % CAPACITY] = times[facts + 1] = now
        times[facts + 2] = window
        counts[facts] = count + 1  # last, so that a process killed above leaves the earlier count whole
        return Verdict(accepted=True, limit=limit, remaining=limit - self._used(ring, count + 1, horizon))

    def _used(self, ring: int, count: int, horizon: float) -> int:
        """How many of the ring's times lie within the window; the newest always does."""
        if count <= CAPACITY:
            return ring + count - bisect_left(self._times, horizon, ring, ring + count)
        head = ring + count % CAPACITY
        if head > ring and self._times[ring] < horizon:
            return head - bisect_left(self._times, horizon, ring, head)
        return head + CAPACITY - bisect_left(self._times, horizon, head, ring + CAPACITY)

    def _claim(self, place: "_Place", now: float) -> int:
        """Give the name a slot of its bucket."""
        way = self._loosest(place, now)
        try:
            roomy = os.pwrite(self._file, _EMPTY_RING, (place.ring + way * _RINGS_APART) * _WORD) == _RING_BYTES
        except OSError:
            roomy = False
        if not roomy:  # the disk is full
            way = 0
        self._counts[place.facts + way * _FACTS] = 0
        at = place.digests + way * _DIGEST
        self._map[at : at + _DIGEST] = place.digest
        return way

    def _loosest(self, place: "_Place", now: float) -> int:
        """The first free slot, or else the one that was idle longest."""
        oldest, chosen = now, 0
        for way in range(_WAYS):
            facts = place.facts + way * _FACTS
            newest = self._times[facts + 1]
            if newest < now - self._times[facts + 2]:
                return way
            if newest < oldest:
                oldest, chosen = newest, way
        return chosen


class _Place(NamedTuple):
    """Where a name is to be found."""

    digest: bytes
    bucket: int
    # The byte where the digests of the bucket begin, the word where the facts of its slots do, and that of its first
    # ring; the first rings of all buckets lie side by side, then the second.
    digests: int
    facts: int
    ring: int


def _place(key: bytes, name: str) -> _Place:
    digest = hashlib.blake2b(name.encode(), key=key, digest_size=_DIGEST).digest()
    bucket = (digest[0] << 8 | digest[1]) % _BUCKETS
    digests = _TABLE_AT + bucket * _BUCKET_BYTES
    return _Place(digest, bucket, digests, (digests + _DIGESTS_BYTES) // _WORD, _RINGS_AT // _WORD + bucket * CAPACITY)

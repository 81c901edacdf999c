"""Limits on how often something may be done in a moving window of time, exact over all processes of a machine."""

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

from mainstay.infrastructure.mapped_files import map_file, replace_file

CAPACITY = 600
WINDOW_SECONDS = 60.0


class RateLimitResult(NamedTuple):
    """Whether a request is accepted, and how many more would be accepted at this moment."""

    accepted: bool
    limit: int
    remaining: int


class RateLimits(Protocol):
    """Any `window` seconds contain at most `limit` accepted requests of a name; refused ones are not counted.

    A name always has the same limit and the same window.
    """

    async def take(self, name: str, limit: int = CAPACITY, window: float = WINDOW_SECONDS) -> RateLimitResult:
        """Accept one request of this name, or refuse it."""
        ...


# The file: a header, a table of buckets, and a ring of the last accepted times for each slot of a bucket. A bucket
# holds the digests of its slots side by side, so that one search finds a name. Then come three words for each slot: how
# many requests were ever accepted, when the newest was, and for how long it counts.
_BUCKETS = 1024
_SLOTS = 32  # 16,000 names at once fill half the table, and about one bucket in ten thousand overflows
_WORD_BYTES = 8
_DIGEST_BYTES = 16
_FACTS_PER_SLOT = 3
_DIGESTS_BYTES = _SLOTS * _DIGEST_BYTES
_BUCKET_BYTES = _DIGESTS_BYTES + _SLOTS * _FACTS_PER_SLOT * _WORD_BYTES
_HEADER = b"mainstay limits1"
_KEY_BYTES = 16
_TABLE_AT = len(_HEADER) + _KEY_BYTES
_RINGS_AT = _TABLE_AT + _BUCKETS * _BUCKET_BYTES
_RING_BYTES = CAPACITY * _WORD_BYTES
_SIZE = _RINGS_AT + _SLOTS * _BUCKETS * _RING_BYTES
_EMPTY_RING = bytes(_RING_BYTES)
# The distance between two rings of a bucket, in words.
_RING_DISTANCE = _BUCKETS * CAPACITY


class MachineRateLimits:
    """The limits of one machine: a file that all its processes map into memory and lock bucket by bucket.

    A keyed digest distinguishes the names of a bucket, so that nobody can choose names that push out another one. A
    slot whose newest time no longer counts is free; in a full bucket, the slot that was idle longest is reused.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._file = os.open(path, os.O_RDWR)
        try:
            self._map: mmap.mmap = map_file(self._file, _SIZE, _HEADER)
        except (OSError, ValueError):
            os.close(self._file)
            raise
        # The same names come repeatedly.
        self._locate = lru_cache(4096)(partial(_locate, self._map[len(_HEADER) : _TABLE_AT]))
        self._times = memoryview(self._map).cast("d")
        self._counts = memoryview(self._map).cast("Q")
        self._threads_lock = threading.Lock()  # a file lock does not separate the threads of one process

    @staticmethod
    def create(path: Path) -> None:
        """Create the file without any names, replacing any earlier one.

        The table and the first ring of every bucket get their disk space at once, so that a full disk stops no request.
        """
        reserved = _RINGS_AT + _BUCKETS * _RING_BYTES
        replace_file(path, (_HEADER + secrets.token_bytes(_KEY_BYTES)).ljust(reserved, b"\0"), _SIZE)

    def close(self) -> None:
        """Close the file."""
        self._times.release()
        self._counts.release()
        self._map.close()
        os.close(self._file)

    async def take(self, name: str, limit: int = CAPACITY, window: float = WINDOW_SECONDS) -> RateLimitResult:
        """Accept one request of this name, or refuse it."""
        if not 0 < limit <= CAPACITY:
            raise ValueError(f"A limit lies between 1 and {CAPACITY}.")
        location = self._locate(name)
        with self._threads_lock:
            lockf(self._file, LOCK_EX, 1, location.bucket)
            try:
                return self._decide(location, limit, window)
            finally:
                lockf(self._file, LOCK_UN, 1, location.bucket)

    def has_room(self, name: str, limit: int = CAPACITY, window: float = WINDOW_SECONDS) -> bool:
        """Return whether a request of this name would be accepted now; this counts and locks nothing."""
        location = self._locate(name)
        found = self._map.find(location.digest, location.digests, location.digests + _DIGESTS_BYTES)
        if found < 0:
            return True
        way = (found - location.digests) // _DIGEST_BYTES
        count = self._counts[location.facts + way * _FACTS_PER_SLOT]
        ring = location.ring + way * _RING_DISTANCE
        return count < limit or self._times[ring + (count - limit) % CAPACITY] < self._clock() - window

    def _decide(self, location: "_Location", limit: int, window: float) -> RateLimitResult:
        times, counts = self._times, self._counts
        now = self._clock()  # read under the lock, so that the times in a ring never run backwards
        digests = location.digests
        found = self._map.find(location.digest, digests, digests + _DIGESTS_BYTES)
        way = (found - digests) // _DIGEST_BYTES if found >= 0 else self._claim_slot(location, now)
        facts = location.facts + way * _FACTS_PER_SLOT
        ring = location.ring + way * _RING_DISTANCE
        count = counts[facts]
        horizon = now - window
        if count >= limit and times[ring + (count - limit) % CAPACITY] >= horizon:
            return RateLimitResult(accepted=False, limit=limit, remaining=0)
        times[ring + count % CAPACITY] = times[facts + 1] = now
        times[facts + 2] = window
        counts[facts] = count + 1  # last, so that a process killed before this leaves the earlier count intact
        return RateLimitResult(accepted=True, limit=limit, remaining=limit - self._count_used(ring, count + 1, horizon))

    def _count_used(self, ring: int, count: int, horizon: float) -> int:
        """Return how many of the ring's times are within the window; the newest one always is."""
        if count <= CAPACITY:
            return ring + count - bisect_left(self._times, horizon, ring, ring + count)
        head = ring + count % CAPACITY
        if head > ring and self._times[ring] < horizon:
            return head - bisect_left(self._times, horizon, ring, head)
        return head + CAPACITY - bisect_left(self._times, horizon, head, ring + CAPACITY)

    def _claim_slot(self, location: "_Location", now: float) -> int:
        """Give the name a slot of its bucket."""
        way = self._find_free_slot(location, now)
        try:
            has_space = (
                os.pwrite(self._file, _EMPTY_RING, (location.ring + way * _RING_DISTANCE) * _WORD_BYTES) == _RING_BYTES
            )
        except OSError:
            has_space = False
        if not has_space:  # the disk is full
            way = 0
        self._counts[location.facts + way * _FACTS_PER_SLOT] = 0
        offset = location.digests + way * _DIGEST_BYTES
        self._map[offset : offset + _DIGEST_BYTES] = location.digest
        return way

    def _find_free_slot(self, location: "_Location", now: float) -> int:
        """Return the first free slot, or else the one that was idle longest."""
        oldest, chosen = now, 0
        for way in range(_SLOTS):
            facts = location.facts + way * _FACTS_PER_SLOT
            newest = self._times[facts + 1]
            if newest < now - self._times[facts + 2]:
                return way
            if newest < oldest:
                oldest, chosen = newest, way
        return chosen


class _Location(NamedTuple):
    """The location of a name in the file."""

    digest: bytes
    bucket: int
    # The byte position of the bucket's digests, and the word positions of its slots' facts and of its first ring. The
    # first rings of all buckets lie side by side, then the second rings, and so on.
    digests: int
    facts: int
    ring: int


def _locate(key: bytes, name: str) -> _Location:
    digest = hashlib.blake2b(name.encode(), key=key, digest_size=_DIGEST_BYTES).digest()
    bucket = (digest[0] << 8 | digest[1]) % _BUCKETS
    digests = _TABLE_AT + bucket * _BUCKET_BYTES
    return _Location(
        digest, bucket, digests, (digests + _DIGESTS_BYTES) // _WORD_BYTES, _RINGS_AT // _WORD_BYTES + bucket * CAPACITY
    )

"""The limits of several machines together, kept in Redis."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from mainstay.backing.limits import CAPACITY, WINDOW, MachineLimits, Verdict
from mainstay.backing.log import log

_PATIENCE = 1.0
_PAUSE = 1.0

# So many names a process remembers, those that were asked for last.
_REMEMBERED = 4096

# When this Redis was first asked: another value says that it has forgotten everything since.
_BEGUN = "mainstay:limits-begun"

# Times of accepted requests in microseconds of Redis's own clock, the newest first; -1 is a refusal. A Redis that was
# emptied is told how many requests the one who asks has last seen counted, and when: those are counted again.
_TAKE = """
local name, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local known_begun, known, seen = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local begun = redis.call('GET', KEYS[2])
if not begun then
    begun = string.format('%.0f', now)
    redis.call('SET', KEYS[2], begun)
end
if begun ~= known_begun and now - seen <= window then
    for _ = redis.call('LLEN', name) + 1, known do
        redis.call('RPUSH', name, seen)
    end
    redis.call('PEXPIRE', name, math.ceil(window / 1000) + 1000)
end
local oldest = redis.call('LINDEX', name, -1)
while oldest and now - oldest > window do
    redis.call('RPOP', name)
    oldest = redis.call('LINDEX', name, -1)
end
local used = redis.call('LLEN', name)
if used >= limit then
    return {-1, used, now, begun}
end
redis.call('LPUSH', name, now)
redis.call('PEXPIRE', name, math.ceil(window / 1000) + 1000)
return {limit - used - 1, used + 1, now, begun}
"""


class _Count(NamedTuple):
    """How many requests of a name Redis had counted when it was last asked, and when that was by its clock."""

    begun: str = ""
    used: int = 0
    at: int = 0


class RedisLimits:
    """Limits that all machines share; while Redis is away each machine holds to its own window.

    A machine counts what it accepts by itself as well, and both must have room: neither an outage nor a Redis that
    forgot everything opens a second window for its requests. A Redis that forgot everything is told by each process
    what it last counted, so that the requests of the other machines count on too.
    """

    def __init__(self, url: str, machine: MachineLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._machine = machine
        self._clock = clock
        self._try_again_at: float | None = None  # set while Redis is away
        self._looking: asyncio.Task[None] | None = None
        self._counts: dict[str, _Count] = {}
        self._redis = Redis.from_pool(
            BlockingConnectionPool.from_url(
                url,
                max_connections=32,
                timeout=_PATIENCE,
                socket_timeout=_PATIENCE,
                socket_connect_timeout=_PATIENCE,
                retry=Retry(NoBackoff(), 0),
                protocol=2,
            )
        )
        self._script = self._redis.register_script(_TAKE)

    async def close(self) -> None:
        """Close the connections."""
        if self._looking:
            self._looking.cancel()
        await self._redis.aclose()

    async def take(self, name: str, limit: int = CAPACITY, window: float = WINDOW) -> Verdict:
        """Accept one request of this name, or refuse it."""
        if self._is_away():
            return await self._machine.take(name, limit, window)
        if not self._machine.has_room(name, limit, window):
            return Verdict(accepted=False, limit=limit, remaining=0)
        try:
            remaining = await self._ask(name, limit, window)
        except (RedisError, OSError) as error:
            self._note_away(error)
            return await self._machine.take(name, limit, window)
        if remaining < 0:
            return Verdict(accepted=False, limit=limit, remaining=0)
        own = await self._machine.take(name, limit, window)
        return own._replace(remaining=min(own.remaining, remaining))

    async def _ask(self, name: str, limit: int, window: float) -> int:
        last = self._counts.get(name, _Count())
        async with asyncio.timeout(_PATIENCE):
            given: list[str | int] = [limit, round(window * 1_000_000), *last]
            remaining, used, now, begun = await self._script(keys=[f"mainstay:limit:{name}", _BEGUN], args=given)
        self._counts.pop(name, None)
        self._counts[name] = _Count(begun.decode(), used, now)
        while len(self._counts) > _REMEMBERED:
            del self._counts[next(iter(self._counts))]
        return int(remaining)

    def _is_away(self) -> bool:
        """While Redis is away, someone goes and looks once a second, and no request waits for that."""
        if self._try_again_at is None:
            return False
        now = self._clock()
        if now >= self._try_again_at and (self._looking is None or self._looking.done()):
            self._try_again_at = now + _PAUSE
            self._looking = asyncio.create_task(self._look())
        return True

    async def _look(self) -> None:
        # As a request would ask, since a Redis that cannot write answers other questions well.
        with suppress(RedisError, OSError):
            await self._ask("", 1, _PAUSE)
            self._try_again_at = None
            log("redis_back")

    def _note_away(self, error: Exception) -> None:
        if self._try_again_at is None:
            log("redis_away", level="warn", reason=f"{type(error).__name__}: {error}")
        self._try_again_at = self._clock() + _PAUSE

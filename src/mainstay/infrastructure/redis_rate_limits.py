"""Rate limits that several machines share, stored in Redis."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from mainstay.infrastructure.log import log
from mainstay.infrastructure.rate_limits import CAPACITY, WINDOW_SECONDS, MachineRateLimits, RateLimitResult

_TIMEOUT_SECONDS = 1.0
_RETRY_SECONDS = 1.0

# The most names that a process remembers: the most recent ones.
_MAX_REMEMBERED = 4096

# The key of the moment when this Redis was first used: a different value means that it has lost everything since.
_BEGUN_KEY = "mainstay:limits-begun"

# Times of accepted requests in microseconds of Redis's own clock, the newest first; -1 is a refusal. The caller passes
# the number of requests it last saw counted, and when. If Redis was emptied since, it counts these requests again.
_TAKE_SCRIPT = """
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
    """The number of requests of a name when Redis was last asked, and the time of that by its clock."""

    begun: str = ""
    used: int = 0
    at: int = 0


class RedisRateLimits:
    """Limits that all machines share; while Redis is away, each machine applies its own window.

    A machine also counts the requests that it accepts itself, and both counts must have room: neither an outage nor an
    emptied Redis gives its requests a second window. Each process tells an emptied Redis what it last counted, so that
    the requests of other machines still count.
    """

    def __init__(self, url: str, machine: MachineRateLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._machine = machine
        self._clock = clock
        self._try_again_at: float | None = None  # set while Redis is away
        self._retrying: asyncio.Task[None] | None = None
        self._counts: dict[str, _Count] = {}
        self._redis = Redis.from_pool(
            BlockingConnectionPool.from_url(
                url,
                max_connections=32,
                timeout=_TIMEOUT_SECONDS,
                socket_timeout=_TIMEOUT_SECONDS,
                socket_connect_timeout=_TIMEOUT_SECONDS,
                retry=Retry(NoBackoff(), 0),
                protocol=2,
            )
        )
        self._script = self._redis.register_script(_TAKE_SCRIPT)

    async def close(self) -> None:
        """Close the connections."""
        if self._retrying:
            self._retrying.cancel()
        await self._redis.aclose()

    async def take(self, name: str, limit: int = CAPACITY, window: float = WINDOW_SECONDS) -> RateLimitResult:
        """Accept one request of this name, or refuse it."""
        if self._is_away():
            return await self._machine.take(name, limit, window)
        if not self._machine.has_room(name, limit, window):
            return RateLimitResult(accepted=False, limit=limit, remaining=0)
        try:
            remaining = await self._take_from_redis(name, limit, window)
        except (RedisError, OSError) as error:
            self._note_away(error)
            return await self._machine.take(name, limit, window)
        if remaining < 0:
            return RateLimitResult(accepted=False, limit=limit, remaining=0)
        own = await self._machine.take(name, limit, window)
        return own._replace(remaining=min(own.remaining, remaining))

    async def _take_from_redis(self, name: str, limit: int, window: float) -> int:
        last = self._counts.get(name, _Count())
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            arguments: list[str | int] = [limit, round(window * 1_000_000), *last]
            remaining, used, now, begun = await self._script(
                keys=[f"mainstay:limit:{name}", _BEGUN_KEY], args=arguments
            )
        self._counts.pop(name, None)
        self._counts[name] = _Count(begun.decode(), used, now)
        while len(self._counts) > _MAX_REMEMBERED:
            del self._counts[next(iter(self._counts))]
        return int(remaining)

    def _is_away(self) -> bool:
        """Return whether Redis is away.

        While it is away, a background task tries it once a second, and no request waits for that.
        """
        if self._try_again_at is None:
            return False
        now = self._clock()
        if now >= self._try_again_at and (self._retrying is None or self._retrying.done()):
            self._try_again_at = now + _RETRY_SECONDS
            self._retrying = asyncio.create_task(self._retry_redis())
        return True

    async def _retry_redis(self) -> None:
        # Send the same command as a request does: a Redis that cannot write still answers other commands.
        with suppress(RedisError, OSError):
            await self._take_from_redis("", 1, _RETRY_SECONDS)
            self._try_again_at = None
            log("redis_back")

    def _note_away(self, error: Exception) -> None:
        if self._try_again_at is None:
            log("redis_away", level="warn", reason=f"{type(error).__name__}: {error}")
        self._try_again_at = self._clock() + _RETRY_SECONDS

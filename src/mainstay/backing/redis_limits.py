"""The limits of several machines together, kept in Redis."""

import asyncio
import time
from collections.abc import Callable

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from mainstay.backing.limits import CAPACITY, WINDOW, MachineLimits, Verdict
from mainstay.backing.log import log

_PATIENCE = 1.0
_PAUSE = 1.0

# Times of accepted requests in microseconds of Redis's own clock, the newest first; -1 is a refusal.
_TAKE = """
local name, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local oldest = redis.call('LINDEX', name, -1)
while oldest and now - oldest > window do
    redis.call('RPOP', name)
    oldest = redis.call('LINDEX', name, -1)
end
local used = redis.call('LLEN', name)
if used >= limit then
    return -1
end
redis.call('LPUSH', name, now)
redis.call('PEXPIRE', name, math.ceil(window / 1000) + 1000)
return limit - used - 1
"""


class RedisLimits:
    """Limits that all machines share; while Redis is away each machine holds to its own window.

    What Redis accepts is noted on the machine too, so that an outage opens no second window for its own requests.
    """

    def __init__(self, url: str, fallback: MachineLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._fallback = fallback
        self._clock = clock
        self._try_again_at: float | None = None  # set while Redis is away
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
        await self._redis.aclose()

    async def take(self, name: str, limit: int = CAPACITY, window: float = WINDOW) -> Verdict:
        """Accept one request of this name, or refuse it."""
        if not self._worth_a_try():
            return await self._fallback.take(name, limit, window)
        try:
            async with asyncio.timeout(_PATIENCE):
                remaining = int(
                    await self._script(keys=[f"mainstay:limit:{name}"], args=[limit, round(window * 1_000_000)])
                )
        except (RedisError, OSError) as error:
            self._note_away(error)
            return await self._fallback.take(name, limit, window)
        self._note_back()
        if remaining < 0:
            return Verdict(accepted=False, limit=limit, remaining=0)
        await self._fallback.take(name, limit, window)
        return Verdict(accepted=True, limit=limit, remaining=remaining)

    def _worth_a_try(self) -> bool:
        """While Redis is away, one request a second goes and looks; the others do not wait for it."""
        if self._try_again_at is None:
            return True
        now = self._clock()
        if now < self._try_again_at:
            return False
        self._try_again_at = now + _PAUSE
        return True

    def _note_away(self, error: Exception) -> None:
        if self._try_again_at is None:
            log("redis_away", level="warn", reason=f"{type(error).__name__}: {error}")
        self._try_again_at = self._clock() + _PAUSE

    def _note_back(self) -> None:
        if self._try_again_at is not None:
            log("redis_back")
        self._try_again_at = None

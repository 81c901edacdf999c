"""A deadline for many who wait at once."""

import asyncio
from collections.abc import Awaitable
from time import monotonic
from typing import TypeVar, cast

_LOOK_SECONDS = 1.0

T = TypeVar("T")


class Patience:
    """Waits so many seconds for what is to come, then no longer.

    Everyone who waits is looked at once a second: a timer for each would cost more than the short wait that most have.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: dict[asyncio.Task[object], float] = {}
        self._looking = False

    async def wait(self, coming: Awaitable[T]) -> T:
        """What comes, or a TimeoutError."""
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._until[task] = monotonic() + self._seconds
        if not self._looking:
            self._look_later()
        try:
            return await coming
        except asyncio.CancelledError:
            if task in self._until:
                raise
            task.uncancel()
            raise TimeoutError from None
        finally:
            self._until.pop(task, None)

    def _look_later(self) -> None:
        self._looking = True
        asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        now = monotonic()
        for task in [task for task, until in self._until.items() if until <= now]:
            del self._until[task]
            task.cancel()
        self._looking = False
        if self._until:
            self._look_later()

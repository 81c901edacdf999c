"""One timeout for many tasks that wait at the same time."""

import asyncio
from collections.abc import Awaitable
from time import monotonic
from typing import TypeVar, cast

_CHECK_SECONDS = 1.0

T = TypeVar("T")


class SharedTimeout:
    """Waits for awaitables, each for at most the same number of seconds.

    One check a second looks at all waiting tasks. A timer for each would cost more, because most waits are short.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadlines: dict[asyncio.Task[object], float] = {}
        self._is_check_scheduled = False

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """Return the result of an awaitable, or raise a TimeoutError."""
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._deadlines[task] = monotonic() + self._seconds
        if not self._is_check_scheduled:
            self._schedule_check()
        try:
            return await awaitable
        except asyncio.CancelledError:
            if task in self._deadlines:
                # Somebody else cancelled the task before its deadline.
                raise
            task.uncancel()
            raise TimeoutError from None
        finally:
            self._deadlines.pop(task, None)

    def _schedule_check(self) -> None:
        self._is_check_scheduled = True
        asyncio.get_running_loop().call_later(_CHECK_SECONDS, self._cancel_overdue)

    def _cancel_overdue(self) -> None:
        now = monotonic()
        overdue = [task for task, deadline in self._deadlines.items() if deadline <= now]
        for task in overdue:
            del self._deadlines[task]
            task.cancel()
        self._is_check_scheduled = False
        if self._deadlines:
            self._schedule_check()

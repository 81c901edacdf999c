"""A deadline for many who wait at once."""

import asyncio
from time import monotonic
from types import TracebackType
from typing import cast

_LOOK_SECONDS = 1.0


class Patience:
    """Gives each who waits so many seconds, then a TimeoutError: `with patience: await …`.

    Everyone is looked at once a second: a timer for each would cost more than the short wait that most have.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: dict[asyncio.Task[object], float] = {}
        self._looking = False

    def __enter__(self) -> None:
        self._until[_task()] = monotonic() + self._seconds
        if not self._looking:
            self._look_later()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        task = _task()
        if self._until.pop(task, None) is None:
            task.uncancel()
            if kind is asyncio.CancelledError:
                raise TimeoutError from error

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


def _task() -> asyncio.Task[object]:
    return cast("asyncio.Task[object]", asyncio.current_task())

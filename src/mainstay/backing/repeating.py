"""What is done now and then beside everything else."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress

from mainstay.backing.database import Unreachable
from mainstay.backing.log import log_error


class Repeated:
    """Does something now and then, and once more at the end: in a thread, or on the loop if it takes microseconds."""

    def __init__(self, work: Callable[[], None], seconds: float, threads: Executor | None) -> None:
        self._work = work
        self._seconds = seconds
        self._threads = threads
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._repeat())

    async def stop(self) -> None:
        """End, with nothing left undone."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._once()

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await self._once()

    async def _once(self) -> None:
        if self._threads is None:
            self._work()
            return
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._work)
        except Unreachable as fault:
            log_error("not written, tried again later", fault)

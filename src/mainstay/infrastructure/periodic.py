"""A task that runs at intervals next to everything else."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress

from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.infrastructure.log import log_error


class PeriodicTask:
    """Runs a task at intervals, and once more at the end: in a thread, or on the loop if it takes microseconds."""

    def __init__(self, work: Callable[[], None], seconds: float, threads: Executor | None) -> None:
        self._work = work
        self._seconds = seconds
        self._threads = threads
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start to run the task."""
        self._task = asyncio.create_task(self._repeat())

    async def stop(self) -> None:
        """Stop, after running the task a last time."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._run_once()

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await self._run_once()

    async def _run_once(self) -> None:
        if self._threads is None:
            self._work()
            return
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._work)
        except DatabaseUnavailable as error:
            log_error("not written, tried again later", error)

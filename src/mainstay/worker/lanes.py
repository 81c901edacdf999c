"""The threads of a worker. Each lane has threads of its own, so that no lane waits for another."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from mainstay.changes.outbox import Lane
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.infrastructure.log import log

# How many tasks of a lane a worker does at once, each of another organisation. Emails mostly wait for the mail server;
# PDFs keep a core busy.
THREADS = {Lane.EVENTS: 2, Lane.EMAILS: 4, Lane.PDFS: 2, Lane.DAYS: 2}


class LaneThreads:
    """Threads that take and do the tasks of their lanes until they are stopped; tasks in progress are then finished.

    A thread waits until its lane is woken, and then takes tasks until there are none left.
    """

    def __init__(
        self,
        take: Callable[[Lane], Sequence[LeasedTask]],
        run: Callable[[Sequence[LeasedTask]], None],
        stopping: threading.Event,
    ) -> None:
        self._take = take
        self._run = run
        self._stopping = stopping
        self._alarms = {lane: _Alarm() for lane in THREADS}
        self._threads = ThreadPoolExecutor(sum(THREADS.values()))
        self._futures: list[Future[None]] = []

    def __enter__(self) -> Self:
        for lane, number in THREADS.items():
            self._futures += [self._threads.submit(self._run_lane, lane) for _ in range(number)]
        for future in self._futures:
            # If a thread dies, the worker ends and is started again.
            future.add_done_callback(lambda _: self._stopping.set())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopping.set()
        for alarm in self._alarms.values():
            alarm.end()
        self._threads.shutdown()
        for future in self._futures:
            future.result()

    def wake(self, lane: Lane) -> None:
        """Let one thread of a lane look for tasks."""
        self._alarms[lane].set()

    def _run_lane(self, lane: Lane) -> None:
        while self._alarms[lane].wait():
            try:
                while not self._stopping.is_set() and (tasks := self._take(lane)):
                    # There may be more tasks: let another thread of the lane look for them.
                    self.wake(lane)
                    self._run(tasks)
            except DatabaseUnavailable as error:
                log("database away", level="error", lane=lane.value, message=str(error))


class _Alarm:
    """Wakes one of the waiting threads, or the next thread that would wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_set = False
        self._has_ended = False

    def set(self) -> None:
        with self._changed:
            self._is_set = True
            self._changed.notify()

    def end(self) -> None:
        """Wake all, for good."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def wait(self) -> bool:
        """Wait to be woken; return False at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_set or self._has_ended)
            self._is_set = False
            return not self._has_ended

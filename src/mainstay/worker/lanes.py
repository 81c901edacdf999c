"""The threads of a worker: each lane has some of its own, so that no lane waits for another."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from mainstay.backing.database import Unreachable
from mainstay.backing.log import log
from mainstay.ledger.outbox import Lane
from mainstay.ledger.outbox_queue import Work

# How many tasks of a lane a worker does at once, each of another organisation. Emails mostly wait for the mail server;
# PDFs keep a core busy.
THREADS = {Lane.EVENTS: 2, Lane.EMAILS: 4, Lane.PRINTS: 2, Lane.DAYS: 2}


class LaneThreads:
    """Threads that take and do the tasks of their lanes until they are stopped; what is begun then is finished.

    A thread rests until its lane is woken, and then goes on for as long as there is something to take.
    """

    def __init__(
        self,
        take: Callable[[Lane], Sequence[Work]],
        do: Callable[[Sequence[Work]], None],
        stopping: threading.Event,
    ) -> None:
        self._take = take
        self._do = do
        self._stopping = stopping
        self._alarms = {lane: _Alarm() for lane in THREADS}
        self._threads = ThreadPoolExecutor(sum(THREADS.values()))
        self._running: list[Future[None]] = []

    def __enter__(self) -> Self:
        for lane, number in THREADS.items():
            self._running += [self._threads.submit(self._work, lane) for _ in range(number)]
        for running in self._running:
            # A thread that dies ends the worker, which is then started again.
            running.add_done_callback(lambda _: self._stopping.set())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopping.set()
        for alarm in self._alarms.values():
            alarm.end()
        self._threads.shutdown()
        for running in self._running:
            running.result()

    def wake(self, lane: Lane) -> None:
        """Have one thread of a lane look for tasks."""
        self._alarms[lane].set()

    def _work(self, lane: Lane) -> None:
        while self._alarms[lane].wait():
            try:
                while not self._stopping.is_set() and (works := self._take(lane)):
                    # There may be more: another thread of the lane looks for it meanwhile.
                    self.wake(lane)
                    self._do(works)
            except Unreachable as fault:
                log("database away", level="error", lane=lane.value, message=str(fault))


class _Alarm:
    """Wakes one of the threads that wait for it; if none does, the next that would wait."""

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

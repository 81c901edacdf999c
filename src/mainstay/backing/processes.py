"""Processes that belong together."""

import os
import signal
import sys
from collections import deque

from mainstay.late import late

_SET_DEATH_SIGNAL, _SET_NAME = 1, 15

# What the process that empties the outbox is called in the lists of the system, in 15 letters at most.
WORKER = "mainstay-worker"

MOST_DEATHS = 8
DEATHS_SECONDS = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


class Deaths:
    """How often a process that is always replaced has died of late."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def pause_after(self, now: float) -> float | None:
        """How long to wait before this death is made good: longer each time, and None when it is no use."""
        self._times.append(now)
        while self._times[0] <= now - DEATHS_SECONDS:
            self._times.popleft()
        if len(self._times) >= MOST_DEATHS:
            return None
        return float(min(_FIRST_PAUSE * 2 ** (len(self._times) - 1), _LONGEST_PAUSE))


def end_with_parent(parent: int) -> None:
    """Have this process killed when its parent dies, so that a killed server leaves nothing running behind it."""
    if sys.platform == "linux":
        late("ctypes").CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        # The parent may have died while this process was still starting.
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def settle_on_core(number: int) -> None:
    """Keep this process's threads on one core, and let none of them push another off it.

    Handing Python's lock from core to core costs more than it gains. On one core, a thread that waits for the lock
    would interrupt the one that lets go of it for a moment, at each statement: as batch work it waits for its turn.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def begin_worker(parent: int | None) -> None:
    """Have this process go by the worker's name, and end with the one that keeps it, if one does."""
    if sys.platform == "linux":
        late("ctypes").CDLL(None).prctl(_SET_NAME, WORKER.encode())
    if parent:
        end_with_parent(parent)


def end_children_when_asked() -> None:
    """Have processes forked from now on end when they are asked to, until they listen for it themselves.

    They would inherit this process's handler, which only notes it. What comes while one is born waits for this.
    """
    os.register_at_fork(before=hold_asking, after_in_parent=hear_asking, after_in_child=_end_when_asked)


def _end_when_asked() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    hear_asking()


def hold_asking() -> None:
    """Keep for later what asks this process to end, until `hear_asking`: before any thread begins, as it inherits this.

    An event loop hears only while it runs. What comes after its server listens and before it runs would be lost.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def hear_asking() -> None:
    """Hear it from now on, and what was kept."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

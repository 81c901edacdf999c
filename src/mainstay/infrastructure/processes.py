"""Parent and child processes: restarts, signals, names and processor cores."""

import os
import signal
import sys
from collections import deque

from mainstay.lazy_import import import_lazily

_SET_DEATH_SIGNAL, _SET_NAME = 1, 15

# The name of the worker in the process list of the system, which has at most 15 letters.
WORKER_NAME = "mainstay-worker"

MAX_DEATHS = 8
DEATHS_SECONDS = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


class RecentDeaths:
    """The recent deaths of a process that is always restarted."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def pause_after(self, now: float) -> float | None:
        """Return how long to wait before the restart: longer each time, and None if it died too often."""
        self._times.append(now)
        while self._times[0] <= now - DEATHS_SECONDS:
            self._times.popleft()
        if len(self._times) >= MAX_DEATHS:
            return None
        return float(min(_FIRST_PAUSE * 2 ** (len(self._times) - 1), _LONGEST_PAUSE))


def end_with_parent(parent: int) -> None:
    """Have this process killed when its parent dies, so that a killed server leaves no process behind."""
    if sys.platform == "linux":
        import_lazily("ctypes").CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        # The parent may have died while this process was still starting.
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def prepare_worker_process(parent: int | None) -> None:
    """Give this process the worker's name, and have it end with its parent, if it has one."""
    if sys.platform == "linux":
        import_lazily("ctypes").CDLL(None).prctl(_SET_NAME, WORKER_NAME.encode())
    if parent:
        end_with_parent(parent)


def end_children_on_sigterm() -> None:
    """Have processes forked from now on end on SIGTERM until they install a handler of their own.

    They would inherit this process's handler, which only records the signal. A signal that arrives during the fork is
    held back until then.
    """
    os.register_at_fork(before=block_sigterm, after_in_parent=unblock_sigterm, after_in_child=_end_on_sigterm)


def _end_on_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    unblock_sigterm()


def block_sigterm() -> None:
    """Hold SIGTERM back until `unblock_sigterm`; call it before any thread starts, because threads inherit this.

    An event loop handles signals only while it runs. A signal that arrives after its server listens and before it runs
    would be lost.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def unblock_sigterm() -> None:
    """Receive SIGTERM from now on, including one that was held back."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

"""Processes that belong together."""

import ctypes
import os
import signal
import sys

_SET_DEATH_SIGNAL = 1


def end_with_parent(parent: int) -> None:
    """Have this process killed when its parent dies, so that a killed server leaves nothing running behind it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        # The parent may have died while this process was still starting.
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


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

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

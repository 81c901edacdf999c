"""Processes that belong together."""

import asyncio
import ctypes
import os
import signal
import sys
from functools import partial

_SET_DEATH_SIGNAL = 1
_PREPARED_SECONDS = 0.05


def end_with_parent(parent: int) -> None:
    """Have this process killed when its parent dies, so that a killed server leaves nothing running behind it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        # The parent may have died while this process was still starting.
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def end_children_when_asked() -> None:
    """Have processes forked from now on end when they are asked to, until they listen for it themselves.

    They would inherit this process's handler, which only notes it.
    """
    os.register_at_fork(after_in_child=partial(signal.signal, signal.SIGTERM, signal.SIG_DFL))


def hold_asking() -> None:
    """Keep for later what asks this process to end: from when its server begins to listen until `hear_asking`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def hear_asking(loop: asyncio.AbstractEventLoop) -> None:
    """Hear it once the loop serves: asked before, the server would wait forever."""
    # Not at once: the loop's present run only prepares, and ends before this.
    loop.call_later(_PREPARED_SECONDS, signal.pthread_sigmask, signal.SIG_UNBLOCK, {signal.SIGTERM})

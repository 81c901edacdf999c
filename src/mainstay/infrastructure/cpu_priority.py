"""Who gets a processor core first: server processes, and the child processes that work for them."""

import os
import platform
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mainstay.lazy_import import import_lazily

_LOW_PRIORITY = 10
# How long a child may run before another thread of its priority does: the most that Linux grants.
_CHILD_SLICE_NANOSECONDS = 100_000_000
# The number of the system call, which the C library does not offer, and the format of its argument.
_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274}
_ATTRIBUTES = struct.Struct("IIQiIQQQ")


class _PinnedProcess:
    """How the system schedules the threads of a process that is pinned to a core.

    Handing Python's lock from thread to thread costs more than it gains. A thread that waits for the lock would
    interrupt the thread that releases it for a moment at each statement. So they run as batch work, which waits for its
    turn. But batch work also waits for a child process, however low the child's priority, and a change waits several
    times. So while a child works for this process, its threads interrupt.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_pinned = False
        self._working_children = 0

    def pin(self, number: int) -> None:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
        self._is_pinned = True
        self._set_policy()

    def count_working_children(self, change: int) -> None:
        with self._lock:
            before = self._working_children
            self._working_children += change
            if self._is_pinned and bool(before) != bool(self._working_children):
                self._set_policy()

    def _set_policy(self) -> None:
        policy = os.SCHED_OTHER if self._working_children else os.SCHED_BATCH
        for thread in Path("/proc/self/task").iterdir():
            # A thread may have ended since.
            with suppress(ProcessLookupError):
                os.sched_setscheduler(int(thread.name), policy, os.sched_param(0))


_this_process = _PinnedProcess()


def pin_to_core(number: int) -> None:
    """Keep this process's threads on one core, and let none of them interrupt another unless a child works."""
    if sys.platform == "linux":
        _this_process.pin(number)


@contextmanager
def interrupting_children() -> Iterator[None]:
    """Let the threads of this process interrupt its children, one of which works meanwhile."""
    _this_process.count_working_children(1)
    try:
        yield
    finally:
        _this_process.count_working_children(-1)


def become_child() -> None:
    """Let this process run on any core, at low priority, and be interrupted by whatever wakes up.

    Linux (from 6.12 on) lets a thread that wakes up interrupt another only if its own slice of time is shorter.
    """
    os.nice(_LOW_PRIORITY)
    if sys.platform == "linux":
        # The parent is pinned to one core.
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        if call := _SET_ATTRIBUTES.get(platform.machine()):
            attributes = _ATTRIBUTES.pack(
                _ATTRIBUTES.size, os.SCHED_BATCH, 0, _LOW_PRIORITY, 0, _CHILD_SLICE_NANOSECONDS, 0, 0
            )
            # Other versions of Linux refuse or ignore it.
            import_lazily("ctypes").CDLL(None).syscall(call, 0, attributes, 0)

"""Who gets a processor core first: server processes, and the child processes that work for them."""

import fcntl
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


class _ProcessPriority:
    """How the system schedules the threads of this process, if it is pinned to a core.

    Handing Python's lock from thread to thread costs more than it gains. A thread that waits for the lock would
    interrupt the thread that releases it for a moment at each statement. So they run as batch work, which waits for its
    turn. But batch work also waits for a child process, however low the child's priority, and a change waits several
    times. So while a child works for this process, or for another one of the installation, its threads interrupt.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_pinned = False
        self._own_children = 0
        self._others_have_children = False
        # Locked with `flock` while a child works for this process; the system releases it when the process dies.
        self._file: int | None = None

    def share(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def pin(self, number: int) -> None:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
        self._is_pinned = True
        self._set_policy()

    def count_own_children(self, change: int) -> None:
        with self._lock:
            before = self._own_children
            self._own_children += change
            if bool(before) != bool(self._own_children):
                if self._file is not None:
                    fcntl.flock(self._file, fcntl.LOCK_SH if self._own_children else fcntl.LOCK_UN)
                self._set_policy()

    def look_at_others(self) -> None:
        with self._lock:
            if self._own_children or self._file is None:
                return
            before = self._others_have_children
            self._others_have_children = not self._try_lock(self._file)
            if before != self._others_have_children:
                self._set_policy()

    def _try_lock(self, file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        fcntl.flock(file, fcntl.LOCK_UN)
        return True

    def _set_policy(self) -> None:
        if not self._is_pinned:
            return
        policy = os.SCHED_OTHER if self._own_children or self._others_have_children else os.SCHED_BATCH
        for thread in Path("/proc/self/task").iterdir():
            # A thread may have ended since.
            with suppress(ProcessLookupError):
                os.sched_setscheduler(int(thread.name), policy, os.sched_param(0))


_this_process = _ProcessPriority()


def share_working_children(path: Path) -> None:
    """Tell the other processes, by a lock on this file, while a child works for this one."""
    _this_process.share(path)


def pin_to_core(number: int) -> None:
    """Keep this process's threads on one core, and let none of them interrupt another unless a child works."""
    if sys.platform == "linux":
        _this_process.pin(number)


def look_for_working_children() -> None:
    """Find out whether a child works for another process; called every second or so."""
    _this_process.look_at_others()


@contextmanager
def interrupting_children() -> Iterator[None]:
    """Let server threads interrupt children, one of which works for this process meanwhile."""
    _this_process.count_own_children(1)
    try:
        yield
    finally:
        _this_process.count_own_children(-1)


def become_child() -> None:
    """Let this process run on any core, at low priority, and be interrupted by any process that wakes up.

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

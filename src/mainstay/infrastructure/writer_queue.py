"""Make the processes that write to one SQLite file take turns.

SQLite gives its lock to the process that asks at the right moment. A process that writes repeatedly asks again right
after each commit; the others check only at intervals and could wait for seconds. So a process enters this queue before
it asks for the lock, and leaves the queue as soon as it has the lock. The queue has one place: a process that has just
written cannot write again before a waiting process has.
"""

import fcntl
import os
from pathlib import Path
from time import monotonic, sleep

from mainstay.infrastructure.database import DatabaseBusy

# A change takes a few milliseconds. With a pause of one, two processes made a third fewer changes than one process did:
# after each change nobody had the lock for a while. With this pause they make as many, for less processor time.
_POLL_SECONDS = 0.0002


class WriterQueue:
    """One process's access to the queue; only one thread at a time may use it."""

    def __init__(self, path: Path) -> None:
        # Locked with `flock`, which the system releases when the process dies.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._until = 0.0

    def enter(self, until: float) -> None:
        """Wait for the place until this moment (by `monotonic`)."""
        self._until = until
        while not self._try_lock():
            if not self.wait_or_give_up(0):
                raise DatabaseBusy("The changes of another process take too long.")

    def leave(self) -> None:
        """Let the next process enter."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def wait_or_give_up(self, _tries: int) -> bool:
        """Sleep for a moment and return True, or return False once the time is over; also SQLite's busy handler."""
        if monotonic() >= self._until:
            return False
        sleep(_POLL_SECONDS)
        return True

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _try_lock(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

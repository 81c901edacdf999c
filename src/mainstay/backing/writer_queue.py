"""Lets the processes that write to one SQLite file take turns.

SQLite gives its lock to whoever asks at the right moment. A process that writes again and again asks right after each
commit; the others look only now and then, and could wait for seconds. So a process enters this queue before it asks for
the lock, and leaves it as soon as it has the lock. The queue has one place: a process that has just written cannot
write again before the one that waits.
"""

import fcntl
import os
from pathlib import Path
from time import monotonic, sleep

from mainstay.backing.database import Unreachable

_LOOK_SECONDS = 0.001


class WriterQueue:
    """One process's side of the queue; one thread at a time may use it."""

    def __init__(self, path: Path) -> None:
        # Locked with `flock`, which the system lets go of when the process dies.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._until = 0.0

    def enter(self, until: float) -> None:
        """Wait for the place, until this moment (by `monotonic`)."""
        self._until = until
        while not self._try_place():
            if not self.look_again(0):
                raise Unreachable("The changes of another process take too long.")

    def leave(self) -> None:
        """Let the next process enter."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def look_again(self, _tries: int) -> bool:
        """Rest for a moment and return True, or return False at the end of the time; SQLite's busy handler, too."""
        if monotonic() >= self._until:
            return False
        sleep(_LOOK_SECONDS)
        return True

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _try_place(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

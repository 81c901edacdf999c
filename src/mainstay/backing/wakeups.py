"""Tells the outbox worker at once that there is work."""

import hashlib
import os
import socket
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from mainstay.late import late

_LONGEST = 100  # a socket's path holds 108 bytes, on some systems 104


class Wakeups:
    """The worker's ear: `with Wakeups.listen(path) as bell`, then `bell.wait(seconds)` again and again.

    A ring between two waits is not lost. A new listener takes the place of an earlier one.
    """

    def __init__(self, ear: socket.socket, path: Path) -> None:
        self._ear = ear
        self._path = path
        self._inode = path.stat().st_ino

    @classmethod
    def listen(cls, path: Path) -> Self:
        """Begin to hear the bell of this path."""
        place = _place(path)
        place.unlink(missing_ok=True)  # an earlier worker that was killed leaves its file behind
        ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            ear.bind(os.fspath(place))
            place.chmod(0o600)
            return cls(ear, place)
        except OSError:
            ear.close()
            raise

    def wait(self, timeout: float) -> bool:
        """Whether the bell was rung before the timeout; many rings at once count as one."""
        self._ear.settimeout(timeout)
        try:
            self._ear.recv(1)
        except (TimeoutError, BlockingIOError):
            return False
        self._ear.settimeout(0)
        with suppress(BlockingIOError):
            while True:
                self._ear.recv(1)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ear.close()
        with suppress(OSError):
            if self._path.stat().st_ino == self._inode:  # not the file of a later listener
                self._path.unlink()


class Bell:
    """The bell of a path; to ring it never waits and never fails, heard or not."""

    def __init__(self, path: Path) -> None:
        self._place = os.fspath(_place(path))
        # Kept open: to make one costs as much as to ring.
        self._voice = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._voice.settimeout(0)

    def __del__(self) -> None:
        self._voice.close()

    def ring(self) -> None:
        """Wake the worker, if it listens."""
        with suppress(OSError):
            self._voice.sendto(b"!", self._place)


def _place(path: Path) -> Path:
    """Where the socket of this path lies: there, or under a short name when the path is too long for a socket."""
    whole = os.fsencode(path.resolve())
    if len(whole) <= _LONGEST:
        return Path(os.fsdecode(whole))
    return Path(late("tempfile").gettempdir()) / f"mainstay-{hashlib.blake2b(whole, digest_size=12).hexdigest()}"

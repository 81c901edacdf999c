"""Wake the outbox worker as soon as there is work."""

import hashlib
import os
import socket
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from mainstay.lazy_import import import_lazily

_LONGEST_PATH = 100  # a socket's path holds 108 bytes, on some systems 104


class WakeupListener:
    """The worker's side: `with WakeupListener.listen(path) as listener`, then `listener.wait(seconds)` repeatedly.

    A signal between two waits is not lost. A new listener replaces an earlier one.
    """

    def __init__(self, receiver: socket.socket, path: Path) -> None:
        self._socket = receiver
        self._path = path
        self._inode = path.stat().st_ino

    @classmethod
    def listen(cls, path: Path) -> Self:
        """Start to listen at this path."""
        socket_path = _socket_path(path)
        socket_path.unlink(missing_ok=True)  # an earlier worker that was killed leaves its file behind
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            receiver.bind(os.fspath(socket_path))
            socket_path.chmod(0o600)
            return cls(receiver, socket_path)
        except OSError:
            receiver.close()
            raise

    def wait(self, timeout: float) -> bool:
        """Return whether a signal came before the timeout; many signals at once count as one."""
        self._socket.settimeout(timeout)
        try:
            self._socket.recv(1)
        except (TimeoutError, BlockingIOError):
            return False
        self._socket.settimeout(0)
        with suppress(BlockingIOError):
            while True:
                self._socket.recv(1)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._socket.close()
        with suppress(OSError):
            if self._path.stat().st_ino == self._inode:  # not the file of a later listener
                self._path.unlink()


class WakeupSender:
    """The sender's side. Sending never waits and never fails, even if no worker listens."""

    def __init__(self, path: Path) -> None:
        self._address = os.fspath(_socket_path(path))
        # Kept open, because creating a socket costs as much as sending.
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(0)

    def __del__(self) -> None:
        self._socket.close()

    def wake(self) -> None:
        """Wake the worker, if it is listening."""
        with suppress(OSError):
            self._socket.sendto(b"!", self._address)


def _socket_path(path: Path) -> Path:
    """Return the path of the socket: this one, or a short one in the temporary folder if it is too long."""
    name = os.fsencode(path.resolve())
    if len(name) <= _LONGEST_PATH:
        return Path(os.fsdecode(name))
    return (
        Path(import_lazily("tempfile").gettempdir()) / f"mainstay-{hashlib.blake2b(name, digest_size=12).hexdigest()}"
    )

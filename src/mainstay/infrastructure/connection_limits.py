"""Limit the connections to this process: an address that holds too many loses some, so that others can connect.

The server accepts connections by itself and has no limit for one address. But connections are files of this process,
and the kernel tells the address of each and when its last data arrived.
"""

import os
import resource
import socket
import struct
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from mainstay.infrastructure.log import log

# The kernel ends a connection if the client takes none of the sent data for this long; and the most data it buffers.
UNREAD_SECONDS = 30
_UNREAD_BYTES = 262_144
_CHECK_SECONDS = 0.25
# Every check counts the files, and examines them if there are many; every few checks they are examined anyway, for
# clients that connected early.
_FULL_CHECK_EVERY = 16
# The connections that one process accepts, if its limit of open files allows; and its other files.
_MAX_ACCEPTED = 2048
_OTHER_FILES = 128
_MIN_ACCEPTED = 32
_MAX_LOGGED = 5
# The position in TCP_INFO of the milliseconds since data last arrived.
_LAST_DATA_RECEIVED = slice(52, 56)

# Returns the client that a connection from an address counts for, or None if it counts for no client.
FindClient = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of a process's connections: accepted in total, kept open, and kept open for one client."""

    max_accepted: int

    @property
    def max_open(self) -> int:
        """Half of the accepted ones: the other half is room for connections before the next check."""
        return self.max_accepted // 2

    @property
    def max_per_client(self) -> int:
        """A quarter of the kept ones: enough for a crowd behind one address, but no address can take them all."""
        return self.max_open // 4


def prepare_connection_limits() -> ConnectionLimits:
    """Return the limits of this process and its children, after raising their limit of open files if needed."""
    wanted = _MAX_ACCEPTED + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    files = wanted if soft == resource.RLIM_INFINITY else min(soft, wanted)
    return ConnectionLimits(max(files - _OTHER_FILES, _MIN_ACCEPTED))


class ConnectionLimiter:
    """Checks the connections to a port a few times a second, and closes those beyond the limits."""

    def __init__(self, port: int, find_client: FindClient, limits: ConnectionLimits) -> None:
        self._port = port
        self._find_client = find_client
        self._limits = limits
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="callers", daemon=True)

    def start(self) -> None:
        """Start, if the system provides the information."""
        if sys.platform == "linux":
            self._thread.start()

    def stop(self) -> None:
        """Stop checking."""
        self._stopping.set()
        if self._thread.ident:
            self._thread.join()

    def _watch(self) -> None:
        for number in count():
            if self._stopping.wait(_CHECK_SECONDS):
                return
            # If no file is free at this moment, the next check comes soon.
            with suppress(OSError):
                files = [int(file.name) for file in Path("/proc/self/fd").iterdir()]
                if number % _FULL_CHECK_EVERY == 0 or len(files) > self._limits.max_per_client:
                    self.close_surplus(files)

    def close_surplus(self, files: Sequence[int]) -> None:
        """Close the most idle connections of clients that hold too many, then the most idle of all."""
        by_client: dict[str, list[_Connection]] = defaultdict(list)
        for connection in self._list_connections(files):
            by_client[connection.client].append(connection)
        kept, surplus = [], []
        for connections in by_client.values():
            connections.sort(key=attrgetter("quiet"))
            kept += connections[: self._limits.max_per_client]
            surplus += connections[self._limits.max_per_client :]
        kept.sort(key=attrgetter("quiet"))
        surplus += kept[self._limits.max_open :]
        for connection in surplus:
            _abort(connection)
        if surplus:
            clients = sorted({connection.client for connection in surplus})
            log("connections let go", level="warn", count=len(surplus), addresses=clients[:_MAX_LOGGED])

    def _list_connections(self, files: Sequence[int]) -> Iterator["_Connection"]:
        for file in files:
            # It may just have been closed, or have lost its connection.
            with suppress(OSError), _borrow_socket(file) as connection:
                if (
                    connection.family not in {socket.AF_INET, socket.AF_INET6}
                    or connection.getsockname()[1] != self._port
                ):
                    continue
                _limit_unread_data(connection)
                if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    continue
                if (client := self._find_client(connection.getpeername()[0])) is not None:
                    yield _Connection(client, _milliseconds_idle(connection), file, _identity(connection))


class _Connection(NamedTuple):
    """A connection: its client, the milliseconds since data last arrived, and its file in this process."""

    client: str
    quiet: int
    file: int
    identity: int


@contextmanager
def _borrow_socket(file: int) -> Iterator[socket.socket]:
    """Yield the socket of this file; raise OSError if the file is not a socket.

    The socket belongs to the server and is never closed here. Nor is a copy closed: the number may belong to another
    file by now, and closing any copy of a file would drop this process's locks on it, including those of SQLite.
    """
    connection = socket.socket(fileno=file)
    try:
        yield connection
    finally:
        connection.detach()


def _limit_unread_data(connection: socket.socket) -> None:
    """Have a connection end by itself if the client takes no data; connections inherit this from a listener."""
    if sys.platform == "linux":
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_SECONDS * 1000)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_BYTES)


def _identity(connection: socket.socket) -> int:
    return os.fstat(connection.fileno()).st_ino


def _milliseconds_idle(connection: socket.socket) -> int:
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECEIVED.stop)
    return int.from_bytes(info[_LAST_DATA_RECEIVED], sys.byteorder)


def _abort(connection: _Connection) -> None:
    """Abort a connection with its unsent data; the server notices and closes its file."""
    with suppress(OSError), _borrow_socket(connection.file) as borrowed:
        if _identity(borrowed) == connection.identity:
            borrowed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
            borrowed.shutdown(socket.SHUT_RDWR)


_LINGER_ZERO = struct.pack("ii", 1, 0)

"""Who holds connections to this process, and how many: whoever holds too many is let go, so that others get in.

The server accepts connections by itself and has no bound for one address. But they are files of this process, and
the kernel tells of each whose it is and since when nothing came from there.
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

from mainstay.backing.log import log

# For how long nothing may be taken of what was sent, until the kernel ends a connection; and how much it keeps of that.
UNTAKEN_SECONDS = 30
_UNTAKEN_BYTES = 262_144
_LOOK_SECONDS = 0.25
# Files are counted at each look, and looked at when they are many; else now and then, for those who came early.
_CLOSELY_EVERY = 16
# Connections that one process accepts, where its limit of open files allows; the rest of its files are these.
_MOST_ACCEPTED = 2048
_OTHER_FILES = 128
_LEAST_ACCEPTED = 32
_MOST_TOLD = 5
# In what the kernel tells of a connection: milliseconds since it last brought something.
_LAST_DATA_RECEIVED = slice(52, 56)

# Whom a connection from an address counts for, or None where it counts for nobody.
Whose = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many connections a process has: accepted at all, kept at once, and kept for one address."""

    accepted: int

    @property
    def kept(self) -> int:
        """Half of them: the other half is room for whoever comes before the next look."""
        return self.accepted // 2

    @property
    def of_one(self) -> int:
        """A crowd behind one address finds room, and no address alone takes it all."""
        return self.kept // 4


def open_bounds() -> Bounds:
    """The bounds of this process and of those it starts, whose limit of open files is raised as far as needed."""
    wanted = _MOST_ACCEPTED + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    files = wanted if soft == resource.RLIM_INFINITY else min(soft, wanted)
    return Bounds(max(files - _OTHER_FILES, _LEAST_ACCEPTED))


class Callers:
    """Looks a few times a second at the connections to a port, and lets go of what is too much."""

    def __init__(self, port: int, whose: Whose, bounds: Bounds) -> None:
        self._port = port
        self._whose = whose
        self._bounds = bounds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="callers", daemon=True)

    def start(self) -> None:
        """Begin, where the system can tell."""
        if sys.platform == "linux":
            self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        if self._thread.ident:
            self._thread.join()

    def _watch(self) -> None:
        for number in count():
            if self._stopping.wait(_LOOK_SECONDS):
                return
            # When the last file is taken this very moment, the next look comes soon.
            with suppress(OSError):
                files = [int(file.name) for file in Path("/proc/self/fd").iterdir()]
                if number % _CLOSELY_EVERY == 0 or len(files) > self._bounds.of_one:
                    self.look(files)

    def look(self, files: Sequence[int]) -> None:
        """Let go of the quietest of those who hold too many, then of the quietest of all."""
        held: dict[str, list[_Line]] = defaultdict(list)
        for line in self._lines(files):
            held[line.caller].append(line)
        kept, surplus = [], []
        for lines in held.values():
            lines.sort(key=attrgetter("quiet"))
            kept += lines[: self._bounds.of_one]
            surplus += lines[self._bounds.of_one :]
        kept.sort(key=attrgetter("quiet"))
        surplus += kept[self._bounds.kept :]
        for line in surplus:
            _end(line)
        if surplus:
            callers = sorted({line.caller for line in surplus})
            log("connections let go", level="warn", count=len(surplus), addresses=callers[:_MOST_TOLD])

    def _lines(self, files: Sequence[int]) -> Iterator["_Line"]:
        for file in files:
            # It may be closed this very moment, or not be connected any more.
            with suppress(OSError), _lent(file) as found:
                if found.family not in {socket.AF_INET, socket.AF_INET6} or found.getsockname()[1] != self._port:
                    continue
                _limit_patience(found)
                if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    continue
                if (caller := self._whose(found.getpeername()[0])) is not None:
                    yield _Line(caller, _quiet(found), file, _identity(found))


class _Line(NamedTuple):
    """A connection: whose it is, for how many milliseconds nothing came, and which file of this process."""

    caller: str
    quiet: int
    file: int
    identity: int


@contextmanager
def _lent(file: int) -> Iterator[socket.socket]:
    """The socket that is this file; OSError when it is none.

    It is the server's, and never closed here. Nor is a copy of it: to close any copy of a file, which a number may have
    become meanwhile, would drop the locks that this process holds on it, those of SQLite among them.
    """
    found = socket.socket(fileno=file)
    try:
        yield found
    finally:
        found.detach()


def _limit_patience(found: socket.socket) -> None:
    """Have a connection end by itself when nothing is taken from it; those of a listener inherit it."""
    if sys.platform == "linux":
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNTAKEN_SECONDS * 1000)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNTAKEN_BYTES)


def _identity(found: socket.socket) -> int:
    return os.fstat(found.fileno()).st_ino


def _quiet(found: socket.socket) -> int:
    told = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECEIVED.stop)
    return int.from_bytes(told[_LAST_DATA_RECEIVED], sys.byteorder)


def _end(line: _Line) -> None:
    """Break a connection off, with what it has not taken; the server sees it and closes its file."""
    with suppress(OSError), _lent(line.file) as found:
        if _identity(found) == line.identity:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            found.shutdown(socket.SHUT_RDWR)


_AT_ONCE = struct.pack("ii", 1, 0)

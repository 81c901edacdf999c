import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from fcntl import LOCK_EX, lockf
from itertools import chain
from pathlib import Path

import pytest

from mainstay.doors.server_names import ServerNames
from mainstay.infrastructure.connection_limits import (
    UNREAD_SECONDS,
    ConnectionLimiter,
    ConnectionLimits,
    _milliseconds_idle,
)
from mainstay.settings import read_settings
from support.waiting import wait_until

# 16 connections are kept, and 4 of one address.
BOUNDS = ConnectionLimits(max_accepted=32)
PROXY = "127.0.0.9"


class LocalConnections:
    """Connections to a port of this process, each with both of its ends."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.ends: dict[socket.socket, socket.socket] = {}
        proxies = read_settings({"MAINSTAY_TRUSTED_PROXIES": PROXY}).trusted_proxies
        self._port = self.listener.getsockname()[1]
        self._callers = ConnectionLimiter(self._port, ServerNames("http://127.0.0.1", proxies).limited_network, BOUNDS)

    def connect(self, address: str) -> socket.socket:
        """A client at this address, connected."""
        client = self._stack.enter_context(self._bind_address(address))
        client.settimeout(30)
        client.connect(self.listener.getsockname())
        self.ends[client] = self._stack.enter_context(self.listener.accept()[0])
        return client

    def _bind_address(self, address: str) -> socket.socket:
        """Bind a socket to this address, at any port but ours, which would make it look accepted."""
        while True:
            client = socket.socket()
            client.bind((address, 0))
            if client.getsockname()[1] != self._port:
                return client
            client.close()

    def connect_many(self, address: str, times: int) -> list[socket.socket]:
        return [self.connect(address) for _ in range(times)]

    def close_surplus(self, *files: int) -> None:
        ends = [end.fileno() for end in chain(*self.ends.items())]
        self._callers.close_surplus([self.listener.fileno(), *ends, *files])

    def wait_until_quiet(self, client: socket.socket) -> None:
        """Wait until the client has sent nothing for a moment."""
        wait_until(lambda: _milliseconds_idle(self.ends[client]) >= 50)

    def list_connected(self) -> list[socket.socket]:
        """The clients that are still connected."""
        return [client for client in self.ends if not _has_ended(client)]


def _has_ended(client: socket.socket) -> bool:
    client.settimeout(0)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.fixture
def connections() -> Iterator[LocalConnections]:
    with ExitStack() as stack:
        yield LocalConnections(stack)


def test_whoever_holds_too_many_keeps_those_that_spoke_last_and_others_keep_all(connections: LocalConnections) -> None:
    silent = connections.connect_many("127.0.0.2", 6)
    others = connections.connect_many("127.0.0.3", 4)
    connections.wait_until_quiet(silent[-1])
    spoke = [silent[0], silent[2], silent[3], silent[5]]
    for client in spoke:
        client.sendall(b"GET")

    connections.close_surplus()

    assert connections.list_connected() == [*spoke, *others]


def test_many_who_hold_few_each_lose_the_quietest_of_all(connections: LocalConnections) -> None:
    early = [connections.connect(f"127.0.1.{number}") for number in range(1, 9)]
    connections.wait_until_quiet(early[-1])
    late = [connections.connect(f"127.0.2.{number}") for number in range(1, 13)]

    connections.close_surplus()

    held = connections.list_connected()
    assert len(held) == 16
    assert set(late) <= set(held)


def test_up_to_the_bound_nobody_is_let_go(connections: LocalConnections) -> None:
    everyone = [client for number in range(1, 5) for client in connections.connect_many(f"127.0.0.{number}", 4)]

    connections.close_surplus()

    assert connections.list_connected() == everyone


def test_a_trusted_proxy_holds_as_many_as_it_likes(connections: LocalConnections) -> None:
    everyone = connections.connect_many(PROXY, 20)

    connections.close_surplus()

    assert connections.list_connected() == everyone


def test_connections_end_by_themselves_when_nothing_is_taken_from_them(connections: LocalConnections) -> None:
    early = connections.connect("127.0.0.1")
    connections.close_surplus()
    late = connections.connect("127.0.0.1")

    for client in (early, late):
        timeout = connections.ends[client].getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert timeout == UNREAD_SECONDS * 1000


def test_connections_to_other_ports_are_let_be(connections: LocalConnections) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, ExitStack() as stack:
        for _ in range(6):
            client = stack.enter_context(socket.create_connection(other.getsockname()))
            connections.ends[client] = stack.enter_context(other.accept()[0])

        connections.close_surplus()

        assert len(connections.list_connected()) == 6


# Whether another process may lock a file.
_LOCKING = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
"""


def test_the_locks_of_files_are_left_alone(connections: LocalConnections, tmp_path: Path) -> None:
    path = tmp_path / "locked"
    path.touch()
    with path.open("r+b") as file:
        lockf(file, LOCK_EX)

        # To look at it as at a connection must not open, copy or close it: closing any copy would drop the lock.
        connections.close_surplus(file.fileno())

        locking = subprocess.run([sys.executable, "-c", _LOCKING, path], capture_output=True, text=True, check=False)
    assert "BlockingIOError" in locking.stderr

"""Someone holds every connection there is; everyone else is served."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from mainstay.doors.pages.static_files import STATIC_ADDRESSES
from mainstay.settings import read_settings
from support.raw_http import format_head
from support.servers import RunningServer, start_server
from support.waiting import wait_until

# Of 300 files a process may have, it accepts 172 connections, keeps 86 of them, and 21 of one address.
FILES = 300
CROWD = 500

# What each of the crowd says: much, without ever listening; or never all of it.
SILENT_READERS = format_head("GET", STATIC_ADDRESSES["office.css"]) * 100
SLOW_WRITERS = format_head("GET", "/healthz")[:-2]


@pytest.mark.parametrize("said", [SILENT_READERS, SLOW_WRITERS], ids=["silent readers", "slow writers"])
def test_a_crowd_from_one_address_keeps_nobody_else_out(tmp_path: Path, said: bytes) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", workers=2)
    with start_server(settings, max_open_files=FILES) as server, _open_crowd(server, said):
        for _ in range(20):
            assert server.request("GET", "/healthz").status_code == 200
        wait_until(lambda: "connections let go" in server.log.read_text())
        assert server.request("GET", "/healthz").status_code == 200


@contextmanager
def _open_crowd(server: RunningServer, said: bytes) -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(CROWD):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.bind(("127.0.0.2", 0))
            line.settimeout(30)
            line.connect((server.settings.host, server.settings.port))
            line.settimeout(0)
            # As much as goes; some are let go already.
            try:
                line.send(said)
            except OSError:
                continue
        yield

"""The processes of a running server, as the system sees them."""

import os
import select
from contextlib import suppress
from pathlib import Path

from mainstay.infrastructure.processes import WORKER_NAME
from support.servers import ServerProcess

TIMEOUT_SECONDS = 120


def processes_of(server: ServerProcess) -> dict[int, str]:
    """Every process that the server has started and that still lives, itself included, with its name."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            name_part, _, columns = (folder / "stat").read_text().rpartition(") ")
            state, _, _, session, *_ = columns.split()
            if int(session) == server.process.pid and state != "Z":
                pid, _, name = name_part.partition(" (")
                found[int(pid)] = name
    return found


def outbox_workers_of(server: ServerProcess) -> list[int]:
    """The process that empties the outbox, if it is there."""
    return [pid for pid, name in processes_of(server).items() if name == WORKER_NAME]


def server_processes_of(server: ServerProcess) -> set[int]:
    """The processes that answer requests."""
    return {pid for pid, name in processes_of(server).items() if name != WORKER_NAME} - {server.process.pid}


def wait_until_gone(pids: set[int]) -> None:
    """Wait until none of these processes lives."""
    for pid in pids:
        with suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            try:
                readable, _, _ = select.select([handle], [], [], TIMEOUT_SECONDS)
                assert readable, f"process {pid} lives on"
            finally:
                os.close(handle)

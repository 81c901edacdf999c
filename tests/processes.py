"""The processes of a running server, as the system sees them."""

import os
import select
from contextlib import suppress
from pathlib import Path

from mainstay.backing.processes import WORKER
from running import ServerProcess

PATIENCE_SECONDS = 120


def processes_of(server: ServerProcess) -> dict[int, str]:
    """Every process that the server has started and that still lives, itself included, with its name."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            called, _, facts = (folder / "stat").read_text().rpartition(") ")
            state, _, _, session, *_ = facts.split()
            if int(session) == server.process.pid and state != "Z":
                pid, _, name = called.partition(" (")
                found[int(pid)] = name
    return found


def outbox_workers_of(server: ServerProcess) -> list[int]:
    """The process that empties the outbox, if it is there."""
    return [pid for pid, name in processes_of(server).items() if name == WORKER]


def server_processes_of(server: ServerProcess) -> set[int]:
    """The processes that answer requests."""
    return {pid for pid, name in processes_of(server).items() if name != WORKER} - {server.process.pid}


def wait_until_gone(pids: set[int]) -> None:
    """Wait until none of these processes lives."""
    for pid in pids:
        with suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            try:
                readable, _, _ = select.select([handle], [], [], PATIENCE_SECONDS)
                assert readable, f"process {pid} lives on"
            finally:
                os.close(handle)

"""Processor time and memory of processes and of the machine, read from /proc."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mainstay.infrastructure.processes import WORKER_NAME

_TICKS = os.sysconf("SC_CLK_TCK")
_IDLE = slice(3, 5)  # idle, and idle while a disk works


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """The memory of one process, in millions of bytes."""

    process: str
    # Whether it does the work: answers requests, or empties the outbox.
    is_worker: bool
    resident: float
    # The same with its share of what several processes hold together, as those that were forked do; this is what a
    # machine needs for it.
    share: float


def process_tree(pid: int) -> list[int]:
    """A process and everything it started, itself first."""
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            pids += process_tree(int(child))
    return pids


def read_memory(name: str, pid: int) -> list[ProcessMemory]:
    """How much memory the processes of a server hold: the one that was started, and those it keeps running."""
    found = []
    for member in process_tree(pid):
        # A child that reads content may end at any time.
        with suppress(FileNotFoundError, ProcessLookupError):
            found.append(_read_process_memory(name, member, is_worker=member != pid))
    return found


def _read_process_memory(name: str, pid: int, *, is_worker: bool) -> ProcessMemory:
    process_name = Path(f"/proc/{pid}/comm").read_text().strip()
    role = "parent" if not is_worker else "outbox worker" if process_name == WORKER_NAME else "server worker"
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    sizes = (int(fields[size].split()[0]) * 1024 / 1e6 for size in ("Rss", "Pss"))
    return ProcessMemory(f"{name}: {role} {pid}", is_worker, *sizes)


def cpu_seconds(pids: list[int]) -> float:
    """The processor time that these processes have used."""
    # The name, which may hold blanks, ends with a bracket; user and system time are the 12th and 13th words behind it.
    words = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(word[11]) + int(word[12]) for word in words) / _TICKS


def machine_cpu_seconds() -> float:
    """The processor time that everything on this machine, and other machines on the same hardware, have used."""
    line = Path("/proc/stat").read_text().partition("\n")[0]
    ticks = [int(word) for word in line.split()[1:9]]
    return (sum(ticks) - sum(ticks[_IDLE])) / _TICKS

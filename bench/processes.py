"""What the kernel tells of processes and of the machine."""

import os
from dataclasses import dataclass
from pathlib import Path

from mainstay.backing.processes import WORKER

_TICKS = os.sysconf("SC_CLK_TCK")
_IDLE = slice(3, 5)  # idle, and idle while a disk works


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one process, in millions of bytes."""

    process: str
    # Whether it does the work: answers requests, or empties the outbox.
    works: bool
    resident: float
    # The same with its share of what several processes hold together, as those that were forked do; this is what a
    # machine needs for it.
    share: float


def family(pid: int) -> list[int]:
    """A process and everything it started, itself first."""
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            pids += family(int(child))
    return pids


def memories(name: str, pid: int) -> list[Memory]:
    """How much memory the processes of a server hold: the one that was started, and those it keeps running."""
    found = []
    for member in family(pid):
        called = Path(f"/proc/{member}/comm").read_text().strip()
        role = "parent" if member == pid else "outbox worker" if called == WORKER else "server worker"
        facts = dict(line.split(":", 1) for line in Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()[1:])
        sizes = (int(facts[size].split()[0]) * 1024 / 1e6 for size in ("Rss", "Pss"))
        found.append(Memory(f"{name}: {role} {member}", member != pid, *sizes))
    return found


def cpu_seconds(pids: list[int]) -> float:
    """The processor time that these processes have used."""
    # The name, which may hold blanks, ends with a bracket; user and system time are the 12th and 13th words behind it.
    words = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(word[11]) + int(word[12]) for word in words) / _TICKS


def machine_seconds() -> float:
    """The processor time that everything on this machine, and other machines on the same hardware, have used."""
    line = Path("/proc/stat").read_text().partition("\n")[0]
    ticks = [int(word) for word in line.split()[1:9]]
    return (sum(ticks) - sum(ticks[_IDLE])) / _TICKS

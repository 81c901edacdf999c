"""What heavy documents leave behind in the memory of server and worker."""

import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from time import monotonic, sleep

import httpx2
from bench.neighbours.office import LoadedSite, OfficeClient, open_draft, revise_quote, send_quote

from mainstay.infrastructure.processes import WORKER_NAME

_CLIENTS = 4
# As many as it takes until each thread of each process has printed some; then its memory stays about the same.
_WARM_UP = 60
_POLL_SECONDS = 0.1
_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class MemoryGrowth:
    """The memory of one process before and after so many documents, in millions of bytes; None if it died."""

    process: str
    documents: int
    before: float
    after: float | None


def find_processes(pid: int) -> list[int]:
    """Find the processes that a server keeps running: those that answer requests, and the worker."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def has_ended(pid: int) -> bool:
    """Find out whether a process is no more."""
    return _read_resident(pid) is None


def measure_memory(pid: int, site: LoadedSite, documents: int, seconds: float) -> list[MemoryGrowth]:
    """Print so many heavy documents, or as many as possible in this time: half sent by email, half opened as drafts."""
    clients = [_PrintingClient(site, number) for number in range(_CLIENTS)]
    # The first documents load fonts and templates, and give each thread memory that it keeps for the next.
    _print_documents(clients, _WARM_UP, monotonic() + seconds / 2)
    before = {process: _read_resident(process) or 0.0 for process in find_processes(pid)}
    names = {process: f"{_read_name(process)} {process}" for process in before}
    done = _print_documents(clients, documents, monotonic() + seconds)
    return [MemoryGrowth(names[one], done, size, _read_resident(one)) for one, size in before.items()]


class _PrintingClient:
    """Prints documents one after the other, by turns as an email and as a draft."""

    def __init__(self, site: LoadedSite, number: int) -> None:
        self.mail = site.mail
        self._office = OfficeClient(site, site.stock.busy[0], number, timeout_seconds=_TIMEOUT_SECONDS)
        self._office.reconnect_each_time()
        self._sent, self._draft = site.stock.heavy_quotes[number], site.stock.heavy_quotes[number + _CLIENTS]
        self._numbers = count()

    def print_documents(self, most: int, until: float) -> Counter[str]:
        """Print so many; count those that were sent and those that were opened."""
        done: Counter[str] = Counter()
        for number in islice(self._numbers, most):
            if monotonic() >= until:
                break
            with suppress(httpx2.HTTPError, KeyError):
                if number % 2:
                    done["opened"] += self._open(number)
                else:
                    done["sent"] += self._send()
        return done

    def _open(self, number: int) -> bool:
        answer = open_draft(self._office, self._draft, f"Replace boiler {number}")
        return answer.headers["Content-Type"] == "application/pdf"

    def _send(self) -> bool:
        sent = send_quote(self._office, self._sent).is_success
        self._sent = revise_quote(self._office, self._sent)
        return sent


def _print_documents(clients: Sequence[_PrintingClient], documents: int, until: float) -> int:
    """Print so many by all clients together; return how many were opened or have arrived."""
    mail = clients[0].mail
    before = mail.slow_count.value
    with ThreadPoolExecutor(len(clients)) as threads:
        each = documents // len(clients)
        counts = threads.map(lambda client: client.print_documents(each, until), clients)
        done = sum(counts, Counter[str]())
    while mail.slow_count.value < before + done["sent"] and monotonic() < until:
        sleep(_POLL_SECONDS)
    return int(done["opened"] + mail.slow_count.value - before)


def _read_resident(pid: int) -> float | None:
    """Read how much memory a process holds; None if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    # A process that has ended and was not yet waited for has no memory.
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else None


def _read_name(pid: int) -> str:
    return "worker" if Path(f"/proc/{pid}/comm").read_text().strip() == WORKER_NAME else "server process"

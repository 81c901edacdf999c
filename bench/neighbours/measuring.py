"""Measures each situation on a server of its own, between two quiet ones."""

import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from time import monotonic

from bench.contenders.running import Contender, run_contender
from bench.neighbours import hostile_files
from bench.neighbours.firms import ENGINES, PreparedEngine, prepare_engine
from bench.neighbours.loads import SITUATIONS, Situation, run_load
from bench.neighbours.memory import MemoryGrowth, find_processes, has_ended, measure_memory
from bench.neighbours.office import LoadedSite
from bench.neighbours.probes import REQUESTS, WRITE, NeighbourProbes, RequestTimes
from bench.neighbours.receivers import MailServerReports, ReceiverReports, run_mail_server, run_webhook_receiver
from bench.processes import process_tree

# What a process of the server may use before it is refused more, as in a container of a small machine. Without it, a
# hostile file would take the memory of everything else on this machine.
_MAX_ADDRESS_SPACE = 3 * 1024**3
# A quiet time below this counts as this: what takes less nobody notices.
_FLOOR_MILLISECONDS = 2.0


@dataclass(frozen=True)
class MeasuringScale:
    """How much is measured."""

    requests: int
    # How long the requests of one situation may take together.
    seconds: float
    # How long each of them may take.
    timeout_seconds: float
    documents: int
    document_seconds: float


FULL = MeasuringScale(requests=200, seconds=15, timeout_seconds=8, documents=200, document_seconds=300)
QUICK = MeasuringScale(requests=30, seconds=3, timeout_seconds=2, documents=40, document_seconds=10)


@dataclass(frozen=True)
class Slowdown:
    """What one situation did to one kind of request of the neighbour; times are in milliseconds."""

    engine: str
    situation: str
    request: str
    quiet: float
    median: float
    worst: float
    count: int
    # What went wrong, and how often.
    failures: dict[str, int]

    @property
    def ratio(self) -> float:
        """How many times the quiet median the median is; a quiet one counts as two milliseconds at least."""
        return self.median / max(self.quiet, _FLOOR_MILLISECONDS)

    @property
    def is_write_during_import(self) -> bool:
        """Whether it is what an import in the embedded database could hold up."""
        return (self.engine, self.situation, self.request) == ("sqlite", SITUATIONS[5].name, WRITE)


@dataclass(frozen=True)
class NeighbourResults:
    """Everything that was measured."""

    slowdowns: list[Slowdown] = field(default_factory=list)
    # By engine and situation, what busy firms were answered: it shows that they were busy.
    answers: dict[str, dict[str, int]] = field(default_factory=dict)
    growth: list[MemoryGrowth] = field(default_factory=list)


def measure_neighbours(
    scale: MeasuringScale,
    engines: Sequence[str] = ENGINES,
    situations: Sequence[int] = tuple(SITUATIONS),
    *,
    memory: bool = True,
) -> NeighbourResults:
    """Measure these situations on these engines, and the memory of the processes on the first of them."""
    found = NeighbourResults()
    if {1, 2} & {*situations}:
        hostile_files.make_all()
    with (
        TemporaryDirectory(prefix="mainstay-neighbours-") as folder,
        run_mail_server() as mail,
        run_webhook_receiver() as webhooks,
    ):
        for name in engines:
            with prepare_engine(name, Path(folder) / name, webhooks) as engine:
                bench = _EngineBench(engine, mail, webhooks, scale)
                if situations:
                    bench.measure(situations, found)
                if memory and name == engines[0]:
                    found.growth.extend(bench.measure_memory())
    return found


@dataclass
class _EngineBench:
    engine: PreparedEngine
    mail: MailServerReports
    webhooks: ReceiverReports
    scale: MeasuringScale
    _servers: int = 0

    def measure(self, situations: Sequence[int], found: NeighbourResults) -> None:
        """Measure a quiet server, one in each situation, and a quiet one again."""
        before = self._measure_quiet()
        loaded = {number: self._measure_loaded(SITUATIONS[number], found) for number in situations}
        after = self._measure_quiet()
        quiet = {name: mean((before[name].median, after[name].median)) for name in REQUESTS}
        for number, readings in loaded.items():
            for name, reading in readings.items():
                found.slowdowns.append(
                    Slowdown(
                        self.engine.name,
                        SITUATIONS[number].name,
                        name,
                        quiet[name],
                        reading.median,
                        max(reading.times, default=0.0),
                        len(reading.times),
                        dict(reading.failures),
                    )
                )

    def measure_memory(self) -> list[MemoryGrowth]:
        """Measure what heavy documents leave behind in the memory of server and worker."""
        _print_progress(f"{self.engine.name}: memory over heavy documents")
        with self._run_server() as (server, site):
            self._warm_up_probes(server)
            _limit_memory(server.pid)
            self.mail.slow_seconds.value = 0
            return measure_memory(server.pid, site, self.scale.documents, self.scale.document_seconds)

    def _measure_quiet(self) -> dict[str, RequestTimes]:
        _print_progress(f"{self.engine.name}: quiet")
        with self._run_server() as (server, _):
            return self._warm_up_probes(server).run(self.scale.requests, monotonic() + self.scale.seconds)

    def _measure_loaded(self, situation: Situation, found: NeighbourResults) -> dict[str, RequestTimes]:
        _print_progress(f"{self.engine.name}: {situation.name}")
        answers: Counter[str] = Counter()
        with self._run_server() as (server, site):
            probes = self._warm_up_probes(server)
            processes = find_processes(server.pid)
            _limit_memory(server.pid)
            with run_load(situation, site, answers):
                readings = probes.run(self.scale.requests, monotonic() + self.scale.seconds)
            if died := len([*filter(has_ended, processes)]):
                for reading in readings.values():
                    deaths = Counter({f"{died} of {len(processes)} processes died": 1})
                    reading.failures = deaths + reading.failures
        found.answers[f"{self.engine.name}, {situation.name}"] = dict(answers)
        return readings

    def _warm_up_probes(self, server: Contender) -> NeighbourProbes:
        """Wait until all of the server works."""
        probes = NeighbourProbes(server.port, self.engine.stock, self.mail, self.webhooks, self.scale.timeout_seconds)
        probes.warm_up()
        return probes

    @contextmanager
    def _run_server(self) -> Iterator[tuple[Contender, LoadedSite]]:
        """Serve a fresh copy of the stock until the block ends."""
        self._servers += 1
        plan = self.engine.plan_server(f"server-{self._servers}", self.mail)
        with run_contender(plan, self.engine.folder) as server:
            address = self.engine.operator_address(plan)
            try:
                yield server, LoadedSite(f"http://127.0.0.1:{server.port}", self.engine.stock, self.mail, address)
            finally:
                # What it still has to do is of no use to anybody.
                with suppress(ProcessLookupError):
                    os.killpg(server.pid, signal.SIGKILL)


def _limit_memory(pid: int) -> None:
    """Limit a server and the processes it starts from now on."""
    for process in process_tree(pid):
        _, hard = resource.prlimit(process, resource.RLIMIT_AS)
        resource.prlimit(process, resource.RLIMIT_AS, (_MAX_ADDRESS_SPACE, hard))


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

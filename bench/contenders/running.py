"""Contenders as processes, ended with everything they started, whatever happens in between."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from mainstay.settings import PREFIX

ROOT = Path(__file__).resolve().parents[2]

_START_SECONDS = 30.0
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """How to start a contender: a module and its words, to which the port is added."""

    name: str
    arguments: tuple[str, ...]
    workers: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    python: str = sys.executable


@dataclass(frozen=True, slots=True)
class Contender:
    """A server that answers on a port of this machine, with its workers on the first cores, one on each."""

    name: str
    workers: int
    port: int
    pid: int
    log: Path

    def get(self, path: str, key: str) -> bytes:
        """The body of one answer to a reading, which must be a 200."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_START_SECONDS)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{self.name} answered {response.status} to {path}: {body[:500]!r}")
        return body


def plan_mainstay(data: Path, workers: int) -> ServerPlan:
    """The product itself; whatever is not about this machine is left at its default."""
    return ServerPlan(
        f"mainstay-{workers}", ("mainstay", "serve", "--workers", str(workers), "--data", str(data), "--port"), workers
    )


def plan_reference(name: str, environment: Mapping[str, str]) -> ServerPlan:
    """A contender out of this folder, on the server that Mainstay uses."""
    return ServerPlan(name, ("bench.contenders.server", f"bench.contenders.{name}"), environment=environment)


@contextmanager
def run_contender(plan: ServerPlan, logs: Path) -> Iterator[Contender]:
    """Run a contender until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    log = logs / f"{plan.name}.log"
    # No setting of the one who measures reaches what is measured.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [plan.python, "-m", *plan.arguments, str(port)],
            cwd=ROOT,
            env={**environment, **plan.environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_it_listens(process, port, log)
        yield Contender(plan.name, plan.workers, port, process.pid, log)
    finally:
        _end_process(process)


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = monotonic() + _START_SECONDS
    while monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), _START_SECONDS):
            return
        sleep(0.05)
    raise RuntimeError(f"{log.stem} did not start:\n{log.read_text()}")


def _end_process(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

"""How fast one worker process sends to webhooks: beside the HTTP client alone, and with most receivers dead.

`python -m bench.webhooks` measures this part alone.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, sleep

# The parts of the bench are found from the root, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.contenders.running import ROOT
from bench.performing import perform
from bench.processes import cpu_seconds

from mainstay.business.people.joining import create_organisation
from mainstay.kernel.perform import Stage
from mainstay.settings import environment_of, read_settings
from mainstay.staging import open_stage
from mainstay.terms.actor import operator
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.webhooks.endpoints import create_webhook
from mainstay.webhooks.fan_out import call, insert
from mainstay.webhooks.places import IN_ALL

ORGANISATIONS = 4
WEBHOOKS = 5  # of each organisation
EVENTS = 2_000  # of each organisation, so that there are 40,000 deliveries

_HEALTHY = "/ok/0-0"
_DEAD = ("/hang", "/500", "refusing")
_SETTLE_SECONDS = 0.3
_START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Sending:
    """What one round came to: posts in a second, and microseconds of processor time for each."""

    worker: float
    worker_cpu: float
    client: float
    client_cpu: float
    # What reaches one receiver while nineteen others are healthy, and while they are dead.
    among_healthy: float
    among_dead: float


def measure_sending(seconds: float, until: float) -> list[Sending]:
    """Measure in rounds of three loads, each so long, until this moment; three rounds at least."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-webhooks-")))
        receiver = stack.enter_context(_receiver())
        healthy = _Load(receiver, _stock(folder / "healthy", receiver, dead=False), stack)
        dying = _Load(receiver, _stock(folder / "dying", receiver, dead=True), stack)
        client = _Client(folder, receiver)
        rounds: list[Sending] = []
        longest = 0.0
        while len(rounds) < 3 or monotonic() + longest < until:
            began = monotonic()
            rounds.append(_round(healthy, dying, client, seconds))
            longest = max(longest, monotonic() - began)
        return rounds


def _round(healthy: "_Load", dying: "_Load", client: "_Client", seconds: float) -> Sending:
    sent, cpu = healthy.run(seconds)
    alone = client.run(seconds)
    sent_among_dead, _ = dying.run(seconds)
    total = sum(sent.values())
    return Sending(
        total, cpu * 1e6 / total, alone["rate"], alone["cpu"], sent[_HEALTHY], sent_among_dead.get(_HEALTHY, 0.0)
    )


@dataclass(frozen=True, slots=True)
class _Receiver:
    port: int

    def counts(self) -> dict[str, int]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_START_SECONDS)
        try:
            connection.request("GET", "/counts")
            counts: dict[str, int] = json.loads(connection.getresponse().read())
            return counts
        finally:
            connection.close()


class _Load:
    """A worker process with much to send; it is stopped but for the time in which it is measured."""

    def __init__(self, receiver: _Receiver, data: Path, stack: ExitStack) -> None:
        self._receiver = receiver
        settings = replace(read_settings({}), data=data, webhook_private_addresses="allow")
        self._process = stack.enter_context(
            _process(["-m", "mainstay", "worker"], data.with_suffix(".log"), _cores()[0], environment_of(settings))
        )
        # It has begun to send when it is first stopped.
        before = sum(receiver.counts().values())
        deadline = monotonic() + _START_SECONDS
        while sum(receiver.counts().values()) == before:
            if self._process.poll() is not None or monotonic() > deadline:
                raise RuntimeError(f"The worker does not send:\n{data.with_suffix('.log').read_text()[-2000:]}")
            sleep(0.01)
        self._process.send_signal(signal.SIGSTOP)

    def run(self, seconds: float) -> tuple[dict[str, float], float]:
        """Let it send for so long: the requests a second by path, and the processor seconds of a second."""
        self._process.send_signal(signal.SIGCONT)
        sleep(_SETTLE_SECONDS)
        before, cpu, began = self._receiver.counts(), cpu_seconds([self._process.pid]), monotonic()
        sleep(seconds)
        after, cpu, took = (
            self._receiver.counts(),
            cpu_seconds([self._process.pid]) - cpu,
            monotonic() - began,
        )
        self._process.send_signal(signal.SIGSTOP)
        if self._process.poll() is not None:
            raise RuntimeError("The worker has ended.")
        rates = {path: (count - before.get(path, 0)) / took for path, count in after.items()}
        return {path: rate for path, rate in rates.items() if rate}, cpu / took


class _Client:
    """The HTTP client alone."""

    def __init__(self, folder: Path, receiver: _Receiver) -> None:
        self._urls, self._bodies = folder / "urls", folder / "bodies"
        self._urls.write_text("\n".join(_healthy_urls(receiver)))
        self._bodies.write_bytes((folder / "healthy.bodies").read_bytes())

    def run(self, seconds: float) -> dict[str, float]:
        """Let it post for so long."""
        words = [self._urls, self._bodies, IN_ALL, seconds, _cores()[0]]
        command = [sys.executable, "-m", "bench.contenders.poster", *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"The client could not be measured:\n{done.stderr}")
        result: dict[str, float] = json.loads(done.stdout)
        return result


def _healthy_urls(receiver: _Receiver) -> list[str]:
    return [
        f"http://127.0.0.1:{receiver.port}/ok/{organisation}-{webhook}"
        for organisation in range(ORGANISATIONS)
        for webhook in range(WEBHOOKS)
    ]


def _stock(data: Path, receiver: _Receiver, *, dead: bool) -> Path:
    """A data folder with deliveries that wait; all receivers are healthy, or all but the first are dead."""
    urls = _healthy_urls(receiver)
    if dead:
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            refusing = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        kinds = {"refusing": refusing} | {path: f"http://127.0.0.1:{receiver.port}{path}" for path in _DEAD[:2]}
        urls[1:] = [kinds[_DEAD[number % 3]] for number in range(len(urls) - 1)]
    stage = open_stage(replace(read_settings({}), data=data, webhook_private_addresses="allow"))
    try:
        bodies = [
            body
            for number in range(ORGANISATIONS)
            for body in _organisation(stage, urls[number * WEBHOOKS :][:WEBHOOKS])
        ]
    finally:
        stage.database.close()
    data.with_suffix(".bodies").write_bytes(b"\n".join(bodies))
    return data


def _organisation(stage: Stage, urls: Sequence[str]) -> list[bytes]:
    """An organisation with webhooks to these addresses, and events that wait for each; some bodies of that size."""
    acting = operator(new_id("org"))
    owner = {"ownerName": "Ruth Hartley", "ownerEmail": "ruth@hartley.example", "password": "a password for the bench"}
    perform(stage, create_organisation, acting, name="Hartley Plumbing and Heating", **owner)
    webhooks = [perform(stage, create_webhook, acting, url=url)["id"] for url in urls]
    at = moment_text(stage.clock())
    with stage.database.changing(acting.organisation) as rows:
        rows.run("DELETE FROM outbox")
        for webhook in webhooks:
            call(rows, webhook, at)
        for number in range(EVENTS):
            event = new_id("evt")
            rows.run(
                "INSERT INTO event (organisation_id, sequence, id, type, created_at, actor, data)"
                " SELECT organisation_id, sequence + :more, :id, type, created_at, actor, data FROM event"
                " WHERE organisation_id = :organisation AND sequence = 1",
                id=event,
                more=number + 1,
            )
            for webhook in webhooks:
                insert(rows, webhook, event, "person.joined", at)
        data = rows.all("SELECT data FROM event WHERE organisation_id = :organisation LIMIT 25")
    # As long as what is sent: the rest of a body is of much the same length in all of them.
    return [json.dumps({"id": "evt", "rest": "x" * 300, "data": str(text)}).encode() for (text,) in data]


@contextmanager
def _receiver() -> Iterator[_Receiver]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    words = ["-m", "bench.contenders.receiver", str(port), str(_cores()[-1])]
    with TemporaryDirectory() as folder, _process(words, Path(folder) / "log", _cores()[-1], {}) as process:
        deadline = monotonic() + _START_SECONDS
        while monotonic() < deadline and process.poll() is None:
            try:
                _Receiver(port).counts()
                break
            except OSError:
                sleep(0.05)
        yield _Receiver(port)


@contextmanager
def _process(
    words: Sequence[str], log: Path, core: int, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process on one core, until the block ends."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    # Before it has threads, which stay where they are born.
    os.sched_setaffinity(process.pid, {core})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def main() -> None:
    for sending in (rounds := measure_sending(2.0, monotonic() + 30)):
        print(sending)
    print("part of the client alone:", median(sending.worker / sending.client for sending in rounds))
    print("healthy beside the dead:", median(sending.among_dead / sending.among_healthy for sending in rounds))


if __name__ == "__main__":
    main()

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

from mainstay.business.people.invitations import create_organisation
from mainstay.composition import open_performer
from mainstay.kernel.perform import Performer
from mainstay.settings import read_settings, to_environment
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import operator_actor
from mainstay.webhooks.concurrency import MAX_IN_ALL
from mainstay.webhooks.endpoints import create_webhook
from mainstay.webhooks.fan_out import insert_delivery, make_due

ORGANISATIONS = 4
WEBHOOKS = 5  # of each organisation
EVENTS = 2_000  # of each organisation, so that there are 40,000 deliveries

_HEALTHY_PATH = "/ok/0-0"
_DEAD_PATHS = ("/hang", "/500", "refusing")
_SETTLE_SECONDS = 0.3
_START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class SendingRates:
    """The result of one round: posts a second, and microseconds of processor time for each."""

    worker: float
    worker_cpu: float
    client: float
    client_cpu: float
    # What reaches one receiver while nineteen others are healthy, and while they are dead.
    among_healthy: float
    among_dead: float


def measure_sending(seconds: float, until: float) -> list[SendingRates]:
    """Measure in rounds of three loads, each so long, until this moment; three rounds at least."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-webhooks-")))
        receiver = stack.enter_context(_run_receiver())
        healthy = _WorkerLoad(receiver, _make_stock(folder / "healthy", receiver, dead=False), stack)
        dying = _WorkerLoad(receiver, _make_stock(folder / "dying", receiver, dead=True), stack)
        client = _ClientLoad(folder, receiver)
        rounds: list[SendingRates] = []
        longest = 0.0
        while len(rounds) < 3 or monotonic() + longest < until:
            began = monotonic()
            rounds.append(_measure_round(healthy, dying, client, seconds))
            longest = max(longest, monotonic() - began)
        return rounds


def _measure_round(healthy: "_WorkerLoad", dying: "_WorkerLoad", client: "_ClientLoad", seconds: float) -> SendingRates:
    sent, cpu = healthy.run(seconds)
    alone = client.run(seconds)
    sent_among_dead, _ = dying.run(seconds)
    total = sum(sent.values())
    return SendingRates(
        total,
        cpu * 1e6 / total,
        alone["rate"],
        alone["cpu"],
        sent[_HEALTHY_PATH],
        sent_among_dead.get(_HEALTHY_PATH, 0.0),
    )


@dataclass(frozen=True, slots=True)
class _ReceiverProcess:
    port: int

    def read_counts(self) -> dict[str, int]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_START_SECONDS)
        try:
            connection.request("GET", "/counts")
            counts: dict[str, int] = json.loads(connection.getresponse().read())
            return counts
        finally:
            connection.close()


class _WorkerLoad:
    """A worker process with much to send; it is stopped but for the time in which it is measured."""

    def __init__(self, receiver: _ReceiverProcess, data: Path, stack: ExitStack) -> None:
        self._receiver = receiver
        settings = replace(read_settings({}), data=data, webhook_private_addresses="allow")
        self._process = stack.enter_context(
            _run_process(["-m", "mainstay", "worker"], data.with_suffix(".log"), _cores()[0], to_environment(settings))
        )
        # It has begun to send when it is first stopped.
        before = sum(receiver.read_counts().values())
        deadline = monotonic() + _START_SECONDS
        while sum(receiver.read_counts().values()) == before:
            if self._process.poll() is not None or monotonic() > deadline:
                raise RuntimeError(f"The worker does not send:\n{data.with_suffix('.log').read_text()[-2000:]}")
            sleep(0.01)
        self._process.send_signal(signal.SIGSTOP)

    def run(self, seconds: float) -> tuple[dict[str, float], float]:
        """Let it send for so long: the requests a second by path, and the processor seconds of a second."""
        self._process.send_signal(signal.SIGCONT)
        sleep(_SETTLE_SECONDS)
        before, cpu, began = self._receiver.read_counts(), cpu_seconds([self._process.pid]), monotonic()
        sleep(seconds)
        after, cpu, took = (
            self._receiver.read_counts(),
            cpu_seconds([self._process.pid]) - cpu,
            monotonic() - began,
        )
        self._process.send_signal(signal.SIGSTOP)
        if self._process.poll() is not None:
            raise RuntimeError("The worker has ended.")
        rates = {path: (count - before.get(path, 0)) / took for path, count in after.items()}
        return {path: rate for path, rate in rates.items() if rate}, cpu / took


class _ClientLoad:
    """The HTTP client alone."""

    def __init__(self, folder: Path, receiver: _ReceiverProcess) -> None:
        self._urls, self._bodies = folder / "urls", folder / "bodies"
        self._urls.write_text("\n".join(_healthy_urls(receiver)))
        self._bodies.write_bytes((folder / "healthy.bodies").read_bytes())

    def run(self, seconds: float) -> dict[str, float]:
        """Let it post for so long."""
        words = [self._urls, self._bodies, MAX_IN_ALL, seconds, _cores()[0]]
        command = [sys.executable, "-m", "bench.contenders.poster", *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"The client could not be measured:\n{done.stderr}")
        result: dict[str, float] = json.loads(done.stdout)
        return result


def _healthy_urls(receiver: _ReceiverProcess) -> list[str]:
    return [
        f"http://127.0.0.1:{receiver.port}/ok/{organisation}-{webhook}"
        for organisation in range(ORGANISATIONS)
        for webhook in range(WEBHOOKS)
    ]


def _make_stock(data: Path, receiver: _ReceiverProcess, *, dead: bool) -> Path:
    """A data folder with deliveries that wait; all receivers are healthy, or all but the first are dead."""
    urls = _healthy_urls(receiver)
    if dead:
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            refusing = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        kinds = {"refusing": refusing} | {path: f"http://127.0.0.1:{receiver.port}{path}" for path in _DEAD_PATHS[:2]}
        urls[1:] = [kinds[_DEAD_PATHS[number % 3]] for number in range(len(urls) - 1)]
    performer = open_performer(replace(read_settings({}), data=data, webhook_private_addresses="allow"))
    try:
        bodies = [
            body
            for number in range(ORGANISATIONS)
            for body in _make_organisation(performer, urls[number * WEBHOOKS :][:WEBHOOKS])
        ]
    finally:
        performer.database.close()
    data.with_suffix(".bodies").write_bytes(b"\n".join(bodies))
    return data


def _make_organisation(performer: Performer, urls: Sequence[str]) -> list[bytes]:
    """An organisation with webhooks to these addresses, and events that wait for each; some bodies of that size."""
    actor = operator_actor(new_id("org"))
    owner = {"ownerName": "Ruth Hartley", "ownerEmail": "ruth@hartley.example", "password": "a password for the bench"}
    perform(performer, create_organisation, actor, name="Hartley Plumbing and Heating", **owner)
    webhooks = [perform(performer, create_webhook, actor, url=url)["id"] for url in urls]
    at = moment_text(performer.clock())
    with performer.database.write_transaction(actor.organisation) as db:
        db.run("DELETE FROM outbox")
        for webhook in webhooks:
            make_due(db, webhook, at)
        for number in range(EVENTS):
            event = new_id("evt")
            db.run(
                "INSERT INTO event (organisation_id, sequence, id, type, created_at, actor, data)"
                " SELECT organisation_id, sequence + :more, :id, type, created_at, actor, data FROM event"
                " WHERE organisation_id = :organisation AND sequence = 1",
                id=event,
                more=number + 1,
            )
            for webhook in webhooks:
                insert_delivery(db, webhook, event, "person.joined", at)
        data = db.all("SELECT data FROM event WHERE organisation_id = :organisation LIMIT 25")
    # As long as what is sent: the rest of a body is of much the same length in all of them.
    return [json.dumps({"id": "evt", "rest": "x" * 300, "data": str(text)}).encode() for (text,) in data]


@contextmanager
def _run_receiver() -> Iterator[_ReceiverProcess]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    words = ["-m", "bench.contenders.receiver", str(port), str(_cores()[-1])]
    with TemporaryDirectory() as folder, _run_process(words, Path(folder) / "log", _cores()[-1], {}) as process:
        deadline = monotonic() + _START_SECONDS
        while monotonic() < deadline and process.poll() is None:
            try:
                _ReceiverProcess(port).read_counts()
                break
            except OSError:
                sleep(0.05)
        yield _ReceiverProcess(port)


@contextmanager
def _run_process(
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

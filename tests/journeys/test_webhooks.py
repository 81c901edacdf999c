"""Events reach every webhook, whatever dies on the way: none is lost, and what comes twice was on its way at a kill."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

import orjson
import pytest
import standardwebhooks
import svix.webhooks
from pydantic import Field

from mainstay.business.people import store
from mainstay.business.people.events import PersonUpdated
from mainstay.business.people.model import Person
from mainstay.changes.outbox_queue import LEASE
from mainstay.composition import open_performer, open_signer
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.settings import Settings, to_environment
from mainstay.values.message import Message
from mainstay.values.moments import system_clock
from mainstay.vocabulary.permissions import Permission, Role
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import Input
from mainstay.webhooks.endpoints import create_webhook
from mainstay.worker_command import open_dispatcher, open_worker
from support.cast import Cast, make_cast
from support.raw_http import NEW_PERSON, PEOPLE
from support.receiver_threads import ReceiverThread, received_requests, run_receiver_thread
from support.receivers import OK, Receiver, answer_with
from support.servers import start_server
from support.stored_state import list_events_of, to_event_record
from support.waiting import wait_until

# The queue of each engine is its own.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

EVENTS_AT_ONCE = 10


@pytest.fixture
def private_settings(fresh_settings: Settings) -> Settings:
    """An installation that may send to receivers on this machine."""
    return replace(fresh_settings, webhook_private_addresses="allow")


@pytest.fixture
def receiver_thread() -> Iterator[ReceiverThread]:
    """Where receivers stand."""
    with run_receiver_thread() as receiver_thread:
        yield receiver_thread


def test_what_is_done_over_the_api_reaches_a_webhook(
    private_settings: Settings, receiver_thread: ReceiverThread
) -> None:
    performer = open_performer(private_settings)
    cast = make_cast(performer)
    receiver = receiver_thread.open_receiver(answer_with(OK))
    cast.perform(create_webhook, url=receiver.url, events=["person.invited"])
    key = cast.make_key()
    performer.database.close()
    with start_server(private_settings) as server:
        answer = server.request("POST", PEOPLE, key, json=NEW_PERSON)
        assert answer.status_code == 201
        wait_until(lambda: bool(receiver.requests))
        assert server.stop() == 0
    (request,) = received_requests(receiver)
    event = orjson.loads(request.body)
    assert (event["type"], event["data"]["object"]) == ("person.invited", to_event_record(answer.json()))


def test_no_event_is_lost_by_kills(private_settings: Settings, receiver_thread: ReceiverThread) -> None:
    _survive_kills(private_settings, receiver_thread, Plan(events=120, webhooks=2, kills=2))


@pytest.mark.long
def test_no_event_of_very_many_is_lost_by_kills(private_settings: Settings, receiver_thread: ReceiverThread) -> None:
    _survive_kills(private_settings, receiver_thread, Plan(events=10_000, webhooks=5, kills=60))


@dataclass(frozen=True)
class Plan:
    """So many events for so many webhooks, and so many kills meanwhile."""

    events: int
    webhooks: int
    kills: int


def _survive_kills(settings: Settings, receiver_thread: ReceiverThread, plan: Plan) -> None:
    performer = open_performer(settings)
    cast = make_cast(performer)
    receivers = [receiver_thread.open_receiver(answer_with(OK)) for _ in range(plan.webhooks)]
    webhooks = {str(cast.perform(create_webhook, url=receiver.url)["id"]): receiver for receiver in receivers}
    before = len(list_events_of(cast))
    with _run_workers(settings) as workers:
        for number in range(plan.kills):
            _cause_events(cast, plan.events // plan.kills)
            if number % 2:
                # In the middle of sending. What was on its way keeps its places until its lease ends.
                _wait_for_more(receivers, plan.webhooks * EVENTS_AT_ONCE)
            workers.kill_one()
    _finish_deliveries(settings, cast)
    sequences = {str(event["id"]): int(event["sequence"]) for event in list_events_of(cast)[before:]}
    assert [*sequences.values()] == [*range(before + 1, before + 1 + len(sequences))]
    cut_short = sum(_check_deliveries(settings, cast, sequences, *each) for each in webhooks.items())
    # Otherwise nothing was proved.
    assert cut_short
    performer.database.close()


class Chatter(Input):
    """What is made to happen, all at once or not at all."""

    person_id: str
    times: int = Field(ge=1)
    fail: bool


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    on=store.PEOPLE,
    not_undone=Message("Do it again."),
    past_text="Done",
)
def chatter(ctx: Context, given: Chatter, person: Person) -> Person:
    """Tell of several changes to a person, and perhaps take them back."""
    for _ in range(given.times):
        ctx.emit(PersonUpdated(person, person))
    if given.fail:
        raise Conflict(Message("No."))
    return person


def _cause_events(cast: Cast, events: int) -> None:
    """Let so many events happen, in many changes; between them, as many changes are taken back."""
    person = cast.people[Role.MEMBER]
    for _ in range(events // EVENTS_AT_ONCE):
        with suppress(Conflict):
            cast.perform(chatter, personId=person, times=3, fail=True)
        cast.perform(chatter, personId=person, times=EVENTS_AT_ONCE, fail=False)


def _wait_for_more(receivers: list[Receiver], more: int) -> None:
    def arrived() -> int:
        return sum(len(receiver.requests) for receiver in receivers)

    before = arrived()
    wait_until(lambda: arrived() >= before + more)


@dataclass
class Workers:
    """Two worker processes; one that is killed is replaced."""

    settings: Settings
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_one(self) -> None:
        with (self.settings.data / "workers.log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "mainstay", "worker"],
                    env={**os.environ, **to_environment(self.settings)},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )

    def kill_one(self) -> None:
        """Kill the one that has worked the longest; the other goes on while a new one starts."""
        killed = self.processes.pop(0)
        assert killed.poll() is None
        killed.kill()
        killed.wait(30)
        self.start_one()


@contextmanager
def _run_workers(settings: Settings) -> Iterator[Workers]:
    workers = Workers(settings)
    try:
        for _ in range(2):
            workers.start_one()
        yield workers
    finally:
        for process in workers.processes:
            process.kill()
            process.wait(30)


def _finish_deliveries(settings: Settings, cast: Cast) -> None:
    """Send everything that is left. By this clock, every lease of those who were killed has ended."""
    later = open_performer(settings, lambda: system_clock() + LEASE + timedelta(seconds=1))
    worker, dispatcher = open_worker(settings, later), open_dispatcher(settings, later)
    while worker.run_next_tasks():
        pass
    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(dispatcher.run)
        wait_until(lambda: _count_undelivered(cast) == 0)
        dispatcher.stop()
        ended.result()
    later.database.close()


def _count_undelivered(cast: Cast) -> int:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one(
            "SELECT count(*) FROM delivery WHERE organisation_id = :organisation AND status <> 'delivered'",
        )
    return int(row[0] or 0) if row else 0


def _check_deliveries(
    settings: Settings, cast: Cast, sequences: dict[str, int], webhook: str, receiver: Receiver
) -> int:
    """Check that every event arrived with a valid signature, and that only events under way at a kill came twice.

    Return how many attempts were cut short by a kill: nothing was stored about them.
    """
    requests = received_requests(receiver)
    secret = open_signer(settings).reveal_secret(webhook, 1)
    for request in requests:
        svix.webhooks.Webhook(secret).verify(request.body, request.headers)
        assert (
            standardwebhooks.Webhook(secret).verify(request.body, request.headers)["id"]
            == request.headers["webhook-id"]
        )

    with cast.performer.database.read_transaction(cast.organisation) as db:
        deliveries = db.all(
            "SELECT d.event_id, d.status, d.attempts, count(a.number) FROM delivery d LEFT JOIN delivery_attempt a"
            " ON a.organisation_id = d.organisation_id AND a.delivery_id = d.id"
            " WHERE d.organisation_id = :organisation AND d.webhook_id = :webhook"
            " GROUP BY d.event_id, d.status, d.attempts",
            webhook=webhook,
        )
    bodies = {request.headers["webhook-id"]: orjson.loads(request.body) for request in requests}
    assert {record_id: body["sequence"] for record_id, body in bodies.items()} == sequences

    came = Counter(request.headers["webhook-id"] for request in requests)
    assert {event for event, *_ in deliveries} == set(came)
    cut_short = {str(event): int(attempts or 0) - int(ended or 0) for event, _, attempts, ended in deliveries}
    assert {status for _, status, *_ in deliveries} == {"delivered"}
    for event, count in came.items():
        assert 1 <= count <= 1 + cut_short[event]
    return sum(cut_short.values())

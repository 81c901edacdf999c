"""A queue whose clock is set by hand, deliveries that wait in it, and dispatchers that send them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from cast import Cast, assemble
from mainstay.backing.database import EVERY, Value
from mainstay.backing.guard import Guard
from mainstay.backing.web import Web
from mainstay.kernel.perform import Stage
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text, system_clock
from mainstay.webhooks.dispatcher import Dispatcher
from mainstay.webhooks.fan_out import call
from mainstay.webhooks.queue import Queue
from mainstay.webhooks.sending import Attempt, Sending
from mainstay.webhooks.signature import Signer
from telling import make_webhook, set_columns

BASE_URL = "https://mainstay.example"
SIGNER = Signer(b"a secret of the installation, long enough")
BODY = '{"object":"event","type":"webhook.test"}'


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class Desk:
    """A queue that was empty at first."""

    stage: Stage
    clock: Clock
    queue: Queue

    @classmethod
    def open(cls, stage: Stage) -> "Desk":
        """On a database that others have used: what they left waiting is gone."""
        with stage.database.changing(EVERY) as rows:
            rows.run("DELETE FROM webhook")
        # A little ahead, so that whatever a test makes happen has happened.
        clock = Clock(system_clock() + timedelta(minutes=1))
        stage = replace(stage, clock=clock, base_url=BASE_URL)
        return cls(stage, clock, Queue(stage, chance=lambda: 0.0))

    def take(self) -> list[Sending]:
        """Take what is due, with nothing to hand in."""
        return self.queue.exchange([])

    def hand_in(self, *sendings: Sending, take: bool = False, **outcome: Any) -> list[Sending]:
        """Hand in how these ended, all in the same way."""
        return self.queue.exchange(self.results(sendings, **outcome), take=take)

    def results(self, sendings: Iterable[Sending], **outcome: Any) -> list[Attempt]:
        """How these ended: well, unless told."""
        return [Attempt(sending, self.clock(), **{"milliseconds": 7, "status": 200} | outcome) for sending in sendings]

    def cast(self) -> Cast:
        """An organisation of its own."""
        return assemble(self.stage)


def trusted_webhook(cast: Cast, **given: object) -> str:
    """A webhook whose last attempt succeeded."""
    webhook = make_webhook(cast, **given)
    set_columns(cast, "webhook", webhook, trusted=1)
    return webhook


def put_deliveries(cast: Cast, webhook: str, count: int, at: datetime) -> list[str]:
    """Let so many deliveries wait, due at this moment; their ids."""
    made = [new_id("delivery") for _ in range(count)]
    with cast.stage.database.changing(cast.organisation) as rows:
        call(rows, webhook, moment_text(at))
        for identity in made:
            rows.run(
                "INSERT INTO delivery"
                " (organisation_id, id, webhook_id, event_id, event_type, test_body, status, due_at, created_at)"
                " VALUES (:organisation, :id, :webhook, :event, 'webhook.test', :body, 'waiting', :at, :at)",
                id=identity,
                webhook=webhook,
                event=new_id("evt"),
                body=BODY,
                at=moment_text(at),
            )
    return made


def attempts_of(cast: Cast, delivery: str) -> list[tuple[Value, ...]]:
    """Number, moment, status, error, duration and answer of each attempt."""
    with cast.stage.database.reading(cast.organisation) as rows:
        return list(
            rows.all(
                "SELECT number, at, status, error, duration_ms, answer FROM delivery_attempt"
                " WHERE organisation_id = :organisation AND delivery_id = :id ORDER BY number",
                id=delivery,
            )
        )


def delivery_state(cast: Cast, delivery: str) -> tuple[Value, ...]:
    """Status, due moment, attempts in all and failed ones of the present row."""
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one(
            "SELECT status, due_at, attempts, retries FROM delivery WHERE organisation_id = :organisation AND id = :id",
            id=delivery,
        )
    assert row is not None
    return row


def whose(sendings: Sequence[Sending]) -> list[str]:
    """The webhooks that these are for."""
    return [sending.webhook for sending in sendings]


def a_dispatcher(desk: Desk, web: Web | None = None, queue: Queue | None = None) -> Dispatcher:
    """One that finds receivers on this machine, unless told otherwise."""
    web = web or Web(Guard(allow_private=True))
    return Dispatcher(queue or desk.queue, SIGNER, web, desk.clock)


@contextmanager
def running(dispatcher: Dispatcher) -> Iterator[None]:
    """Run it until the block ends; what is on its way then is finished."""
    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(dispatcher.run)
        try:
            yield
        finally:
            dispatcher.stop()
            ended.result()


def attempts_made(dispatcher: Dispatcher, count: int) -> Callable[[], bool]:
    """Whether so many attempts have been made."""
    return lambda: sum(dispatcher.counts.values()) >= count


def pointed(cast: Cast, webhook: str, url: str) -> str:
    """The same webhook, sending to a receiver on this machine."""
    set_columns(cast, "webhook", webhook, url=url)
    return webhook

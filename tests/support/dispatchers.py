"""A queue whose clock is set by hand, deliveries that wait in it, and dispatchers that send them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Value
from mainstay.infrastructure.webhook_client import WebhookClient
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text, system_clock
from mainstay.webhooks.attempt import Attempt, LeasedDelivery
from mainstay.webhooks.dispatcher import Dispatcher
from mainstay.webhooks.fan_out import make_due
from mainstay.webhooks.queue import DeliveryQueue
from mainstay.webhooks.signature import Signer
from support.cast import Cast, make_cast
from support.webhooks import make_webhook, set_columns

BASE_URL = "https://mainstay.example"
SIGNER = Signer(b"a secret of the installation, long enough")
BODY = '{"object":"event","type":"webhook.test"}'


@dataclass
class ManualClock:
    """A clock that is set by hand."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class QueueHarness:
    """A delivery queue, empty at first, with its performer and a manual clock."""

    performer: Performer
    clock: ManualClock
    queue: DeliveryQueue

    @classmethod
    def open(cls, performer: Performer) -> "QueueHarness":
        """Open a queue on a shared database; webhooks of other tests are removed."""
        with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            db.run("DELETE FROM webhook")
        # A little ahead, so that what a test has just done is in the past.
        clock = ManualClock(system_clock() + timedelta(minutes=1))
        performer = replace(performer, clock=clock, base_url=BASE_URL)
        return cls(performer, clock, DeliveryQueue(performer, jitter=lambda: 0.0))

    def take(self) -> list[LeasedDelivery]:
        """Take due deliveries, and hand in none."""
        return self.queue.exchange([])

    def hand_in_attempts(self, *sendings: LeasedDelivery, take: bool = False, **outcome: Any) -> list[LeasedDelivery]:
        """Hand in the results of these deliveries, all the same."""
        return self.queue.exchange(self.make_attempts(sendings, **outcome), take=take)

    def make_attempts(self, sendings: Iterable[LeasedDelivery], **outcome: Any) -> list[Attempt]:
        """Make an attempt for each of these, by default a successful one."""
        return [Attempt(sending, self.clock(), **{"milliseconds": 7, "status": 200} | outcome) for sending in sendings]

    def make_cast(self) -> Cast:
        """Make an organisation."""
        return make_cast(self.performer)


def make_trusted_webhook(cast: Cast, **given: object) -> str:
    """Make a webhook whose last attempt succeeded."""
    webhook = make_webhook(cast, **given)
    set_columns(cast, "webhook", webhook, trusted=1)
    return webhook


def insert_deliveries(cast: Cast, webhook: str, count: int, at: datetime) -> list[str]:
    """Insert so many waiting deliveries, due at this moment, and return their ids."""
    ids = [new_id("delivery") for _ in range(count)]
    with cast.performer.database.write_transaction(cast.organisation) as db:
        make_due(db, webhook, moment_text(at))
        for record_id in ids:
            db.run(
                "INSERT INTO delivery"
                " (organisation_id, id, webhook_id, event_id, event_type, test_body, status, due_at, created_at)"
                " VALUES (:organisation, :id, :webhook, :event, 'webhook.test', :body, 'waiting', :at, :at)",
                id=record_id,
                webhook=webhook,
                event=new_id("evt"),
                body=BODY,
                at=moment_text(at),
            )
    return ids


def list_attempts(cast: Cast, delivery: str) -> list[tuple[Value, ...]]:
    """Number, moment, status, error, duration and answer of each attempt."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return list(
            db.all(
                "SELECT number, at, status, error, duration_ms, answer FROM delivery_attempt"
                " WHERE organisation_id = :organisation AND delivery_id = :id ORDER BY number",
                id=delivery,
            )
        )


def read_delivery_state(cast: Cast, delivery: str) -> tuple[Value, ...]:
    """Status, due moment, attempts in all and failed ones of the present row."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one(
            "SELECT status, due_at, attempts, retries FROM delivery WHERE organisation_id = :organisation AND id = :id",
            id=delivery,
        )
    assert row is not None
    return row


def webhooks_of(sendings: Sequence[LeasedDelivery]) -> list[str]:
    """Return the webhooks of these deliveries."""
    return [sending.webhook for sending in sendings]


def make_dispatcher(
    desk: QueueHarness, web: WebhookClient | None = None, queue: DeliveryQueue | None = None
) -> Dispatcher:
    """Make a dispatcher, by default one that may send to this machine."""
    web = web or WebhookClient(AddressGuard(allow_private=True))
    return Dispatcher(queue or desk.queue, SIGNER, web, desk.clock)


@contextmanager
def run_dispatcher(dispatcher: Dispatcher) -> Iterator[None]:
    """Run a dispatcher until the block ends; deliveries on their way are finished."""
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(dispatcher.run)
        try:
            yield
        finally:
            dispatcher.stop()
            future.result()


def has_made_attempts(dispatcher: Dispatcher, count: int) -> Callable[[], bool]:
    """Return a check of whether so many attempts have been made."""
    return lambda: sum(dispatcher.counts.values()) >= count


def set_webhook_url(cast: Cast, webhook: str, url: str) -> str:
    """Set the URL of a webhook, and return the webhook's id."""
    set_columns(cast, "webhook", webhook, url=url)
    return webhook

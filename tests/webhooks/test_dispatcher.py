"""What is due is sent, many at once; and what receivers do, they do to themselves."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable
from mainstay.infrastructure.webhook_client import WebhookClient, WebhookResponse
from mainstay.values.moments import moment_text
from mainstay.webhooks import dispatcher as module
from mainstay.webhooks.dispatch_cycle import LEASE
from mainstay.webhooks.queue import DeliveryQueue
from support.cast import Cast
from support.dispatchers import (
    QueueHarness,
    has_made_attempts,
    insert_deliveries,
    list_attempts,
    make_dispatcher,
    make_trusted_webhook,
    read_delivery_state,
    run_dispatcher,
    set_webhook_url,
)
from support.receiver_threads import ConcurrencyCounter, ReceiverThread, answer_after, received_requests
from support.receivers import OK, answer_with
from support.recorded_statements import RecordingDatabase, RecordingHandle
from support.waiting import wait_until
from support.webhooks import list_stored_deliveries, make_webhook


def test_two_dispatchers_never_have_more_on_their_way_than_there_are_places(
    queue_harness: QueueHarness, receiver_thread: ReceiverThread
) -> None:
    crowd = ConcurrencyCounter()
    made, webhooks = 0, []
    for _ in range(5):
        cast = queue_harness.make_cast()
        for _ in range(5):
            webhook = make_trusted_webhook(cast)
            receiver = receiver_thread.open_receiver(crowd.make_handler("all", cast.organisation, webhook))
            webhooks.append(set_webhook_url(cast, webhook, receiver.url))
            made += len(insert_deliveries(cast, webhook, 12, queue_harness.clock()))
    dispatchers = [make_dispatcher(queue_harness) for _ in range(2)]
    with run_dispatcher(dispatchers[0]), run_dispatcher(dispatchers[1]):
        wait_until(lambda: sum(dispatcher.counts["delivered"] for dispatcher in dispatchers) == made)

    assert max(crowd.highest[webhook] for webhook in webhooks) <= 4
    assert crowd.highest["all"] <= 64
    assert max(count for name, count in crowd.highest.items() if name.startswith("org_")) <= 16
    with queue_harness.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.all("SELECT status, count(*) FROM delivery GROUP BY status") == [("delivered", made)]


def test_where_one_dispatcher_leaves_off_another_goes_on(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread
) -> None:
    let_go = threading.Event()
    receiver = receiver_thread.open_receiver(answer_after(let_go))
    insert_deliveries(cast, set_webhook_url(cast, make_trusted_webhook(cast), receiver.url), 10, queue_harness.clock())
    first, second = make_dispatcher(queue_harness), make_dispatcher(queue_harness)
    with run_dispatcher(second):
        with run_dispatcher(first):
            wait_until(lambda: len(receiver.requests) == 4)
            first.stop()
            let_go.set()
        wait_until(lambda: len(receiver.requests) == 10)
    assert sum((first.counts + second.counts).values()) == 10
    assert len({request.headers["webhook-id"] for request in received_requests(receiver)}) == 10


def test_a_single_event_is_sent_while_thousands_of_another_organisation_wait(
    queue_harness: QueueHarness, receiver_thread: ReceiverThread
) -> None:
    busy, calm = queue_harness.make_cast(), queue_harness.make_cast()
    let_go = threading.Event()
    slow, quick = receiver_thread.open_receiver(answer_after(let_go)), receiver_thread.open_receiver(answer_with(OK))
    for _ in range(10):
        insert_deliveries(busy, set_webhook_url(busy, make_trusted_webhook(busy), slow.url), 100, queue_harness.clock())
    dispatcher = make_dispatcher(queue_harness)
    with run_dispatcher(dispatcher):
        wait_until(lambda: len(slow.requests) == 16)
        webhook = set_webhook_url(calm, make_webhook(calm), quick.url)
        (delivery,) = insert_deliveries(calm, webhook, 1, queue_harness.clock())
        dispatcher.wake()
        wait_until(lambda: read_delivery_state(calm, delivery)[0] == "delivered")
        assert len(slow.requests) == 16
        dispatcher.stop()
        let_go.set()


def test_what_hangs_does_not_keep_the_healthy_waiting(
    queue_harness: QueueHarness, receiver_thread: ReceiverThread
) -> None:
    let_go = threading.Event()
    hanging = receiver_thread.open_receiver(answer_after(let_go))
    for _ in range(6):
        cast = queue_harness.make_cast()
        for _ in range(10):
            insert_deliveries(cast, set_webhook_url(cast, make_webhook(cast), hanging.url), 3, queue_harness.clock())
    healthy = queue_harness.make_cast()
    receiver = receiver_thread.open_receiver(answer_with(OK))
    webhook = set_webhook_url(healthy, make_trusted_webhook(healthy), receiver.url)
    made = insert_deliveries(healthy, webhook, 200, queue_harness.clock())
    dispatcher = make_dispatcher(queue_harness, WebhookClient(AddressGuard(allow_private=True), deadline=600.0))
    with run_dispatcher(dispatcher):
        wait_until(lambda: dispatcher.counts["delivered"] == len(made))
        assert len(hanging.requests) == 32
        dispatcher.stop()
        let_go.set()


def test_it_looks_at_once_when_it_is_woken(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 10_000.0)
    receiver = receiver_thread.open_receiver(answer_with(OK))
    webhook = set_webhook_url(cast, make_webhook(cast), receiver.url)
    dispatcher = make_dispatcher(queue_harness)
    with run_dispatcher(dispatcher):
        for number in range(1, 6):
            insert_deliveries(cast, webhook, 1, queue_harness.clock())
            dispatcher.wake()
            wait_until(has_made_attempts(dispatcher, number))


def test_what_falls_due_by_itself_is_sent_without_being_told(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread
) -> None:
    receiver = receiver_thread.open_receiver(answer_with(OK))
    webhook = set_webhook_url(cast, make_webhook(cast), receiver.url)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    insert_deliveries(cast, webhook, 1, queue_harness.clock() + timedelta(hours=1))
    dispatcher = make_dispatcher(queue_harness)
    with run_dispatcher(dispatcher):
        wait_until(has_made_attempts(dispatcher, 1))
        queue_harness.clock.advance(hours=1)
        wait_until(has_made_attempts(dispatcher, 2))


def test_asked_to_stop_it_takes_no_more_and_keeps_what_is_on_its_way(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread
) -> None:
    let_go = threading.Event()
    receiver = receiver_thread.open_receiver(answer_after(let_go))
    webhook = set_webhook_url(cast, make_trusted_webhook(cast), receiver.url)
    insert_deliveries(cast, webhook, 10, queue_harness.clock())
    dispatcher = make_dispatcher(queue_harness)
    with run_dispatcher(dispatcher):
        wait_until(lambda: len(receiver.requests) == 4)
        dispatcher.stop()
        let_go.set()
    states = [delivery["status"] for delivery in list_stored_deliveries(cast, webhook)]
    assert states == ["delivered"] * 4 + ["waiting"] * 6
    assert len(receiver.requests) == 4


def test_what_takes_long_stays_with_the_one_who_sends_it(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.01)
    monkeypatch.setattr(module, "RENEW_SECONDS", 0.0)
    let_go = threading.Event()
    receiver = receiver_thread.open_receiver(answer_after(let_go))
    webhook = set_webhook_url(cast, make_webhook(cast), receiver.url)
    (delivery,) = insert_deliveries(cast, webhook, 1, queue_harness.clock())
    first, second = make_dispatcher(queue_harness), make_dispatcher(queue_harness)

    def renewed() -> bool:
        return read_delivery_state(cast, delivery)[1] == moment_text(queue_harness.clock() + LEASE)

    with run_dispatcher(second), run_dispatcher(first):
        wait_until(lambda: bool(receiver.requests))
        for _ in range(5):
            queue_harness.clock.now += LEASE - timedelta(milliseconds=1)
            wait_until(renewed)
        # Also while it is ending.
        first.stop()
        second.stop()
        queue_harness.clock.now += LEASE - timedelta(milliseconds=1)
        wait_until(renewed)
        let_go.set()
    assert read_delivery_state(cast, delivery) == ("delivered", None, 1, 1)
    assert len(receiver.requests) == 1


def test_stopped_before_it_began_it_ends_at_once(queue_harness: QueueHarness, cast: Cast) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock())
    dispatcher = make_dispatcher(queue_harness)
    dispatcher.stop()
    dispatcher.run()
    assert dispatcher.counts == {"delivered": 0, "failed": 0}
    dispatcher.wake()


class FaultyWeb(WebhookClient):
    """A web with a fault of its own at one address."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookResponse:
        if url.endswith("/fault"):
            raise RuntimeError("a fault of our own")
        return await super().post(url, headers, body)


def test_a_fault_of_our_own_at_one_sending_stops_no_other(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread, capfd: pytest.CaptureFixture[str]
) -> None:
    receiver = receiver_thread.open_receiver(answer_with(OK))
    bad = set_webhook_url(cast, make_webhook(cast), f"{receiver.url}/fault")
    good = set_webhook_url(cast, make_trusted_webhook(cast), receiver.url)
    (faulty,) = insert_deliveries(cast, bad, 1, queue_harness.clock())
    insert_deliveries(cast, good, 20, queue_harness.clock())
    dispatcher = make_dispatcher(queue_harness, FaultyWeb(AddressGuard(allow_private=True)))
    with run_dispatcher(dispatcher):
        wait_until(has_made_attempts(dispatcher, 21))
    assert dispatcher.counts == {"delivered": 20, "failed": 1}
    assert read_delivery_state(cast, faulty)[0] == "waiting"
    assert list_attempts(cast, faulty)[0][3] == "could not be sent"
    assert "a fault of our own" in capfd.readouterr().err


class UnsteadyDatabase(RecordingDatabase):
    """A database that is away now and then."""

    failures_left = 0

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Fail while the database is away."""
        if self.failures_left:
            self.failures_left -= 1
            raise DatabaseUnavailable("away")
        with super().write_transaction(organisation, keep=keep) as db:
            yield db


def test_while_the_database_is_away_results_are_kept_in_mind(
    queue_harness: QueueHarness,
    cast: Cast,
    receiver_thread: ReceiverThread,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.01)
    let_go = threading.Event()
    receiver = receiver_thread.open_receiver(answer_after(let_go))
    webhook = set_webhook_url(cast, make_trusted_webhook(cast), receiver.url)
    insert_deliveries(cast, webhook, 9, queue_harness.clock())
    database = UnsteadyDatabase(queue_harness.performer.database)
    dispatcher = make_dispatcher(
        queue_harness, queue=DeliveryQueue(replace(queue_harness.performer, database=database), jitter=lambda: 0.0)
    )
    with run_dispatcher(dispatcher):
        wait_until(lambda: len(receiver.requests) == 4)
        database.failures_left = 3
        let_go.set()
        wait_until(lambda: len(receiver.requests) == 9)
    assert {delivery["status"] for delivery in list_stored_deliveries(cast, webhook)} == {"delivered"}
    # Each arrived once: nothing was forgotten and sent again.
    assert len({request.headers["webhook-id"] for request in received_requests(receiver)}) == 9
    assert capfd.readouterr().err.count('"database away"') == 3

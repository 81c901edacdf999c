"""What is due is sent, many at once; and what receivers do, they do to themselves."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from cast import Cast
from dispatching import (
    Desk,
    a_dispatcher,
    attempts_made,
    attempts_of,
    delivery_state,
    pointed,
    put_deliveries,
    running,
    trusted_webhook,
)
from mainstay.backing.database import EVERY, Unreachable
from mainstay.backing.guard import Guard
from mainstay.backing.web import Reply, Web
from mainstay.values.moments import moment_text
from mainstay.webhooks import dispatcher as module
from mainstay.webhooks.cycle import LEASE
from mainstay.webhooks.queue import Queue
from receivers import OK, saying
from receiving import Crowd, Street, heard, holding
from recording import RecordingDatabase, RecordingHandle
from telling import deliveries, make_webhook
from waiting import wait_until


def test_two_dispatchers_never_have_more_on_their_way_than_there_are_places(desk: Desk, street: Street) -> None:
    crowd = Crowd()
    made, webhooks = 0, []
    for _ in range(5):
        cast = desk.cast()
        for _ in range(5):
            webhook = trusted_webhook(cast)
            receiver = street.open(crowd.answering("all", cast.organisation, webhook))
            webhooks.append(pointed(cast, webhook, receiver.url))
            made += len(put_deliveries(cast, webhook, 12, desk.clock()))
    dispatchers = [a_dispatcher(desk) for _ in range(2)]
    with running(dispatchers[0]), running(dispatchers[1]):
        wait_until(lambda: sum(dispatcher.counts["delivered"] for dispatcher in dispatchers) == made)

    assert max(crowd.most[webhook] for webhook in webhooks) <= 4
    assert crowd.most["all"] <= 64
    assert max(count for name, count in crowd.most.items() if name.startswith("org_")) <= 16
    with desk.stage.database.reading(EVERY) as rows:
        assert rows.all("SELECT status, count(*) FROM delivery GROUP BY status") == [("delivered", made)]


def test_where_one_dispatcher_leaves_off_another_goes_on(desk: Desk, cast: Cast, street: Street) -> None:
    let_go = threading.Event()
    receiver = street.open(holding(let_go))
    put_deliveries(cast, pointed(cast, trusted_webhook(cast), receiver.url), 10, desk.clock())
    first, second = a_dispatcher(desk), a_dispatcher(desk)
    with running(second):
        with running(first):
            wait_until(lambda: len(receiver.requests) == 4)
            first.stop()
            let_go.set()
        wait_until(lambda: len(receiver.requests) == 10)
    assert sum((first.counts + second.counts).values()) == 10
    assert len({request.headers["webhook-id"] for request in heard(receiver)}) == 10


def test_a_single_event_is_sent_while_thousands_of_another_organisation_wait(desk: Desk, street: Street) -> None:
    busy, calm = desk.cast(), desk.cast()
    let_go = threading.Event()
    slow, quick = street.open(holding(let_go)), street.open(saying(OK))
    for _ in range(10):
        put_deliveries(busy, pointed(busy, trusted_webhook(busy), slow.url), 100, desk.clock())
    dispatcher = a_dispatcher(desk)
    with running(dispatcher):
        wait_until(lambda: len(slow.requests) == 16)
        webhook = pointed(calm, make_webhook(calm), quick.url)
        (delivery,) = put_deliveries(calm, webhook, 1, desk.clock())
        dispatcher.wake()
        wait_until(lambda: delivery_state(calm, delivery)[0] == "delivered")
        assert len(slow.requests) == 16
        dispatcher.stop()
        let_go.set()


def test_what_hangs_does_not_keep_the_healthy_waiting(desk: Desk, street: Street) -> None:
    let_go = threading.Event()
    hanging = street.open(holding(let_go))
    for _ in range(6):
        cast = desk.cast()
        for _ in range(10):
            put_deliveries(cast, pointed(cast, make_webhook(cast), hanging.url), 3, desk.clock())
    healthy = desk.cast()
    receiver = street.open(saying(OK))
    webhook = pointed(healthy, trusted_webhook(healthy), receiver.url)
    made = put_deliveries(healthy, webhook, 200, desk.clock())
    dispatcher = a_dispatcher(desk, Web(Guard(allow_private=True), deadline=600.0))
    with running(dispatcher):
        wait_until(lambda: dispatcher.counts["delivered"] == len(made))
        assert len(hanging.requests) == 32
        dispatcher.stop()
        let_go.set()


def test_it_looks_at_once_when_it_is_woken(
    desk: Desk, cast: Cast, street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 10_000.0)
    receiver = street.open(saying(OK))
    webhook = pointed(cast, make_webhook(cast), receiver.url)
    dispatcher = a_dispatcher(desk)
    with running(dispatcher):
        for number in range(1, 6):
            put_deliveries(cast, webhook, 1, desk.clock())
            dispatcher.wake()
            wait_until(attempts_made(dispatcher, number))


def test_what_falls_due_by_itself_is_sent_without_being_told(desk: Desk, cast: Cast, street: Street) -> None:
    receiver = street.open(saying(OK))
    webhook = pointed(cast, make_webhook(cast), receiver.url)
    put_deliveries(cast, webhook, 1, desk.clock())
    put_deliveries(cast, webhook, 1, desk.clock() + timedelta(hours=1))
    dispatcher = a_dispatcher(desk)
    with running(dispatcher):
        wait_until(attempts_made(dispatcher, 1))
        desk.clock.forward(hours=1)
        wait_until(attempts_made(dispatcher, 2))


def test_asked_to_stop_it_takes_no_more_and_keeps_what_is_on_its_way(desk: Desk, cast: Cast, street: Street) -> None:
    let_go = threading.Event()
    receiver = street.open(holding(let_go))
    webhook = pointed(cast, trusted_webhook(cast), receiver.url)
    put_deliveries(cast, webhook, 10, desk.clock())
    dispatcher = a_dispatcher(desk)
    with running(dispatcher):
        wait_until(lambda: len(receiver.requests) == 4)
        dispatcher.stop()
        let_go.set()
    states = [delivery["status"] for delivery in deliveries(cast, webhook)]
    assert states == ["delivered"] * 4 + ["waiting"] * 6
    assert len(receiver.requests) == 4


def test_what_takes_long_stays_with_the_one_who_sends_it(
    desk: Desk, cast: Cast, street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.01)
    monkeypatch.setattr(module, "RENEW_SECONDS", 0.0)
    let_go = threading.Event()
    receiver = street.open(holding(let_go))
    webhook = pointed(cast, make_webhook(cast), receiver.url)
    (delivery,) = put_deliveries(cast, webhook, 1, desk.clock())
    first, second = a_dispatcher(desk), a_dispatcher(desk)

    def renewed() -> bool:
        return delivery_state(cast, delivery)[1] == moment_text(desk.clock() + LEASE)

    with running(second), running(first):
        wait_until(lambda: bool(receiver.requests))
        for _ in range(5):
            desk.clock.now += LEASE - timedelta(milliseconds=1)
            wait_until(renewed)
        # Also while it is ending.
        first.stop()
        second.stop()
        desk.clock.now += LEASE - timedelta(milliseconds=1)
        wait_until(renewed)
        let_go.set()
    assert delivery_state(cast, delivery) == ("delivered", None, 1, 1)
    assert len(receiver.requests) == 1


def test_stopped_before_it_began_it_ends_at_once(desk: Desk, cast: Cast) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock())
    dispatcher = a_dispatcher(desk)
    dispatcher.stop()
    dispatcher.run()
    assert dispatcher.counts == {"delivered": 0, "failed": 0}
    dispatcher.wake()


class Faulty(Web):
    """A web with a fault of its own at one address."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        if url.endswith("/fault"):
            raise RuntimeError("a fault of our own")
        return await super().post(url, headers, body)


def test_a_fault_of_our_own_at_one_sending_stops_no_other(
    desk: Desk, cast: Cast, street: Street, capfd: pytest.CaptureFixture[str]
) -> None:
    receiver = street.open(saying(OK))
    bad = pointed(cast, make_webhook(cast), f"{receiver.url}/fault")
    good = pointed(cast, trusted_webhook(cast), receiver.url)
    (faulty,) = put_deliveries(cast, bad, 1, desk.clock())
    put_deliveries(cast, good, 20, desk.clock())
    dispatcher = a_dispatcher(desk, Faulty(Guard(allow_private=True)))
    with running(dispatcher):
        wait_until(attempts_made(dispatcher, 21))
    assert dispatcher.counts == {"delivered": 20, "failed": 1}
    assert delivery_state(cast, faulty)[0] == "waiting"
    assert attempts_of(cast, faulty)[0][3] == "could not be sent"
    assert "a fault of our own" in capfd.readouterr().err


class Unsteady(RecordingDatabase):
    """A database that is away now and then."""

    away = 0

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Now, or never."""
        if self.away:
            self.away -= 1
            raise Unreachable("away")
        with super().changing(organisation, keep=keep) as rows:
            yield rows


def test_while_the_database_is_away_results_are_kept_in_mind(
    desk: Desk, cast: Cast, street: Street, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.01)
    let_go = threading.Event()
    receiver = street.open(holding(let_go))
    webhook = pointed(cast, trusted_webhook(cast), receiver.url)
    put_deliveries(cast, webhook, 9, desk.clock())
    database = Unsteady(desk.stage.database)
    dispatcher = a_dispatcher(desk, queue=Queue(replace(desk.stage, database=database), chance=lambda: 0.0))
    with running(dispatcher):
        wait_until(lambda: len(receiver.requests) == 4)
        database.away = 3
        let_go.set()
        wait_until(lambda: len(receiver.requests) == 9)
    assert {delivery["status"] for delivery in deliveries(cast, webhook)} == {"delivered"}
    # Each arrived once: nothing was forgotten and sent again.
    assert len({request.headers["webhook-id"] for request in heard(receiver)}) == 9
    assert capfd.readouterr().err.count('"database away"') == 3

"""Whose turn it is: never more on their way than there are places, and nobody kept waiting by others."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from cast import Cast
from dispatching import (
    Desk,
    put_deliveries,
    trusted_webhook,
    whose,
)
from evidence import events
from mainstay.backing.database import EVERY
from mainstay.values.moments import moment_text
from mainstay.webhooks.cycle import LEASE
from mainstay.webhooks.endpoints import update_webhook
from mainstay.webhooks.fan_out import fan_out
from mainstay.webhooks.queue import Queue
from mainstay.webhooks.sending import Sending
from recording import RecordingDatabase
from telling import make_webhook, set_columns

MOMENT = timedelta(milliseconds=1)
# More than any test needs, so that none goes on for ever.
ENOUGH = 5_000


def test_a_trusted_webhook_has_four_on_their_way_and_a_doubted_one_has_one(desk: Desk, cast: Cast) -> None:
    good, bad = trusted_webhook(cast), make_webhook(cast)
    for webhook in (good, bad):
        put_deliveries(cast, webhook, 10, desk.clock())
    sendings = desk.take()
    assert Counter(whose(sendings)) == {good: 4, bad: 1}
    assert desk.take() == []
    # One that succeeds is trusted at once, one that fails is doubted at once.
    first = next(sending for sending in sendings if sending.webhook == good)
    other = next(sending for sending in sendings if sending.webhook == bad)
    results = [*desk.results([first], status=500), *desk.results([other])]
    assert Counter(whose(desk.queue.exchange(results))) == {bad: 4}


def test_an_organisation_has_sixteen_on_their_way(desk: Desk, cast: Cast) -> None:
    for _ in range(6):
        put_deliveries(cast, trusted_webhook(cast), 5, desk.clock())
    sendings = desk.take()
    assert len(sendings) == 16
    assert desk.take() == []
    # Whoever has had no turn is next.
    desk.clock.forward(seconds=1)
    more = desk.hand_in(*sendings[:6], take=True)
    assert len(more) == 6
    assert not {*whose(more)} & {*whose(sendings)}


def test_all_together_have_sixty_four(desk: Desk) -> None:
    for _ in range(5):
        cast = desk.cast()
        for _ in range(4):
            put_deliveries(cast, trusted_webhook(cast), 5, desk.clock())
    sendings = desk.take()
    assert len(sendings) == 64
    assert desk.take() == []
    assert len(desk.hand_in(*sendings[:6], take=True)) == 6
    desk.clock.now += LEASE
    assert len(desk.take()) == 64


def test_doubted_webhooks_have_half_of_the_places_together(desk: Desk) -> None:
    for organisations, places in ((1, 8), (4, 32)):
        for _ in range(organisations):
            cast = desk.cast()
            for _ in range(10):
                put_deliveries(cast, make_webhook(cast), 2, desk.clock())
        sendings = desk.take()
        assert set(Counter(whose(sendings)).values()) == {1}
        assert max(Counter(sending.organisation for sending in sendings).values()) <= 8
        assert len(sendings) == places
        assert desk.take() == []
        desk.clock.now += LEASE

    desk.take()
    healthy = desk.cast()
    put_deliveries(healthy, trusted_webhook(healthy), 9, desk.clock())
    assert len(desk.take()) == 4


def test_an_organisation_with_very_many_waiting_does_not_keep_another_waiting(desk: Desk) -> None:
    busy, calm = desk.cast(), desk.cast()
    for _ in range(10):
        put_deliveries(busy, trusted_webhook(busy), 100, desk.clock())
    put_deliveries(calm, trusted_webhook(calm), 1, desk.clock())
    assert calm.organisation in {sending.organisation for sending in desk.take()}


def test_turns_go_round_among_more_webhooks_than_there_are_places(desk: Desk) -> None:
    served: Counter[str] = Counter()
    for _ in range(7):
        cast = desk.cast()
        for _ in range(10):
            put_deliveries(cast, trusted_webhook(cast), 20, desk.clock())
    for _ in range(13):
        desk.clock.forward(milliseconds=1)
        sendings = desk.take()
        assert len(sendings) == 64
        served.update(whose(sendings))
        desk.hand_in(*sendings)
    # 832 places for 70 webhooks: nobody has had more than one turn too many, or too few.
    assert len(served) == 70
    assert max(served.values()) - min(served.values()) <= 8


def test_a_trusted_webhook_does_not_wait_behind_doubted_ones(desk: Desk) -> None:
    for _ in range(8):
        cast = desk.cast()
        for _ in range(10):
            put_deliveries(cast, make_webhook(cast), 3, desk.clock())
    hanging = desk.take()
    assert len(hanging) == 32
    healthy = desk.cast()
    webhook = trusted_webhook(healthy)
    set_columns(healthy, "webhook", webhook, served_at=moment_text(desk.clock()))
    put_deliveries(healthy, webhook, 40, desk.clock())
    for _ in range(10):
        sendings = desk.take()
        assert whose(sendings) == [webhook] * 4
        desk.hand_in(*sendings)


def test_those_who_have_no_room_do_not_stand_in_the_way(desk: Desk) -> None:
    """Many that cannot be served now have waited longer than the one that can."""
    full = [desk.cast() for _ in range(3)]
    for cast in full:
        for _ in range(10):
            put_deliveries(cast, trusted_webhook(cast), 20, desk.clock())
    assert len(desk.take()) == 48
    calm = desk.cast()
    webhook = trusted_webhook(calm)
    set_columns(calm, "webhook", webhook, served_at=moment_text(desk.clock() + timedelta(hours=1)))
    put_deliveries(calm, webhook, 4, desk.clock())
    assert whose(desk.take()) == [webhook] * 4


def test_several_dispatchers_share_the_places_and_send_everything_once(desk: Desk) -> None:
    casts = [desk.cast() for _ in range(3)]
    made = [
        delivery
        for cast in casts
        for _ in range(8)
        for delivery in put_deliveries(cast, trusted_webhook(cast), 25, desk.clock())
    ]
    sent: list[str] = []

    def dispatch(number: int) -> None:
        held: list[Sending] = []
        for round_ in range(ENOUGH):
            # Each goes on with some while it hands in others.
            done, held = held[number:], held[:number]
            held += (taken := desk.queue.exchange(desk.results(done)))
            sent.extend(sending.delivery for sending in taken)
            check_places(desk)
            if len(sent) >= len(made):
                break
            number = (number + round_) % 4
        desk.queue.exchange(desk.results(held), take=False)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(dispatch, range(4)))
    assert sorted(sent) == sorted(made)
    with desk.stage.database.reading(EVERY) as rows:
        assert rows.all("SELECT status, count(*) FROM delivery GROUP BY status") == [("delivered", len(made))]


def check_places(desk: Desk) -> None:
    with desk.stage.database.reading(EVERY) as rows:
        flying = rows.all("SELECT organisation_id, webhook_id FROM delivery WHERE status = 'sending'")
    assert len(flying) <= 64
    assert max(Counter(organisation for organisation, _ in flying).values(), default=0) <= 16
    assert max(Counter(flying).values(), default=0) <= 4


def test_what_happens_is_fanned_out_while_it_is_sent_and_neither_waits_in_a_circle(desk: Desk, cast: Cast) -> None:
    webhooks = [trusted_webhook(cast) for _ in range(6)]
    # In the other order than that of their ids, and each of them only some events.
    for webhook in webhooks[::2]:
        cast.perform(update_webhook, webhookId=webhook, events=["person.updated"])
    happened = [(event["id"], event["type"]) for event in events(cast)]
    done = threading.Event()

    def tell() -> None:
        try:
            for round_ in range(60):
                with cast.stage.database.changing(cast.organisation) as rows:
                    told = [(f"evt_{round_}_{number}", "person.updated") for number in range(3)]
                    fan_out(rows, [*happened, *told] if round_ % 2 else [*told, *happened], moment_text(desk.clock()))
        finally:
            done.set()

    def dispatch() -> None:
        sendings: list[Sending] = []
        last = False
        while sendings or not last:
            last = done.is_set()
            sendings = desk.queue.exchange(desk.results(sendings))

    with ThreadPoolExecutor(3) as threads:
        for finished in [threads.submit(tell), threads.submit(dispatch), threads.submit(dispatch)]:
            finished.result()
    with cast.stage.database.reading(cast.organisation) as rows:
        left = rows.one(
            "SELECT count(*) FROM delivery WHERE organisation_id = :organisation AND status IN ('waiting', 'sending')"
        )
    assert left == (0,)


@pytest.mark.only_on("sqlite")
def test_a_cycle_walks_indexes_however_much_waits(desk: Desk, cast: Cast) -> None:
    put_deliveries(cast, trusted_webhook(cast), 5, desk.clock())
    database = RecordingDatabase(desk.stage.database)
    queue = Queue(replace(desk.stage, database=database), chance=lambda: 0.0)
    first, *others = queue.exchange([])
    queue.exchange(desk.results([first], status=410), others)

    steps = {}
    with desk.stage.database.changing(EVERY, keep=False) as rows:
        for statement in database.statements:
            given = {name: value for name, value in statement.given.items() if name != "organisation"}
            for *_, step in rows.all(f"EXPLAIN QUERY PLAN {statement.sql}", **given):
                steps[str(step)] = statement.sql
    # Of all deliveries only those on their way are in this index.
    steps.pop("SCAN d USING INDEX delivery_sending")
    assert not {step: sql for step, sql in steps.items() if step.startswith("SCAN") or "AUTOMATIC" in step}
    # Only the webhooks that have something due are sorted.
    assert {sql.partition("FROM ")[2].partition(" ")[0] for step, sql in steps.items() if "TEMP B-TREE" in step} == {
        "webhook"
    }

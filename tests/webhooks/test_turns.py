"""Whose turn it is: never more on their way than there are places, and nobody kept waiting by others."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.moments import moment_text
from mainstay.webhooks.attempt import LeasedDelivery
from mainstay.webhooks.dispatch_cycle import LEASE
from mainstay.webhooks.endpoints import update_webhook
from mainstay.webhooks.fan_out import fan_out
from mainstay.webhooks.queue import DeliveryQueue
from support.cast import Cast
from support.dispatchers import QueueHarness, insert_deliveries, make_trusted_webhook, webhooks_of
from support.recorded_statements import RecordingDatabase
from support.stored_state import list_events_of
from support.webhooks import make_webhook, set_columns

MOMENT = timedelta(milliseconds=1)
# More than any test needs, so that none goes on for ever.
ENOUGH = 5_000


def test_a_trusted_webhook_has_four_on_their_way_and_a_doubted_one_has_one(
    queue_harness: QueueHarness, cast: Cast
) -> None:
    good, bad = make_trusted_webhook(cast), make_webhook(cast)
    for webhook in (good, bad):
        insert_deliveries(cast, webhook, 10, queue_harness.clock())
    sendings = queue_harness.take()
    assert Counter(webhooks_of(sendings)) == {good: 4, bad: 1}
    assert queue_harness.take() == []
    # One that succeeds is trusted at once, one that fails is doubted at once.
    first = next(sending for sending in sendings if sending.webhook == good)
    other = next(sending for sending in sendings if sending.webhook == bad)
    results = [*queue_harness.make_attempts([first], status=500), *queue_harness.make_attempts([other])]
    assert Counter(webhooks_of(queue_harness.queue.exchange(results))) == {bad: 4}


def test_an_organisation_has_sixteen_on_their_way(queue_harness: QueueHarness, cast: Cast) -> None:
    for _ in range(6):
        insert_deliveries(cast, make_trusted_webhook(cast), 5, queue_harness.clock())
    sendings = queue_harness.take()
    assert len(sendings) == 16
    assert queue_harness.take() == []
    # Webhooks that have had no turn are next.
    queue_harness.clock.advance(seconds=1)
    more = queue_harness.hand_in_attempts(*sendings[:6], take=True)
    assert len(more) == 6
    assert not {*webhooks_of(more)} & {*webhooks_of(sendings)}


def test_all_together_have_sixty_four(queue_harness: QueueHarness) -> None:
    for _ in range(5):
        cast = queue_harness.make_cast()
        for _ in range(4):
            insert_deliveries(cast, make_trusted_webhook(cast), 5, queue_harness.clock())
    sendings = queue_harness.take()
    assert len(sendings) == 64
    assert queue_harness.take() == []
    assert len(queue_harness.hand_in_attempts(*sendings[:6], take=True)) == 6
    queue_harness.clock.now += LEASE
    assert len(queue_harness.take()) == 64


def test_doubted_webhooks_have_half_of_the_places_together(queue_harness: QueueHarness) -> None:
    for organisations, places in ((1, 8), (4, 32)):
        for _ in range(organisations):
            cast = queue_harness.make_cast()
            for _ in range(10):
                insert_deliveries(cast, make_webhook(cast), 2, queue_harness.clock())
        sendings = queue_harness.take()
        assert set(Counter(webhooks_of(sendings)).values()) == {1}
        assert max(Counter(sending.organisation for sending in sendings).values()) <= 8
        assert len(sendings) == places
        assert queue_harness.take() == []
        queue_harness.clock.now += LEASE

    queue_harness.take()
    healthy = queue_harness.make_cast()
    insert_deliveries(healthy, make_trusted_webhook(healthy), 9, queue_harness.clock())
    assert len(queue_harness.take()) == 4


def test_an_organisation_with_very_many_waiting_does_not_keep_another_waiting(queue_harness: QueueHarness) -> None:
    busy, calm = queue_harness.make_cast(), queue_harness.make_cast()
    for _ in range(10):
        insert_deliveries(busy, make_trusted_webhook(busy), 100, queue_harness.clock())
    insert_deliveries(calm, make_trusted_webhook(calm), 1, queue_harness.clock())
    assert calm.organisation in {sending.organisation for sending in queue_harness.take()}


def test_turns_go_round_among_more_webhooks_than_there_are_places(queue_harness: QueueHarness) -> None:
    served: Counter[str] = Counter()
    for _ in range(7):
        cast = queue_harness.make_cast()
        for _ in range(10):
            insert_deliveries(cast, make_trusted_webhook(cast), 20, queue_harness.clock())
    for _ in range(13):
        queue_harness.clock.advance(milliseconds=1)
        sendings = queue_harness.take()
        assert len(sendings) == 64
        served.update(webhooks_of(sendings))
        queue_harness.hand_in_attempts(*sendings)
    # 832 places for 70 webhooks: nobody has had more than one turn too many, or too few.
    assert len(served) == 70
    assert max(served.values()) - min(served.values()) <= 8


def test_a_trusted_webhook_does_not_wait_behind_doubted_ones(queue_harness: QueueHarness) -> None:
    for _ in range(8):
        cast = queue_harness.make_cast()
        for _ in range(10):
            insert_deliveries(cast, make_webhook(cast), 3, queue_harness.clock())
    hanging = queue_harness.take()
    assert len(hanging) == 32
    healthy = queue_harness.make_cast()
    webhook = make_trusted_webhook(healthy)
    set_columns(healthy, "webhook", webhook, served_at=moment_text(queue_harness.clock()))
    insert_deliveries(healthy, webhook, 40, queue_harness.clock())
    for _ in range(10):
        sendings = queue_harness.take()
        assert webhooks_of(sendings) == [webhook] * 4
        queue_harness.hand_in_attempts(*sendings)


def test_those_who_have_no_room_do_not_stand_in_the_way(queue_harness: QueueHarness) -> None:
    """Many that cannot be served now have waited longer than the one that can."""
    full = [queue_harness.make_cast() for _ in range(3)]
    for cast in full:
        for _ in range(10):
            insert_deliveries(cast, make_trusted_webhook(cast), 20, queue_harness.clock())
    assert len(queue_harness.take()) == 48
    calm = queue_harness.make_cast()
    webhook = make_trusted_webhook(calm)
    set_columns(calm, "webhook", webhook, served_at=moment_text(queue_harness.clock() + timedelta(hours=1)))
    insert_deliveries(calm, webhook, 4, queue_harness.clock())
    assert webhooks_of(queue_harness.take()) == [webhook] * 4


def test_several_dispatchers_share_the_places_and_send_everything_once(queue_harness: QueueHarness) -> None:
    casts = [queue_harness.make_cast() for _ in range(3)]
    made = [
        delivery
        for cast in casts
        for _ in range(8)
        for delivery in insert_deliveries(cast, make_trusted_webhook(cast), 25, queue_harness.clock())
    ]
    sent: list[str] = []

    def dispatch(number: int) -> None:
        held: list[LeasedDelivery] = []
        for round_ in range(ENOUGH):
            # Each goes on with some while it hands in others.
            done, held = held[number:], held[:number]
            held += (taken := queue_harness.queue.exchange(queue_harness.make_attempts(done)))
            sent.extend(sending.delivery for sending in taken)
            check_places(queue_harness)
            if len(sent) >= len(made):
                break
            number = (number + round_) % 4
        queue_harness.queue.exchange(queue_harness.make_attempts(held), take=False)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(dispatch, range(4)))
    assert sorted(sent) == sorted(made)
    with queue_harness.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.all("SELECT status, count(*) FROM delivery GROUP BY status") == [("delivered", len(made))]


def check_places(queue_harness: QueueHarness) -> None:
    with queue_harness.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        flying = db.all("SELECT organisation_id, webhook_id FROM delivery WHERE status = 'sending'")
    assert len(flying) <= 64
    assert max(Counter(organisation for organisation, _ in flying).values(), default=0) <= 16
    assert max(Counter(flying).values(), default=0) <= 4


def test_what_happens_is_fanned_out_while_it_is_sent_and_neither_waits_in_a_circle(
    queue_harness: QueueHarness, cast: Cast
) -> None:
    webhooks = [make_trusted_webhook(cast) for _ in range(6)]
    # In the other order than that of their ids, and each of them only some events.
    for webhook in webhooks[::2]:
        cast.perform(update_webhook, webhookId=webhook, events=["person.updated"])
    happened = [(event["id"], event["type"]) for event in list_events_of(cast)]
    done = threading.Event()

    def tell() -> None:
        try:
            for round_ in range(60):
                with cast.performer.database.write_transaction(cast.organisation) as db:
                    new_events = [(f"evt_{round_}_{number}", "person.updated") for number in range(3)]
                    fan_out(
                        db,
                        [*happened, *new_events] if round_ % 2 else [*new_events, *happened],
                        moment_text(queue_harness.clock()),
                    )
        finally:
            done.set()

    def dispatch() -> None:
        sendings: list[LeasedDelivery] = []
        last = False
        while sendings or not last:
            last = done.is_set()
            sendings = queue_harness.queue.exchange(queue_harness.make_attempts(sendings))

    with ThreadPoolExecutor(3) as threads:
        for finished in [threads.submit(tell), threads.submit(dispatch), threads.submit(dispatch)]:
            finished.result()
    with cast.performer.database.read_transaction(cast.organisation) as db:
        left = db.one(
            "SELECT count(*) FROM delivery WHERE organisation_id = :organisation AND status IN ('waiting', 'sending')"
        )
    assert left == (0,)


@pytest.mark.only_on("sqlite")
def test_a_cycle_walks_indexes_however_much_waits(queue_harness: QueueHarness, cast: Cast) -> None:
    insert_deliveries(cast, make_trusted_webhook(cast), 5, queue_harness.clock())
    database = RecordingDatabase(queue_harness.performer.database)
    queue = DeliveryQueue(replace(queue_harness.performer, database=database), jitter=lambda: 0.0)
    first, *others = queue.exchange([])
    queue.exchange(queue_harness.make_attempts([first], status=410), others)

    steps = {}
    with queue_harness.performer.database.write_transaction(ALL_ORGANISATIONS, keep=False) as db:
        for statement in database.statements:
            given = {name: value for name, value in statement.given.items() if name != "organisation"}
            for *_, step in db.all(f"EXPLAIN QUERY PLAN {statement.sql}", **given):
                steps[str(step)] = statement.sql
    # Of all deliveries only those on their way are in this index.
    steps.pop("SCAN d USING INDEX delivery_sending")
    assert not {step: sql for step, sql in steps.items() if step.startswith("SCAN") or "AUTOMATIC" in step}
    # Only the webhooks that have something due are sorted.
    assert {sql.partition("FROM ")[2].partition(" ")[0] for step, sql in steps.items() if "TEMP B-TREE" in step} == {
        "webhook"
    }

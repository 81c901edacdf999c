"""What waits is taken, sent and kept: by whose turn it is, for a lease, and never more than there are places."""

from datetime import timedelta

import pytest

from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.record_json import to_json
from mainstay.webhooks.attempt import LeasedDelivery
from mainstay.webhooks.dispatch_cycle import LEASE, NO_EVENT
from mainstay.webhooks.endpoints import delete_webhook, pause_webhook, resume_webhook, rotate_webhook_secret
from mainstay.webhooks.queue import DeliveryQueue
from mainstay.webhooks.retry_schedule import WAITS
from mainstay.webhooks.store import find_event
from support.cast import Cast
from support.dispatchers import (
    BODY,
    QueueHarness,
    insert_deliveries,
    list_attempts,
    make_trusted_webhook,
    read_delivery_state,
)
from support.stored_state import read_all_rows
from support.webhooks import RECEIVER_URL, fan_out_all, list_stored_deliveries, make_webhook, read_columns, set_columns

MOMENT = timedelta(milliseconds=1)
# More than any test needs, so that none goes on for ever.
ENOUGH = 5_000


def test_what_happened_is_taken_as_it_is_to_be_sent(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast, events=["person.joined"])
    fan_out_all(cast)
    (sending,) = queue_harness.take()

    (delivery, *_) = list_stored_deliveries(cast, webhook)
    assert sending == LeasedDelivery(
        organisation=cast.organisation,
        webhook=webhook,
        delivery=delivery["id"],
        number=1,
        failed=0,
        url=RECEIVER_URL,
        generations=(1,),
        event=delivery["event"],
        body=body_of(cast, delivery["event"]),
    )
    assert read_delivery_state(cast, sending.delivery) == ("sending", moment_text(queue_harness.clock() + LEASE), 1, 0)


def body_of(cast: Cast, event: str) -> bytes:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = find_event(db, event)
    assert found is not None
    return to_json(found)


def test_everything_is_taken_in_the_order_in_which_it_fell_due(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_trusted_webhook(cast)
    later = insert_deliveries(cast, webhook, 2, queue_harness.clock())
    first = insert_deliveries(cast, webhook, 3, queue_harness.clock() - timedelta(minutes=1))
    sent = []
    while sendings := queue_harness.take():
        sent += [sending.delivery for sending in sendings]
        queue_harness.hand_in_attempts(*sendings)
    # The four that are taken at once are handed over in the order in which they were made.
    assert sent == [later[0], *first, later[1]]


def test_what_fell_due_at_once_is_taken_in_the_order_in_which_it_was_made(
    queue_harness: QueueHarness, cast: Cast
) -> None:
    webhook = make_trusted_webhook(cast)
    made = [new_id("delivery") for _ in range(9)]
    lying = insert_deliveries(cast, webhook, 9, queue_harness.clock())
    with cast.performer.database.write_transaction(cast.organisation) as db:
        # As they lie in the table, the first of them are the last.
        for was, record_id in zip(lying, reversed(made), strict=True):
            db.run(
                "UPDATE delivery SET id = :id WHERE organisation_id = :organisation AND id = :was",
                id=record_id,
                was=was,
            )
    sendings = queue_harness.take()
    assert [sending.delivery for sending in sendings] == made[:4]


def test_a_test_event_is_sent_with_the_body_it_was_kept_with(queue_harness: QueueHarness, cast: Cast) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock())
    (sending,) = queue_harness.take()
    assert sending.body == BODY.encode()


def test_nothing_is_written_while_nothing_is_due(queue_harness: QueueHarness, cast: Cast) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock() + MOMENT)
    before = read_all_rows(queue_harness.performer.database)
    assert queue_harness.take() == []
    assert read_all_rows(queue_harness.performer.database) == before
    queue_harness.clock.now += MOMENT
    assert len(queue_harness.take()) == 1


def test_a_success_is_kept(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    set_columns(cast, "webhook", webhook, failing_since="2026-11-01T00:00:00.000Z")
    (sending,) = queue_harness.take()
    began = moment_text(queue_harness.clock())
    results = queue_harness.make_attempts([sending], status=204, answer=b"fine")
    queue_harness.clock.advance(seconds=2)
    queue_harness.queue.exchange(results)

    assert read_delivery_state(cast, sending.delivery) == ("delivered", None, 1, 1)
    assert list_attempts(cast, sending.delivery) == [(1, began, 204, None, 7, "fine")]
    assert read_columns(cast, webhook, "trusted", "failing_since", "due_at") == (1, None, None)


@pytest.mark.parametrize(("status", "error"), [(500, None), (302, None), (None, "connection refused"), (199, None)])
def test_a_failure_is_kept_and_tried_again(
    queue_harness: QueueHarness, cast: Cast, status: int | None, error: str | None
) -> None:
    webhook = make_trusted_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    (sending,) = queue_harness.take()
    queue_harness.hand_in_attempts(sending, status=status, error=error)

    again = moment_text(queue_harness.clock() + WAITS[1])
    assert read_delivery_state(cast, sending.delivery) == ("waiting", again, 1, 1)
    ((number, _, kept, problem, _, _),) = list_attempts(cast, sending.delivery)
    assert (number, kept, problem) == (1, status, error)
    assert read_columns(cast, webhook, "trusted", "failing_since", "due_at") == (
        0,
        moment_text(queue_harness.clock()),
        again,
    )


def test_a_delivery_is_tried_ten_times_and_has_failed_then(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    since = moment_text(queue_harness.clock())
    for attempt, wait in enumerate([*WAITS[1:], None], start=1):
        (sending,) = queue_harness.take()
        assert (sending.number, sending.failed) == (attempt, attempt - 1)
        queue_harness.hand_in_attempts(sending, status=500)
        if wait is not None:
            queue_harness.clock.now += wait - MOMENT
            assert queue_harness.take() == []
            queue_harness.clock.now += MOMENT

    assert read_delivery_state(cast, sending.delivery) == ("failed", None, 10, 10)
    assert len(list_attempts(cast, sending.delivery)) == 10
    assert read_columns(cast, webhook, "status", "failing_since", "due_at") == ("active", since, None)
    queue_harness.clock.advance(days=1)
    assert queue_harness.take() == []


def test_chance_has_a_hand_in_the_wait(queue_harness: QueueHarness, cast: Cast) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock())
    queue = DeliveryQueue(queue_harness.performer, jitter=lambda: 1.0)
    (sending,) = queue.exchange([])
    queue.exchange(queue_harness.make_attempts([sending], status=500))
    assert read_delivery_state(cast, sending.delivery)[1] == moment_text(queue_harness.clock() + timedelta(seconds=6))


@pytest.mark.parametrize(("status", "seconds"), [(429, 120), (503, 120), (500, 5)])
def test_a_receiver_that_is_busy_is_given_time(
    queue_harness: QueueHarness, cast: Cast, status: int, seconds: int
) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock())
    (sending,) = queue_harness.take()
    queue_harness.hand_in_attempts(sending, status=status, retry_after="120")
    assert read_delivery_state(cast, sending.delivery)[1] == moment_text(
        queue_harness.clock() + timedelta(seconds=seconds)
    )


@pytest.mark.parametrize(
    ("answer", "kept"),
    [(b"x" * 5000, "x" * 1024), (b"a\0b\xff\xfe", "ab��"), ("Straße €".encode(), "Straße €"), (b"", "")],
)
def test_the_beginning_of_an_answer_is_kept_as_text(
    queue_harness: QueueHarness, cast: Cast, answer: bytes, kept: str
) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock())
    (sending,) = queue_harness.take()
    queue_harness.hand_in_attempts(sending, answer=answer)
    assert list_attempts(cast, sending.delivery)[0][5] == kept


def test_an_event_that_is_kept_no_longer_cannot_be_sent(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_trusted_webhook(cast)
    fan_out_all(cast)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("DELETE FROM event WHERE organisation_id = :organisation AND sequence = 1")
    gone, *kept = list_stored_deliveries(cast, webhook)

    sendings = queue_harness.take()
    assert [sending.delivery for sending in sendings] == [delivery["id"] for delivery in kept[:3]]
    assert read_delivery_state(cast, gone["id"]) == ("failed", None, 1, 1)
    ((_, _, status, error, _, _),) = list_attempts(cast, gone["id"])
    assert (status, error) == (None, NO_EVENT)
    # It says nothing about the receiver.
    assert read_columns(cast, webhook, "trusted", "failing_since") == (1, None)


def test_a_lease_holds_until_it_ends(queue_harness: QueueHarness, cast: Cast) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock())
    (lost,) = queue_harness.take()
    queue_harness.clock.now += LEASE - MOMENT
    assert queue_harness.take() == []
    queue_harness.clock.now += MOMENT
    (again,) = queue_harness.take()
    assert (again.delivery, again.number, again.failed) == (lost.delivery, 2, 0)


def test_a_lease_is_renewed_as_long_as_the_sending_lasts(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 2, queue_harness.clock())
    (sending,) = queue_harness.take()
    for late in (-MOMENT, timedelta(), timedelta(hours=1)):
        # However late: what nobody else has taken meanwhile is still ours, and not taken a second time.
        queue_harness.clock.now += LEASE + late
        assert queue_harness.queue.exchange([], [sending]) == []
        renewed = moment_text(queue_harness.clock() + LEASE)
        assert read_delivery_state(cast, sending.delivery) == ("sending", renewed, 1, 0)
    queue_harness.hand_in_attempts(sending)
    assert read_delivery_state(cast, sending.delivery) == ("delivered", None, 1, 1)


def test_the_lease_of_a_webhook_with_nothing_else_to_send_is_when_it_is_looked_at_next(
    queue_harness: QueueHarness, cast: Cast
) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    (sending,) = queue_harness.take()
    for _ in range(2):
        assert read_columns(cast, webhook, "due_at") == (moment_text(queue_harness.clock() + LEASE),)
        queue_harness.clock.advance(seconds=1)
        queue_harness.queue.exchange([], [sending])


def test_a_lease_that_was_lost_cannot_be_renewed(queue_harness: QueueHarness, cast: Cast) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock())
    (lost,) = queue_harness.take()
    queue_harness.clock.now += LEASE
    (again,) = queue_harness.take()
    state = read_delivery_state(cast, again.delivery)
    queue_harness.clock.advance(seconds=1)
    queue_harness.queue.exchange([], [lost])
    assert read_delivery_state(cast, again.delivery) == state


@pytest.mark.parametrize("status", [200, 500, 410])
def test_the_late_result_of_a_lost_lease_changes_nothing_but_the_log(
    queue_harness: QueueHarness, cast: Cast, status: int
) -> None:
    webhook = make_webhook(cast)
    insert_deliveries(cast, webhook, 1, queue_harness.clock())
    (lost,) = queue_harness.take()
    queue_harness.clock.now += LEASE
    (again,) = queue_harness.take()
    columns = ("status", "trusted", "failing_since", "due_at", "version")
    before = read_delivery_state(cast, again.delivery), read_columns(cast, webhook, *columns)

    queue_harness.hand_in_attempts(lost, status=status)
    assert (read_delivery_state(cast, again.delivery), read_columns(cast, webhook, *columns)) == before
    queue_harness.hand_in_attempts(again)
    assert read_delivery_state(cast, again.delivery) == ("delivered", None, 2, 1)
    queue_harness.hand_in_attempts(lost, status=status)
    assert read_delivery_state(cast, again.delivery) == ("delivered", None, 2, 1)
    assert [(number, kept) for number, _, kept, *_ in list_attempts(cast, again.delivery)] == [(1, status), (2, 200)]


def test_a_result_may_be_handed_in_twice(queue_harness: QueueHarness, cast: Cast) -> None:
    insert_deliveries(cast, make_webhook(cast), 1, queue_harness.clock())
    (sending,) = queue_harness.take()
    for _ in range(2):
        queue_harness.hand_in_attempts(sending, status=500)
    assert read_delivery_state(cast, sending.delivery) == (
        "waiting",
        moment_text(queue_harness.clock() + WAITS[1]),
        1,
        1,
    )
    assert len(list_attempts(cast, sending.delivery)) == 1


def test_the_result_of_what_was_deleted_meanwhile_is_forgotten(queue_harness: QueueHarness, cast: Cast) -> None:
    gone, stays = make_webhook(cast), make_webhook(cast)
    for webhook in (gone, stays):
        insert_deliveries(cast, webhook, 1, queue_harness.clock())
    sendings = queue_harness.take()
    cast.perform(delete_webhook, webhookId=gone, confirmed=True)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("DELETE FROM delivery WHERE organisation_id = :organisation AND webhook_id = :id", id=stays)
    for status in (200, 500):
        assert queue_harness.hand_in_attempts(*sendings, status=status) == []
    assert read_columns(cast, stays, "trusted", "failing_since") == (0, None)


def test_a_paused_webhook_is_sent_nothing_until_it_is_resumed(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_trusted_webhook(cast)
    insert_deliveries(cast, webhook, 6, queue_harness.clock())
    sendings = queue_harness.take()
    cast.perform(pause_webhook, webhookId=webhook)
    done, failed, *_ = sendings
    queue_harness.queue.exchange(
        [*queue_harness.make_attempts([done]), *queue_harness.make_attempts([failed], status=500)]
    )
    assert read_delivery_state(cast, done.delivery)[0] == "delivered"
    assert read_delivery_state(cast, failed.delivery)[0] == "waiting"
    queue_harness.clock.advance(minutes=1)
    assert queue_harness.take() == []

    cast.perform(resume_webhook, webhookId=webhook)
    queue_harness.clock.advance(minutes=1)
    rest = {delivery["id"] for delivery in list_stored_deliveries(cast, webhook)} - {done.delivery}
    while sendings := queue_harness.take():
        rest -= {sending.delivery for sending in sendings}
        queue_harness.hand_in_attempts(*sendings)
    assert rest == set()


def test_two_secrets_sign_for_a_day_after_a_rotation(queue_harness: QueueHarness, cast: Cast) -> None:
    webhook = make_webhook(cast)
    cast.perform(rotate_webhook_secret, webhookId=webhook)
    rotated = queue_harness.clock.now = cast.performer.clock()
    for moment, generations in (
        (rotated, (2, 1)),
        (rotated + timedelta(hours=24) - timedelta(seconds=5), (2, 1)),
        (rotated + timedelta(hours=24), (2,)),
    ):
        queue_harness.clock.now = moment
        insert_deliveries(cast, webhook, 1, moment)
        (sending,) = queue_harness.take()
        assert sending.generations == generations
        queue_harness.hand_in_attempts(sending)

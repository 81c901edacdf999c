"""What waits is taken, sent and kept: by whose turn it is, for a lease, and never more than there are places."""

from datetime import timedelta

import pytest

from cast import Cast
from dispatching import (
    BODY,
    Desk,
    attempts_of,
    delivery_state,
    put_deliveries,
    trusted_webhook,
)
from evidence import contents
from mainstay.terms.wire import to_json
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.webhooks.cycle import LEASE, NO_EVENT
from mainstay.webhooks.endpoints import delete_webhook, pause_webhook, resume_webhook, rotate_webhook_secret
from mainstay.webhooks.queue import Queue
from mainstay.webhooks.schedule import WAITS
from mainstay.webhooks.sending import Sending
from mainstay.webhooks.store import find_event
from telling import RECEIVER, columns_of, deliveries, fan_out_all, make_webhook, set_columns

MOMENT = timedelta(milliseconds=1)
# More than any test needs, so that none goes on for ever.
ENOUGH = 5_000


def test_what_happened_is_taken_as_it_is_to_be_sent(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast, events=["person.joined"])
    fan_out_all(cast)
    (sending,) = desk.take()

    (delivery, *_) = deliveries(cast, webhook)
    assert sending == Sending(
        organisation=cast.organisation,
        webhook=webhook,
        delivery=delivery["id"],
        number=1,
        failed=0,
        url=RECEIVER,
        generations=(1,),
        event=delivery["event"],
        body=body_of(cast, delivery["event"]),
    )
    assert delivery_state(cast, sending.delivery) == ("sending", moment_text(desk.clock() + LEASE), 1, 0)


def body_of(cast: Cast, event: str) -> bytes:
    with cast.stage.database.reading(cast.organisation) as rows:
        found = find_event(rows, event)
    assert found is not None
    return to_json(found)


def test_everything_is_taken_in_the_order_in_which_it_fell_due(desk: Desk, cast: Cast) -> None:
    webhook = trusted_webhook(cast)
    later = put_deliveries(cast, webhook, 2, desk.clock())
    first = put_deliveries(cast, webhook, 3, desk.clock() - timedelta(minutes=1))
    sent = []
    while sendings := desk.take():
        sent += [sending.delivery for sending in sendings]
        desk.hand_in(*sendings)
    # The four that are taken at once are handed over in the order in which they were made.
    assert sent == [later[0], *first, later[1]]


def test_what_fell_due_at_once_is_taken_in_the_order_in_which_it_was_made(desk: Desk, cast: Cast) -> None:
    webhook = trusted_webhook(cast)
    made = [new_id("delivery") for _ in range(9)]
    lying = put_deliveries(cast, webhook, 9, desk.clock())
    with cast.stage.database.changing(cast.organisation) as rows:
        # As they lie in the table, the first of them are the last.
        for was, identity in zip(lying, reversed(made), strict=True):
            rows.run(
                "UPDATE delivery SET id = :id WHERE organisation_id = :organisation AND id = :was", id=identity, was=was
            )
    sendings = desk.take()
    assert [sending.delivery for sending in sendings] == made[:4]


def test_a_test_event_is_sent_with_the_body_it_was_kept_with(desk: Desk, cast: Cast) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock())
    (sending,) = desk.take()
    assert sending.body == BODY.encode()


def test_nothing_is_written_while_nothing_is_due(desk: Desk, cast: Cast) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock() + MOMENT)
    before = contents(desk.stage.database)
    assert desk.take() == []
    assert contents(desk.stage.database) == before
    desk.clock.now += MOMENT
    assert len(desk.take()) == 1


def test_a_success_is_kept(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    set_columns(cast, "webhook", webhook, failing_since="2026-11-01T00:00:00.000Z")
    (sending,) = desk.take()
    began = moment_text(desk.clock())
    results = desk.results([sending], status=204, answer=b"fine")
    desk.clock.forward(seconds=2)
    desk.queue.exchange(results)

    assert delivery_state(cast, sending.delivery) == ("delivered", None, 1, 1)
    assert attempts_of(cast, sending.delivery) == [(1, began, 204, None, 7, "fine")]
    assert columns_of(cast, webhook, "trusted", "failing_since", "due_at") == (1, None, None)


@pytest.mark.parametrize(("status", "error"), [(500, None), (302, None), (None, "connection refused"), (199, None)])
def test_a_failure_is_kept_and_tried_again(desk: Desk, cast: Cast, status: int | None, error: str | None) -> None:
    webhook = trusted_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    (sending,) = desk.take()
    desk.hand_in(sending, status=status, error=error)

    again = moment_text(desk.clock() + WAITS[1])
    assert delivery_state(cast, sending.delivery) == ("waiting", again, 1, 1)
    ((number, _, kept, problem, _, _),) = attempts_of(cast, sending.delivery)
    assert (number, kept, problem) == (1, status, error)
    assert columns_of(cast, webhook, "trusted", "failing_since", "due_at") == (0, moment_text(desk.clock()), again)


def test_a_delivery_is_tried_ten_times_and_has_failed_then(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    since = moment_text(desk.clock())
    for attempt, wait in enumerate([*WAITS[1:], None], start=1):
        (sending,) = desk.take()
        assert (sending.number, sending.failed) == (attempt, attempt - 1)
        desk.hand_in(sending, status=500)
        if wait is not None:
            desk.clock.now += wait - MOMENT
            assert desk.take() == []
            desk.clock.now += MOMENT

    assert delivery_state(cast, sending.delivery) == ("failed", None, 10, 10)
    assert len(attempts_of(cast, sending.delivery)) == 10
    assert columns_of(cast, webhook, "status", "failing_since", "due_at") == ("active", since, None)
    desk.clock.forward(days=1)
    assert desk.take() == []


def test_chance_has_a_hand_in_the_wait(desk: Desk, cast: Cast) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock())
    queue = Queue(desk.stage, chance=lambda: 1.0)
    (sending,) = queue.exchange([])
    queue.exchange(desk.results([sending], status=500))
    assert delivery_state(cast, sending.delivery)[1] == moment_text(desk.clock() + timedelta(seconds=6))


@pytest.mark.parametrize(("status", "seconds"), [(429, 120), (503, 120), (500, 5)])
def test_a_receiver_that_is_busy_is_given_time(desk: Desk, cast: Cast, status: int, seconds: int) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock())
    (sending,) = desk.take()
    desk.hand_in(sending, status=status, retry_after="120")
    assert delivery_state(cast, sending.delivery)[1] == moment_text(desk.clock() + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("answer", "kept"),
    [(b"x" * 5000, "x" * 1024), (b"a\0b\xff\xfe", "ab��"), ("Straße €".encode(), "Straße €"), (b"", "")],
)
def test_the_beginning_of_an_answer_is_kept_as_text(desk: Desk, cast: Cast, answer: bytes, kept: str) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock())
    (sending,) = desk.take()
    desk.hand_in(sending, answer=answer)
    assert attempts_of(cast, sending.delivery)[0][5] == kept


def test_an_event_that_is_kept_no_longer_cannot_be_sent(desk: Desk, cast: Cast) -> None:
    webhook = trusted_webhook(cast)
    fan_out_all(cast)
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("DELETE FROM event WHERE organisation_id = :organisation AND sequence = 1")
    gone, *kept = deliveries(cast, webhook)

    sendings = desk.take()
    assert [sending.delivery for sending in sendings] == [delivery["id"] for delivery in kept[:3]]
    assert delivery_state(cast, gone["id"]) == ("failed", None, 1, 1)
    ((_, _, status, error, _, _),) = attempts_of(cast, gone["id"])
    assert (status, error) == (None, NO_EVENT)
    # It says nothing about the receiver.
    assert columns_of(cast, webhook, "trusted", "failing_since") == (1, None)


def test_a_lease_holds_until_it_ends(desk: Desk, cast: Cast) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock())
    (lost,) = desk.take()
    desk.clock.now += LEASE - MOMENT
    assert desk.take() == []
    desk.clock.now += MOMENT
    (again,) = desk.take()
    assert (again.delivery, again.number, again.failed) == (lost.delivery, 2, 0)


def test_a_lease_is_renewed_as_long_as_the_sending_lasts(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 2, desk.clock())
    (sending,) = desk.take()
    for late in (-MOMENT, timedelta(), timedelta(hours=1)):
        # However late: what nobody else has taken meanwhile is still ours, and not taken a second time.
        desk.clock.now += LEASE + late
        assert desk.queue.exchange([], [sending]) == []
        renewed = moment_text(desk.clock() + LEASE)
        assert delivery_state(cast, sending.delivery) == ("sending", renewed, 1, 0)
    desk.hand_in(sending)
    assert delivery_state(cast, sending.delivery) == ("delivered", None, 1, 1)


def test_the_lease_of_a_webhook_with_nothing_else_to_send_is_when_it_is_looked_at_next(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    (sending,) = desk.take()
    for _ in range(2):
        assert columns_of(cast, webhook, "due_at") == (moment_text(desk.clock() + LEASE),)
        desk.clock.forward(seconds=1)
        desk.queue.exchange([], [sending])


def test_a_lease_that_was_lost_cannot_be_renewed(desk: Desk, cast: Cast) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock())
    (lost,) = desk.take()
    desk.clock.now += LEASE
    (again,) = desk.take()
    state = delivery_state(cast, again.delivery)
    desk.clock.forward(seconds=1)
    desk.queue.exchange([], [lost])
    assert delivery_state(cast, again.delivery) == state


@pytest.mark.parametrize("status", [200, 500, 410])
def test_the_late_result_of_a_lost_lease_changes_nothing_but_the_log(desk: Desk, cast: Cast, status: int) -> None:
    webhook = make_webhook(cast)
    put_deliveries(cast, webhook, 1, desk.clock())
    (lost,) = desk.take()
    desk.clock.now += LEASE
    (again,) = desk.take()
    columns = ("status", "trusted", "failing_since", "due_at", "version")
    before = delivery_state(cast, again.delivery), columns_of(cast, webhook, *columns)

    desk.hand_in(lost, status=status)
    assert (delivery_state(cast, again.delivery), columns_of(cast, webhook, *columns)) == before
    desk.hand_in(again)
    assert delivery_state(cast, again.delivery) == ("delivered", None, 2, 1)
    desk.hand_in(lost, status=status)
    assert delivery_state(cast, again.delivery) == ("delivered", None, 2, 1)
    assert [(number, kept) for number, _, kept, *_ in attempts_of(cast, again.delivery)] == [(1, status), (2, 200)]


def test_a_result_may_be_handed_in_twice(desk: Desk, cast: Cast) -> None:
    put_deliveries(cast, make_webhook(cast), 1, desk.clock())
    (sending,) = desk.take()
    for _ in range(2):
        desk.hand_in(sending, status=500)
    assert delivery_state(cast, sending.delivery) == ("waiting", moment_text(desk.clock() + WAITS[1]), 1, 1)
    assert len(attempts_of(cast, sending.delivery)) == 1


def test_the_result_of_what_was_deleted_meanwhile_is_forgotten(desk: Desk, cast: Cast) -> None:
    gone, stays = make_webhook(cast), make_webhook(cast)
    for webhook in (gone, stays):
        put_deliveries(cast, webhook, 1, desk.clock())
    sendings = desk.take()
    cast.perform(delete_webhook, webhookId=gone, confirmed=True)
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("DELETE FROM delivery WHERE organisation_id = :organisation AND webhook_id = :id", id=stays)
    for status in (200, 500):
        assert desk.hand_in(*sendings, status=status) == []
    assert columns_of(cast, stays, "trusted", "failing_since") == (0, None)


def test_a_paused_webhook_is_sent_nothing_until_it_is_resumed(desk: Desk, cast: Cast) -> None:
    webhook = trusted_webhook(cast)
    put_deliveries(cast, webhook, 6, desk.clock())
    sendings = desk.take()
    cast.perform(pause_webhook, webhookId=webhook)
    done, failed, *_ = sendings
    desk.queue.exchange([*desk.results([done]), *desk.results([failed], status=500)])
    assert delivery_state(cast, done.delivery)[0] == "delivered"
    assert delivery_state(cast, failed.delivery)[0] == "waiting"
    desk.clock.forward(minutes=1)
    assert desk.take() == []

    cast.perform(resume_webhook, webhookId=webhook)
    desk.clock.forward(minutes=1)
    rest = {delivery["id"] for delivery in deliveries(cast, webhook)} - {done.delivery}
    while sendings := desk.take():
        rest -= {sending.delivery for sending in sendings}
        desk.hand_in(*sendings)
    assert rest == set()


def test_two_secrets_sign_for_a_day_after_a_rotation(desk: Desk, cast: Cast) -> None:
    webhook = make_webhook(cast)
    cast.perform(rotate_webhook_secret, webhookId=webhook)
    rotated = desk.clock.now = cast.stage.clock()
    for moment, generations in (
        (rotated, (2, 1)),
        (rotated + timedelta(hours=24) - timedelta(seconds=5), (2, 1)),
        (rotated + timedelta(hours=24), (2,)),
    ):
        desk.clock.now = moment
        put_deliveries(cast, webhook, 1, moment)
        (sending,) = desk.take()
        assert sending.generations == generations
        desk.hand_in(sending)

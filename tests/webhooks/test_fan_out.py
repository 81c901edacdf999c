"""From one event to a delivery for every webhook that wants it."""

import pytest

from mainstay.business.people.operations import update_person
from mainstay.values.ids import is_id
from mainstay.vocabulary.permissions import Role
from mainstay.webhooks.endpoints import pause_webhook
from mainstay.webhooks.fan_out import fan_out
from support.cast import Cast
from support.stored_state import list_events_of, read_last_event
from support.webhooks import fan_out_all, list_stored_deliveries, make_webhook, read_columns, set_columns

AT = "2026-11-15T10:00:00.000Z"
EARLIER = "2026-11-15T09:59:59.999Z"
LATER = "2026-11-15T10:00:00.001Z"


def fan_out_last(cast: Cast, at: str = AT) -> str:
    event = read_last_event(cast)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        fan_out(db, [(event["id"], event["type"])], at)
    return str(event["id"])


def test_every_webhook_gets_a_delivery_that_is_due(cast: Cast) -> None:
    webhooks = [make_webhook(cast) for _ in range(2)]
    event = fan_out_last(cast)
    for webhook in webhooks:
        (delivery,) = list_stored_deliveries(cast, webhook)
        assert is_id(delivery.pop("id"), "delivery")
        assert delivery == {
            "event": event,
            "type": "person.joined",
            "status": "waiting",
            "due": AT,
            "attempts": 0,
            "retries": 0,
            "test_body": None,
        }
        assert read_columns(cast, webhook, "due_at") == (AT,)


def test_several_events_at_once_are_told_each_to_those_who_want_it(cast: Cast) -> None:
    everything, updated = make_webhook(cast), make_webhook(cast, events=["person.updated"])
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    happened = [(event["id"], event["type"]) for event in list_events_of(cast)]
    with cast.performer.database.write_transaction(cast.organisation) as db:
        fan_out(db, happened, AT)
    assert [(delivery["event"], delivery["type"]) for delivery in list_stored_deliveries(cast, everything)] == happened
    assert [delivery["event"] for delivery in list_stored_deliveries(cast, updated)] == [happened[-1][0]]


def test_what_happened_before_a_webhook_was_made_is_not_sent_there(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    *_, before, last = list_events_of(cast)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for event, at in ((before, EARLIER), (last, AT)):
            db.run(
                "UPDATE event SET created_at = :at WHERE organisation_id = :organisation AND id = :id",
                id=event["id"],
                at=at,
            )
    earlier, same, later = (make_webhook(cast) for _ in range(3))
    for webhook, moment in ((earlier, EARLIER), (same, AT), (later, LATER)):
        set_columns(cast, "webhook", webhook, created_at=moment)

    with cast.performer.database.write_transaction(cast.organisation) as db:
        fan_out(db, [(event["id"], event["type"]) for event in (before, last)], LATER)

    delivered = {
        webhook: [delivery["event"] for delivery in list_stored_deliveries(cast, webhook)]
        for webhook in (earlier, same, later)
    }
    assert delivered == {earlier: [before["id"], last["id"]], same: [last["id"]], later: []}


def test_said_twice_it_happens_once(cast: Cast) -> None:
    webhook = make_webhook(cast)
    fan_out_last(cast)
    (first,) = list_stored_deliveries(cast, webhook)
    set_columns(cast, "delivery", first["id"], status="delivered", due_at=None)
    fan_out_last(cast, LATER)
    assert list_stored_deliveries(cast, webhook) == [first | {"status": "delivered", "due": None}]


def test_a_webhook_gets_the_kinds_it_chose(cast: Cast) -> None:
    joined, updated = make_webhook(cast, events=["person.joined"]), make_webhook(cast, events=["person.updated"])
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    fan_out_all(cast)
    assert {delivery["type"] for delivery in list_stored_deliveries(cast, joined)} == {"person.joined"}
    assert [delivery["event"] for delivery in list_stored_deliveries(cast, updated)] == [read_last_event(cast)["id"]]


def test_a_paused_webhook_keeps_what_happens_for_later(cast: Cast) -> None:
    webhook = make_webhook(cast)
    cast.perform(pause_webhook, webhookId=webhook)
    fan_out_all(cast)
    assert len(list_stored_deliveries(cast, webhook)) == len(list_events_of(cast))


def test_a_disabled_webhook_keeps_nothing(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, status="disabled")
    fan_out_all(cast)
    assert list_stored_deliveries(cast, webhook) == []
    assert read_columns(cast, webhook, "due_at") == (None,)


def test_another_organisation_s_webhooks_get_nothing(cast: Cast, other_cast: Cast) -> None:
    webhook = make_webhook(other_cast)
    fan_out_all(cast)
    assert list_stored_deliveries(other_cast, webhook) == []


@pytest.mark.parametrize(("was", "becomes"), [(None, AT), (LATER, AT), (EARLIER, EARLIER), (AT, AT)])
def test_the_webhook_is_due_at_the_earliest_moment(cast: Cast, was: str | None, becomes: str) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, due_at=was)
    fan_out_last(cast)
    assert read_columns(cast, webhook, "due_at") == (becomes,)


def test_telling_does_not_change_the_webhook_s_version(cast: Cast) -> None:
    webhook = make_webhook(cast)
    before = read_columns(cast, webhook, "version", "updated_at")
    fan_out_last(cast)
    assert read_columns(cast, webhook, "version", "updated_at") == before

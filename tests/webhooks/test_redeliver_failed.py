from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from mainstay.business.people.operations import update_person
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid, NotFound
from mainstay.webhooks import deliveries as module
from mainstay.webhooks.deliveries import redeliver_failed, send_test_event
from mainstay.webhooks.endpoints import resume_webhook, update_webhook
from support.cast import Cast
from support.stored_state import list_events_of, operations_on
from support.webhooks import fan_out_all, list_stored_deliveries, make_webhook, read_columns, set_columns


def moment_before(cast: Cast, **time: int) -> str:
    return moment_text(cast.performer.clock() - timedelta(**time))


def make_late_webhook(cast: Cast) -> str:
    """A webhook that was made after everything that has happened."""
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, created_at=moment_text(cast.performer.clock() + timedelta(seconds=30)))
    return webhook


def cause_events(cast: Cast, times: int = 1, at: datetime | None = None) -> list[str]:
    """Cause this many events, one minute ahead unless told otherwise; return their ids."""
    moment = at or cast.performer.clock() + timedelta(minutes=1)
    acting = replace(cast, performer=replace(cast.performer, clock=lambda: moment))
    for _ in range(times):
        acting.perform(update_person, personId=cast.people[Role.MEMBER], phone=new_id("phone"))
    return [event["id"] for event in list_events_of(cast)[-times:]]


def statuses_by_event(cast: Cast, webhook: str) -> dict[str, str]:
    return {delivery["event"]: delivery["status"] for delivery in list_stored_deliveries(cast, webhook)}


def test_what_failed_is_sent_again_and_what_arrived_is_not(cast: Cast) -> None:
    webhook = make_late_webhook(cast)
    failed, retried, fresh, arrived, sending = cause_events(cast, 5)
    fan_out_all(cast)
    kept = {delivery["event"]: delivery["id"] for delivery in list_stored_deliveries(cast, webhook)}
    far = "2126-11-15T10:00:00.000Z"
    set_columns(cast, "delivery", kept[failed], status="failed", due_at=None, attempts=11, retries=11)
    set_columns(cast, "delivery", kept[retried], due_at=far, attempts=2, retries=2)
    set_columns(cast, "delivery", kept[fresh], due_at=far)
    set_columns(cast, "delivery", kept[arrived], status="delivered", due_at=None, attempts=1, retries=1)
    set_columns(cast, "delivery", kept[sending], status="sending", due_at=far, attempts=1)
    set_columns(cast, "webhook", webhook, due_at=None)

    answer = cast.perform(redeliver_failed, Role.ADMIN, webhookId=webhook, since=moment_before(cast, hours=1))

    assert answer == {"object": "redelivered", "webhookId": webhook, "count": 2, "hasMore": False}
    after = {delivery["event"]: delivery for delivery in list_stored_deliveries(cast, webhook)}
    states = [(after[event]["status"], after[event]["retries"]) for event in (failed, retried, fresh, arrived, sending)]
    assert states == [("waiting", 0), ("waiting", 0), ("waiting", 0), ("delivered", 1), ("sending", 0)]
    dues = [after[event]["due"] for event in (failed, retried, fresh, arrived, sending)]
    assert dues == [dues[0], dues[0], far, None, far]
    assert read_columns(cast, webhook, "due_at") == (dues[0],)
    assert after[failed]["attempts"] == 11


def test_what_happened_while_it_was_disabled_is_made_up_for(cast: Cast) -> None:
    webhook = make_late_webhook(cast)
    set_columns(cast, "webhook", webhook, status="disabled")
    missed = cause_events(cast, 3)
    fan_out_all(cast)
    assert list_stored_deliveries(cast, webhook) == []
    cast.perform(resume_webhook, webhookId=webhook)
    assert cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, hours=1))["count"] == 3
    assert statuses_by_event(cast, webhook) == dict.fromkeys(missed, "waiting")
    assert cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, hours=1))["count"] == 0


def test_where_nothing_is_sent_again_nothing_was_done(cast: Cast) -> None:
    webhook = make_late_webhook(cast)
    before = operations_on(cast, webhook)
    query = {"webhookId": webhook, "since": moment_before(cast, hours=1)}
    cast.perform(redeliver_failed, **query)
    assert operations_on(cast, webhook) == before
    cause_events(cast)
    cast.perform(redeliver_failed, **query)
    assert operations_on(cast, webhook) == [*before, "redeliver_failed"]


def test_only_the_kinds_it_wants_now_are_sent(cast: Cast) -> None:
    webhook = make_late_webhook(cast)
    cause_events(cast)
    fan_out_all(cast)
    for delivery in list_stored_deliveries(cast, webhook):
        set_columns(cast, "delivery", delivery["id"], status="failed", due_at=None)
    cast.perform(update_webhook, webhookId=webhook, events=["person.left"])
    assert cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, hours=1))["count"] == 0


def test_what_happened_earlier_than_asked_for_is_left_alone(cast: Cast) -> None:
    now = cast.performer.clock()
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, created_at=moment_text(now - timedelta(days=20)))
    early, late = (cause_events(cast, at=now - timedelta(days=days))[0] for days in (4, 2))
    since = (now - timedelta(days=3)).isoformat()
    assert cast.perform(redeliver_failed, webhookId=webhook, since=since)["count"] == len(list_events_of(cast)) - 1
    assert early not in statuses_by_event(cast, webhook)
    assert late in statuses_by_event(cast, webhook)


def test_what_happened_before_there_was_a_webhook_did_not_fail_to_reach_it(cast: Cast) -> None:
    hour_ago = cast.performer.clock() - timedelta(hours=1)
    cause_events(cast, at=hour_ago)
    webhook = make_late_webhook(cast)
    assert cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, days=1))["count"] == 0


def test_a_test_event_that_failed_is_not_made_up_for(cast: Cast) -> None:
    webhook = make_late_webhook(cast)
    sent = cast.perform(send_test_event, webhookId=webhook)
    set_columns(cast, "delivery", sent["id"], status="failed", due_at=None)
    assert cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, hours=1))["count"] == 0


def test_more_than_one_batch_is_sent(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH_SIZE", 2)
    webhook = make_late_webhook(cast)
    missed = cause_events(cast, 5)
    assert cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, hours=1))["count"] == 5
    assert [delivery["event"] for delivery in list_stored_deliveries(cast, webhook)] == missed


def test_of_very_many_the_oldest_are_sent_and_the_rest_when_asked_again(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_REDELIVERED", 3)
    webhook = make_late_webhook(cast)
    missed = cause_events(cast, 5)
    query = {"webhookId": webhook, "since": moment_before(cast, hours=1)}
    first = cast.perform(redeliver_failed, **query)
    assert (first["count"], first["hasMore"]) == (3, True)
    assert [delivery["event"] for delivery in list_stored_deliveries(cast, webhook)] == missed[:3]
    second = cast.perform(redeliver_failed, **query)
    assert (second["count"], second["hasMore"]) == (2, False)
    assert [delivery["event"] for delivery in list_stored_deliveries(cast, webhook)] == missed


def test_the_bell_rings(cast: Cast) -> None:
    rings: list[int] = []
    listening = replace(cast, performer=replace(cast.performer, wake_worker=lambda: rings.append(1)))
    listening.perform(redeliver_failed, webhookId=make_webhook(cast), since=moment_before(cast, hours=1))
    assert rings == [1]


def test_a_disabled_webhook_must_be_set_active_first(cast: Cast) -> None:
    webhook = make_webhook(cast)
    set_columns(cast, "webhook", webhook, status="disabled")
    with pytest.raises(Conflict, match=r"^The webhook is disabled\. Resume it first\.$"):
        cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, hours=1))


@pytest.mark.parametrize("since", ["yesterday", "2026-11-15", "2026-11-15T10:30:50", "2026-02-30T10:30:50Z", ""])
def test_a_time_that_is_none_is_refused(cast: Cast, since: str) -> None:
    with pytest.raises(Invalid, match=r"^since: is not a moment such as 2026-11-15T10:30:50Z$"):
        cast.perform(redeliver_failed, webhookId=make_webhook(cast), since=since)


def test_a_time_from_which_nothing_is_kept_is_refused(cast: Cast) -> None:
    webhook = make_webhook(cast)
    with pytest.raises(Invalid, match=r"^since: is more than 30 days ago, older events are deleted$"):
        cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, days=30, seconds=1))
    assert cast.perform(redeliver_failed, webhookId=webhook, since=moment_before(cast, days=29))


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    for record_id in (new_id("webhook"), "x", make_webhook(other_cast)):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(redeliver_failed, webhookId=record_id, since=moment_before(cast, hours=1))

import pytest

from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound, Stale
from mainstay.webhooks.endpoints import delete_webhook, get_webhook
from support.cast import Cast
from support.stored_state import read_all_rows, read_trail
from support.webhooks import (
    RECEIVER_URL,
    fan_out_all,
    insert_attempt,
    list_stored_deliveries,
    make_webhook,
    set_columns,
)


def test_the_webhook_goes_with_its_deliveries_and_their_attempts(cast: Cast) -> None:
    made = cast.perform(get_webhook, webhookId=make_webhook(cast))
    kept = make_webhook(cast)
    fan_out_all(cast)
    insert_attempt(cast, list_stored_deliveries(cast, made["id"])[0]["id"], 1, status=500)
    gone = cast.perform(delete_webhook, Role.ADMIN, webhookId=made["id"], confirmed=True)
    assert gone == made | {"deleted": True}
    with pytest.raises(NotFound):
        cast.perform(get_webhook, webhookId=made["id"])
    rows = read_all_rows(cast.performer.database)
    assert [row for row in rows["delivery"] + rows["webhook"] if made["id"] in row] == []
    assert [row for row in rows["delivery_attempt"] if cast.organisation in row] == []
    assert len(list_stored_deliveries(cast, kept)) == 5


def test_without_confirmation_it_is_told_what_would_happen(cast: Cast) -> None:
    webhook = make_webhook(cast)
    fan_out_all(cast)
    first, *_ = list_stored_deliveries(cast, webhook)
    set_columns(cast, "delivery", first["id"], status="delivered", due_at=None)
    assert cast.preview(delete_webhook, webhookId=webhook) == {
        "object": "preview",
        "operation": "delete_webhook",
        "summary": f"The webhook to {RECEIVER_URL} will be deleted, with its delivery log.",
        "effects": ["4 waiting events will not be delivered."],
        "warnings": [],
        "blockers": [],
        "email": None,
    }
    assert cast.perform(get_webhook, webhookId=webhook)["status"] == "active"


def test_a_webhook_that_waits_for_nothing_has_no_such_effect(cast: Cast) -> None:
    assert cast.perform(delete_webhook, webhookId=make_webhook(cast))["effects"] == []


def test_it_stays_open_when_the_subscription_has_lapsed(cast: Cast) -> None:
    webhook = make_webhook(cast)
    cast.lapse()
    assert cast.perform(delete_webhook, webhookId=webhook, confirmed=True)["id"] == webhook
    assert (read_trail(cast)[-1]["operation"], read_trail(cast)[-1]["events"]) == ("delete_webhook", [])


def test_someone_who_read_an_earlier_version_is_told(cast: Cast) -> None:
    request = RequestDetails("req_1", frozenset({2}))
    with pytest.raises(Stale):
        cast.answer(delete_webhook, request=request, webhookId=make_webhook(cast), confirmed=True)


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    foreign = make_webhook(other_cast)
    for record_id in (new_id("webhook"), "x", foreign):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(delete_webhook, webhookId=record_id, confirmed=True)
    assert other_cast.perform(get_webhook, webhookId=foreign)

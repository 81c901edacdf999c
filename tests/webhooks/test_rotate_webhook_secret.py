import pytest

from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound, Stale
from mainstay.webhooks.endpoints import create_webhook, rotate_webhook_secret
from mainstay.webhooks.signature import Signer
from support.cast import Cast
from support.stored_state import read_trail
from support.webhooks import RECEIVER_URL, make_webhook


def test_each_rotation_has_a_number_and_a_moment(cast: Cast) -> None:
    made = cast.perform(create_webhook, url=RECEIVER_URL)
    first = cast.perform(rotate_webhook_secret, Role.ADMIN, webhookId=made["id"])
    second = cast.perform(rotate_webhook_secret, webhookId=made["id"])
    assert [webhook["generation"] for webhook in (made, first, second)] == [1, 2, 3]
    assert first["rotatedAt"] == first["updatedAt"]
    assert second["rotatedAt"] == second["updatedAt"]
    assert [webhook["version"] for webhook in (made, first, second)] == [1, 2, 3]


def test_the_same_form_sent_twice_rotates_once(cast: Cast) -> None:
    webhook = make_webhook(cast)
    form = RequestDetails(new_id("req"), if_match_versions=frozenset({1}))
    assert b'"generation":2' in cast.answer(rotate_webhook_secret, request=form, webhookId=webhook).body
    with pytest.raises(Stale):
        cast.answer(rotate_webhook_secret, request=form, webhookId=webhook)


def test_no_two_secrets_are_alike(cast: Cast) -> None:
    signer = Signer(b"the installation's")
    secrets = {
        signer.reveal_secret(webhook, number)
        for webhook in (make_webhook(cast), make_webhook(cast))
        for number in (1, 2)
    }
    assert len(secrets) == 4


def test_the_audit_trail_tells_of_it_without_a_secret(cast: Cast) -> None:
    webhook = make_webhook(cast)
    cast.perform(rotate_webhook_secret, webhookId=webhook)
    assert (read_trail(cast)[-1]["operation"], read_trail(cast)[-1]["given"]) == (
        "rotate_webhook_secret",
        {"webhookId": webhook},
    )


def test_an_unknown_and_a_foreign_webhook_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    for record_id in (new_id("webhook"), "x", make_webhook(other_cast)):
        with pytest.raises(NotFound, match=r"^There is no webhook with that identifier\.$"):
            cast.perform(rotate_webhook_secret, webhookId=record_id)

import pytest

from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from mainstay.webhooks.endpoints import create_webhook, list_webhooks
from support.cast import Cast
from support.stored_state import to_event_record
from support.webhooks import RECEIVER_URL, make_webhook


def test_every_webhook_is_listed_newest_first(cast: Cast) -> None:
    made = [cast.perform(create_webhook, url=f"{RECEIVER_URL}/{number}") for number in range(3)]
    listed = [to_event_record(webhook) for webhook in made[::-1]]
    assert cast.perform(list_webhooks, Role.ADMIN) == {"object": "list", "data": listed, "hasMore": False}


def test_the_pages_together_are_the_whole_list(cast: Cast) -> None:
    made = [make_webhook(cast) for _ in range(5)][::-1]
    pages = [
        cast.perform(list_webhooks, limit=2, **behind) for behind in ({}, *({"startingAfter": made[n]} for n in (1, 3)))
    ]
    assert [webhook["id"] for page in pages for webhook in page["data"]] == made
    assert [page["hasMore"] for page in pages] == [True, True, False]


def test_no_secret_is_shown(cast: Cast) -> None:
    make_webhook(cast)
    assert b"whsec_" not in cast.answer(list_webhooks).body
    assert b"secret" not in cast.answer(list_webhooks).body


def test_another_organisation_s_webhooks_are_not_listed(cast: Cast, other_cast: Cast) -> None:
    make_webhook(other_cast)
    assert cast.perform(list_webhooks)["data"] == []


def test_a_cursor_that_is_no_webhook_is_refused(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^startingAfter: is not the id of a webhook$"):
        cast.perform(list_webhooks, startingAfter=cast.people[Role.OWNER])

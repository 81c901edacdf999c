import pytest

from mainstay.identity.keys import create_key, list_keys, revoke_key
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.stored_state import actor_with_key, to_event_record


def make_key(cast: Cast, role: Role = Role.OWNER) -> dict[str, object]:
    key = cast.perform(create_key, role, name="Till", access="read")
    del key["key"]
    return key


def test_every_key_is_listed_newest_first_without_the_key_itself(cast: Cast) -> None:
    made = [make_key(cast), make_key(cast, Role.ADMIN), make_key(cast)]
    assert cast.perform(list_keys, Role.ADMIN) == {"object": "list", "data": made[::-1], "hasMore": False}


def test_an_organisation_without_keys_has_an_empty_list(cast: Cast) -> None:
    assert cast.perform(list_keys) == {"object": "list", "data": [], "hasMore": False}


def test_revoked_keys_stay_listed(cast: Cast) -> None:
    key = make_key(cast)
    revoked = cast.perform(revoke_key, keyId=key["id"])
    assert cast.perform(list_keys)["data"] == [to_event_record(revoked)]


def test_the_pages_together_are_the_whole_list(cast: Cast) -> None:
    made = [make_key(cast)["id"] for _ in range(5)][::-1]
    first = cast.perform(list_keys, limit=2)
    second = cast.perform(list_keys, limit=2, startingAfter=made[1])
    third = cast.perform(list_keys, limit=2, startingAfter=made[3])
    assert [key["id"] for page in (first, second, third) for key in page["data"]] == made
    assert [page["hasMore"] for page in (first, second, third)] == [True, True, False]


def test_no_secret_and_no_hash_is_shown(cast: Cast) -> None:
    key = cast.make_key()
    body = cast.answer(list_keys).body.decode()
    assert key not in body
    assert actor_with_key(cast, key).credential in body
    assert "hash" not in body


def test_another_organisation_s_keys_are_not_listed(cast: Cast, other_cast: Cast) -> None:
    make_key(other_cast)
    assert cast.perform(list_keys)["data"] == []


def test_a_cursor_that_is_no_key_is_refused(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^startingAfter: is not the id of a key$"):
        cast.perform(list_keys, startingAfter=cast.people[Role.OWNER])

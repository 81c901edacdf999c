"""Whether what cannot be undone waits for a confirmation in the office: a switch of each key, off at first."""

import pytest

from mainstay.identity.authenticate import actor_of_client
from mainstay.identity.keys import get_key, revoke_key, update_key
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound
from support.cast import Cast
from support.stored_state import actor_with_key, read_trail


def is_on(cast: Cast, key: str) -> bool:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        actor = actor_of_client(db, key, Door.API, cast.performer.clock())
    shown = cast.perform(get_key, keyId=key)["confirmsInOffice"]
    assert shown is actor.confirms_in_office
    return bool(shown)


def test_it_is_off_and_turned_on_and_off(cast: Cast) -> None:
    key = actor_with_key(cast, cast.make_key()).credential
    assert not is_on(cast, key)
    assert cast.perform(update_key, keyId=key, confirmsInOffice=True)["confirmsInOffice"] is True
    assert is_on(cast, key)
    cast.perform(update_key, Role.ADMIN, keyId=key, confirmsInOffice=False)
    assert not is_on(cast, key)
    assert [entry["operation"] for entry in read_trail(cast)[-2:]] == ["update_key", "update_key"]


def test_nothing_is_written_if_it_is_so_already(cast: Cast) -> None:
    key = actor_with_key(cast, cast.make_key()).credential
    before = read_trail(cast)
    cast.perform(update_key, keyId=key, confirmsInOffice=False)
    assert read_trail(cast) == before


def test_a_revoked_or_unknown_key_is_refused(cast: Cast) -> None:
    key = actor_with_key(cast, cast.make_key()).credential
    cast.perform(revoke_key, keyId=key)
    with pytest.raises(Conflict, match="already revoked"):
        cast.perform(update_key, keyId=key, confirmsInOffice=True)
    with pytest.raises(NotFound):
        cast.perform(update_key, keyId="key_unknown", confirmsInOffice=True)


def test_only_who_manages_keys_turns_it(cast: Cast) -> None:
    key = actor_with_key(cast, cast.make_key()).credential
    with pytest.raises(Forbidden):
        cast.perform(update_key, Role.OFFICE, keyId=key, confirmsInOffice=True)


def test_no_program_turns_it() -> None:
    assert not {Door.API, Door.AGENT} & update_key.doors

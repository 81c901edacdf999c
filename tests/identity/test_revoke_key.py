from dataclasses import replace
from datetime import timedelta

import pytest

from mainstay.identity.authenticate import InvalidKey
from mainstay.identity.keys import list_keys, revoke_key
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, NotFound
from support.cast import Cast
from support.stored_state import actor_with_key, list_events_of, read_trail


def test_the_next_use_of_a_revoked_key_is_refused(cast: Cast) -> None:
    key, other = cast.make_key(), cast.make_key()
    revoked = cast.perform(revoke_key, keyId=actor_with_key(cast, key).credential)
    assert revoked["revokedAt"] is not None
    with pytest.raises(InvalidKey, match=r"^This API key is not valid\. It may have been revoked\.$"):
        actor_with_key(cast, key)
    assert actor_with_key(cast, other).role is Role.OWNER


def test_an_admin_revokes_the_key_of_an_owner(cast: Cast) -> None:
    key = cast.make_key(role=Role.OWNER)
    cast.perform(revoke_key, Role.ADMIN, keyId=actor_with_key(cast, key).credential)
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)


def test_the_operator_revokes_a_key(cast: Cast) -> None:
    key = cast.make_key()
    cast.perform(revoke_key, operator_actor(cast.organisation), keyId=actor_with_key(cast, key).credential)
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)


def test_a_key_revoked_before_keeps_its_time(cast: Cast) -> None:
    record_id = actor_with_key(cast, cast.make_key()).credential
    first = cast.perform(revoke_key, keyId=record_id)
    late = replace(cast.performer, clock=lambda: cast.performer.clock() + timedelta(days=1))
    with pytest.raises(Blocked, match=r"^The key owner write is already revoked\.$"):
        replace(cast, performer=late).perform(revoke_key, keyId=record_id)
    (listed,) = cast.perform(list_keys)["data"]
    assert listed["revokedAt"] == first["revokedAt"]


def test_the_audit_trail_tells_of_it_and_no_event_goes_out(cast: Cast) -> None:
    record_id = actor_with_key(cast, cast.make_key()).credential
    event_count = len(list_events_of(cast))
    cast.perform(revoke_key, keyId=record_id)
    entry = read_trail(cast)[-1]
    assert (entry["operation"], entry["given"]) == ("revoke_key", {"keyId": record_id})
    assert len(list_events_of(cast)) == event_count


def test_revocation_stays_open_when_the_subscription_has_lapsed(cast: Cast) -> None:
    key = cast.make_key()
    cast.lapse()
    cast.perform(revoke_key, keyId=actor_with_key(cast, key).credential)
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)


def test_an_unknown_and_a_foreign_key_are_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    foreign = other_cast.make_key()
    for record_id in (new_id("key"), "x", actor_with_key(other_cast, foreign).credential):
        with pytest.raises(NotFound, match=r"^There is no API key with that identifier\.$"):
            cast.perform(revoke_key, keyId=record_id)
    assert actor_with_key(other_cast, foreign).organisation == other_cast.organisation
    assert other_cast.perform(list_keys)["data"][0]["revokedAt"] is None

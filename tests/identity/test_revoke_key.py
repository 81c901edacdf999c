from dataclasses import replace
from datetime import timedelta

import pytest

from cast import Cast
from evidence import events, holder, trail
from mainstay.identity.authenticate import NoSuchKey
from mainstay.identity.keys import list_keys, revoke_key
from mainstay.terms.actor import operator
from mainstay.terms.refusal import Blocked, NotFound
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id


def test_the_next_use_of_a_revoked_key_is_refused(cast: Cast) -> None:
    key, other = cast.key(), cast.key()
    revoked = cast.perform(revoke_key, keyId=holder(cast, key).credential)
    assert revoked["revokedAt"] is not None
    with pytest.raises(NoSuchKey, match=r"^This API key is not valid\. It may have been revoked\.$"):
        holder(cast, key)
    assert holder(cast, other).role is Role.OWNER


def test_an_admin_revokes_the_key_of_an_owner(cast: Cast) -> None:
    key = cast.key(role=Role.OWNER)
    cast.perform(revoke_key, Role.ADMIN, keyId=holder(cast, key).credential)
    with pytest.raises(NoSuchKey):
        holder(cast, key)


def test_the_operator_revokes_a_key(cast: Cast) -> None:
    key = cast.key()
    cast.perform(revoke_key, operator(cast.organisation), keyId=holder(cast, key).credential)
    with pytest.raises(NoSuchKey):
        holder(cast, key)


def test_a_key_revoked_before_keeps_its_time(cast: Cast) -> None:
    identity = holder(cast, cast.key()).credential
    first = cast.perform(revoke_key, keyId=identity)
    late = replace(cast.stage, clock=lambda: cast.stage.clock() + timedelta(days=1))
    with pytest.raises(Blocked, match=r"^The key owner write is revoked already\.$"):
        replace(cast, stage=late).perform(revoke_key, keyId=identity)
    (listed,) = cast.perform(list_keys)["data"]
    assert listed["revokedAt"] == first["revokedAt"]


def test_the_audit_trail_tells_of_it_and_no_event_goes_out(cast: Cast) -> None:
    identity = holder(cast, cast.key()).credential
    told = len(events(cast))
    cast.perform(revoke_key, keyId=identity)
    entry = trail(cast)[-1]
    assert (entry["operation"], entry["given"]) == ("revoke_key", {"keyId": identity})
    assert len(events(cast)) == told


def test_revocation_stays_open_when_the_subscription_has_lapsed(cast: Cast) -> None:
    key = cast.key()
    cast.lapse()
    cast.perform(revoke_key, keyId=holder(cast, key).credential)
    with pytest.raises(NoSuchKey):
        holder(cast, key)


def test_an_unknown_and_a_foreign_key_are_not_found_in_the_same_words(cast: Cast, stranger: Cast) -> None:
    foreign = stranger.key()
    for identity in (new_id("key"), "x", holder(stranger, foreign).credential):
        with pytest.raises(NotFound, match=r"^There is no API key with that identifier\.$"):
            cast.perform(revoke_key, keyId=identity)
    assert holder(stranger, foreign).organisation == stranger.organisation
    assert stranger.perform(list_keys)["data"][0]["revokedAt"] is None

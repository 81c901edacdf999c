import pytest

from mainstay.identity.authenticate import InvalidKey
from mainstay.identity.keys import create_key
from mainstay.identity.secrets import hash_secret
from mainstay.vocabulary.actor import Door, operator_actor
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.stored_state import actor_with_key, list_events_of, read_all_rows, read_trail


def test_the_key_is_shown_with_its_record(cast: Cast) -> None:
    made = cast.perform(create_key, Role.ADMIN, name="Till", access="read")
    key = made.pop("key")
    assert key.startswith("svc_sk_")
    assert made.pop("id").startswith("key_")
    assert made.pop("createdAt")
    assert made == {
        "object": "apiKey",
        "name": "Till",
        "access": "read",
        "confirmsInOffice": False,
        "toolsets": None,
        "amountLimit": None,
        "expiresOn": None,
        "personId": cast.people[Role.ADMIN],
        "personName": "Adam Admin",
        "lastFour": key[-4:],
        "lastUsedAt": None,
        "revokedAt": None,
        "status": "active",
    }


@pytest.mark.parametrize("access", list(Access))
def test_the_key_acts_as_its_maker_with_the_access_it_was_made_for(cast: Cast, access: Access) -> None:
    made = cast.perform(create_key, Role.ADMIN, name="Till", access=access)
    actor = actor_with_key(cast, made["key"])
    assert (actor.organisation, actor.role, actor.access) == (cast.organisation, Role.ADMIN, access)
    assert (actor.credential, actor.client and actor.client.name) == (made["id"], "Till")
    assert (actor.person and actor.person.id, actor.door) == (cast.people[Role.ADMIN], Door.API)


def test_no_two_keys_are_alike(cast: Cast) -> None:
    assert len({cast.make_key() for _ in range(20)}) == 20


def test_only_the_hash_is_kept_and_no_table_holds_the_key(cast: Cast) -> None:
    key = cast.make_key()
    stored = str(read_all_rows(cast.performer.database))
    assert hash_secret(key) in stored
    assert key not in stored
    assert key.removeprefix("svc_sk_") not in stored


def test_the_audit_trail_tells_of_it_and_no_event_goes_out(cast: Cast) -> None:
    event_count = len(list_events_of(cast))
    cast.perform(create_key, Role.ADMIN, name="Till", access="read")
    entry = read_trail(cast)[-1]
    assert (entry["operation"], entry["given"]) == ("create_key", {"name": "Till", "access": "read"})
    assert len(list_events_of(cast)) == event_count


def test_the_operator_makes_no_key_of_nobody(cast: Cast) -> None:
    with pytest.raises(Forbidden, match="Only an owner or admin of the organisation can create an API key"):
        cast.perform(create_key, operator_actor(cast.organisation), name="Till", access="read")


def test_it_is_offered_to_people_only() -> None:
    assert create_key.doors == {Door.OFFICE, Door.CLI}
    assert create_key.api_path is None


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "name: is required; access: is required"),
        ({"name": "x", "access": "admin"}, "access: is not one of 'read' or 'write'"),
        ({"name": "", "access": "read"}, "name: is empty"),
        ({"name": "x", "access": "read", "personId": "x"}, "personId: is not known here"),
    ],
)
def test_a_wrong_field_is_refused(cast: Cast, given: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(create_key, **given)
    assert refusal.value.text == text


@pytest.mark.parametrize("secret", ["", "svc_sk_", "svc_sk_" + "x" * 43, "svc_at_" + "x" * 43, "x" * 50, "x" * 100_000])
def test_what_is_no_key_opens_nothing(cast: Cast, secret: str) -> None:
    with pytest.raises(InvalidKey, match=r"^This API key is not valid\. It may have been revoked\.$"):
        actor_with_key(cast, secret)


def test_a_key_with_one_character_changed_opens_nothing(cast: Cast) -> None:
    key = cast.make_key()
    for other in (key[:-1], key + "A", key.upper(), key[:-1] + ("A" if key[-1] != "A" else "B"), f" {key}"):
        with pytest.raises(InvalidKey):
            actor_with_key(cast, other)


def test_the_hash_of_a_key_opens_nothing(cast: Cast) -> None:
    with pytest.raises(InvalidKey):
        actor_with_key(cast, hash_secret(cast.make_key()))

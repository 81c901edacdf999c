from typing import Any

import pytest

from mainstay.business.people.invitations import add_person
from mainstay.business.people.operations import get_person, invite_person
from mainstay.business.people.roles import change_role, remove_person
from mainstay.identity.authenticate import InvalidKey
from mainstay.identity.connections import approve_connection, list_connections
from mainstay.identity.keys import create_key
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Door, operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, NotFound, Stale
from support.cast import PASSWORD, Cast
from support.stored_state import (
    actor_with_key,
    list_events_of,
    operations_on,
    read_last_event,
    read_trail,
    to_event_record,
)

ONLY_OWNER = "Olivia Owner is the only owner. Make someone else an owner first, on the website under People."
WEBHOOK_EFFECT = "Webhook event: A person's details or role changed."


def set_role(cast: Cast, person: Role, role: str, by: Role = Role.OWNER) -> dict[str, Any]:
    return cast.perform(change_role, by, personId=cast.people[person], role=role, confirmed=True)


def preview_role(cast: Cast, person: Role, role: str, by: Role = Role.OWNER) -> dict[str, Any]:
    return cast.preview(change_role, by, personId=cast.people[person], role=role)


def add_second_owner(cast: Cast) -> str:
    joined = cast.perform(
        add_person,
        operator_actor(cast.organisation),
        name="Otto Owner",
        email=f"otto.{cast.organisation}@new.example",
        role="owner",
        password=PASSWORD,
    )
    return str(joined["id"])


def connect_app(cast: Cast, role: Role, name: str) -> str:
    """Connect an app for a person; return the id of the connection."""
    client = new_id("client")
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("INSERT INTO oauth_client (id, metadata, created_at) VALUES (:id, '{}', '2026')", id=client)
    approved = cast.perform(
        approve_connection,
        cast.actor(role, door=Door.OFFICE),
        clientId=client,
        clientName=name,
        access="read",
        redirectUri="https://app.example/back",
        challenge="x" * 43,
    )
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE connection SET started_at = created_at WHERE organisation_id = :organisation AND id = :id",
            id=approved["id"],
        )
    return str(approved["id"])


def list_apps(cast: Cast) -> list[str]:
    return [connection["clientName"] for connection in cast.perform(list_connections)["data"]]


def test_a_person_gets_another_role_and_it_is_told(cast: Cast) -> None:
    before = cast.perform(get_person, personId=cast.people[Role.MEMBER])
    after = set_role(cast, Role.MEMBER, "office")
    assert (after["role"], after["version"]) == ("office", before["version"] + 1)
    event = read_last_event(cast)
    assert event["type"] == "person.updated"
    assert event["data"] == {"object": to_event_record(after), "previous": {"role": "member"}}
    entry = read_trail(cast)[-1]
    assert (entry["operation"], entry["events"]) == ("change_role", [event["id"]])


def test_nothing_happens_until_it_is_confirmed(cast: Cast) -> None:
    key = cast.make_key(role=Role.ADMIN)
    event_count, written = len(list_events_of(cast)), len(read_trail(cast))
    assert preview_role(cast, Role.ADMIN, "office")["object"] == "preview"
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["role"] == "admin"
    assert actor_with_key(cast, key).role is Role.ADMIN
    assert (len(list_events_of(cast)), len(read_trail(cast))) == (event_count, written)


def test_the_preview_names_the_keys_and_apps_that_end(cast: Cast) -> None:
    for name in ("Till", "Accounting"):
        cast.perform(create_key, Role.ADMIN, name=name, access="read")
    connect_app(cast, Role.ADMIN, "Claude")
    assert preview_role(cast, Role.ADMIN, "subcontractor") == {
        "object": "preview",
        "operation": "change_role",
        "summary": "Adam Admin's role will be subcontractor instead of admin.",
        "effects": [
            "API keys created by Adam Admin will stop working for good: Till and Accounting.",
            "Apps connected by Adam Admin will stop working for good: Claude.",
            WEBHOOK_EFFECT,
        ],
        "warnings": [],
        "blockers": [],
        "email": None,
    }


def test_of_very_many_keys_ten_are_named(cast: Cast) -> None:
    for number in range(12):
        cast.perform(create_key, Role.ADMIN, name=f"Key {number}", access="read")
    first, *_ = preview_role(cast, Role.ADMIN, "office")["effects"]
    named = ", ".join(f"Key {number}" for number in range(10))
    assert first == f"API keys created by Adam Admin will stop working for good: {named} and 2 more."


def test_apps_that_can_then_only_read_are_a_warning(cast: Cast) -> None:
    connect_app(cast, Role.OFFICE, "Claude")
    shown = preview_role(cast, Role.OFFICE, "member")
    assert shown["effects"] == [WEBHOOK_EFFECT]
    assert shown["warnings"] == ["Apps connected by Orla Office will only be able to read with the role member."]
    set_role(cast, Role.OFFICE, "member")
    assert list_apps(cast) == ["Claude"]


@pytest.mark.parametrize("role", ["office", "member", "subcontractor"])
def test_whoever_is_no_longer_admin_loses_their_keys_and_the_trail_names_them(cast: Cast, role: str) -> None:
    key = cast.make_key(role=Role.ADMIN)
    record_id = actor_with_key(cast, key).credential
    set_role(cast, Role.ADMIN, role)
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)
    assert operations_on(cast, record_id) == ["create_key", "change_role"]


def test_keys_stay_lost_after_a_promotion(cast: Cast) -> None:
    key = cast.make_key(role=Role.ADMIN)
    set_role(cast, Role.ADMIN, "office")
    set_role(cast, Role.ADMIN, "admin")
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)
    assert actor_with_key(cast, cast.make_key(role=Role.ADMIN)).role is Role.ADMIN


@pytest.mark.parametrize(("role", "left"), [("admin", ["App"]), ("member", ["App"]), ("subcontractor", [])])
def test_apps_end_with_the_right_to_connect_any(cast: Cast, role: str, left: list[str]) -> None:
    connection = connect_app(cast, Role.OFFICE, "App")
    set_role(cast, Role.OFFICE, role)
    assert list_apps(cast) == left
    assert operations_on(cast, connection) == ["approve_connection"] + ([] if left else ["change_role"])


def test_an_owner_who_becomes_admin_keeps_their_keys_with_the_lesser_rights(cast: Cast) -> None:
    add_second_owner(cast)
    key = cast.make_key(role=Role.OWNER)
    set_role(cast, Role.OWNER, "admin")
    assert actor_with_key(cast, key).role is Role.ADMIN


def test_others_keep_their_keys(cast: Cast) -> None:
    key = cast.make_key(role=Role.OWNER)
    set_role(cast, Role.ADMIN, "office")
    assert actor_with_key(cast, key).role is Role.OWNER


def test_the_role_one_has_changes_nothing_and_ends_nothing(cast: Cast) -> None:
    key = cast.make_key(role=Role.ADMIN)
    event_count = len(list_events_of(cast))
    assert preview_role(cast, Role.ADMIN, "admin")["effects"] == ["No change: Adam Admin already has this role."]
    assert set_role(cast, Role.ADMIN, "admin")["version"] == 1
    assert actor_with_key(cast, key).role is Role.ADMIN
    assert len(list_events_of(cast)) == event_count


def test_an_admin_s_key_may_end_itself_after_a_warning(cast: Cast) -> None:
    key = cast.make_key(role=Role.ADMIN)
    acting = actor_with_key(cast, key)
    given = {"personId": cast.people[Role.ADMIN], "role": "office"}
    shown = cast.perform(change_role, acting, **given)
    assert shown["effects"][0] == "API keys created by Adam Admin will stop working for good: admin write."
    assert shown["warnings"] == ["This is you: your own access will change, also for the key or app you are using."]
    after = cast.perform(change_role, acting, **given, confirmed=True)
    assert (after["role"], after["updatedBy"]["via"]["client"]["id"]) == ("office", acting.credential)
    with pytest.raises(InvalidKey):
        cast.perform(change_role, acting, **given | {"role": "admin"}, confirmed=True)


def test_the_only_owner_is_not_demoted(cast: Cast) -> None:
    with pytest.raises(Blocked) as refusal:
        set_role(cast, Role.OWNER, "admin")
    assert refusal.value.text == ONLY_OWNER
    assert [reason.first for reason in refusal.value.reasons] == ["name_owner"]
    shown = preview_role(cast, Role.OWNER, "admin")
    assert (shown["blockers"], shown["effects"]) == ([ONLY_OWNER], [])
    assert cast.perform(get_person, personId=cast.people[Role.OWNER])["role"] == "owner"


def test_one_of_two_owners_can_be_demoted_and_one_who_left_does_not_count(cast: Cast) -> None:
    second = add_second_owner(cast)
    assert preview_role(cast, Role.OWNER, "admin")["blockers"] == []
    cast.perform(remove_person, personId=second, confirmed=True)
    assert preview_role(cast, Role.OWNER, "admin")["blockers"] == [ONLY_OWNER]


def test_an_admin_does_not_demote_an_owner(cast: Cast) -> None:
    with pytest.raises(Forbidden, match=r"^Only an owner can change or remove an owner\.$"):
        set_role(cast, Role.OWNER, "admin", by=Role.ADMIN)


def test_an_admin_changes_an_admin_and_makes_another(cast: Cast) -> None:
    assert set_role(cast, Role.MEMBER, "admin", by=Role.ADMIN)["role"] == "admin"
    assert set_role(cast, Role.ADMIN, "office", by=Role.ADMIN)["role"] == "office"


@pytest.mark.parametrize("by", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_nobody_else_gives_roles_not_even_to_themselves(cast: Cast, by: Role) -> None:
    with pytest.raises(
        Forbidden, match=rf"^You don't have access to this\. Ask an owner or admin\. Your role is {by}\.$"
    ):
        set_role(cast, by, "admin", by=by)


@pytest.mark.parametrize("role", ["owner", "boss", None])
def test_owners_are_not_named_here(cast: Cast, role: str | None) -> None:
    with pytest.raises(Invalid, match=r"^role: is not one of 'admin', 'office', 'member' or 'subcontractor'$"):
        cast.perform(change_role, personId=cast.people[Role.ADMIN], role=role, confirmed=True)


def test_someone_who_was_invited_gets_another_role_too(cast: Cast) -> None:
    person = cast.perform(invite_person, name="Nina", email="nina@new.example", role="office")["id"]
    after = cast.perform(change_role, personId=person, role="member", confirmed=True)
    assert (after["role"], after["status"]) == ("member", "invited")


def test_one_who_has_left_is_not_given_a_role(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(Blocked, match=r"^Mia Member has left the organisation\. Invite them again"):
        set_role(cast, Role.MEMBER, "office")


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_outdated_version_is_refused(cast: Cast, *, confirmed: bool) -> None:
    request = RequestDetails("req_1", if_match_versions=frozenset({7}))
    given = {"personId": cast.people[Role.MEMBER], "role": "office", "confirmed": confirmed}
    with pytest.raises(Stale):
        cast.answer(change_role, request=request, **given)


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_unknown_and_a_foreign_person_are_not_found_in_the_same_words(
    cast: Cast, other_cast: Cast, *, confirmed: bool
) -> None:
    for record_id in (new_id("person"), other_cast.people[Role.MEMBER]):
        with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
            cast.perform(change_role, personId=record_id, role="office", confirmed=confirmed)

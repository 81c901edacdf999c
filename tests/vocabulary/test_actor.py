"""Who acted is recorded: a person with the key or app they used, the operator, or the system itself."""

import orjson
import pytest

from mainstay.business.people.operations import get_person, invite_person, update_person
from mainstay.business.people.reactions import mail_invitation
from mainstay.kernel.reaction import Reaction, ReactionEvent
from mainstay.vocabulary.actor import Actor, ActorKind, Door, Stamp, operator_actor, system_actor
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Access, Permission, Role
from support.cast import Cast
from support.stored_state import actor_with_key, list_events_of, read_last_event, read_trail


def check_stamps(cast: Cast, actor: Actor) -> dict[str, object]:
    """Return who changed a record, checked to be the same in the record, its event and the audit trail."""
    person = cast.people[Role.MEMBER]
    cast.perform(update_person, actor, personId=person, skills=[f"{actor.kind} {actor.credential}"])
    stamp = cast.perform(get_person, personId=person)["updatedBy"]
    assert stamp == read_last_event(cast)["actor"] == read_trail(cast)[-1]["actor"]
    assert Stamp.model_validate(stamp, strict=False)
    found: dict[str, object] = stamp
    return found


def test_a_person_is_named_with_the_door(cast: Cast) -> None:
    assert check_stamps(cast, cast.actor(Role.ADMIN, door=Door.OFFICE)) == {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "office", "client": None},
    }


def test_a_key_is_named_beside_its_person(cast: Cast) -> None:
    acting = actor_with_key(cast, cast.make_key(role=Role.ADMIN))
    assert check_stamps(cast, acting) == {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "api", "client": {"id": acting.credential, "name": "admin write"}},
    }


def test_the_operator_and_the_system_actor_are_nobody_s_person(cast: Cast) -> None:
    assert check_stamps(cast, operator_actor(cast.organisation)) == {
        "kind": "operator",
        "person": None,
        "via": {"door": "cli", "client": None},
    }
    assert check_stamps(cast, system_actor(cast.organisation)) == {
        "kind": "house",
        "person": None,
        "via": {"door": "house", "client": None},
    }


def test_what_follows_by_itself_is_of_the_system_actor(cast: Cast) -> None:
    cast.perform(invite_person, name="N", email="n@new.example", role="office")
    event = read_last_event(cast)
    (reaction,) = cast.performer.catalogue.reactions_to("person.invited")
    assert reaction == Reaction(reaction.event, mail_invitation, reaction.past_text)
    cast.performer.run_reaction(
        reaction, cast.organisation, ReactionEvent(event["id"], event["actor"], event["data"]["object"])
    )
    assert read_trail(cast)[-1]["actor"]["kind"] == "house"
    assert {event["actor"]["kind"] for event in list_events_of(cast)} == {"operator", "person"}


@pytest.mark.parametrize("kind", list(ActorKind))
def test_every_kind_is_kept_as_it_is_shown(cast: Cast, kind: ActorKind) -> None:
    stamp = cast.actor(Role.OWNER)._replace(kind=kind).stamp
    assert orjson.loads(stamp)["kind"] == kind
    assert Stamp.model_validate_json(stamp).model_dump_json() == stamp


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("access", list(Access))
@pytest.mark.parametrize("subscribed", [True, False])
def test_what_can_be_done_now_is_what_role_access_and_subscription_leave(
    cast: Cast, role: Role, access: Access, *, subscribed: bool
) -> None:
    actor = cast.actor(role, access)._replace(subscribed=subscribed)
    open_to_all = access is Access.WRITE and subscribed
    assert actor.effective_permissions == {
        right for right in ROLE_PERMISSIONS[role] if open_to_all or right.endswith(":read")
    }
    assert actor.can(Permission.ME_CHANGE)

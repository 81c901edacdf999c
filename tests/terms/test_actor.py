"""Who did it is told apart: a person, with the key or app they used; the operator; the house itself."""

import orjson
import pytest

from cast import Cast
from evidence import events, holder, last_event, trail
from mainstay.business.people.operations import get_person, invite_person, update_person
from mainstay.business.people.reactions import mail_invitation
from mainstay.kernel.reaction import Happening, Reaction
from mainstay.terms.actor import Actor, ActorKind, Door, Stamp, house, operator
from mainstay.terms.rights import RIGHTS, Access, Right, Role


def acts(cast: Cast, actor: Actor) -> dict[str, object]:
    """Who is said to have changed a record, in the record, in its event and in the trail."""
    person = cast.people[Role.MEMBER]
    cast.perform(update_person, actor, personId=person, skills=[f"{actor.kind} {actor.credential}"])
    kept = cast.perform(get_person, personId=person)["updatedBy"]
    assert kept == last_event(cast)["actor"] == trail(cast)[-1]["actor"]
    assert Stamp.model_validate(kept, strict=False)
    found: dict[str, object] = kept
    return found


def test_a_person_is_named_with_the_door(cast: Cast) -> None:
    assert acts(cast, cast.actor(Role.ADMIN, door=Door.OFFICE)) == {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "office", "client": None},
    }


def test_a_key_is_named_beside_its_person(cast: Cast) -> None:
    acting = holder(cast, cast.key(role=Role.ADMIN))
    assert acts(cast, acting) == {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "api", "client": {"id": acting.credential, "name": "admin write"}},
    }


def test_the_operator_and_the_house_are_nobody_s_person(cast: Cast) -> None:
    assert acts(cast, operator(cast.organisation)) == {
        "kind": "operator",
        "person": None,
        "via": {"door": "cli", "client": None},
    }
    assert acts(cast, house(cast.organisation)) == {
        "kind": "house",
        "person": None,
        "via": {"door": "house", "client": None},
    }


def test_what_follows_by_itself_is_the_house_s(cast: Cast) -> None:
    cast.perform(invite_person, name="N", email="n@new.example", role="office")
    event = last_event(cast)
    (reaction,) = cast.stage.catalogue.reactions_to("person.invited")
    assert reaction == Reaction(reaction.event, mail_invitation)
    cast.stage.react(reaction, cast.organisation, Happening(event["id"], event["actor"], event["data"]["object"]))
    assert trail(cast)[-1]["actor"]["kind"] == "house"
    assert {event["actor"]["kind"] for event in events(cast)} == {"operator", "person"}


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
    assert actor.effective_rights == {right for right in RIGHTS[role] if open_to_all or right.endswith(":read")}
    assert actor.may(Right.ME_CHANGE)

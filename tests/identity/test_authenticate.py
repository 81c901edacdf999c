import pytest

from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.roles import remove_person
from mainstay.identity.authenticate import InvalidKey, actor_of_person, reread_actor
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.vocabulary.actor import Door, operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.stored_state import actor_with_key


@pytest.mark.parametrize("status", ["invited", "left"])
def test_a_key_is_dead_while_its_maker_is_not_active_whatever_became_of_the_key(cast: Cast, status: str) -> None:
    key = cast.make_key()
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("UPDATE person SET status = :status WHERE id = :id", status=status, id=cast.people[Role.OWNER])
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_a_key_is_dead_while_its_maker_may_make_none(cast: Cast, role: Role) -> None:
    key = cast.make_key()
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("UPDATE person SET role = :role WHERE id = :id", role=role, id=cast.people[Role.OWNER])
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)


def test_a_key_tells_whether_its_organisation_has_lapsed(cast: Cast) -> None:
    key = cast.make_key()
    assert actor_with_key(cast, key).subscribed
    cast.lapse()
    assert not actor_with_key(cast, key).subscribed


def test_the_actor_is_read_anew(cast: Cast) -> None:
    actor = actor_with_key(cast, cast.make_key(role=Role.ADMIN))
    cast.perform(update_person, personId=cast.people[Role.ADMIN], name="Adam Renamed")
    cast.lapse()
    with cast.performer.database.read_transaction(cast.organisation) as db:
        now = reread_actor(db, actor, cast.performer.clock())
    assert now.person is not None
    assert now.person.name == "Adam Renamed"
    assert not now.subscribed


def test_the_operator_stands_above(cast: Cast) -> None:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        assert reread_actor(db, operator_actor(cast.organisation), cast.performer.clock()) == operator_actor(
            cast.organisation
        )


def test_a_key_opens_nothing_in_another_organisation(cast: Cast, other_cast: Cast) -> None:
    actor = actor_with_key(cast, cast.make_key())
    with other_cast.performer.database.read_transaction(other_cast.organisation) as db, pytest.raises(InvalidKey):
        reread_actor(db, actor, cast.performer.clock())


def test_only_an_active_person_of_the_organisation_acts_by_themselves(cast: Cast, other_cast: Cast) -> None:
    invited = cast.perform(invite_person, name="N", email="n@new.example", role="member")["id"]
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    for person in (invited, cast.people[Role.MEMBER], other_cast.people[Role.OWNER], "person_x"):
        with cast.performer.database.read_transaction(cast.organisation) as db, pytest.raises(NotFound):
            actor_of_person(db, person, Door.OFFICE)

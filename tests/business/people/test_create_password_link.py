import pytest

from mainstay.business.people.invitations import create_password_link
from mainstay.business.people.operations import invite_person
from mainstay.business.people.roles import remove_person
from mainstay.identity.authenticate import actor_of_reset
from mainstay.identity.passwords import is_password
from mainstay.identity.person_sign_in import reset_password
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound
from support.cast import Cast
from support.stored_state import operations_on


def make_link(cast: Cast, person: str) -> str:
    made = cast.perform(create_password_link, operator_actor(cast.organisation), personId=person)
    assert list(made) == ["object", "id"]
    return str(made["id"])


def test_the_link_gives_a_new_password_once(only_cast: Cast) -> None:
    mia = only_cast.people[Role.MEMBER]
    link = make_link(only_cast, mia)
    with only_cast.performer.database.read_transaction(only_cast.organisation) as db:
        mia_by_link = actor_of_reset(db, link)

    only_cast.perform(reset_password, mia_by_link, password="one that nobody knew")

    with only_cast.performer.database.read_transaction(only_cast.organisation) as db:
        stored = db.one("SELECT password_hash FROM account WHERE email_folded = 'mia@cast.example'")
        assert stored is not None
        assert is_password("one that nobody knew", str(stored[0]))
        with pytest.raises(NotFound):
            actor_of_reset(db, link)
    assert operations_on(only_cast, mia)[-2:] == ["create_password_link", "reset_password"]


def test_who_cannot_sign_in_has_no_password(cast: Cast) -> None:
    invited = cast.perform(invite_person, name="Ian", email="ian@new.example", role="member")["id"]
    with pytest.raises(Conflict, match="Ian can't sign in now"):
        make_link(cast, invited)
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(Conflict, match="Mia Member can't sign in now"):
        make_link(cast, cast.people[Role.MEMBER])


def test_it_is_for_the_operator_and_for_people_who_are_there(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        make_link(cast, other_cast.people[Role.MEMBER])
    with pytest.raises(Forbidden):
        cast.perform(create_password_link, Role.ADMIN, personId=cast.people[Role.MEMBER])

import pytest

from cast import Cast
from evidence import history
from mainstay.business.people.joining import create_password_link
from mainstay.business.people.operations import invite_person
from mainstay.business.people.standing import remove_person
from mainstay.identity.authenticate import actor_of_reset
from mainstay.identity.entering import reset_password
from mainstay.identity.passwords import is_password
from mainstay.terms.actor import operator
from mainstay.terms.refusal import Conflict, Forbidden, NotFound
from mainstay.terms.rights import Role


def make(cast: Cast, person: str) -> str:
    made = cast.perform(create_password_link, operator(cast.organisation), personId=person)
    assert list(made) == ["object", "id"]
    return str(made["id"])


def test_the_link_gives_a_new_password_once(alone: Cast) -> None:
    mia = alone.people[Role.MEMBER]
    link = make(alone, mia)
    with alone.stage.database.reading(alone.organisation) as rows:
        mia_by_link = actor_of_reset(rows, link)

    alone.perform(reset_password, mia_by_link, password="one that nobody knew")

    with alone.stage.database.reading(alone.organisation) as rows:
        kept = rows.one("SELECT password_hash FROM account WHERE email_folded = 'mia@cast.example'")
        assert kept is not None
        assert is_password("one that nobody knew", str(kept[0]))
        with pytest.raises(NotFound):
            actor_of_reset(rows, link)
    assert history(alone, mia)[-2:] == ["create_password_link", "reset_password"]


def test_who_cannot_sign_in_has_no_password(cast: Cast) -> None:
    invited = cast.perform(invite_person, name="Ian", email="ian@new.example", role="member")["id"]
    with pytest.raises(Conflict, match="Ian cannot sign in here now"):
        make(cast, invited)
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(Conflict, match="Mia Member cannot sign in here"):
        make(cast, cast.people[Role.MEMBER])


def test_it_is_for_the_operator_and_for_people_who_are_there(cast: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound):
        make(cast, stranger.people[Role.MEMBER])
    with pytest.raises(Forbidden):
        cast.perform(create_password_link, Role.ADMIN, personId=cast.people[Role.MEMBER])

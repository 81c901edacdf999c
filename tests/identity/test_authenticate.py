import pytest

from cast import Cast
from evidence import holder
from mainstay.backing.database import EVERY
from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.standing import remove_person
from mainstay.identity.authenticate import NoSuchKey, actor_of_person, standing
from mainstay.terms.actor import Door, operator
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Role


@pytest.mark.parametrize("status", ["invited", "left"])
def test_a_key_is_dead_while_its_maker_is_not_active_whatever_became_of_the_key(cast: Cast, status: str) -> None:
    key = cast.key()
    with cast.stage.database.changing(EVERY) as rows:
        rows.run("UPDATE person SET status = :status WHERE id = :id", status=status, id=cast.people[Role.OWNER])
    with pytest.raises(NoSuchKey):
        holder(cast, key)


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_a_key_is_dead_while_its_maker_may_make_none(cast: Cast, role: Role) -> None:
    key = cast.key()
    with cast.stage.database.changing(EVERY) as rows:
        rows.run("UPDATE person SET role = :role WHERE id = :id", role=role, id=cast.people[Role.OWNER])
    with pytest.raises(NoSuchKey):
        holder(cast, key)


def test_a_key_tells_whether_its_organisation_has_lapsed(cast: Cast) -> None:
    key = cast.key()
    assert holder(cast, key).subscribed
    cast.lapse()
    assert not holder(cast, key).subscribed


def test_standing_is_read_anew(cast: Cast) -> None:
    actor = holder(cast, cast.key(role=Role.ADMIN))
    cast.perform(update_person, personId=cast.people[Role.ADMIN], name="Adam Renamed")
    cast.lapse()
    with cast.stage.database.reading(cast.organisation) as rows:
        now = standing(rows, actor)
    assert now.person is not None
    assert now.person.name == "Adam Renamed"
    assert not now.subscribed


def test_the_operator_stands_above(cast: Cast) -> None:
    with cast.stage.database.reading(cast.organisation) as rows:
        assert standing(rows, operator(cast.organisation)) == operator(cast.organisation)


def test_a_key_has_no_standing_in_another_organisation(cast: Cast, stranger: Cast) -> None:
    actor = holder(cast, cast.key())
    with stranger.stage.database.reading(stranger.organisation) as rows, pytest.raises(NoSuchKey):
        standing(rows, actor)


def test_only_an_active_person_of_the_organisation_acts_by_themselves(cast: Cast, stranger: Cast) -> None:
    invited = cast.perform(invite_person, name="N", email="n@new.example", role="member")["id"]
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    for person in (invited, cast.people[Role.MEMBER], stranger.people[Role.OWNER], "person_x"):
        with cast.stage.database.reading(cast.organisation) as rows, pytest.raises(NotFound):
            actor_of_person(rows, person, Door.OFFICE)

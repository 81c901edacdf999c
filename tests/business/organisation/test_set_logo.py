import orjson
import pytest

from mainstay.business.organisation.logo import set_logo
from mainstay.business.organisation.operations import get_organisation
from mainstay.kernel.catalogue import is_permitted
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid, Lapsed
from support.cast import Cast

NAME = "0123456789abcdef" * 4


def read_logo(cast: Cast) -> object:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT logo FROM organisation WHERE id = :organisation")
    assert row
    return row[0]


def test_the_name_of_the_file_is_kept_and_not_shown(cast: Cast) -> None:
    before = cast.perform(get_organisation)
    answer = cast.perform(set_logo, logo=NAME)
    assert read_logo(cast) == NAME
    assert answer["version"] == before["version"] + 1
    assert NAME not in orjson.dumps(answer).decode()
    assert cast.perform(get_organisation).keys() == before.keys()


def test_it_stands_in_the_trail(cast: Cast) -> None:
    cast.perform(set_logo, logo=NAME)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.one(
            "SELECT given FROM audit WHERE organisation_id = :organisation AND operation = 'set_logo' LIMIT 1"
        )
    assert found == (f'{{"logo":"{NAME}"}}',)


@pytest.mark.parametrize("name", ["", "x", NAME[:-1], NAME.upper(), NAME + "0", "../" + NAME[3:]])
def test_only_the_name_of_a_file_is_one(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid):
        cast.perform(set_logo, logo=name)


def test_it_is_for_those_who_change_the_organisation_in_the_office_only(cast: Cast) -> None:
    for role in (Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR):
        with pytest.raises(Forbidden):
            cast.perform(set_logo, role, logo=NAME)
    doors = [door for door in Door if is_permitted(set_logo, cast.actor(Role.OWNER, door=door))]
    assert doors == [Door.OFFICE, Door.SYSTEM]


def test_while_lapsed_it_is_closed(cast: Cast) -> None:
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(set_logo, logo=NAME)

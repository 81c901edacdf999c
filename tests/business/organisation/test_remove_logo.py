import pytest

from business.organisation.test_set_logo import NAME, read_logo
from mainstay.business.organisation.logo import remove_logo, set_logo
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden
from support.cast import Cast


def test_the_logo_is_removed(cast: Cast) -> None:
    cast.perform(set_logo, logo=NAME)
    cast.perform(remove_logo)
    assert read_logo(cast) is None


def test_where_there_is_none_it_says_so(cast: Cast) -> None:
    with pytest.raises(Blocked, match="There is no logo"):
        cast.perform(remove_logo)


def test_it_is_for_those_who_change_the_organisation(cast: Cast) -> None:
    cast.perform(set_logo, logo=NAME)
    with pytest.raises(Forbidden):
        cast.perform(remove_logo, Role.OFFICE)

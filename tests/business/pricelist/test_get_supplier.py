import pytest

from mainstay.business.pricelist.suppliers import get_supplier
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.prices import make_supplier


def test_the_office_gets_one(cast: Cast) -> None:
    supplier = make_supplier(cast, status="archived")
    found = cast.perform(get_supplier, Role.OFFICE, supplierId=supplier)
    assert (found["name"], found["status"]) == ("Pennine Supplies", "archived")
    assert found["availableActions"] == ["save_supplier"]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_gets_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(get_supplier, role, supplierId=make_supplier(cast))


def test_what_is_a_stranger_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    theirs = make_supplier(other_cast)
    with pytest.raises(NotFound, match=r"no supplier"):
        cast.perform(get_supplier, supplierId=theirs)

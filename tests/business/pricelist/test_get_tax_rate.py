import pytest

from mainstay.business.pricelist.taxes import get_tax_rate
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.prices import make_tax_rate


def test_the_office_gets_one(cast: Cast) -> None:
    rate = make_tax_rate(cast, status="archived")
    found = cast.perform(get_tax_rate, Role.OFFICE, taxRateId=rate)
    assert (found["name"], found["components"]) == ("VAT 20 %", [{"name": "VAT", "percent": "20.00"}])
    assert found["availableActions"] == []


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_gets_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(get_tax_rate, role, taxRateId=make_tax_rate(cast))


def test_what_is_a_stranger_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    theirs = make_tax_rate(other_cast)
    with pytest.raises(NotFound, match=r"no tax rate"):
        cast.perform(get_tax_rate, taxRateId=theirs)

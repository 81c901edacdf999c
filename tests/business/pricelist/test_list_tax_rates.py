import pytest

from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden
from support.cast import Cast
from support.prices import make_tax_rate


def test_those_in_use_are_listed_newest_first(cast: Cast, other_cast: Cast) -> None:
    make_tax_rate(other_cast)
    usual = make_tax_rate(cast, isDefault=True)
    other = make_tax_rate(cast, "VAT 5 %")
    archived = make_tax_rate(cast, "VAT 17.5 %", status="archived")
    found = cast.perform(list_tax_rates, Role.OFFICE)["data"]
    assert [(rate["id"], rate["isDefault"]) for rate in found] == [(other, False), (usual, True)]
    assert [rate["id"] for rate in cast.perform(list_tax_rates, status="archived")["data"]] == [archived]
    page = cast.perform(list_tax_rates, limit=1)
    assert page["hasMore"] is True
    assert [rate["id"] for rate in cast.perform(list_tax_rates, startingAfter=other)["data"]] == [usual]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_has_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_tax_rates, role)

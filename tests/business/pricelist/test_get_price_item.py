import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.operations import get_price_item
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.prices import make_kit_item, make_price_item, make_supplier


def test_it_is_got_by_id_or_code_whatever_state_it_is_in(cast: Cast) -> None:
    item = make_price_item(cast, code="BLR-24", status="archived")
    for name in (item, "BLR-24", "blr-24 "):
        assert cast.perform(get_price_item, Role.OFFICE, itemId=name)["id"] == item


def test_a_member_sees_what_a_kit_is_made_of_and_no_cost(cast: Cast) -> None:
    part = make_price_item(cast, costPrice="612.5", supplierId=make_supplier(cast))
    kit = make_kit_item(cast, {part: "2"})
    seen = cast.perform(get_price_item, Role.MEMBER, itemId=kit)
    assert seen["components"] == [{"itemId": part, "name": "Combi boiler", "quantity": "2.00"}]
    assert (seen["sellPrice"], seen["costPrice"]) == (None, None)
    cast.perform(update_settings, membersSeePrices=True)
    seen = cast.perform(get_price_item, Role.MEMBER, itemId=part)
    assert (seen["sellPrice"], seen["costPrice"], seen["supplierName"]) == ("890.00", None, None)


def test_a_subcontractor_gets_none(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(get_price_item, Role.SUBCONTRACTOR, itemId=make_price_item(cast))


@pytest.mark.parametrize("name", ["item_01JCDZ8Q4X0V9M2T6W3B7K5N1R", "NOTHING", "", "\u00df" * 300])
def test_what_is_not_there_is_not_found(cast: Cast, other_cast: Cast, name: str) -> None:
    make_price_item(other_cast, code="BLR-24")
    for unknown in (name, "BLR-24"):
        with pytest.raises(NotFound, match=r"no price list item"):
            cast.perform(get_price_item, itemId=unknown)

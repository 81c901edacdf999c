from typing import Any

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.operations import list_price_items, save_price_item
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden
from support.cast import Cast
from support.prices import make_kit_item, make_price_item, make_supplier


def list_items(cast: Cast, role: Role = Role.OFFICE, /, **given: object) -> list[dict[str, Any]]:
    return list(cast.perform(list_price_items, role, **given)["data"])


def list_names(cast: Cast, **given: object) -> list[str]:
    return [item["name"] for item in list_items(cast, Role.OFFICE, **given)]


def test_those_in_use_are_listed_newest_first_or_by_name(cast: Cast, other_cast: Cast) -> None:
    make_price_item(other_cast)
    for name in ("boiler", "Pipe", "\u00c4ther"):
        make_price_item(cast, name)
    make_price_item(cast, "Gone", status="archived")
    assert list_names(cast) == ["\u00c4ther", "Pipe", "boiler"]
    assert list_names(cast, order="name") == ["\u00c4ther", "boiler", "Pipe"]
    assert list_names(cast, status="archived") == ["Gone"]


def test_by_name_it_goes_on_behind_the_last_and_follows_a_new_name(cast: Cast) -> None:
    items = {name: make_price_item(cast, name) for name in "BDCA"}
    page = cast.perform(list_price_items, order="name", limit=2)
    assert ([item["name"] for item in page["data"]], page["hasMore"]) == (["A", "B"], True)
    assert list_names(cast, order="name", startingAfter=items["B"]) == ["C", "D"]
    cast.perform(save_price_item, itemId=items["A"], name="e")
    assert list_names(cast, order="name") == ["B", "C", "D", "e"]


def test_it_is_narrowed_by_kind_supplier_and_text(cast: Cast) -> None:
    supplier = make_supplier(cast)
    make_price_item(cast, "Boiler", code="BLR-24", supplierId=supplier)
    make_price_item(cast, "Fitter", kind="labour", description="By the hour.")
    assert list_names(cast, kind="labour") == ["Fitter"]
    assert list_names(cast, supplierId=supplier) == ["Boiler"]
    assert (
        list_names(cast, text="blr 24") == list_names(cast, text="BLR24") == list_names(cast, text="boil") == ["Boiler"]
    )
    assert list_names(cast, text="hour") == ["Fitter"]
    assert list_names(cast, text="hour", kind="material") == []


def test_a_kit_of_many_is_priced_in_the_list(cast: Cast) -> None:
    make_kit_item(cast, {make_price_item(cast, "Pipe", sellPrice="2.5", costPrice="1"): "4"})
    assert [(item["sellPrice"], item["costPrice"]) for item in list_items(cast)] == [
        ("10.00", "4.00"),
        ("2.50", "1.00"),
    ]


def test_a_member_sees_no_cost_and_prices_only_where_the_settings_let_them(cast: Cast) -> None:
    supplier = make_supplier(cast)
    item = make_price_item(cast, costPrice="612.5", supplierId=supplier, externalRef="P-7")
    make_kit_item(cast, {item: "2"})
    hidden = ("costPrice", "supplierId", "supplierName", "externalRef")
    for shown in (False, True):
        cast.perform(update_settings, membersSeePrices=shown)
        found = list_items(cast, Role.MEMBER)
        assert [item["sellPrice"] for item in found] == (["1780.00", "890.00"] if shown else [None, None])
        assert [item[name] for item in found for name in hidden] == [None] * 8
    with pytest.raises(Forbidden, match=r"^You can't filter by supplierId\."):
        list_items(cast, Role.MEMBER, supplierId=supplier)
    assert list_items(cast, Role.MEMBER, text="pennine") == []


def test_a_subcontractor_has_no_price_list(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        list_items(cast, Role.SUBCONTRACTOR)

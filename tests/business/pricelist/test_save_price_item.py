from typing import Any

import pytest

from mainstay.business.pricelist.operations import get_price_item, list_price_items, save_price_item
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound, Stale, UnblockingAction
from support.cast import Cast
from support.prices import make_kit_item, make_price_item, make_supplier, make_tax_rate, to_components
from support.stored_state import operations_on, to_event_record

EVERY_FIELD: dict[str, Any] = {
    "code": "BLR-24",
    "name": "Combi boiler",
    "description": "24 kW, with flue.\nFitted by us.",
    "kind": "service",
    "unit": "pcs",
    "sellPrice": "890.00",
    "costPrice": "612.50",
    "status": "active",
    "externalRef": "P-7",
}
# Just what a price can be, and a hair more.
LARGEST, TOO_LARGE = "900719925474.0991", "900719925474.0992"


def get_item(cast: Cast, item: str) -> dict[str, Any]:
    return cast.perform(get_price_item, itemId=item)


def prices_of(cast: Cast, item: str) -> tuple[str, str | None]:
    """Return an item's selling price and its cost."""
    found = get_item(cast, item)
    return found["sellPrice"], found["costPrice"]


def test_a_new_one_is_kept_with_everything(cast: Cast) -> None:
    rate, supplier = make_tax_rate(cast), make_supplier(cast)
    made = cast.perform(save_price_item, Role.OFFICE, taxRateId=rate, supplierId=supplier, **EVERY_FIELD)
    assert {name: made[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert (made["taxRateId"], made["taxRateName"]) == (rate, "VAT 20 %")
    assert (made["supplierId"], made["supplierName"]) == (supplier, "Pennine Supplies")
    assert (made["components"], made["fromParts"]) == ([], [])
    assert to_event_record(get_item(cast, made["id"])) == to_event_record(made)
    assert made["url"].endswith(f"/price-list/{made['id']}")
    assert made["availableActions"] == ["save_price_item"]


def test_little_needs_to_be_said(cast: Cast) -> None:
    made = cast.perform(save_price_item, name="Call-out", sellPrice="45")
    assert (made["kind"], made["status"], made["sellPrice"]) == ("material", "active", "45.00")
    assert [made[name] for name in ("code", "unit", "costPrice", "taxRateId", "supplierId")] == [None] * 5


def test_a_new_one_needs_a_name_and_a_price(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^name: is required for a new record$"):
        cast.perform(save_price_item, sellPrice="1")
    lacking: list[dict[str, object]] = [{}, {"sellPrice": None}, {"components": []}]
    for given in lacking:
        with pytest.raises(Invalid, match=r"^sellPrice: is required for an item without parts$"):
            cast.perform(save_price_item, name="x", **given)


def test_only_what_is_sent_changes_and_null_clears(cast: Cast) -> None:
    item = make_price_item(cast, taxRateId=make_tax_rate(cast), supplierId=make_supplier(cast), **EVERY_FIELD)
    before = get_item(cast, item)
    cleared = ("code", "description", "unit", "costPrice", "taxRateId", "supplierId", "externalRef")
    after = cast.perform(save_price_item, Role.OFFICE, itemId=item, **dict.fromkeys(cleared))
    changed = {name for name in before if before[name] != after[name]} - {"updatedAt", "updatedBy", "version"}
    assert changed == {*cleared, "taxRateName", "supplierName"}
    assert all(after[name] is None for name in changed)
    assert operations_on(cast, item) == ["save_price_item", "save_price_item"]


@pytest.mark.parametrize("name", ["name", "kind", "status", "components", "sellPrice"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: "):
        cast.perform(save_price_item, itemId=make_price_item(cast), **{name: None})


def test_a_code_is_written_in_capitals_and_names_the_item(cast: Cast) -> None:
    item = make_price_item(cast, code="blr-24")
    assert get_item(cast, " Blr-24 ")["id"] == item
    assert cast.perform(save_price_item, itemId="blr-24", unit="pcs")["id"] == item
    # Its own code is free for itself.
    assert cast.perform(save_price_item, itemId=item, code="Blr-24")["version"] == 2


def test_no_two_share_a_code(cast: Cast, other_cast: Cast) -> None:
    make_price_item(cast, code="BLR-24", status="archived")
    make_price_item(other_cast, code="FLT")
    other = make_price_item(cast, "Filter", code="FLT")
    for given in ({"itemId": other}, {"name": "New", "sellPrice": "1"}):
        with pytest.raises(Conflict, match=r"Combi boiler already has the code BLR-24. Edit that item, or use an"):
            cast.perform(save_price_item, code="blr-24", **given)


def test_no_two_share_a_reference_of_another_system(cast: Cast) -> None:
    make_price_item(cast, code="A", externalRef="P-7")
    with pytest.raises(Conflict, match=r"A Combi boiler already has the external ID P-7\. Change it there"):
        make_price_item(cast, externalRef="P-7")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("0", "0.00"),
        (0, "0.00"),
        ("0.0001", "0.0001"),
        (0.0001, "0.0001"),
        ("12.5", "12.50"),
        (12.345, "12.345"),
        (10**11, "100000000000.00"),
        (LARGEST, LARGEST),
    ],
)
def test_a_price_is_kept_to_four_decimals(cast: Cast, given: object, kept: str) -> None:
    item = make_price_item(cast, sellPrice=given, costPrice=given)
    assert prices_of(cast, item) == (kept, kept)


@pytest.mark.parametrize(
    "given",
    [
        "0.00005", 0.00005, "-1", -1, "-0.0001", 1e16, "1e3", "1E-2",
        "NaN", "Infinity", "-inf", "", " ", "1,50", "0x10", "1_000", "\u0661", True, [], {}, "12 pounds", "+1", ".5",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["sellPrice", "costPrice"])
def test_what_is_no_price_is_refused(cast: Cast, given: object, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: is not a number such as 85.50, from 0, with at most four decimals"):
        cast.perform(save_price_item, **{"name": "x", "sellPrice": "1", name: given})


@pytest.mark.parametrize("given", [TOO_LARGE, 10**12, "1000000000000", "9" * 50])
def test_a_price_that_is_too_large_is_told_how_large_it_may_be(cast: Cast, given: object) -> None:
    with pytest.raises(Invalid, match=r"^sellPrice: is too large, the maximum is 900719925474$"):
        cast.perform(save_price_item, name="x", sellPrice=given)


@pytest.mark.parametrize(("given", "kept"), [("0.0001", "0.0001"), (2, "2.00"), ("10000000", "10000000.00")])
def test_a_quantity_is_kept_to_four_decimals(cast: Cast, given: object, kept: str) -> None:
    parts = [{"itemId": make_price_item(cast, sellPrice="1"), "quantity": given}]
    assert cast.perform(save_price_item, name="Kit", components=parts)["components"][0]["quantity"] == kept


@pytest.mark.parametrize("given", ["0", 0, "-1", "0.00005", "1e3", "NaN", "two", None, ""])
def test_what_is_no_quantity_is_refused_beside_its_row(cast: Cast, given: object) -> None:
    item = make_price_item(cast)
    parts = [*to_components({item: "1"}), {"itemId": item, "quantity": given}]
    with pytest.raises(Invalid, match=r"^components\.1\.quantity: is not a quantity such as 2 or 0.5"):
        cast.perform(save_price_item, name="Kit", components=parts)


def test_a_kit_costs_what_its_parts_do_unless_it_says_otherwise(cast: Cast) -> None:
    boiler = make_price_item(cast, sellPrice="890", costPrice="612.5")
    pipe = make_price_item(cast, "Pipe", sellPrice="7.3333", costPrice="3.0001")
    kit = make_kit_item(cast, {boiler: "1", pipe: "2.5"})
    # 18.33325 and 7.50025, each rounded once.
    assert prices_of(cast, kit) == ("908.3333", "620.0003")
    assert get_item(cast, kit)["fromParts"] == ["sellPrice", "costPrice"]
    cast.perform(save_price_item, itemId=pipe, sellPrice="10")
    assert prices_of(cast, kit) == ("915.00", "620.0003")
    own = cast.perform(save_price_item, itemId=kit, sellPrice="900")
    assert (own["sellPrice"], own["fromParts"]) == ("900.00", ["costPrice"])
    own = cast.perform(save_price_item, itemId=kit, costPrice="0")
    assert (own["costPrice"], own["fromParts"]) == ("0.00", [])
    back = cast.perform(save_price_item, itemId=kit, sellPrice=None)
    assert (back["sellPrice"], back["fromParts"]) == ("915.00", ["sellPrice"])


def test_a_kit_has_no_cost_where_that_of_a_part_is_not_known(cast: Cast) -> None:
    known, unknown = make_price_item(cast, costPrice="5"), make_price_item(cast, "Pipe")
    assert prices_of(cast, make_kit_item(cast, {known: "1", unknown: "1"})) == ("1780.00", None)


def test_parts_are_named_by_id_or_code_and_told_by_name(cast: Cast) -> None:
    boiler, pipe = make_price_item(cast, code="BLR"), make_price_item(cast, "Pipe", code="PIPE")
    kit = make_kit_item(cast, {"blr": "1", pipe: "3"})
    parts = get_item(cast, kit)["components"]
    assert parts == [
        {"itemId": boiler, "name": "Combi boiler", "quantity": "1.00"},
        {"itemId": pipe, "name": "Pipe", "quantity": "3.00"},
    ]
    cast.perform(save_price_item, itemId=pipe, name='Copper "15 mm"')
    assert [part["name"] for part in get_item(cast, kit)["components"]] == ["Combi boiler", 'Copper "15 mm"']
    # Parts are sent whole: what is left out is no part any more.
    assert len(cast.perform(save_price_item, itemId=kit, components=to_components({pipe: "1"}))["components"]) == 1
    assert prices_of(cast, kit) == ("890.00", None)


def test_a_kit_becomes_a_plain_item_only_with_a_price_of_its_own(cast: Cast) -> None:
    item = make_price_item(cast)
    kit = make_kit_item(cast, {item: "1"})
    with pytest.raises(Invalid, match=r"^sellPrice: is required for an item without parts"):
        cast.perform(save_price_item, itemId=kit, components=[])
    cast.perform(save_price_item, itemId=kit, sellPrice="5")
    plain = cast.perform(save_price_item, itemId=kit, components=[])
    assert (plain["components"], plain["sellPrice"], plain["fromParts"]) == ([], "5.00", [])
    # And its former part is free.
    assert cast.perform(save_price_item, itemId=item, status="archived")["status"] == "archived"


def test_what_cannot_be_a_part_is_told_beside_each_row(cast: Cast, other_cast: Cast) -> None:
    plain, gone = make_price_item(cast), make_price_item(cast, "Gone", status="archived")
    kit = make_kit_item(cast, {plain: "1"})
    with pytest.raises(Invalid) as refusal:
        make_kit_item(cast, {gone: "1", kit: "1"})
    assert refusal.value.text == (
        "components.0.itemId: is archived; components.1.itemId: is a kit, and a kit can't contain kits"
    )
    with pytest.raises(
        Invalid, match=r"^components\.1\.itemId: is listed twice: list it once, with the whole quantity$"
    ):
        cast.perform(save_price_item, name="Kit", components=to_components({plain: "1"}) * 2)
    with pytest.raises(Invalid, match=r"^components\.0\.itemId: is a kit, and a kit can't contain kits$"):
        cast.perform(save_price_item, itemId=plain, components=to_components({plain: "1"}))
    for unknown in (make_price_item(other_cast), "NOTHING"):
        with pytest.raises(Invalid, match=r"^components\.0\.itemId: is not on the price list, list_price_items lists"):
            make_kit_item(cast, {unknown: "1"})
    with pytest.raises(Invalid, match=r"^components\.0\.itemId: is empty$"):
        make_kit_item(cast, {"": "1"})


def test_a_kit_has_at_most_fifty_parts(cast: Cast) -> None:
    items = [make_price_item(cast, f"Item {number}") for number in range(51)]
    assert len(get_item(cast, make_kit_item(cast, dict.fromkeys(items[:50], "1")))["components"]) == 50
    with pytest.raises(Invalid, match=r"^components: "):
        make_kit_item(cast, dict.fromkeys(items, "1"))


def test_what_a_kit_is_made_of_stays_a_plain_item_in_use(cast: Cast) -> None:
    item, other = make_price_item(cast), make_price_item(cast, "Pipe")
    kit = make_kit_item(cast, {item: "1"})
    for given in ({"status": "archived"}, {"components": to_components({other: "1"})}):
        with pytest.raises(
            Conflict, match=r"^Combi boiler is part of the kit New heating. Remove it there first.$"
        ) as refused:
            cast.perform(save_price_item, itemId=item, **given)
        assert refused.value.unblocking_actions == (UnblockingAction("save_price_item", record_id=kit),)
    cast.perform(save_price_item, itemId=kit, status="archived")
    # A kit that is put away needs its parts no more, until it comes back; but they never become kits.
    with pytest.raises(Conflict, match=r"is part of the kit"):
        cast.perform(save_price_item, itemId=item, components=to_components({other: "1"}))
    cast.perform(save_price_item, itemId=item, status="archived")
    cast.perform(save_price_item, itemId=kit, name="Old heating")
    with pytest.raises(Invalid, match=r"^components\.0\.itemId: is archived$"):
        cast.perform(save_price_item, itemId=kit, status="active")
    cast.perform(save_price_item, itemId=item, status="active")
    assert cast.perform(save_price_item, itemId=kit, status="active")["status"] == "active"


def test_a_kit_comes_to_no_more_than_a_price_can_be(cast: Cast) -> None:
    item, other = (
        make_price_item(cast, sellPrice=LARGEST),
        make_price_item(cast, "Pipe", sellPrice="0", costPrice="0.0001"),
    )
    kit = make_kit_item(cast, {item: "1", other: "10000000"})
    assert prices_of(cast, kit) == (LARGEST, None)
    for parts in ({item: "1.0001"}, {item: "10000000"}):
        with pytest.raises(Invalid, match=r"^components: add up to more than the largest possible price$"):
            make_kit_item(cast, parts)
    for given in ({"sellPrice": "0.0001"}, {"costPrice": "90072"}, {"costPrice": LARGEST}):
        with pytest.raises(
            Conflict,
            match=r"^The kit New heating would add up to more than the largest possible price. Reduce the quantity",
        ) as refused:
            cast.perform(save_price_item, itemId=other, **given)
        assert refused.value.unblocking_actions == (UnblockingAction("save_price_item", record_id=kit),)
    assert prices_of(cast, other) == ("0.00", "0.0001")
    # So every list of them can be worked out.
    assert len(cast.perform(list_price_items)["data"]) == 2 + 1


@pytest.mark.parametrize(("name", "make", "put_away"), [
    ("taxRateId", make_tax_rate, lambda cast, one: cast.perform(save_tax_rate, taxRateId=one, status="archived")),
    ("supplierId", make_supplier, lambda cast, one: cast.perform(save_supplier, supplierId=one, status="archived")),
], ids=["tax", "supplier"])  # fmt: skip
def test_what_is_archived_is_not_taken_but_stays(cast: Cast, name: str, make: Any, put_away: Any) -> None:
    archived = make(cast)
    item = make_price_item(cast, **{name: archived})
    put_away(cast, archived)
    with pytest.raises(Invalid, match=rf"^{name}: is archived$"):
        make_price_item(cast, "Other", **{name: archived})
    # Nor is it put on an item that has another or none.
    for before in (make(cast, "Another"), None):
        other = make_price_item(cast, f"With {before}", **({name: before} if before else {}))
        with pytest.raises(Invalid, match=rf"^{name}: is archived$"):
            cast.perform(save_price_item, itemId=other, **{name: archived})
    # Other fields of an item that has it can still be changed.
    assert cast.perform(save_price_item, itemId=item, unit="h", **{name: archived})[name] == archived


def test_what_is_a_stranger_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    for given in ({"taxRateId": make_tax_rate(other_cast)}, {"supplierId": make_supplier(other_cast)}):
        with pytest.raises(NotFound):
            make_price_item(cast, **given)
    for theirs in (make_price_item(other_cast, code="BLR"), "BLR"):
        with pytest.raises(NotFound, match=r"no price list item"):
            cast.perform(save_price_item, itemId=theirs, name="x")


def test_it_is_found_by_its_new_code_and_name(cast: Cast) -> None:
    item = make_price_item(cast, code="BLR-24", description="Quiet")
    cast.perform(save_price_item, itemId=item, code="HP-8", name="Heat pump")

    def found(text: str) -> list[str]:
        return [one["id"] for one in cast.perform(list_price_items, text=text)["data"]]

    assert found("hp-8") == found("hp8") == found("pump heat") == found("quiet") == [item]
    assert found("blr") == found("boiler") == []


def test_a_change_to_what_has_changed_since_is_refused(cast: Cast) -> None:
    item = make_price_item(cast)
    cast.perform(save_price_item, itemId=item, unit="h")
    with pytest.raises(Stale):
        cast.answer(
            save_price_item, Role.OFFICE, RequestDetails("r", if_match_versions=frozenset({1})), itemId=item, unit="m"
        )


def test_a_repeat_with_the_same_key_makes_nothing_twice(cast: Cast) -> None:
    for _ in range(2):
        cast.answer(save_price_item, Role.OFFICE, RequestDetails("r", idempotency_key="once"), name="x", sellPrice="1")
    assert len(cast.perform(list_price_items)["data"]) == 1


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(save_price_item, role, itemId=make_price_item(cast), unit="h")

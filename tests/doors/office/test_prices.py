"""The price list, suppliers and taxes in the office: lists, pages, and forms with a short list in them."""

import re
from html import unescape

import pytest

from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.business.pricelist.operations import get_price_item, list_price_items, save_price_item
from mainstay.business.pricelist.suppliers import list_suppliers
from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.prices import make_kit_item, make_price_item, make_supplier, make_tax_rate
from support.servers import RunningServer


def extract_main(page: str) -> str:
    """What is on a page, without the frame around it."""
    return page.partition("<main")[2].partition("</main>")[0]


def read_value(page: str, name: str) -> str:
    """What stands in a field."""
    found = re.search(rf'name="{re.escape(name)}"[^>]*value="([^"]*)"', page)
    assert found, name
    return unescape(found[1])


def read_filled_fields(page: str) -> dict[str, str]:
    """What stands in the texts and choices of a form."""
    form = extract_main(page)
    texts = re.findall(r'<input id="[^"]*" name="([^"]*)" type="(?!checkbox)[^"]*" value="([^"]*)"', form)
    chosen = re.findall(r'<select id="[^"]*" name="([^"]*)".*?<option value="([^"]*)" selected', form, re.DOTALL)
    return {name: unescape(text) for name, text in [*texts, *chosen] if text}


def component_fields(number: int, item: str, quantity: str) -> dict[str, str]:
    return {f"components.{number}.itemId": item, f"components.{number}.quantity": quantity}


NEW_ITEM = {"name": "Combi boiler", "kind": "material", "status": "active"}


def test_the_price_list_shows_prices_by_name(server: RunningServer, cast: Cast) -> None:
    supplier = make_supplier(cast)
    pipe = make_price_item(cast, "Pipe", sellPrice="7.3", unit="m")
    boiler = make_price_item(cast, code="BLR-24", costPrice="612.5", supplierId=supplier)
    make_kit_item(cast, {boiler: "1", pipe: "2"}, "Heating", code="KIT", kind="service")
    page = sign_in_new_person(server, cast, Role.OFFICE).get("/price-list").text
    assert '<a href="/price-list" aria-current="true">' in page
    shown = visible_text(extract_main(page))
    for row in (
        "Combi boiler BLR-24 · Material \N{EN DASH} £890.00 £612.50 Pennine Supplies",
        "Pipe Material m £7.30 \N{EN DASH} \N{EN DASH}",
    ):
        assert row in shown
    assert "Heating KIT · Service · Kit \N{EN DASH} £904.60 \N{EN DASH} \N{EN DASH}" in shown
    assert shown.index("Combi") < shown.index("Heating") < shown.index("Pipe Material")


def test_an_item_is_made_changed_and_put_away(server: RunningServer, cast: Cast) -> None:
    make_tax_rate(cast)
    make_supplier(cast)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    form = session.get("/price-list/new").text
    rate = re.search(r'<option value="(tax_[^"]+)">VAT 20 %</option>', form)
    assert rate, "taxes are picked from a list"
    given = {**NEW_ITEM, "code": "blr-24", "sellPrice": "1 250,50", "taxRateId": rate[1], "supplierId": "pennine"}
    page = session.follow_redirect(session.submit_page(form, "/price-list/new", **given))
    assert "Combi boiler saved." in visible_text(page.text)
    (made,) = cast.perform(list_price_items)["data"]
    assert (made["code"], made["sellPrice"], made["taxRateName"]) == ("BLR-24", "1250.50", "VAT 20 %")
    assert (made["supplierName"], made["components"]) == ("Pennine Supplies", [])
    path = f"/price-list/{made['id']}"
    shown = visible_text(extract_main(page.text))
    assert "Price £1,250.50 Tax VAT 20 % Supplier Pennine Supplies" in shown
    assert f'href="/suppliers/{made["supplierId"]}"' in page.text
    edit = session.get(f"{path}/edit").text
    assert (read_value(edit, "supplierId"), read_value(edit, "sellPrice")) == ("Pennine Supplies", "1250.50")
    saved = session.submit_page(edit, f"{path}/edit", **given | {"status": "archived"})
    assert "Archived" in visible_text(extract_main(session.follow_redirect(saved).text))
    assert cast.perform(list_price_items, status="archived")["data"][0]["version"] == 2


def test_a_kit_is_made_of_items_that_are_typed_and_shown_with_the_way_to_each(
    server: RunningServer, cast: Cast
) -> None:
    boiler, pipe = make_price_item(cast, code="BLR-24"), make_price_item(cast, "Copper pipe", sellPrice="7.3")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    form = session.get("/price-list/new").text
    assert len(re.findall(r'<div class="line"', form)) == 3
    assert '<input id="components.0.itemId" name="components.0.itemId" type="text" value="" autocomplete="off"' in form
    # Between two rows one is left empty, and one has nothing in it but blanks.
    rows = {
        **component_fields(0, "", ""),
        **component_fields(1, "blr-24", "1"),
        **component_fields(2, " ", ""),
        **component_fields(5, "copper", "2,5"),
    }
    page = session.follow_redirect(
        session.submit_page(form, "/price-list/new", **NEW_ITEM | {"name": "Heating"}, **rows)
    )
    (kit, *_) = cast.perform(list_price_items)["data"]
    assert [(one["itemId"], one["quantity"]) for one in kit["components"]] == [(boiler, "1.00"), (pipe, "2.50")]
    assert "Parts Item Quantity Combi boiler 1 Copper pipe 2.5" in visible_text(extract_main(page.text))
    for item in (boiler, pipe):
        assert f'href="/price-list/{item}"' in page.text


def test_a_kit_that_is_opened_and_saved_again_stays_as_it_was(server: RunningServer, cast: Cast) -> None:
    boiler, pipe = make_price_item(cast, code="BLR-24", costPrice="600"), make_price_item(cast, "Pipe", costPrice="3")
    kit = make_kit_item(cast, {boiler: "1", pipe: "2"}, costPrice="650")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    path = f"/price-list/{kit}/edit"
    form = session.get(path).text
    assert len(re.findall(r'<div class="line"', form)) == 2 + 3
    rows = [read_value(form, f"components.{number}.{name}") for number in (0, 1, 2) for name in ("itemId", "quantity")]
    assert rows == ["BLR-24 Combi boiler", "1.00", "Pipe", "2.00", "", ""]
    # What its parts say of it does not become its own.
    assert (read_value(form, "sellPrice"), read_value(form, "costPrice")) == ("", "650.00")
    sent = {"name": "New heating", "kind": "material", "status": "active", "costPrice": "650.00"}
    sent |= {f"components.{place // 2}.{('itemId', 'quantity')[place % 2]}": text for place, text in enumerate(rows)}
    assert session.submit_page(form, path, **sent).status_code == 303
    after = cast.perform(get_price_item, itemId=kit)
    assert (after["version"], after["fromParts"]) == (1, ["sellPrice"])


def test_what_is_wrong_with_a_row_is_told_beside_it(server: RunningServer, cast: Cast) -> None:
    make_price_item(cast, "Copper pipe, 15 mm")
    make_price_item(cast, "Copper pipe, 22 mm")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    form = session.get("/price-list/new").text
    rows = {**component_fields(0, "", ""), **component_fields(2, "copper", "1"), **component_fields(3, "nothing", "1")}
    refused = session.submit_page(form, "/price-list/new", **NEW_ITEM, **rows)
    assert refused.status_code == 422
    text = visible_text(extract_main(refused.text))
    assert (
        "Parts, row 1: Item could be one of several: Copper pipe, 22 mm; Copper pipe, 15 mm. Type more of it." in text
    )
    assert "Parts, row 2: Item was not found. Check the spelling, or type more of it." in text
    for number in (0, 1):
        assert f'href="#components.{number}.itemId"' in refused.text
        assert f'id="components.{number}.itemId-fault"' in refused.text
    # The rows close up, and what was typed is kept.
    assert [read_value(refused.text, f"components.{number}.itemId") for number in range(3)] == ["copper", "nothing", ""]
    rows = {**component_fields(0, "Copper pipe, 15 mm", "two"), **component_fields(1, "", "4")}
    refused = session.submit_page(refused.text, "/price-list/new", **NEW_ITEM, **rows)
    text = visible_text(extract_main(refused.text))
    assert "Parts, row 1: Quantity is not a quantity such as 2 or 0.5" in text
    assert "Parts, row 2: Enter an item." in text
    assert read_value(refused.text, "components.0.quantity") == "two"
    assert cast.perform(list_price_items, text="boiler")["data"] == []


def test_many_rows_are_too_many_and_no_fault_of_ours(server: RunningServer, cast: Cast) -> None:
    make_price_item(cast, code="AB")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    rows = {name: text for number in range(60) for name, text in component_fields(number, "AB", "1").items()}
    refused = session.submit_form("/price-list/new", **NEW_ITEM, **rows)
    assert refused.status_code == 422
    assert re.search(r'id="components-fault">Parts [^<]*50', refused.text)


def test_a_supplier_s_page_shows_what_comes_from_them_and_adds_to_it(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    given = {"name": "Pennine Supplies", "status": "active", "email": "orders@pennine.example", "phone": "01422 555010"}
    page = session.follow_redirect(session.submit_form("/suppliers/new", **given))
    assert "Pennine Supplies saved." in visible_text(page.text)
    (supplier,) = cast.perform(list_suppliers)["data"]
    make_price_item(cast, code="BLR-24", costPrice="612.5", supplierId=supplier["id"])
    page = session.get(f"/suppliers/{supplier['id']}")
    assert "BLR-24 Combi boiler \N{EN DASH} £612.50" in visible_text(extract_main(page.text))
    add = f"/price-list/new?supplierId={supplier['id']}"
    assert f'href="{add}"' in page.text
    assert read_value(session.get(add).text, "supplierId") == "Pennine Supplies"
    listed = session.get("/suppliers").text
    assert '<a href="/purchasing/orders" aria-current="true">' in listed
    assert '<a href="/suppliers" aria-current="page">' in listed
    assert "Pennine Supplies orders@pennine.example 01422 555010" in visible_text(extract_main(listed))


def test_a_tax_rate_is_made_of_several_taxes(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    taxes = {"components.0.name": "GST", "components.0.percent": "5", "components.2.name": "QST"}
    given = {"name": "Quebec", "category": "standard", "status": "active", "isDefault": "on", **taxes}
    refused = session.submit_form("/settings/taxes/new", **given)
    assert "Taxes, row 2: Percentage is not a percentage such as 19 or 5.5" in visible_text(extract_main(refused.text))
    made = session.submit_page(refused.text, "/settings/taxes/new", **given | {"components.2.percent": "9.975"})
    page = session.follow_redirect(made)
    assert "Taxes Name Percentage GST 5 QST 9.975" in visible_text(extract_main(page.text))
    (rate,) = cast.perform(list_tax_rates)["data"]
    assert (rate["percent"], rate["isDefault"]) == ("14.975", True)
    listed = visible_text(extract_main(session.get("/settings/taxes").text))
    assert "Quebec Default rate 14.975 Standard" in listed
    # None is an answer too, and refused in words.
    nothing = session.submit_form("/settings/taxes/new", name="x", category="standard", status="active")
    assert nothing.status_code == 422
    assert re.search(r'id="components-fault">Enter taxes', nothing.text)
    # Four at most: there is no row for a fifth.
    edit = session.get(f"/settings/taxes/{rate['id']}/edit").text
    assert len(re.findall(r'<div class="line"', edit)) == 4


def test_whether_prices_include_tax_is_decided_and_told(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    before = visible_text(extract_main(session.get("/settings/taxes").text))
    assert "Your prices exclude tax: it is added on quotes and invoices." in before
    form = session.get("/settings/documents/edit").text
    answer = session.submit_page(form, "/settings/documents/edit", **read_filled_fields(form), pricesIncludeTax="on")
    assert "Prices include tax Yes" in visible_text(extract_main(session.follow_redirect(answer).text))
    assert cast.perform(get_settings)["pricesIncludeTax"] is True
    after = visible_text(extract_main(session.get("/settings/taxes").text))
    assert "Your prices include tax: customers pay the price on the price list." in after
    assert 'href="/settings/documents/edit"' not in extract_main(
        sign_in_new_person(server, cast, Role.OFFICE).get("/settings/taxes").text
    )


def test_items_and_suppliers_are_found_from_anywhere(server: RunningServer, cast: Cast) -> None:
    item, supplier = make_price_item(cast, code="BLR-24"), make_supplier(cast, "Boiler Depot")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    found = session.get("/search?text=boiler").text
    assert f'href="{server.url}/price-list/{item}"' in found or f'href="/price-list/{item}"' in found
    assert f"/suppliers/{supplier}" in found
    for kind, title in (("item", "BLR-24 Combi boiler"), ("supplier", "Boiler Depot")):
        hits = session.get(f"/find?kind={kind}&text=boiler").json()["hits"]
        assert [hit["title"] for hit in hits] == [title]


def test_what_one_may_add_stands_in_the_menu(server: RunningServer, cast: Cast) -> None:
    new = {role: sign_in_new_person(server, cast, role).get("/").text.partition('class="menu'
        ' new"')[2].partition("</details>")[0]
           for role in (Role.OFFICE, Role.MEMBER)}  # fmt: skip
    for path in ("/price-list/new", "/suppliers/new"):
        assert path in new[Role.OFFICE]
        assert path not in new[Role.MEMBER]


def test_a_member_sees_no_cost_and_prices_only_where_the_settings_let_them(server: RunningServer, cast: Cast) -> None:
    item = make_price_item(cast, code="BLR-24", costPrice="612.5", supplierId=make_supplier(cast))
    kit = make_kit_item(cast, {item: "2"})
    for allowed in (False, True):
        cast.perform(update_settings, membersSeePrices=allowed)
        session = sign_in_new_person(server, cast, Role.MEMBER)
        pages = [session.get(path) for path in ("/price-list", f"/price-list/{item}", f"/price-list/{kit}")]
        for page in pages:
            assert page.status_code == 200
            shown = visible_text(extract_main(page.text))
            assert "Combi boiler" in shown
            assert ("890.00" in shown or "1,780.00" in shown) is allowed
            for hidden in ("612.50", "1,225.00", "1225.00", "Pennine", "Cost", "Supplier"):
                assert hidden not in shown
            assert ("Price " in shown.replace("Price list", "")) is allowed
        assert session.get("/price-list/new").status_code == 403
        assert 'href="/suppliers"' not in pages[0].text
    assert session.get("/suppliers").status_code == 403
    assert session.get("/settings/taxes").status_code == 403


def test_a_subcontractor_has_neither(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.SUBCONTRACTOR)
    home = session.get("/").text
    for path in ("/price-list", "/suppliers", "/settings/taxes"):
        assert f'href="{path}"' not in home
        assert session.get(path).status_code == 403


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x>', "{{ 7 * 7 }}"])
def test_what_someone_types_stays_a_text(server: RunningServer, cast: Cast, text: str) -> None:
    item = make_price_item(cast, text, code=text, description=text, unit=text)
    kit = make_kit_item(cast, {item: "1"}, text)
    rate = make_tax_rate(cast, text, components=[{"name": text, "percent": "1"}], note=text)
    supplier = make_supplier(cast, text, notes=text, accountNumber=text)
    session = sign_in_new_person(server, cast)
    cast.perform(save_price_item, itemId=item, supplierId=supplier, taxRateId=rate)
    for path in (
        "/price-list",
        f"/price-list/{kit}",
        f"/price-list/{kit}/edit",
        f"/price-list/{item}/edit",
        f"/suppliers/{supplier}",
        f"/settings/taxes/{rate}",
        f"/settings/taxes/{rate}/edit",
    ):
        page = extract_main(session.get(path).text)
        assert text not in page or "<" not in text
        assert text in unescape(page)

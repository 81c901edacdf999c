"""Settings → Import: what the page asks about the amounts in a file."""

from doors.office.test_importing import (
    check_columns,
    confirm_import,
    read_selected_columns,
    upload_file,
    wait_until_finished,
)
from mainstay.business.pricelist.operations import list_price_items
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.servers import RunningServer


def test_the_page_asks_for_a_decimal_sign_that_the_file_does_not_tell(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    content = b"Item;Type;Unit price\nBoiler;Product;1.250\nFlue;Product;45\n"
    path = upload_file(orla, content, "price items").headers["Location"]
    assert "Decimal sign" not in orla.get(path).text
    page = check_columns(orla, path)
    text = visible_text(page)
    assert "2 Price can be read with a decimal point or a decimal comma (1.250); choose below" in text
    assert "Decimal separator of Price" in text
    assert "Decimal separator of Cost" not in text
    for sign in (".", ","):
        answer = orla.submit_page(page, f"{path}/check", **read_selected_columns(page), **{"decimal sellPrice": sign})
        page = wait_until_finished(orla, answer.headers["Location"])
        assert "All rows are correct" in visible_text(page)
        assert f'<option value="{sign}" selected>' in page
    confirm_import(orla, path)
    assert [item["sellPrice"] for item in cast.perform(list_price_items)["data"]] == ["45.00", "1250.00"]


def test_an_amount_in_another_currency_is_a_fault_on_the_page(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    content = "Item;Type;Unit price\nBoiler;Product;\u20ac 5\n".encode()
    page = check_columns(orla, upload_file(orla, content, "price items").headers["Location"])
    assert (
        "is in \u20ac, but your amounts are in GBP; convert it, or correct the currency symbol: \u20ac 5"
        in visible_text(page)
    )

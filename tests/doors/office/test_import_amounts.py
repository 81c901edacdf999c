"""Settings → Import: what the page asks about the amounts in a file."""

from cast import Cast
from doors.office.test_importing import bring_over, chosen, hand_in, look_at, over
from mainstay.business.pricelist.operations import list_price_items
from mainstay.terms.rights import Role
from running import RunningServer
from visiting import visit, words


def test_the_page_asks_for_a_decimal_sign_that_the_file_does_not_tell(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    content = b"Item;Type;Unit price\nBoiler;Product;1.250\nFlue;Product;45\n"
    path = hand_in(orla, content, "price items").headers["Location"]
    assert "Decimal sign" not in orla.get(path).text
    page = look_at(orla, path)
    told = words(page)
    assert "2 Price may have a dot or a comma as its decimal sign (1.250): choose it below" in told
    assert "Decimal sign of Price" in told
    assert "Decimal sign of Cost" not in told
    for sign in (".", ","):
        answer = orla.answer(page, f"{path}/check", **chosen(page), **{"decimal sellPrice": sign})
        page = over(orla, answer.headers["Location"])
        assert "Every row is right" in words(page)
        assert f'<option value="{sign}" selected>' in page
    bring_over(orla, path)
    assert [item["sellPrice"] for item in cast.perform(list_price_items)["data"]] == ["45.00", "1250.00"]


def test_an_amount_in_another_currency_is_a_fault_on_the_page(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    content = "Item;Type;Unit price\nBoiler;Product;\u20ac 5\n".encode()
    page = look_at(orla, hand_in(orla, content, "price items").headers["Location"])
    assert "is in \u20ac, but your amounts are in GBP: convert it, or correct the sign: \u20ac 5" in words(page)

"""Amounts are written, and read, as the organisation's country does; what spreadsheets get is plain."""

import re

import pytest

from doors.office.test_quotes import fields_of
from mainstay.business.invoices.drafting.operations import get_invoice
from mainstay.business.people.operations import update_person
from mainstay.business.pricelist.operations import list_price_items, save_price_item
from mainstay.business.purchasing.bills import get_bill
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.hours import set_organisation_columns
from support.invoices import issue_invoice, make_invoice, pay_invoice
from support.purchases import PIPE, make_bill, make_order
from support.quotes import make_default_tax_rate, make_quote
from support.servers import RunningServer
from support.visits import make_site_job

LINE = {"description": "Boiler", "quantity": "2", "unitPrice": "1234.5678", "cost": "1000"}
COUNTRY = pytest.mark.parametrize(
    ("country", "net", "price"), [("GB", "2,469.14", "1,234.5678"), ("DE", "2.469,14", "1.234,5678")]
)


@COUNTRY
def test_pages_write_amounts_as_the_country_does(
    server: RunningServer, cast: Cast, country: str, net: str, price: str
) -> None:
    set_organisation_columns(cast, country=country)
    invoice = issue_invoice(cast, make_invoice(cast, lines=[LINE]))
    payment = pay_invoice(cast, invoice)
    cast.perform(save_price_item, Role.OFFICE, name="Boiler", kind="material", sellPrice="1234.5678")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    pages = {
        "/invoices": net,
        f"/invoices/{invoice['id']}": net,
        f"/payments/{payment['id']}": net,
        "/price-list": price,
    }
    for path, written in pages.items():
        page = session.get(path)
        assert page.status_code == 200
        assert written in page.text, path
    assert price in session.get(f"/invoices/{invoice['id']}").text


@pytest.mark.parametrize(
    ("currency", "price", "tenfold", "exact"),
    [
        ("KWD", "1,234.500", "12,345.000", "1,234.5678"),
        ("JPY", "1,234.5", "12,345", "1,234.5678"),
        ("JPY", "1,200", "12,000", "0.25"),
    ],
)
def test_amounts_and_prices_have_the_decimals_of_the_currency(
    server: RunningServer, cast: Cast, currency: str, price: str, tenfold: str, exact: str
) -> None:
    set_organisation_columns(cast, currency=currency)
    typed, little = price.replace(",", ""), exact.replace(",", "")
    line = {"description": "Boiler", "quantity": "10", "unitPrice": typed, "cost": little}
    draft, order = make_invoice(cast, lines=[line]), make_order(cast, lines=[PIPE | {"unitPrice": typed}])
    bill = make_bill(cast, lines=[PIPE | {"unitPrice": typed, "taxRateId": None}], total=tenfold.replace(",", ""))
    item = cast.perform(save_price_item, Role.OFFICE, name="Boiler", kind="material", sellPrice=typed, costPrice=little)
    job = make_site_job(cast, budget=typed)
    cast.perform(update_person, personId=cast.people[Role.MEMBER], billRate=typed)
    session = sign_in_new_person(server, cast)
    for path, expected in {
        "/invoices": [tenfold],
        f"/invoices/{draft['id']}": [price, tenfold],
        f"/invoices/{draft['id']}/lines": [f'value="{typed}"', f'value="{little}"', f"{tenfold}<"],
        f"/purchasing/orders/{order['id']}": [price],
        f"/purchasing/bills/{bill['id']}": [price],
        f"/purchasing/bills/{bill['id']}/lines": [f'value="{typed}"'],
        "/price-list": [price, exact],
        f"/price-list/{item['id']}": [price, exact],
        f"/price-list/{item['id']}/edit": [f'value="{typed}"', f'value="{little}"'],
        f"/jobs/{job['id']}": [price],
        f"/people/{cast.people[Role.MEMBER]}": [price],
    }.items():
        page = session.get(path).text
        assert [text for text in expected if not re.search(rf"(?<![\d.,]){re.escape(text)}(?![\d.,])", page)] == [], (
            path
        )


def test_percentages_and_quantities_have_none_of_them(server: RunningServer, cast: Cast) -> None:
    set_organisation_columns(cast, currency="KWD")
    make_default_tax_rate(cast)
    assert "20.00<" in sign_in_new_person(server, cast, Role.OFFICE).get("/settings/taxes").text


@pytest.mark.parametrize(("country", "written"), [("GB", "1,234.5"), ("DE", "1.234,5")])
def test_quantities_are_written_likewise_without_zeros_that_say_nothing(
    server: RunningServer, cast: Cast, country: str, written: str
) -> None:
    set_organisation_columns(cast, country=country)
    invoice = make_invoice(cast, lines=[LINE, LINE | {"quantity": "1234.50"}])
    page = sign_in_new_person(server, cast, Role.OFFICE).get(f"/invoices/{invoice['id']}").text
    assert re.findall(r'data-label="Quantity">([^<]*)<', page) == ["2", written]


@pytest.mark.parametrize(("country", "percent"), [("GB", "12.5%"), ("DE", "12,5%")])
def test_percentages_are_written_likewise(server: RunningServer, cast: Cast, country: str, percent: str) -> None:
    set_organisation_columns(cast, country=country)
    less = {"discountPercent": "12.5"}
    of_whole = {"percent": "12.50"}
    quote = make_quote(cast, lines=[LINE | less], discount=of_whole, deposit=of_whole)
    invoice = make_invoice(cast, lines=[LINE | less], discount=of_whole)
    order, bill = make_order(cast, lines=[PIPE | less]), make_bill(cast, lines=[PIPE | less], total="52.50")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    line, whole = f"{percent} off", f"Net after {percent} discount"
    for path, expected in {
        f"/quotes/{quote['id']}": [line, whole, f"Deposit: {percent} of the total"],
        f"/invoices/{invoice['id']}": [line, whole],
        f"/purchasing/orders/{order['id']}": [line],
        f"/purchasing/bills/{bill['id']}": [line],
    }.items():
        page = visible_text(session.get(path).text)
        assert [text for text in expected if text not in page] == [], path
        assert "12.50" not in page


@COUNTRY
def test_a_payment_is_called_by_its_amount_as_the_country_writes_it(
    server: RunningServer, cast: Cast, country: str, net: str, price: str
) -> None:
    assert price
    net_text = f"£{net}" if country == "GB" else f"{net}\N{NO-BREAK SPACE}£"
    set_organisation_columns(cast, country=country)
    payment = pay_invoice(cast, issue_invoice(cast, make_invoice(cast, lines=[LINE])))
    session = sign_in_new_person(server, cast, Role.OFFICE)
    path = f"/payments/{payment['id']}"
    assert f'<a href="{path}" dir="auto">{net_text}</a>' in session.get("/payments").text
    for page in (path, f"{path}/reverse"):
        shown = session.get(page).text
        assert net_text in shown
        assert "2469.14 GBP" not in shown


@COUNTRY
def test_an_editor_writes_what_is_typed_without_groups_and_what_it_comes_to_with_them(
    server: RunningServer, cast: Cast, country: str, net: str, price: str
) -> None:
    set_organisation_columns(cast, country=country)
    make_default_tax_rate(cast)
    draft = make_invoice(cast, lines=[LINE])
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get(f"/invoices/{draft['id']}/lines").text
    assert re.search(rf'unitPrice"[^>]*value="{re.escape(price[:1] + price[2:])}"', page)
    assert price not in page
    assert page.count(net) == 3
    totals = session.submit_form(f"/invoices/{draft['id']}/lines", f"/invoices/{draft['id']}/lines/totals")
    assert net in totals.text


TYPED_AMOUNTS = pytest.mark.parametrize(
    ("country", "thousand", "little"), [("DE", "1.250", "1,255"), ("GB", "1,250", "1.255")]
)


@TYPED_AMOUNTS
def test_what_is_typed_in_a_form_is_read_as_the_country_writes_it_and_stays_as_it_is(
    server: RunningServer, cast: Cast, country: str, thousand: str, little: str
) -> None:
    set_organisation_columns(cast, country=country)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    item = {"name": "Boiler", "kind": "material", "status": "active"}
    session.follow_redirect(session.submit_form("/price-list/new", **item, sellPrice=thousand, costPrice=little))
    (made,) = cast.perform(list_price_items)["data"]
    assert (made["sellPrice"], made["costPrice"]) == ("1250.00", "1.255")
    path = f"/price-list/{made['id']}/edit"
    shown = session.get(path).text
    again = {name: _read_field(shown, name) for name in ("sellPrice", "costPrice")}
    assert again["costPrice"] == little
    session.follow_redirect(session.submit_page(shown, path, **item, **again))
    (kept,) = cast.perform(list_price_items)["data"]
    assert (kept["sellPrice"], kept["costPrice"]) == ("1250.00", "1.255")


@TYPED_AMOUNTS
def test_what_is_typed_on_a_line_is_read_likewise(
    server: RunningServer, cast: Cast, country: str, thousand: str, little: str
) -> None:
    set_organisation_columns(cast, country=country)
    draft = make_invoice(cast, lines=[LINE])
    session = sign_in_new_person(server, cast, Role.OFFICE)
    path, line = f"/invoices/{draft['id']}/lines", draft["lines"][0]["id"]
    typed = {f"{line} quantity": thousand, f"{line} unitPrice": little, "new kind": "item"}
    more = {"new description": "Less", "new unitPrice": f"-{thousand}", "do": "done"}
    session.follow_redirect(session.submit_form(path, **typed, **more))
    lines = cast.perform(get_invoice, invoiceId=draft["id"])["lines"]
    assert [(one["quantity"], one["unitPrice"]) for one in lines] == [("1250.00", "1.255"), ("1.00", "-1250.00")]


@TYPED_AMOUNTS
def test_what_is_typed_on_a_bill_is_read_likewise(
    server: RunningServer, cast: Cast, country: str, thousand: str, little: str
) -> None:
    set_organisation_columns(cast, country=country)
    bill = make_bill(cast, lines=[PIPE | {"taxRateId": None}])
    session = sign_in_new_person(server, cast, Role.OFFICE)
    path = f"/purchasing/bills/{bill['id']}/lines"
    form = fields_of(session.get(path).text)
    line = bill["lines"][0]["id"]
    typed = {f"{line} quantity": thousand, f"{line} unitPrice": little, "total": "1568,75"}
    session.follow_redirect(session.post(path, form | typed))
    (changed,) = cast.perform(get_bill, billId=bill["id"])["lines"]
    assert (changed["quantity"], changed["unitPrice"]) == ("1250.00", "1.255")


def _read_field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]* value="([^"]*)"', page)
    assert found, name
    return found[1]


def test_spreadsheets_get_plain_decimals(server: RunningServer, cast: Cast) -> None:
    set_organisation_columns(cast, country="DE")
    issue_invoice(cast, make_invoice(cast, lines=[LINE]))
    written = sign_in_new_person(server, cast, Role.OFFICE).get("/invoices/export.csv").text
    assert ",2469.14," in written

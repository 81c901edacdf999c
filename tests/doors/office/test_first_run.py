"""The first steps of a new firm: what is usual in its country, and a price list to begin with."""

import re

import pytest

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import get_settings
from mainstay.business.pricelist.country_presets import COUNTRY_PRESETS
from mainstay.business.pricelist.operations import list_price_items
from mainstay.business.pricelist.starter_lists import STARTER_LISTS
from mainstay.business.pricelist.taxes import list_tax_rates, save_tax_rate
from mainstay.documents.codes import unit_code
from mainstay.values.country_defaults import defaults_by_country
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.servers import RunningServer

COUNTRY = "/first-steps/country"
PRICES = "/first-steps/prices"


def list_rates(cast: Cast) -> list[tuple[str, str, bool]]:
    rates = cast.perform(list_tax_rates)["data"]
    return [(rate["name"], rate["percent"], rate["isDefault"]) for rate in rates]


def save_country(session: BrowserSession, tax: str, days: str = "21") -> int:
    page = session.get(COUNTRY).text
    fields = {"tax": tax, "paymentTermsDays": days, "language": "de"}
    return session.submit_page(page, COUNTRY, **fields).status_code


def test_what_is_usual_in_the_country_is_proposed_and_saved_once(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_organisation, country="DE")
    olivia = sign_in_cast(server, cast, Role.OWNER)
    page = olivia.get(COUNTRY).text
    assert "USt 19%, USt 7%" in visible_text(page)
    assert 'name="paymentTermsDays"' in page
    # Nothing of it is saved if a part is refused.
    assert save_country(olivia, "charged", days="many") == 422
    assert save_country(olivia, "") == 422
    assert list_rates(cast) == []
    assert save_country(olivia, "charged") == 303
    assert sorted(list_rates(cast)) == [("USt 19%", "19.00", True), ("USt 7%", "7.00", False)]
    settings = cast.perform(get_settings)
    assert (settings["paymentTermsDays"], settings["language"]) == (21, "de")
    # The rates are there now, and are not added again.
    assert "We charge tax" not in visible_text(olivia.get(COUNTRY).text)
    assert save_country(olivia, "charged") == 303
    assert len(list_rates(cast)) == 2


def test_a_firm_that_charges_no_tax_and_one_in_another_country(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_cast(server, cast, Role.OWNER)
    cast.perform(update_organisation, country="JP")
    assert "Add your own tax rate" in visible_text(olivia.get(COUNTRY).text)
    cast.perform(update_organisation, country="GB")
    assert save_country(olivia, "none") == 303
    assert list_rates(cast) == [("No tax", "0.00", True)]
    for role in (Role.OFFICE, Role.MEMBER):
        assert sign_in_new_person(server, cast, role).get(COUNTRY).status_code == 403


@pytest.mark.parametrize("country", COUNTRY_PRESETS)
def test_the_rates_of_every_country_are_accepted_and_its_currency_is_known(cast: Cast, country: str) -> None:
    preset, defaults = COUNTRY_PRESETS[country], defaults_by_country()[country]
    assert (bool(defaults.currency), bool(defaults.zone)) == (True, True)
    for rate in preset.rates:
        cast.perform(save_tax_rate, **rate.to_input(is_default=rate is preset.rates[0]))
    assert len(list_rates(cast)) == len(preset.rates)
    assert {rate[0] for rate in list_rates(cast) if rate[2]} == {rate.name for rate in preset.rates[:1]}


def test_a_price_list_begins_with_the_items_of_a_trade_that_have_a_price(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_cast(server, cast, Role.OFFICE)
    trades = orla.get(PRICES).text
    assert all(starter.title in visible_text(trades) for starter in STARTER_LISTS.values())
    path = f"{PRICES}/electrical"
    assert f'href="{path}"' in trades
    page = orla.get(path).text
    assert "Electrician (h)" in visible_text(page)
    assert orla.submit_page(page, path).status_code == 422
    wrong = orla.submit_page(page, path, price0="48", price4="much")
    assert wrong.status_code == 422
    assert re.search(r'id="price4"[^>]* value="much"[^>]* aria-invalid="true"', wrong.text)
    assert cast.perform(list_price_items)["data"] == []
    shown = orla.follow_redirect(orla.submit_page(page, path, price0="48", price4="1,062.50"))
    assert shown.status_code == 200
    items = cast.perform(list_price_items)["data"]
    assert [(item["name"], item["kind"], item["unit"], item["sellPrice"]) for item in items] == [
        ("Electrician", "labour", "h", "48.00"),
        ("Fault finding", "service", "h", "1062.50"),
    ]
    assert orla.get(f"{PRICES}/none").status_code == 404
    assert sign_in_cast(server, cast, Role.MEMBER).get(PRICES).status_code == 403


def test_every_starter_list_has_units_that_e_invoices_know() -> None:
    for starter in STARTER_LISTS.values():
        assert len(starter.items) == 10
        assert len({item.name for item in starter.items}) == 10
        assert {item.unit for item in starter.items if unit_code(item.unit) == "C62"} == set()

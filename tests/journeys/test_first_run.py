"""The first start of an installation: what the log says, the one organisation that is made, and how it looks."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Browser, expect

from mainstay.business.organisation import store as organisations
from mainstay.composition import open_performer
from mainstay.settings import Settings, read_settings
from support.browser import NARROW, check_page, open_page
from support.browser_session import BrowserSession
from support.engines import PostgresServer
from support.installations import Installations
from support.servers import ServerProcess, share_files, start_server

SET_UP_FIELDS = {
    "name": "Beam & Sons",
    "country": "GB",
    "currency": "GBP",
    "timeZone": "Europe/London",
    "ownerName": "Olivia Owner",
    "ownerEmail": "olivia@beam.example",
    "password": "four words of mine",
}


@pytest.fixture
def settings_without_proxies(installations: Installations, tmp_path: Path) -> Settings:
    return replace(installations.make_empty("sqlite", tmp_path), trusted_proxies=())


def read_log_lines(server: ServerProcess, event: str) -> list[dict[str, Any]]:
    entries = [orjson.loads(line) for line in server.log.read_text().splitlines()]
    return [line for line in entries if line["event"] == event]


def count_organisations(settings: Settings) -> int:
    database = open_performer(settings).database
    with database.read_transaction("*") as db:
        found = organisations.list_organisations(db)
    database.close()
    return len(found)


def test_the_log_says_where_to_go_and_its_code_is_good_until_it_was_used(settings_without_proxies: Settings) -> None:
    with start_server(settings_without_proxies) as server:
        [line] = read_log_lines(server, "no organisation yet")
        assert line["link"] == f"{server.url}/set-up?code={line['code']}"
        earlier = line["code"]
        assert server.stop() == 0
    with start_server(settings_without_proxies) as server:
        [line] = read_log_lines(server, "no organisation yet")
        assert line["code"] == earlier
        # A browser elsewhere, for which a proxy asks; either process may answer.
        session = BrowserSession(server)
        assert session.submit_form("/set-up", **SET_UP_FIELDS, code="0000").status_code == 422
        assert session.submit_form("/set-up", **SET_UP_FIELDS, code=line["code"]).headers["Location"] == "/"
        assert session.is_signed_in
        assert line["code"] not in server.log.read_text().replace(orjson.dumps(line).decode(), "")
        assert server.stop() == 0
    with start_server(settings_without_proxies) as server:
        assert read_log_lines(server, "no organisation yet") == []
        assert BrowserSession(server).get("/set-up").headers["Location"] == "/sign-in"


def test_however_many_processes_take_the_form_there_is_one_organisation(settings_without_proxies: Settings) -> None:
    with start_server(settings_without_proxies) as server:
        _submit_at_once([server])
        assert count_organisations(settings_without_proxies) == 1


def test_however_many_machines_take_the_form_there_is_one_organisation(
    postgresql: PostgresServer, tmp_path: Path
) -> None:
    one = replace(
        read_settings({}), data=tmp_path / "one", database=postgresql.new_database(), secret="shared" * 6, workers=1
    )
    two = replace(one, data=tmp_path / "two")
    share_files(one, two)
    with start_server(one) as first, start_server(two) as second:
        _submit_at_once([first, second])
        assert count_organisations(one) == 1


def _submit_at_once(servers: list[ServerProcess]) -> None:
    """Send the form from many browsers at once: one of them is in, the others are shown to sign in."""

    def send(number: int) -> str:
        session = BrowserSession(servers[number % len(servers)])
        [line] = read_log_lines(servers[number % len(servers)], "no organisation yet")
        page = session.get("/set-up").text
        fields = SET_UP_FIELDS | {"ownerEmail": f"{number}@beam.example", "code": line["code"]}
        return str(session.submit_page(page, "/set-up", **fields).headers["Location"]) if "csrf" in page else "/sign-in"

    with ThreadPoolExecutor(8) as clients:
        places = list(clients.map(send, range(8)))
    assert sorted(places) == ["/", *["/sign-in"] * 7]


def test_the_first_organisation_is_made_in_a_browser_on_a_phone(
    settings_without_proxies: Settings, browser: Browser
) -> None:
    with start_server(settings_without_proxies) as server, open_page(browser, server.url, NARROW, "dark") as page:
        page.goto("/")
        expect(page.get_by_role("heading", name="Set up Mainstay")).to_be_visible()
        expect(page.get_by_label("Code")).to_be_focused()
        [line] = read_log_lines(server, "no organisation yet")
        page.goto(line["link"])
        expect(page.get_by_label("Company name")).to_be_focused()
        check_page(page)
        page.get_by_label("Company name").fill("Beam & Sons")
        page.get_by_label("Country").select_option(label="United Kingdom")
        page.get_by_label("Currency").select_option("GBP")
        page.get_by_label("Time zone").select_option("Europe/London")
        page.get_by_label("Your name").fill("Olivia Owner")
        page.get_by_label("Your email").fill("olivia@beam.example")
        page.get_by_label("Password").fill("short")
        page.get_by_role("button", name="Create organisation").click()
        expect(page.get_by_text("Password must have at least 10 characters.")).to_be_visible()
        check_page(page)
        expect(page.get_by_label("Country")).to_have_value("GB")
        page.get_by_label("Password").fill("four words of mine")
        page.get_by_role("button", name="Create organisation").click()
        expect(page.locator("body.office")).to_be_visible()
        expect(page.get_by_text("Beam & Sons").first).to_be_visible()
        # The first steps: what is usual in the country, a price list to begin with, and a firm to look at.
        page.get_by_role("link", name="Set tax rates and payment terms").click()
        expect(page.get_by_label("We charge tax")).to_be_checked()
        check_page(page)
        page.get_by_role("button", name="Save settings").click()
        expect(page.get_by_role("listitem").filter(has_text="Set tax rates")).to_contain_text("Done")
        page.get_by_role("link", name="Start your price list").click()
        check_page(page)
        page.get_by_role("link", name="Electrical").click()
        page.get_by_label("Electrician (h)").fill("48")
        check_page(page)
        page.get_by_role("button", name="Add items").click()
        expect(page.get_by_text("Electrician").first).to_be_visible()
        page.goto("/")
        page.get_by_role("button", name="Try a sample firm first").click()
        open_button = page.get_by_role("button", name="Open the sample firm")
        # The page loads itself again until it is made.
        expect(open_button).to_be_visible()
        check_page(page)
        open_button.click()
        expect(page.get_by_text("Try anything: nobody but you gets an email.")).to_be_visible()
        check_page(page)
        page.get_by_role("button", name="Delete sample firm").click()
        expect(page.get_by_text("Beam & Sons").first).to_be_visible()
        expect(page.get_by_text("Sample firm.")).to_be_hidden()


def test_a_country_brings_what_is_usual_there_and_changes_nothing_that_was_chosen(
    settings_without_proxies: Settings, browser: Browser
) -> None:
    with start_server(settings_without_proxies) as server, open_page(browser, server.url) as page:
        # Of a country with several time zones, that of the browser is meant if it is one of them, by whatever name.
        clocks = {"timezoneId": "Europe/Kiev"}
        page.context.new_cdp_session(page).send("Emulation.setTimezoneOverride", clocks)
        page.goto("/set-up")
        country, currency, zone = (page.get_by_label(label) for label in ("Country", "Currency", "Time zone"))
        for place, money, clock in (
            ("KW", "KWD", "Asia/Kuwait"),
            ("UA", "UAH", "Europe/Kyiv"),
            ("US", "USD", "America/New_York"),
            ("PA", "", "America/Panama"),
        ):
            country.select_option(place)
            expect(currency).to_have_value(money)
            expect(zone).to_have_value(clock)
        currency.select_option("USD")
        country.select_option("GB")
        expect(currency).to_have_value("USD")
        expect(zone).to_have_value("Europe/London")
        zone.select_option("UTC")
        check_page(page)
        # What is wrong elsewhere leaves all of it as it was chosen.
        for label, text in (("Company name", "Beam"), ("Your name", "Olivia"), ("Password", "short")):
            page.get_by_label(label).fill(text)
        [line] = read_log_lines(server, "no organisation yet")
        page.get_by_label("Code").fill(line["code"])
        page.get_by_label("Your email").fill("olivia@beam.example")
        page.get_by_role("button", name="Create organisation").click()
        expect(page.get_by_text("Password must have at least 10 characters.")).to_be_visible()
        country.select_option("DE")
        expect(currency).to_have_value("USD")
        expect(zone).to_have_value("UTC")

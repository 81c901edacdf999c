"""The first start of an installation: what the log says, the one organisation that is made, and how it looks."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Browser, expect

from chromium import NARROW, check_page, open_page
from engines import PostgresServer
from installations import Installations
from mainstay.business.organisation import store as organisations
from mainstay.settings import Settings, read_settings
from mainstay.staging import open_stage
from running import ServerProcess, start_server
from visiting import Visit

GIVEN = {
    "name": "Beam & Sons",
    "country": "GB",
    "currency": "GBP",
    "timeZone": "Europe/London",
    "ownerName": "Olivia Owner",
    "ownerEmail": "olivia@beam.example",
    "password": "four words of mine",
}


@pytest.fixture
def untouched(installations: Installations, tmp_path: Path) -> Settings:
    return replace(installations.empty("sqlite", tmp_path), trusted_proxies=())


def lines(server: ServerProcess, event: str) -> list[dict[str, Any]]:
    told = [orjson.loads(line) for line in server.log.read_text().splitlines()]
    return [line for line in told if line["event"] == event]


def count(settings: Settings) -> int:
    database = open_stage(settings).database
    with database.reading("*") as rows:
        found = organisations.every(rows)
    database.close()
    return len(found)


def test_the_log_says_where_to_go_and_its_code_is_good_until_the_next_start(untouched: Settings) -> None:
    with start_server(untouched) as server:
        [line] = lines(server, "no organisation yet")
        assert line["link"] == f"{server.url}/set-up?code={line['code']}"
        earlier = line["code"]
        assert server.stop() == 0
    with start_server(untouched) as server:
        [line] = lines(server, "no organisation yet")
        assert line["code"] != earlier
        # A browser elsewhere, for which a proxy asks; either process may answer.
        visiting = Visit(server)
        assert visiting.submit("/set-up", **GIVEN, code=earlier).status_code == 422
        assert visiting.submit("/set-up", **GIVEN, code=line["code"]).headers["Location"] == "/"
        assert visiting.is_inside
        assert line["code"] not in server.log.read_text().replace(orjson.dumps(line).decode(), "")
        assert server.stop() == 0
    with start_server(untouched) as server:
        assert lines(server, "no organisation yet") == []
        assert Visit(server).get("/set-up").headers["Location"] == "/sign-in"


def test_however_many_processes_take_the_form_there_is_one_organisation(untouched: Settings) -> None:
    with start_server(untouched) as server:
        _make_at_once([server])
        assert count(untouched) == 1


def test_however_many_machines_take_the_form_there_is_one_organisation(
    postgresql: PostgresServer, tmp_path: Path
) -> None:
    one = replace(
        read_settings({}), data=tmp_path / "one", database=postgresql.new_database(), secret="shared" * 6, workers=1
    )
    with start_server(one) as first, start_server(replace(one, data=tmp_path / "two")) as second:
        _make_at_once([first, second])
        assert count(one) == 1


def _make_at_once(servers: list[ServerProcess]) -> None:
    """Send the form from many browsers at once: one of them is in, the others are shown to sign in."""

    def send(number: int) -> str:
        visiting = Visit(servers[number % len(servers)])
        [line] = lines(servers[number % len(servers)], "no organisation yet")
        page = visiting.get("/set-up").text
        fields = GIVEN | {"ownerEmail": f"{number}@beam.example", "code": line["code"]}
        return str(visiting.answer(page, "/set-up", **fields).headers["Location"]) if "csrf" in page else "/sign-in"

    with ThreadPoolExecutor(8) as clients:
        places = list(clients.map(send, range(8)))
    assert sorted(places) == ["/", *["/sign-in"] * 7]


def test_the_first_organisation_is_made_in_a_browser_on_a_phone(untouched: Settings, browser: Browser) -> None:
    with start_server(untouched) as server, open_page(browser, server.url, NARROW, "dark") as page:
        page.goto("/")
        expect(page.get_by_role("heading", name="Set up Mainstay")).to_be_visible()
        expect(page.get_by_label("Code")).to_be_focused()
        [line] = lines(server, "no organisation yet")
        page.goto(line["link"])
        expect(page.get_by_label("Name of the organisation")).to_be_focused()
        check_page(page)
        page.get_by_label("Name of the organisation").fill("Beam & Sons")
        page.get_by_label("Country").select_option(label="United Kingdom")
        page.get_by_label("Currency").select_option("GBP")
        page.get_by_label("Time zone").select_option("Europe/London")
        page.get_by_label("Your name").fill("Olivia Owner")
        page.get_by_label("Your e-mail address").fill("olivia@beam.example")
        page.get_by_label("Password").fill("short")
        page.get_by_role("button", name="Make the organisation").click()
        expect(page.get_by_text("Password has fewer than 10 characters.")).to_be_visible()
        check_page(page)
        expect(page.get_by_label("Country")).to_have_value("GB")
        page.get_by_label("Password").fill("four words of mine")
        page.get_by_role("button", name="Make the organisation").click()
        expect(page.locator("body.office")).to_be_visible()
        expect(page.get_by_text("Beam & Sons").first).to_be_visible()


def test_a_country_brings_what_is_usual_there_and_changes_nothing_that_was_chosen(
    untouched: Settings, browser: Browser
) -> None:
    with start_server(untouched) as server, open_page(browser, server.url) as page:
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
        for label, text in (("Name of the organisation", "Beam"), ("Your name", "Olivia"), ("Password", "short")):
            page.get_by_label(label).fill(text)
        [line] = lines(server, "no organisation yet")
        page.get_by_label("Code").fill(line["code"])
        page.get_by_label("Your e-mail address").fill("olivia@beam.example")
        page.get_by_role("button", name="Make the organisation").click()
        expect(page.get_by_text("Password has fewer than 10 characters.")).to_be_visible()
        country.select_option("DE")
        expect(currency).to_have_value("USD")
        expect(zone).to_have_value("UTC")

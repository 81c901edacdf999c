"""Connecting an app in a real browser: from the app through sign-in and approval back to it, and out again."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import NARROW, WIDE, Scheme, check_page, fill_in_sign_in, open_page
from support.browser_session import NewPerson, add_new_person
from support.cast import Cast
from support.http_server import QuietHandler, run_http_server
from support.mcp_client import make_legacy_call, post_call
from support.oauth_app import OAuthApp, register_app
from support.servers import RunningServer

MCP = "/settings/developer/mcp"


class Callback:
    """Where an app waits on loopback for the person to come back."""

    def __init__(self) -> None:
        self.address = ""
        self.parameters: dict[str, str] = {}


@pytest.fixture
def callback() -> Iterator[Callback]:
    callback = Callback()

    class Waiting(QuietHandler):
        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            # The browser asks for an icon too.
            callback.parameters |= {name: values[0] for name, values in query.items()}
            self.reply(200, b"<h1>Back in the app</h1>", "text/html")

    with run_http_server(Waiting) as address:
        callback.address = f"{address}/callback"
        yield callback


def open_approval(page: Page, app: OAuthApp, person: NewPerson) -> None:
    """Where the app sends the person, up to the approval screen."""
    page.goto(app.make_authorize_url())
    fill_in_sign_in(page, person)
    expect(page.get_by_role("heading", name="Connect")).to_contain_text("Kitchen planner")


# Its pages are checked in both views either way, and denied in a wide one.
@pytest.mark.parametrize(("size", "scheme"), [pytest.param(WIDE, "light", marks=pytest.mark.long), (NARROW, "dark")])
def test_an_app_is_connected_seen_and_disconnected(
    browser: Browser, server: RunningServer, cast: Cast, callback: Callback, size: tuple[int, int], scheme: Scheme
) -> None:
    app = register_app(server, client_name="Kitchen planner", redirect_uris=[callback.address])
    with open_page(browser, server.url, size, scheme) as page:
        open_approval(page, app, add_new_person(cast))
        expect(page.get_by_text(urlsplit(callback.address).netloc)).to_be_visible()
        check_page(page)
        page.get_by_label("Read and write").check()
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("heading", name="Back in the app")).to_be_visible()
        assert (callback.parameters["state"], callback.parameters["iss"]) == ("the state", server.url)
        token = app.redeem_code(callback.parameters["code"]).json()["access_token"]
        assert post_call(server, token, make_legacy_call("ping")).status_code == 200

        page.goto(MCP)
        row = page.get_by_role("row").filter(has_text="Kitchen planner")
        expect(row).to_contain_text("Read and write · approved by Sara Someone")
        row.get_by_role("link", name="Kitchen planner").click()
        expect(page.get_by_text("invite_person")).to_be_visible()
        check_page(page)
        page.get_by_label("More actions").click()
        page.get_by_role("link", name="Disconnect").click()
        check_page(page)
        page.get_by_role("button", name="Disconnect").click()
        expect(page.get_by_role("status")).to_contain_text("App disconnected.")
        assert post_call(server, token, make_legacy_call("ping")).status_code == 401
        page.goto(MCP)
        expect(page.get_by_text("No connected apps yet")).to_be_visible()


def test_denying_leads_back_to_the_app(browser: Browser, server: RunningServer, cast: Cast, callback: Callback) -> None:
    app = register_app(server, client_name="Kitchen planner", redirect_uris=[callback.address])
    with open_page(browser, server.url) as page:
        open_approval(page, app, add_new_person(cast))
        page.get_by_role("button", name="Deny").click()
        expect(page.get_by_role("heading", name="Back in the app")).to_be_visible()
        assert callback.parameters["error"] == "access_denied"


def test_it_works_in_a_popup_by_keyboard(
    browser: Browser, server: RunningServer, cast: Cast, callback: Callback
) -> None:
    app = register_app(server, client_name="Kitchen planner", redirect_uris=[callback.address])
    with open_page(browser, server.url) as page:
        page.goto(callback.address)
        with page.expect_popup() as opened:
            page.evaluate("address => { window.popup = window.open(address, '', 'popup') }", app.make_authorize_url())
        popup = opened.value
        fill_in_sign_in(popup, add_new_person(cast))
        popup.get_by_label("Read only").focus()
        # Past the areas, which are closed, and the button that denies.
        for _ in range(3):
            popup.keyboard.press("Tab")
        assert popup.evaluate("document.activeElement.value") == "approve"
        popup.keyboard.press("Enter")
        expect(popup.get_by_role("heading", name="Back in the app")).to_be_visible()
        assert callback.parameters["code"].startswith("svc_ac_")
        # The app that opened the popup still has it in hand.
        assert page.evaluate("window.popup.closed") is False


def test_it_works_without_javascript(browser: Browser, server: RunningServer, cast: Cast, callback: Callback) -> None:
    app = register_app(server, client_name="Kitchen planner", redirect_uris=[callback.address])
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        open_approval(page, app, add_new_person(cast))
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("heading", name="Back in the app")).to_be_visible()
        assert app.redeem_code(callback.parameters["code"]).status_code == 200
    finally:
        context.close()

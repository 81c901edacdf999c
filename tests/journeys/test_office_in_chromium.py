"""What people do in the office, in a real browser."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from apps import Person, register
from cast import PASSWORD, Cast
from chromium import NARROW, check_page, open_page, sign_in
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import invite_person, update_person
from mainstay.identity.keys import create_key
from mainstay.kernel.rights import Role
from mainstay.values.ids import new_id
from running import RunningServer
from visiting import Somebody, link_for, somebody

KEYS, MCP = "/settings/developer/keys", "/settings/developer/mcp"


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    with open_page(browser, server.url) as page:
        yield page


def test_a_form_is_not_sent_a_second_time_while_it_is_on_its_way(cast: Cast, page: Page) -> None:
    sign_in(page, somebody(cast))
    page.goto(KEYS)
    page.get_by_label("Name").fill("Once")
    # Whoever listens last stops both, and tells which had been stopped before.
    stopped = page.get_by_role("button", name="Create the key").evaluate("""(button) => {
        const stopped = [];
        addEventListener("submit", (event) => { stopped.push(event.defaultPrevented); event.preventDefault(); });
        button.click();
        button.click();
        return stopped;
    }""")
    assert stopped == [False, True]


def test_a_key_is_made_seen_once_used_and_revoked(server: RunningServer, cast: Cast, page: Page) -> None:
    sign_in(page, somebody(cast))
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Developer").click()
    page.get_by_label("Name").fill("Website bookings")
    page.get_by_label("Read and write").check()
    page.get_by_role("button", name="Create the key").click()
    key = page.locator("#new-key").inner_text()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == key
    assert server.request("GET", "/api/v1/organisation", key).status_code == 200

    page.goto(KEYS)
    assert key not in page.content()
    page.get_by_label("Revoke Website bookings").click()
    page.get_by_role("button", name="Revoke Website bookings").click()
    expect(page.get_by_role("status")).to_contain_text("The API key is revoked.")
    assert server.request("GET", "/api/v1/organisation", key).status_code == 401


def test_someone_invited_comes_in_by_their_mail(
    server: RunningServer, cast: Cast, browser: Browser, page: Page
) -> None:
    email = f"{new_id('n').lower()}@new.example"
    sign_in(page, somebody(cast))
    page.get_by_role("link", name="People").first.click()
    page.get_by_role("link", name="Invite someone").click()
    page.get_by_label("Name").fill("Nina New")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Role").select_option("Office")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_role("status")).to_contain_text("on its way by mail")
    with open_page(browser, server.url, NARROW, "dark") as phone:
        phone.goto(link_for(server, email))
        check_page(phone)
        phone.get_by_label("Choose a password").fill("a password of Nina's")
        phone.get_by_role("button", name="Accept the invitation").click()
        expect(phone.get_by_role("heading", level=1)).to_contain_text("Organisation")
        phone.get_by_label("Your account: Nina New").click()
        expect(phone.get_by_text(email)).to_be_visible()
    page.reload()
    expect(page.get_by_role("row", name="Nina New")).to_contain_text("Active")


def test_a_forgotten_password_is_replaced(server: RunningServer, cast: Cast, page: Page) -> None:
    person = somebody(cast)
    page.goto("/sign-in")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("E-mail address").fill(person.email)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Look into your mail")).to_be_visible()
    link = link_for(server, person.email)
    page.goto(link)
    check_page(page)
    page.get_by_label("New password").fill("a new one, longer")
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_role("status")).to_contain_text("Your new password is set.")
    sign_in(page, Somebody(person.id, person.email, "a new one, longer"))
    page.goto(link)
    expect(page.get_by_role("heading", name="This link no longer works")).to_be_visible()
    check_page(page)


def test_the_keyboard_alone_signs_in_and_makes_a_key(cast: Cast, page: Page) -> None:
    person = somebody(cast)
    page.goto("/sign-in")
    page.keyboard.type(person.email)
    page.keyboard.press("Tab")
    page.keyboard.type(person.password)
    page.keyboard.press("Enter")
    expect(page.get_by_role("navigation", name="Areas")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"

    page.goto(KEYS)
    tab_to(page, "#name")
    page.keyboard.type("Typed")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Read and write")).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#new-key")).to_contain_text("svc_sk_")

    # A menu opens and closes without a mouse too.
    tab_to(page, ".account summary")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until this is reached, and see that one can see where one is."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid"
            return
    pytest.fail(f"{selector} is not reached by the keyboard")


def test_every_page_is_without_faults(server: RunningServer, cast: Cast, browser: Browser) -> None:
    owner = somebody(cast)
    invited = cast.perform(invite_person, name="Nina New", email=f"{new_id('n').lower()}@new.example", role="office")
    cast.key()
    with open_page(browser, server.url) as page:
        for path in ("/sign-in", "/forgot-password", "/changelog", "/nothing-here", "/reset-password/x"):
            page.goto(path)
            check_page(page)
        page.goto("/sign-in")
        page.get_by_label("E-mail address").fill(owner.email)
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_be_visible()
        check_page(page)
        sign_in(page, owner)
        connect(server, cast, page, "Helpful Agent")
        person = f"/people/{cast.people[Role.MEMBER]}"
        paths = ["/", "/people", "/people?status=left", "/people/invite", person, f"{person}/remove"]
        paths += [f"/people/{invited['id']}", "/people/nobody", "/settings", "/settings/account", KEYS, MCP]
        for path in paths:
            page.goto(path)
            page.evaluate("document.querySelectorAll('main details').forEach(part => { part.open = true })")
            check_page(page)
        page.goto("/people/invite")
        page.get_by_label("Name").fill(" ")
        page.get_by_label("E-mail address").fill("nina@new")
        page.get_by_role("button", name="Send the invitation").click()
        expect(page.get_by_text("Name is empty.")).to_be_visible()
        check_page(page)
        cast.lapse()
        page.goto(KEYS)
        expect(page.get_by_text("The subscription is inactive.")).to_be_visible()
        check_page(page)
        cast.renew()


def connect(server: RunningServer, cast: Cast, page: Page, name: str) -> None:
    """Connect an app in the name of whoever is signed in on this page."""
    secret = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "mainstay")
    register(server, client_name=name).connect(Person(server, f"mainstay={secret}"), cast.organisation, "write")


HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}'`"


def test_what_people_type_is_shown_as_text_everywhere(server: RunningServer, cast: Cast, page: Page) -> None:
    person = somebody(cast, name=HOSTILE)
    texts = dict.fromkeys(("name", "legalName", "taxNumber", "address", "phone"), HOSTILE)
    cast.perform(update_organisation, **texts, email='"<b>x</b>"@x.example')
    member = cast.people[Role.MEMBER]
    details = dict.fromkeys(("name", "phone", "companyName"), HOSTILE)
    cast.perform(update_person, personId=member, skills=[HOSTILE], **details)
    cast.perform(create_key, name=HOSTILE, access="read")
    sign_in(page, person)
    connect(server, cast, page, '"><script>alert(3)</script>')
    for path in ("/", "/people", f"/people/{member}", f"/people/{member}/remove", "/settings", KEYS, MCP):
        page.goto(path)
        shown = page.content()
        assert re.search(r"<script>|<img src=.?x", shown) is None, path
        assert "alert(1)" in shown
        assert page.locator("script:not([src])").count() == 0
    page.goto("/people/invite")
    page.get_by_label("Name").fill(HOSTILE)
    page.get_by_label("E-mail address").fill("mia@cast.example")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_role("alert")).to_contain_text("is already a person of this organisation")
    assert page.get_by_label("Name").input_value() == HOSTILE
    expect(page.get_by_role("alert")).to_contain_text("<script>alert(1)</script>")


def test_one_who_was_sent_to_sign_in_comes_back(cast: Cast, page: Page) -> None:
    page.goto(f"{MCP}?from=somewhere")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert "next" not in page.url
    person = somebody(cast)
    page.get_by_label("E-mail address").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Server address")).to_be_visible()
    assert page.url.endswith(f"{MCP}?from=somewhere")

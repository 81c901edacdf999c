"""A quote from its first line to the job: drafted and sent in the office, accepted by the customer on a phone."""

import re
from email import message_from_bytes
from email.policy import default

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.business.jobs.operations import list_jobs
from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.quotes.operations import get_quote
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, check_page, enter_office, open_page
from support.cast import Cast
from support.customers import make_customer
from support.quotes import make_default_tax_rate, make_quote
from support.servers import RunningServer
from support.waiting import wait_until


def find_link_in_mail(server: RunningServer, email: str) -> str:
    """The address of the customer's page, out of the mail that the worker has sent."""

    def look() -> str | None:
        for file in (server.settings.data / "outbox").glob("*.eml"):
            mail = message_from_bytes(file.read_bytes(), policy=default)
            if email in str(mail["To"]):
                text = mail.get_body(("plain",))
                found = text and re.search(r"/q/\S+", text.get_content())
                return found[0] if found else None
        return None

    return wait_until(look)


def draft_quote_on_page(page: Page) -> None:
    page.goto("/quotes/new")
    page.locator("#customerId").fill("Calder Property")
    page.get_by_label("Title").fill("New heating")
    page.get_by_role("button", name="Create quote").click()
    new = page.locator(".line-row.new")
    new.get_by_label("Description").fill("Combi boiler")
    page.get_by_role("button", name="Add line").click()
    expect(page.locator(".line-row:not(.new)").get_by_label("Description")).to_have_value("Combi boiler")
    new.get_by_label("Description").fill("Warranty, 5 years")
    new.get_by_label("Price", exact=True).fill("200")
    new.get_by_label("Optional (customer can choose)").check()
    page.get_by_role("button", name="Add line").click()
    expect(page.locator(".line-row:not(.new)")).to_have_count(2)
    # The total follows while one types, and is there when it is saved.
    page.get_by_label("Quantity").first.fill("2")
    expect(page.locator("#sums")).to_contain_text("2,400.00")
    check_page(page)
    page.get_by_role("button", name="Save and close").click()
    expect(page.locator("#sums")).to_contain_text("2,400.00")


def send_quote_on_page(page: Page) -> None:
    page.get_by_role("link", name="Send").click()
    expect(page.get_by_label("To", exact=True)).to_have_value(re.compile("@calder.example$"))
    check_page(page)
    page.get_by_label("Subject").fill("Your new heating")
    page.get_by_role("button", name="Send quote").click()
    expect(page.get_by_role("status")).to_contain_text("Quote Q-0001 sent.")
    check_page(page)
    # What was sent is not sent once more, nor asked about in the browser's own words.
    page.go_back()
    expect(page.locator("main")).to_contain_text("This isn't possible right now.")
    expect(page.get_by_role("button", name="Send quote")).to_have_count(0)
    page.go_forward()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_quote_becomes_a_job_on_a_phone(
    server: RunningServer, cast: Cast, browser: Browser, *, scripts: bool
) -> None:
    make_default_tax_rate(cast)
    email = f"{new_id('c').lower()}@calder.example"
    make_customer(cast, "Calder Property", email=email)
    cast.perform(save_price_item, name="Combi boiler", sellPrice="1000")
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        draft_quote_on_page(page)
        send_quote_on_page(page)
    link = find_link_in_mail(server, email)
    context = browser.new_context(
        base_url=server.url, viewport={"width": NARROW[0], "height": NARROW[1]}, java_script_enabled=scripts
    )
    phone = context.new_page()
    phone.goto(link)
    expect(phone.get_by_role("heading", level=1)).to_have_text("New heating")
    phone.get_by_role("checkbox").check()
    if not scripts:
        phone.get_by_role("button", name="Update total").click()
    expect(phone.get_by_role("button", name="Accept for")).to_contain_text("£2,640.00")
    if scripts:
        check_page(phone)
        wait_until(lambda: cast.perform(get_quote, quoteId="Q-0001")["viewedAt"])
    phone.get_by_label("Your name").fill("Ann Boyle")
    phone.get_by_role("button", name="Accept for").click()
    expect(phone.get_by_role("status")).to_contain_text("Accepted by Ann Boyle")
    context.close()
    [job] = cast.perform(list_jobs)["data"]
    assert (job["title"], job["budget"], job["billing"]) == ("New heating", "2200.00", "fixed")


def test_after_a_refusal_one_goes_on_typing_in_the_first_field_that_is_wrong(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    for price in ("1000", "2000"):
        cast.perform(save_price_item, name="Boiler", sellPrice=price)
    quote = make_quote(cast)
    with open_page(browser, server.url, NARROW) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/quotes/{quote['id']}/lines")
        new = page.locator(".line-row.new").get_by_label("Description")
        new.fill("Boiler")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("Description could be one of several")
        expect(new).to_be_focused()
        new.fill("")
        prices = page.get_by_label("Price", exact=True)
        prices.first.fill("dear")
        page.keyboard.press("Enter")
        expect(prices.first).to_be_focused()
        page.keyboard.press("Tab")
        page.get_by_role("alert").get_by_role("link").click()
        expect(prices.first).to_be_focused()
        # What is marked leaves the fields beside it where they are.
        tops = [page.get_by_label(name).first.bounding_box() for name in ("Quantity", "Unit")]
        assert tops[0]
        assert tops[1]
        assert tops[0]["y"] == tops[1]["y"]
        check_page(page)


def test_on_a_phone_the_document_is_shown_below_its_email(server: RunningServer, cast: Cast, browser: Browser) -> None:
    quote = make_quote(cast)
    with open_page(browser, server.url, NARROW) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/quotes/{quote['id']}/send")
        picture, form = (
            page.get_by_alt_text("First page of the PDF").bounding_box(),
            page.locator(".email").bounding_box(),
        )
        assert picture
        assert form
        assert picture["y"] > form["y"] + form["height"]
        check_page(page)

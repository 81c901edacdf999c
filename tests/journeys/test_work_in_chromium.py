"""The office's first work in a real browser: a customer, a site, a job for them; found again, with a note beside it."""

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.business.jobs.operations import list_jobs
from mainstay.vocabulary.permissions import Role
from support.browser import check_page, enter_office, open_page, open_page_without_scripts
from support.cast import Cast
from support.customers import make_customer
from support.servers import RunningServer


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_an_office_person_takes_on_work(server: RunningServer, cast: Cast, browser: Browser, *, scripts: bool) -> None:
    make_customer(cast, "Calder Valley Trust")
    opened = open_page(browser, server.url) if scripts else open_page_without_scripts(browser, server.url)
    with opened as page:
        enter_office(page, cast, Role.OFFICE)
        add_customer_in_browser(page)
        make_site(page)
        make_job(page, scripts=scripts)
        search_and_open(page, scripts=scripts)
        add_note(page)
        if scripts:
            check_page(page)
    (job,) = cast.perform(list_jobs)["data"]
    assert (job["customerName"], job["title"]) == ("Calder Property", "Replace the boiler")


def add_customer_in_browser(page: Page) -> None:
    page.get_by_role("link", name="Customers").first.click()
    page.get_by_role("link", name="Create customer").click()
    page.get_by_label("Name").fill("Calder Property")
    page.get_by_label("Phone").fill("01422 555010")
    page.get_by_text("More options").click()
    page.get_by_label("Payment terms (days)").fill("30")
    page.get_by_role("button", name="Create customer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Calder Property")
    expect(page.get_by_role("status")).to_contain_text("Calder Property created.")


def make_site(page: Page) -> None:
    page.locator(".chips").get_by_role("link", name="Site", exact=True).click()
    expect(page.get_by_label("Customer")).to_have_value("Calder Property")
    page.get_by_label("Line 1").fill("2 Weir Lane")
    page.get_by_label("Postcode").fill("HX6 2AG")
    page.get_by_role("button", name="Add site").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("2 Weir Lane")


def make_job(page: Page, *, scripts: bool) -> None:
    page.goto("/jobs/new")
    customer = page.get_by_label("Customer", exact=True)
    if scripts:
        # What one may mean is offered while one types.
        customer.press_sequentially("calder")
        expect(page.get_by_role("option").filter(has_text="Calder Property")).to_have_count(1)
    customer.fill("calder")
    page.get_by_label("Title").fill("Replace the boiler")
    page.get_by_role("button", name="Create job").click()
    expect(page.get_by_role("alert")).to_contain_text("could be one of several")
    expect(page.get_by_label("Title")).to_have_value("Replace the boiler")
    page.get_by_label("Customer", exact=True).fill("Calder Property")
    page.get_by_role("button", name="Create job").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("J-0001 Replace the boiler")


def search_and_open(page: Page, *, scripts: bool) -> None:
    page.goto("/")
    if scripts:
        page.keyboard.press("/")
        expect(page.locator("#search")).to_be_focused()
        page.keyboard.type("01422 555 010")
    else:
        page.locator("#search").fill("01422 555 010")
    page.locator("#search").press("Enter")
    expect(page.get_by_role("main").get_by_role("link", name="Calder Property")).to_be_visible()
    page.locator("#search-text").fill("j-0001")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="J-0001 Replace the boiler").click()
    if scripts:
        open_suggestion(page)


def open_suggestion(page: Page) -> None:
    """What is found while one types is an arrow away, and gone as soon as one leaves it."""
    page.goto("/")
    found = page.get_by_role("listbox", name="Search results")
    page.locator("#search").press_sequentially("j1")
    expect(found.get_by_role("option")).to_have_text(["J-0001 Replace the boiler Calder Property"])
    page.keyboard.press("Escape")
    expect(found).to_be_hidden()
    page.locator("#search").press_sequentially(" boi")
    expect(found).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Replace the boiler")


def add_note(page: Page) -> None:
    page.get_by_label("Write a note").fill("The key is under the mat.")
    page.locator("form.note").get_by_label("Office only").check()
    page.get_by_role("button", name="Add note").click()
    written = page.locator(".diary ol > li").first
    expect(written).to_contain_text("The key is under the mat.")
    expect(written).to_contain_text("Sara Someone")
    expect(written).to_contain_text("office only")
    expect(written).to_contain_text("Note added")

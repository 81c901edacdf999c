"""What is found while one types, in a real browser: by kind, by keyboard and for those who hear the page."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, WIDE, check_page, enter_office, open_page
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.servers import RunningServer

BOILER, CUSTOMER, SITE = "J-0001 Replace the boiler Calder Property", "Calder Property", "The mill Calder Property"


def create_records(cast: Cast) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, siteId=make_site(cast, customer, name="The mill"))


def expect_chosen(page: Page, box: Locator, text: str) -> None:
    """Expect one option to be chosen and announced to screen readers while the focus stays in the box."""
    chosen = page.locator("[role=option][aria-selected=true]")
    expect(chosen).to_have_text([text])
    expect(box).to_have_attribute("aria-activedescendant", str(chosen.get_attribute("id")))
    expect(box).to_be_focused()


@contextmanager
def open_office_page(
    server: RunningServer, cast: Cast, browser: Browser, size: tuple[int, int] = WIDE
) -> Iterator[Page]:
    """A page of someone in the office who has something to find."""
    create_records(cast)
    with open_page(browser, server.url, size) as page:
        enter_office(page, cast, Role.OFFICE)
        yield page


def test_by_keyboard_one_walks_along_what_is_found_whatever_its_kind(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    with open_office_page(server, cast, browser) as page:
        requested: list[str] = []
        page.on("request", lambda request: requested.append(request.url) if "/find?" in request.url else None)
        box = page.get_by_role("combobox", name="Search")
        expect(box).to_have_attribute("aria-expanded", "false")
        box.fill("calder")
        found = page.get_by_role("listbox", name="Search results")
        for kind, text in (("Customers", CUSTOMER), ("Sites", SITE), ("Jobs", BOILER)):
            expect(found.get_by_role("group", name=kind).get_by_role("option")).to_have_text([text])
        expect(box).to_have_attribute("aria-expanded", "true")
        assert len(requested) == 1
        for text in (CUSTOMER, SITE, BOILER):
            box.press("ArrowDown")
            expect_chosen(page, box, text)
        # Behind the last comes what was typed, and before the first as well.
        box.press("ArrowDown")
        expect(page.locator("[aria-selected=true]")).to_have_count(0)
        box.press("ArrowUp")
        expect_chosen(page, box, BOILER)
        box.press("Escape")
        expect(found).to_be_hidden()
        expect(box).to_have_value("calder")
        box.press("ArrowDown")
        expect_chosen(page, box, CUSTOMER)
        box.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(CUSTOMER)
        assert len(requested) == 1


def test_by_mouse_what_is_found_is_a_link_and_gone_when_one_leaves_it(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    with open_office_page(server, cast, browser) as page:
        box = page.get_by_role("combobox", name="Search")
        box.fill("boiler")
        found = page.get_by_role("listbox", name="Search results")
        found.get_by_text("Jobs").click()
        expect(found).to_be_visible()
        page.get_by_role("heading", level=1).click()
        expect(found).to_be_hidden()
        box.fill("boil")
        found.get_by_role("option", name="J-0001").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("J-0001 Replace the boiler")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_what_is_offered_is_without_faults_and_leads_to_all_that_is_found(
    server: RunningServer, cast: Cast, browser: Browser, size: tuple[int, int]
) -> None:
    with open_office_page(server, cast, browser, size) as page:
        customer = make_customer(cast, "Ryburn")
        for _ in range(9):
            make_job(cast, customer)
        page.goto("/search")
        box = page.get_by_role("combobox", name="Search for")
        box.fill("boiler")
        group = page.get_by_role("group", name="Jobs")
        # So many at most are offered of all kinds together, and here all of them are jobs.
        expect(group.get_by_role("option")).to_have_count(8)
        box.press("ArrowDown")
        check_page(page)
        page.get_by_role("option", name="Show all").click()
        expect(page.get_by_role("region", name="Jobs").get_by_role("listitem")).to_have_count(10)


def test_of_several_with_one_name_a_form_takes_the_one_that_was_picked(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    customers = [
        make_customer(cast, "H & M", phone=phone) for phone in ("+44 20 7946 0001",) * 2 + ("+44 20 7946 0002",)
    ]
    with open_office_page(server, cast, browser) as page:
        for customer in customers:
            page.goto("/jobs/new")
            box = page.get_by_role("combobox", name="Customer")
            box.fill("0207946")
            offered = page.locator(".picker [role=option]:not(.adds)")
            expect(offered).to_have_count(3)
            # The newest come first.
            offered.nth(len(customers) - 1 - customers.index(customer)).click()
            page.get_by_label("Title").fill("Roof")
            page.get_by_role("button", name="Create job").click()
            expect(page.get_by_role("heading", name="Roof")).to_be_visible()
            expect(page.locator(f'main a[href="/customers/{customer}"]').first).to_be_visible()

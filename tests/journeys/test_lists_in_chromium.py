"""A list on paper, in a real browser: what it is narrowed to is said there, and nothing can be pressed or typed."""

from urllib.parse import urlencode

from playwright.sync_api import Browser, expect

from mainstay.vocabulary.permissions import Role
from support.browser import PAPER, enter_office, open_page
from support.cast import Cast
from support.customers import make_customer, make_job
from support.servers import RunningServer


def test_a_list_is_printed_without_what_narrows_it_but_with_what_it_is_narrowed_to(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, priority="high")
    narrowed = {"customerId": customer, "priority": "high", "status": "all"}
    with open_page(browser, server.url, PAPER) as page:
        enter_office(page, cast, Role.OFFICE)
        for words, stays in (({}, 0), (narrowed, 1), (narrowed | {"text": "boiler"}, 2)):
            page.emulate_media(media="screen")
            page.goto(f"/jobs?{urlencode(words)}")
            typed = page.locator("main").locator("input, select").filter(visible=True)
            assert typed.count() > stays
            page.emulate_media(media="print")
            expect(page.locator(".records tbody tr")).to_have_count(1)
            expect(typed).to_have_count(stays)
            for pressed in (
                "main button",
                ".button",
                "summary",
                ".above",
                "[download]",
                ".narrowing li a:not([aria-current])",
            ):
                expect(page.locator(pressed).filter(visible=True)).to_have_count(0)
            if words:
                expect(page.locator(".chip")).to_contain_text("Calder Property")
                expect(page.get_by_label("Priority")).to_have_css("border-top-width", "0px")

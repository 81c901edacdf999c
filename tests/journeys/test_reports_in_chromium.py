"""Reports in a real browser: read, narrowed by their dates, and saved; with long names, wide and narrow."""

import re

from playwright.sync_api import Browser, expect

from mainstay.business.reporting.operations import REPORTS
from mainstay.vocabulary.permissions import Role
from support.browser import check_page, enter_office, open_page
from support.busy_firm import LONG_NAME, trade_for_a_year
from support.cast import Cast
from support.servers import RunningServer


def test_reports_are_read_narrowed_and_saved(server: RunningServer, cast: Cast, browser: Browser) -> None:
    trade_for_a_year(cast)
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.get_by_role("navigation", name="Areas").get_by_role("link", name="Reports").click()
        expect(page.get_by_role("heading", name="Reports", level=1)).to_be_visible()
        check_page(page)
        for report in REPORTS.values():
            page.goto("/reports")
            page.get_by_role("link", name=report.title).click()
            expect(page.get_by_role("heading", name=report.title, level=1)).to_be_visible()
            check_page(page)
        page.goto("/reports/revenue")
        page.get_by_label("From").fill("2026-04-01")
        page.get_by_label("To optional").fill("2026-05-31")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("tbody tr")).to_have_count(2)
        expect(page.locator("tfoot")).to_contain_text("555,543.58")
        page.evaluate("window.print = () => { document.body.dataset.printed = 'yes'; }")
        page.get_by_role("button", name="Print").click()
        expect(page.locator("body")).to_have_attribute("data-printed", "yes")
        with page.expect_download() as saved:
            page.get_by_role("link", name="Download CSV").click()
        assert saved.value.suggested_filename == "Revenue.csv"
        page.goto("/reports")
        with page.expect_download() as journal:
            page.get_by_role("button", name="Download", exact=True).click()
        assert journal.value.suggested_filename == "Journal.csv"


def test_a_statement_is_asked_for_and_printed_and_what_is_owed_is_paid(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    trade_for_a_year(cast)
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto("/reports/statement")
        expect(page.get_by_text("Choose a customer, then click Show.")).to_be_visible()
        check_page(page)
        page.get_by_label("Customer").fill(LONG_NAME)
        page.get_by_label("From").fill("2026-05-01")
        page.get_by_label("To optional").fill("2026-11-16")
        page.get_by_role("button", name="Show").click()
        # Brought forward, two invoices and a payment.
        expect(page.locator("tbody tr")).to_have_count(4)
        check_page(page)
        page.emulate_media(media="print")
        expect(page.locator(".on-paper")).to_be_visible()
        expect(page.get_by_role("button", name="Show")).to_be_hidden()
        expect(page.get_by_role("navigation", name="Areas")).to_be_hidden()
        page.emulate_media(media="screen")
        expect(page.locator(".on-paper")).to_be_hidden()
        page.locator(".parties").get_by_role("link", name=LONG_NAME).click()
        expect(page.locator(".facts dt").first).to_have_text("Balance")
        check_page(page)
        page.get_by_role("link", name="Unpaid invoices").click()
        page.locator("tbody").get_by_role("link").first.click()
        page.get_by_role("link", name="Record payment").click()
        picked = page.get_by_role("dialog").get_by_label("Invoice").first
        expect(picked.locator("option:checked")).to_contain_text(re.compile(r"£[\d,.]+, due "))
        expect(picked.locator("option")).to_have_count(4)
        check_page(page)

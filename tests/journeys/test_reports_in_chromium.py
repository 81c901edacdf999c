"""Reports in a real browser: read, narrowed by their dates, and saved; with long names, wide and narrow."""

from playwright.sync_api import Browser, expect

from billing import an_invoice, credited, issued, paid
from cast import Cast
from chromium import check_page, come_in, open_page
from labour import at, logged, new_job, price
from mainstay.business.reporting.operations import REPORTS
from mainstay.terms.rights import Role
from quoting import usual_tax
from running import RunningServer
from trade import a_customer

LONG_NAME = "The Calderdale and Upper Valley Property Maintenance and Management Company (Holdings) Limited"


def trade(cast: Cast) -> None:
    """Some months of work and money."""
    usual_tax(cast)
    price(cast, Role.MEMBER, 24, 60)
    customers = [a_customer(cast, LONG_NAME), a_customer(cast, "Ashdown School"), a_customer(cast, "Hill Farm")]
    for month in range(3, 12):
        day = at(cast, f"2026-{month:02d}-10T12:00:00Z")
        job = new_job(day, customerId=customers[month % 3])
        logged(day, jobId=job["id"], on=f"2026-{month:02d}-09", minutes=60 * month)
        lines = [{"description": "Work", "unitPrice": str(1234567 // month)}]
        invoice = issued(day, an_invoice(day, jobId=job["id"], lines=lines))
        if month % 2:
            paid(day, invoice, str(4321 * month))
        if month % 4 == 0:
            credited(day, invoice, amount="100000" if month > 4 else "12.50")


def test_reports_are_read_narrowed_and_saved(server: RunningServer, cast: Cast, browser: Browser) -> None:
    trade(cast)
    with open_page(browser, server.url) as page:
        come_in(page, cast, Role.OFFICE)
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
        page.get_by_label("Until").fill("2026-05-31")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("tbody tr")).to_have_count(2)
        expect(page.locator("tfoot")).to_contain_text("555,543.58")
        with page.expect_download() as saved:
            page.get_by_role("link", name="CSV").click()
        assert saved.value.suggested_filename == "Revenue.csv"
        page.goto("/reports")
        with page.expect_download() as journal:
            page.get_by_role("button", name="Download").click()
        assert journal.value.suggested_filename == "Journal.csv"


def test_a_statement_is_asked_for_and_printed_and_what_is_owed_is_paid(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    trade(cast)
    with open_page(browser, server.url) as page:
        come_in(page, cast, Role.OFFICE)
        page.goto("/reports/statement")
        expect(page.get_by_text("Choose a customer, then press Show.")).to_be_visible()
        check_page(page)
        page.get_by_label("Customer").fill(LONG_NAME)
        page.get_by_label("From").fill("2026-05-01")
        page.get_by_label("Until").fill("2026-11-16")
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
        page.get_by_role("link", name="Open invoices").click()
        page.locator("tbody").get_by_role("link").first.click()
        page.get_by_role("link", name="Record a payment").click()
        picked = page.get_by_label("Invoice", exact=False).first
        expect(picked.locator("option:checked")).to_contain_text(" GBP, due ")
        expect(picked.locator("option")).to_have_count(4)
        check_page(page)

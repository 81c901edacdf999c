"""Pages at every width, in a real browser: none scrolls sideways as a whole, and on a phone the title stands on top."""

import pytest
from playwright.sync_api import Browser, Page, expect

from billing import an_invoice
from cast import Cast
from chromium import NARROW, TINY, check_page, come_in, open_page
from dealing import trade
from mainstay.business.reporting.operations import REPORTS
from mainstay.terms.rights import Role
from ordering import a_bill, ordered
from quoting import a_draft, sent
from running import RunningServer
from scheduling import DAY, plan

# From the narrowest phone to a full window; tables have the least room right behind the widths at which the pages
# change: where they are no cards any more (640), and where the sidebar takes its place (896).
WIDTHS = (320, 390, 641, 660, 768, 897, 900, 1024, 1153, 1180, 1280)
LISTS = ("jobs", "customers", "quotes", "invoices", "payments", "credit-notes", "price-list", "suppliers", "people")
REPORTED = tuple(f"/reports/{name}" for name, report in REPORTS.items() if not report.needs)


@pytest.fixture
def busy(cast: Cast) -> Cast:
    """An organisation in which every list and report has something to show, amounts and names that are long."""
    trade(cast)
    line = {"description": "Heating", "unitPrice": "1234567.89"}
    sent(cast, a_draft(cast, lines=[line]))
    an_invoice(cast, lines=[line])
    ordered(cast)
    a_bill(cast, lines=[line | {"taxRateId": None}], total="1234567.89")
    plan(cast)
    return cast


def test_no_page_scrolls_sideways_at_any_width(busy: Cast, browser: Browser, server: RunningServer) -> None:
    paths = [
        *("/", "/search?text=heating", "/jobs/board", *(f"/{name}" for name in LISTS)),
        *("/purchasing/orders", "/purchasing/bills", "/purchasing/bills/new", "/reports", *REPORTED),
        *("/hours", "/hours/week", "/hours/approve", "/hours/to-bill", "/schedule/visits", "/time-off"),
        *(f"/schedule?on={DAY}&view={view}" for view in ("day", "week")),
        *("/schedule/free", f"/schedule/change?from={DAY}&until={DAY}"),
        *("/settings", "/settings/taxes", "/settings/account", "/settings/developer/keys", "/developers", "/changelog"),
    ]
    with open_page(browser, server.url) as page:
        come_in(page, busy, Role.OWNER)
        too_wide = {path: found for path in paths if (found := sideways(page, path))}
    assert too_wide == {}


def test_the_title_of_every_page_begins_at_the_top_of_a_phone(
    busy: Cast, browser: Browser, server: RunningServer
) -> None:
    settings = ("account", "work-rules", "documents", "taxes", "mail-texts", "import", "export", "work")
    developer = ("keys", "mcp", "webhooks", "keys/new")
    paths = [
        *("/", "/jobs", "/customers", "/quotes", "/invoices", "/hours/week", "/schedule", "/people", "/reports"),
        *("/purchasing/orders", "/purchasing/bills", "/suppliers", "/changelog", "/developers", "/settings"),
        *(f"/settings/{name}" for name in settings),
        *(f"/settings/developer/{name}" for name in developer),
    ]
    with open_page(browser, server.url, NARROW) as page:
        come_in(page, busy, Role.OWNER)
        for path in paths:
            page.goto(path)
            for width, height in (NARROW, TINY):
                page.set_viewport_size({"width": width, "height": height})
                box = page.get_by_role("heading", level=1).bounding_box()
                assert box
                assert box["y"] <= 64, f"the title of {path} begins at {box['y']}"


def test_on_a_phone_a_menu_leads_to_the_parts_of_an_area(busy: Cast, browser: Browser, server: RunningServer) -> None:
    with open_page(browser, server.url, NARROW) as page:
        come_in(page, busy, Role.OWNER)
        page.goto("/purchasing/orders")
        check_page(page)
        page.locator("main summary").get_by_text("Purchasing").click()
        check_page(page)
        page.get_by_role("navigation", name="Purchasing").get_by_role("link", name="Bills").click()
        expect(page.get_by_role("heading", name="Bills", level=1)).to_be_visible()
        page.goto("/settings")
        page.locator("main summary").get_by_text("Settings").click()
        page.get_by_role("navigation", name="Settings").get_by_role("link", name="Developer").click()
        page.locator("main summary").get_by_text("Settings").click()
        page.get_by_role("navigation", name="Settings").get_by_role("link", name="Webhooks").click()
        expect(page.get_by_role("heading", name="Webhooks", level=1)).to_be_visible()


def test_a_record_with_an_amount_and_a_state_takes_two_lines_on_a_phone(
    busy: Cast, browser: Browser, server: RunningServer
) -> None:
    with open_page(browser, server.url, NARROW) as page:
        come_in(page, busy, Role.OFFICE)
        for path in ("/quotes", "/invoices", "/payments", "/purchasing/orders", "/purchasing/bills"):
            page.goto(path)
            heights = page.locator(".records tbody tr").evaluate_all("rows => rows.map(row => row.offsetHeight)")
            assert heights
            assert max(heights) <= 64, (path, heights)


def sideways(page: Page, path: str) -> list[tuple[int, int]]:
    """The widths at which a page scrolls sideways, each with by how much."""
    answer = page.goto(path)
    assert answer
    assert (path, answer.status) == (path, 200)
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 860})
        too_much = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if too_much > 0:
            found.append((width, too_much))
    return found

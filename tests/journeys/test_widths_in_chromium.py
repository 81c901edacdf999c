"""Every page of the office at every width, in a real browser: none scrolls sideways as a whole."""

import pytest
from playwright.sync_api import Browser, Page

from billing import an_invoice
from cast import Cast
from chromium import come_in, open_page
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

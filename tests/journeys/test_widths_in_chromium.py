"""Pages at every width, in a real browser: none scrolls sideways as a whole, and on a phone the title stands on top."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.business.organisation.failed_work import BACKGROUND_TASKS
from mainstay.business.reporting.operations import REPORTS
from mainstay.business.reporting.statement_sending import send_statement
from mainstay.business.schedule.leave import request_time_off
from mainstay.doors.office.kit.navigation import NEW_MENU
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.layouts import LAYOUTS
from mainstay.identity.connections import CONNECTIONS
from mainstay.vocabulary.permissions import Role
from mainstay.webhooks.store import DELIVERIES
from support.attachments import add_file
from support.browser import NARROW, TINY, check_page, enter_office, open_page
from support.busy_firm import LONG_NAME, trade_for_a_year
from support.cast import Cast
from support.customers import make_contact, make_equipment, make_site
from support.hours import make_assigned_job
from support.invoices import issue_invoice, make_invoice
from support.prices import make_price_item, make_supplier
from support.purchases import make_bill, place_order
from support.quotes import issue_quote, make_quote
from support.servers import RunningServer
from support.visits import DAY, plan_test_visit
from support.webhooks import make_webhook

# The narrowest phone, and right behind each width at which the pages change: there they have the least room. They are
# no cards any more (640), the sidebar takes its place (896), columns come beside others (992, 1088, 1152).
NARROWEST_WIDTHS = (320, 641, 897, 993, 1089, 1153)
OTHER_WIDTHS = (390, 660, 768, 900, 1024, 1180, 1280, 1440, 1600, 1920)
# The narrowest, the least room beside the sidebar, and the widest: of records and forms, which are built alike.
FEW_WIDTHS = (320, 897, 1920)
BETWEEN = tuple(sorted({*NARROWEST_WIDTHS, *OTHER_WIDTHS} - {*FEW_WIDTHS}))
PHONE = 640
# So far below the bar at the top of a phone its title begins at least, and so far below the top at most.
LEAST_GAP, LOWEST_TITLE = 8, 72
LISTS = ("jobs", "customers", "quotes", "invoices", "payments", "credit-notes", "price-list", "suppliers", "people")
# Kinds of which no record comes of work in the office.
OTHER_KINDS = {CONNECTIONS.table, DELIVERIES.table, BACKGROUND_TASKS.table}
RECORD_LAYOUTS = [layout for layout in LAYOUTS if layout.kind.id_field and layout.kind.table not in OTHER_KINDS]
REPORT_PATHS = tuple(f"/reports/{name}" for name, report in REPORTS.items() if not report.requires)


@pytest.fixture
def busy_cast(cast: Cast) -> Cast:
    """An organisation in which every list and report has something to show, amounts and names that are long."""
    trade_for_a_year(cast)
    line = {"description": "Heating", "unitPrice": "1234567.89"}
    issue_quote(cast, make_quote(cast, lines=[line]))
    make_invoice(cast, lines=[line])
    place_order(cast)
    make_bill(cast, lines=[line | {"taxRateId": None}], total="1234567.89")
    plan_test_visit(cast)
    return cast


@pytest.mark.parametrize(
    "widths", [NARROWEST_WIDTHS, pytest.param(OTHER_WIDTHS, marks=pytest.mark.long)], ids=["least room", "between"]
)
def test_no_page_scrolls_sideways_and_on_a_phone_its_title_is_on_top(
    busy_cast: Cast, browser: Browser, server: RunningServer, widths: tuple[int, ...]
) -> None:
    settings = ("account", "work-rules", "documents", "taxes", "mail-texts", "import", "export", "work")
    developer = ("keys", "mcp", "webhooks", "keys/new")
    paths = [
        *("/", "/search?text=heating", "/jobs/board", *(f"/{name}" for name in LISTS)),
        *("/purchasing/orders", "/purchasing/bills", "/purchasing/bills/new", "/reports", *REPORT_PATHS),
        *("/hours", "/hours/week", "/hours/approve", "/hours/to-bill", "/schedule/visits", "/time-off"),
        *(f"/schedule?on={DAY}&view={view}" for view in ("day", "week")),
        *("/schedule", "/schedule/free", f"/schedule/change?from={DAY}&until={DAY}"),
        *("/settings", *(f"/settings/{name}" for name in settings)),
        *(f"/settings/developer/{name}" for name in developer),
        *("/developers", "/changelog", "/today", f"/schedule?on={DAY}&view=month"),
    ]
    with open_page(browser, server.url) as page:
        enter_office(page, busy_cast, Role.OWNER)
        faults = [fault for path in paths for fault in find_faults(page, path, widths)]
    assert faults == []


@pytest.mark.parametrize("widths", [FEW_WIDTHS, pytest.param(BETWEEN, marks=pytest.mark.long)], ids=["ends", "between"])
def test_no_record_and_no_form_scrolls_sideways(
    busy_cast: Cast, browser: Browser, server: RunningServer, widths: tuple[int, ...]
) -> None:
    add_missing_kinds(busy_cast)
    records = {layout.kind.table: layout.kind.path_of(find_newest(busy_cast, layout)) for layout in RECORD_LAYOUTS}
    quote, invoice = records["quote"], records["invoice"]
    paths = [
        *records.values(),
        *(f"{path}/{page}" for path in (quote, invoice) for page in ("edit", "lines", "send")),
        *(f"{records['job']}/edit", f"{records['visit']}/finish", f"{records['customer']}/edit"),
        *(area.path for area in NEW_MENU),
        "/schedule/new",
        *("/first-steps/country", "/first-steps/prices", "/first-steps/prices/plumbing", "/sample-firm"),
    ]
    with open_page(browser, server.url) as page:
        enter_office(page, busy_cast, Role.OWNER)
        faults = [fault for path in paths for fault in find_faults(page, path, widths)]
    assert faults == []


def add_missing_kinds(cast: Cast) -> None:
    """Make a record of each kind that the busy firm does not have."""
    job = make_assigned_job(cast)
    site = make_site(cast, job["customerId"], name="The old mill at the far end of the valley")
    make_equipment(cast, site)
    make_contact(cast, job["customerId"])
    make_price_item(cast)
    make_supplier(cast)
    add_file(cast, job["id"])
    make_webhook(cast)
    cast.make_key()
    cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})
    owes = issue_invoice(cast, make_invoice(cast))["customerId"]
    cast.perform(send_statement, Role.OFFICE, customerId=owes, deliver="none", confirmed=True)
    plan_test_visit(cast, Role.OWNER)
    lines = [{"description": f"{LONG_NAME}, part {number}", "unitPrice": "1234567.89"} for number in range(3)]
    make_invoice(cast, lines=lines)
    make_quote(cast, lines=lines)


def find_newest(cast: Cast, layout: RecordLayout) -> str:
    """Return the id of the newest record of a kind."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one(
            f"SELECT id FROM {layout.kind.table} WHERE organisation_id = :organisation ORDER BY id DESC LIMIT 1"
        )
    assert row, layout.kind.table
    return str(row[0])


def test_on_a_phone_no_figure_of_home_is_printed_over_its_words(
    busy_cast: Cast, browser: Browser, server: RunningServer
) -> None:
    issue_invoice(busy_cast, make_invoice(busy_cast, lines=[{"description": "Heating", "unitPrice": "1234567.89"}]))
    with open_page(browser, server.url, NARROW) as page:
        enter_office(page, busy_cast, Role.OWNER)
        expect(page.get_by_role("heading", name="Revenue")).to_be_visible()
        for width in (320, 390, 640):
            page.set_viewport_size({"width": width, "height": 860})
            overlaps = page.locator(".needs a").evaluate_all("""links => links.filter(link => {
                const words = document.createRange();
                words.setStartAfter(link.querySelector(".count"));
                words.setEndAfter(link.lastChild);
                const figure = link.querySelector(".count"), {left} = words.getBoundingClientRect();
                return figure.getBoundingClientRect().left + figure.scrollWidth > left;
            }).length""")
            assert overlaps == 0, width


def test_on_a_phone_a_menu_leads_to_the_parts_of_an_area(
    busy_cast: Cast, browser: Browser, server: RunningServer
) -> None:
    with open_page(browser, server.url, NARROW) as page:
        enter_office(page, busy_cast, Role.OWNER)
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
    busy_cast: Cast, browser: Browser, server: RunningServer
) -> None:
    with open_page(browser, server.url, NARROW) as page:
        enter_office(page, busy_cast, Role.OFFICE)
        for path in ("/quotes", "/invoices", "/payments", "/purchasing/orders", "/purchasing/bills"):
            page.goto(path)
            heights = page.locator(".records tbody tr").evaluate_all("rows => rows.map(row => row.offsetHeight)")
            assert heights
            assert max(heights) <= 64, (path, heights)


def test_more_actions_of_a_record_have_room_at_every_width(
    busy_cast: Cast, browser: Browser, server: RunningServer
) -> None:
    with open_page(browser, server.url, TINY) as page:
        enter_office(page, busy_cast, Role.OWNER)
        faults = []
        for path in ("/jobs", "/invoices", "/payments", "/purchasing/orders", "/purchasing/bills"):
            page.goto(path)
            page.locator(".records tbody th a").first.click()
            page.locator(".top .more-actions > summary").click()
            expect(page.locator(".top .more-actions .sheet")).to_be_visible()
            faults += [
                f"{path} at {width}: {left}" for width, left in find_cut_off_sheets(page, (320, 390, 640, 641, 896))
            ]
    assert faults == []


def find_cut_off_sheets(page: Page, widths: tuple[int, ...]) -> Iterator[tuple[int, list[float]]]:
    """At which widths the open sheet of a page runs off an edge, or the page scrolls sideways."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 860})
        left, right, whole = page.evaluate("""() => {
            const {left, right} = document.querySelector(".top .more-actions .sheet").getBoundingClientRect();
            return [left, right, document.documentElement.scrollWidth];
        }""")
        if left < 0 or right > width or whole > width:
            yield width, [left, right, whole]


def find_faults(page: Page, path: str, widths: tuple[int, ...]) -> Iterator[str]:
    """At which widths a page scrolls sideways, and where its title begins far down on a phone."""
    answer = page.goto(path)
    assert answer
    assert (path, answer.status) == (path, 200)
    for width in widths:
        page.set_viewport_size({"width": width, "height": 860})
        too_wide, top, gap = page.evaluate("""() => {
            const {scrollWidth, clientWidth} = document.documentElement;
            const bar = document.querySelector(".office .side")?.getBoundingClientRect().bottom ?? -Infinity;
            const title = document.querySelector("h1").getBoundingClientRect().y;
            return [scrollWidth - clientWidth, title, Math.min(title - bar, 1000)];
        }""")
        if too_wide > 0:
            yield f"{path} is {too_wide} pixels too wide at {width}"
        if width <= PHONE and (top > LOWEST_TITLE or gap < LEAST_GAP):
            yield f"the title of {path} begins at {top}, {gap} below the bar, at {width}"

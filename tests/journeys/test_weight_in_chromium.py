"""How much each kind of page loads over the network, in a real browser, of a firm with a busy week."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.business.jobs.operations import list_jobs
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.operations import list_visits
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, enter_office, open_page, sign_in
from support.browser_session import add_new_person
from support.busy_firm import trade_for_a_year
from support.busy_week import MONDAY, plan_busy_week
from support.cast import Cast
from support.invoices import make_invoice
from support.quotes import make_quote
from support.servers import RunningServer
from support.visits import plan_today

# The most bytes that a page loads, with everything it needs, for who opens the office for the first time, and later.
FIRST_VISIT, LATER_VISIT = 100_000, 30_000
# What a person in the field has in two days, if they are short ones.
VISITS_A_DAY = 8
# Waits in the page until the stored page of a visit has a text, and everything has been stored.
WAIT_UNTIL_STORED = """async ([path, text]) => {
  const isStored = async () => (await (await caches.match(path))?.text() ?? "").includes(text);
  while (!(await caches.match("/complete") && await isStored() && (await caches.keys()).length === 1)) {
    await new Promise(done => setTimeout(done, 50));
  }
}"""
# What went over the network since the store with this name, once everything is stored again: the paths and the bytes.
# The service worker loads it all, also what the pages ask for.
READ_LOADED = """async (before) => {
  const isStored = async () => {
    const names = await caches.keys();
    return names.length === 1 && names[0] !== before && Boolean(await caches.match("/complete"));
  };
  while (!(await isStored())) await new Promise(done => setTimeout(done, 50));
  return performance.getEntriesByType("resource").filter((entry) => entry.transferSize)
    .map((entry) => [new URL(entry.name).pathname, entry.transferSize]);
}"""
FORGET_LOADED = """async () => {
  performance.clearResourceTimings();
  return (await caches.keys())[0];
}"""
LINES = [{"description": f"Part {number}", "unitPrice": "12.50", "quantity": "2"} for number in range(20)]


@pytest.fixture
def busy_cast(cast: Cast) -> Cast:
    """A firm with a year of work, 30 people and 400 visits in a week."""
    trade_for_a_year(cast)
    plan_busy_week(cast)
    return cast


def list_main_paths(cast: Cast) -> list[str]:
    """Return the addresses of the pages that load the most, and of those that are opened most."""
    job = f"/jobs/{cast.perform(list_jobs)['data'][0]['id']}"
    quote = f"/quotes/{make_quote(cast, lines=LINES)['id']}"
    week, day = (f"/schedule?view={view}&on={MONDAY}" for view in ("week", "day"))
    return ["/", "/today", "/jobs", week, day, job, f"{quote}/lines", f"{quote}/send"]


def list_other_paths(cast: Cast) -> list[str]:
    """Return the address of each other kind of page."""
    quote, invoice = f"/quotes/{make_quote(cast)['id']}", f"/invoices/{make_invoice(cast, lines=LINES)['id']}"
    visit = f"/schedule/visits/{cast.perform(list_visits, **{'from': MONDAY.isoformat()})['data'][0]['id']}"
    return [
        *("/search?text=hill", "/jobs/board", *(f"/schedule?view={view}&on={MONDAY}" for view in ("month", "list"))),
        *("/customers", "/quotes", "/invoices", "/payments", "/price-list", "/people", "/schedule/visits"),
        *("/purchasing/orders", "/hours", "/hours/week", "/hours/approve", "/hours/to-bill"),
        *("/reports", "/reports/revenue", "/settings", "/settings/import"),
        *(visit, f"{visit}/finish", quote, invoice, f"{invoice}/lines", f"{invoice}/send"),
        *("/jobs/new", "/customers/new", "/invoices/new", "/quotes/new", "/schedule/visits/plan"),
    ]


@pytest.mark.parametrize(
    "list_paths", [list_main_paths, pytest.param(list_other_paths, marks=pytest.mark.long)], ids=["main", "others"]
)
def test_a_first_visit_loads_less_than_100_kb_and_a_later_one_less_than_30(
    busy_cast: Cast, browser: Browser, server: RunningServer, list_paths: Callable[[Cast], list[str]]
) -> None:
    paths = list_paths(busy_cast)
    with open_page(browser, server.url) as page:
        enter_office(page, busy_cast, Role.OWNER)
        cookies: Any = page.context.cookies()
        later = {path: measure_page(page, path) for path in paths}
    first = {}
    for path in paths:
        with open_page(browser, server.url) as page:
            page.context.add_cookies(cookies)
            first[path] = measure_page(page, path)
    # What is loaded at first is really loaded: the font alone is as much.
    assert {path: size for path, size in first.items() if not 50_000 < size < FIRST_VISIT} == {}
    assert {path: size for path, size in later.items() if not 1_000 < size < LATER_VISIT} == {}


def test_a_phone_loads_only_the_visits_that_changed_again(cast: Cast, browser: Browser, server: RunningServer) -> None:
    person = add_new_person(cast, Role.MEMBER)
    visits = [plan_today(cast, person.id, title=f"Drain {number}") for number in range(VISITS_A_DAY)]
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        page.evaluate(WAIT_UNTIL_STORED, [f"{visits[-1]}/finish", "Drain"])
        [worker] = page.context.service_workers
        before = worker.evaluate(FORGET_LOADED)
        page.goto("/hours/week")
        loaded = dict(worker.evaluate(READ_LOADED, before))
        assert {path for path in loaded if not path.startswith("/static/")} == {"/hours/week", "/today"}
        assert 2_000 < sum(loaded.values()) < LATER_VISIT
        cast.perform(add_note, recordId=visits[3].rpartition("/")[2], text="Bring the long rods.")
        before = worker.evaluate(FORGET_LOADED)
        page.goto("/")
        loaded = dict(worker.evaluate(READ_LOADED, before))
        changed = {visits[3], f"{visits[3]}/finish"}
        assert {path for path in loaded if not path.startswith("/static/")} == {"/", "/today", *changed}
        assert sum(loaded.values()) < LATER_VISIT
        page.evaluate(WAIT_UNTIL_STORED, [visits[3], "Bring the long rods."])
        # The others are still there, each with what its page needs.
        page.context.set_offline(True)
        page.goto(visits[0])
        expect(page.get_by_role("heading", name="Drain 0")).to_be_visible()
        assert page.locator(".tabbar").evaluate("bar => getComputedStyle(bar).position") == "fixed"


def measure_page(page: Page, path: str) -> int:
    """Open a page, and return how many bytes it loaded over the network, with headers, as they were compressed."""
    with count_bytes(page) as sizes:
        answer = page.goto(path, wait_until="networkidle")
    assert answer
    assert (path, answer.status) == (path, 200)
    return sum(sizes)


@contextmanager
def count_bytes(page: Page) -> Iterator[list[int]]:
    """Collect the size of each answer that arrives in the page."""
    sizes: list[int] = []
    tab = page.context.new_cdp_session(page)
    tab.send("Network.enable")
    tab.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    yield sizes
    tab.detach()

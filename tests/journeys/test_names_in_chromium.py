"""Names as people have them, in a real browser: of one very long word, and written from right to left."""

from playwright.sync_api import Browser, Page, expect

from mainstay.business.customers.operations import create_customer
from mainstay.business.jobs.operations import create_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import update_person
from mainstay.vocabulary.permissions import Role
from support.browser import check_page, enter_office, open_page
from support.cast import Cast
from support.hours import make_time_entry
from support.invoices import make_invoice
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit

LONG_NAME = "Wolfeschlegelsteinhausenbergerdorffwelcheg"
# "The Gulf company for contracting (a form of company)", with a number and a word of another script behind it.
_GULF = "\u0634\u0631\u0643\u0629 \u0627\u0644\u062e\u0644\u064a\u062c"
_TRADE = "\u0644\u0644\u0645\u0642\u0627\u0648\u0644\u0627\u062a"
RIGHT_TO_LEFT = f"{_GULF} {_TRADE} (\u0634.\u0645.\u0643) 12 & Sons"
# Between those that every page is looked at in, where tables are still tables.
MIDDLE_WIDTHS = (660, 960)


def test_a_name_of_one_long_word_makes_no_page_scroll_sideways(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], name=LONG_NAME)
    customer = cast.perform(create_customer, name=LONG_NAME * 2)["id"]
    job = cast.perform(create_job, customerId=customer, title=LONG_NAME)["id"]
    visit = plan_test_visit(cast, jobId=job)["id"]
    paths = ("/schedule/visits/plan", "/schedule/visits", f"/schedule/visits/{visit}", f"/jobs/{job}", "/customers")
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        for path in (*paths, f"/schedule/change?from={DAY}&until={DAY}"):
            page.goto(path)
            expect(page.locator("main")).to_contain_text(LONG_NAME)
            check_page(page)
            for width in MIDDLE_WIDTHS:
                page.set_viewport_size({"width": width, "height": 860})
                assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (path, width)


def test_a_name_from_right_to_left_stays_whole_and_leaves_what_is_around_it_as_it_is(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    cast.perform(update_organisation, name=RIGHT_TO_LEFT)
    cast.perform(update_person, personId=cast.people[Role.OWNER], name=_GULF)
    customer = cast.perform(create_customer, name=RIGHT_TO_LEFT)["id"]
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/customers/{customer}")
        check_page(page)
        # It begins on the right, and what there is no room for is its end, on the left.
        expect(page.locator(".side .brand span")).to_have_css("direction", "rtl")
        assert left_edge_of(page, "h1", "Sons") < left_edge_of(page, "h1", "12") < left_edge_of(page, "h1", _GULF)
        # Who did it comes first, and after that the date, in one piece.
        name = page.locator(".timeline bdi").first.bounding_box()
        assert name
        (date,) = page.evaluate(_PIECES)
        assert date["left"] >= name["x"] + name["width"] - 1
        page.goto("/customers")
        expect(page.locator("tbody th a")).to_have_css("direction", "rtl")
        page.goto(f"/customers/{customer}/edit")
        expect(page.get_by_label("Name", exact=True)).to_have_css("direction", "rtl")


def test_a_title_from_right_to_left_stays_whole_behind_its_number(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    job = make_site_job(cast, title=RIGHT_TO_LEFT)
    visit = plan_test_visit(cast, jobId=job["id"])["id"]
    entry = make_time_entry(cast, Role.OFFICE, jobId=job["id"])
    line = {"description": RIGHT_TO_LEFT, "unit": _GULF}
    draft = make_invoice(cast, title=RIGHT_TO_LEFT, lines=[line | {"quantity": "1", "unitPrice": "1"}])
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        for path, where, number in (
            (f"/jobs/{job['id']}", "h1", job["number"]),
            (f"/jobs/{job['id']}/edit", ".crumb bdi", job["number"]),
            ("/jobs", "tbody th a", job["number"]),
            (f"/schedule/visits/{visit}", "h1", job["number"]),
            (f"/schedule/change?from={DAY}&until={DAY}", "tbody th a", job["number"]),
            (f"/hours/week?on={entry['on']}&person={entry['personId']}", ".week tbody th a", job["number"]),
            ("/invoices", "tbody th a", "Draft"),
        ):
            page.goto(path)
            pieces = [left_edge_of(page, where, text) for text in (number, "Sons", "12", _GULF)]
            assert pieces == sorted(pieces), path
        page.goto(f"/hours/{entry['id']}")
        check_page(page)
        assert left_edge_of(page, ".more a bdi", "Sons") < left_edge_of(page, ".more a bdi", _GULF)
        page.goto(f"/invoices/{draft['id']}/lines")
        check_page(page)
        for field in ("description", "unit"):
            expect(page.locator(f"[name$=' {field}']").first).to_have_css("direction", "rtl")
        page.goto("/hours/week")
        page.locator("#log-note").fill(_GULF)
        expect(page.locator("#log-note")).to_have_css("direction", "rtl")


def left_edge_of(page: Page, where: str, text: str) -> float:
    """Where a piece of what is written stands."""
    return float(page.locator(where).evaluate(_LEFT, text))


_LEFT = """(element, text) => {
    const [written] = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const range = document.createRange();
    range.setStart(written, written.data.indexOf(text));
    range.setEnd(written, written.data.indexOf(text) + text.length);
    return range.getBoundingClientRect().left;
}"""
_PIECES = """(() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector(".timeline bdi").nextSibling);
    return [...range.getClientRects()];
})()"""

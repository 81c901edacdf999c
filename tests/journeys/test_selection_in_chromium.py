"""Rows of a list, in a real browser: filtered at once, selected by keyboard, changed together and undone."""

from playwright.sync_api import Browser, Page, expect

from mainstay.vocabulary.permissions import Role
from support.browser import check_page, enter_office, open_page, open_page_without_scripts
from support.cast import Cast
from support.customers import make_customer, make_job
from support.servers import RunningServer


def test_rows_are_found_selected_by_keyboard_archived_and_brought_back(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    for name in ("Ann Ash", "Bob Birch", "Cleo Cedar"):
        make_customer(cast, name)
    make_job(cast, make_customer(cast, "Dora Dale"), priority="high")
    with open_page(browser, server.url) as page:
        use_list(page, cast)


def use_list(page: Page, cast: Cast) -> None:
    enter_office(page, cast, Role.OFFICE)
    page.keyboard.press("g")
    page.keyboard.press("c")
    rows, bar = page.locator(".records tbody tr"), page.get_by_role("group", name="Selected rows")
    expect(rows).to_have_count(4)
    # What is typed is no shortcut, and narrows the list at once, in the address too.
    page.locator("main").get_by_role("searchbox").press_sequentially("Bob")
    expect(rows).to_have_count(1)
    page.wait_for_url("**/customers?text=Bob*")
    page.goto("/customers")
    expect(bar).to_be_hidden()
    page.keyboard.press("x")
    page.keyboard.press("x")
    expect(bar).to_contain_text("1 selected")
    page.get_by_label("Select all on this page").check()
    expect(bar).to_contain_text("4 selected")
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    page.get_by_label("Select Ann Ash").check()
    page.get_by_label("Select Cleo Cedar").check()
    check_page(page)
    bar.get_by_role("button", name="Archive 2").click()
    expect(page.get_by_role("heading", name="Archive 2 customers")).to_be_visible()
    check_page(page)
    page.get_by_role("button", name="Archive 2").click()
    expect(page.get_by_role("status").first).to_contain_text("2 customers archived.")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(4)
    # The keys are shown in a dialog, and can be turned off.
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_contain_text("Customers")
    check_page(page)
    dialog.get_by_label("Turn off single-key shortcuts on this device").check()
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("?")
    page.goto("/jobs?status=all")
    expect(dialog).to_be_hidden()
    # A chosen filter applies at once, keeps the focus, and is removed by its own link.
    page.get_by_label("Priority").select_option("Low")
    expect(page.get_by_text("No matches.")).to_be_visible()
    expect(page.get_by_label("Priority")).to_be_focused()
    page.get_by_role("link", name="Remove filter: Priority").click()
    expect(rows).to_have_count(1)


def test_rows_are_archived_without_javascript(cast: Cast, browser: Browser, server: RunningServer) -> None:
    make_customer(cast, "Ann Ash")
    with open_page_without_scripts(browser, server.url) as plain:
        enter_office(plain, cast, Role.OFFICE)
        plain.goto("/customers")
        plain.get_by_label("Select Ann Ash").check()
        plain.get_by_role("button", name="Archive", exact=True).last.click()
        plain.get_by_role("button", name="Archive 1").click()
        expect(plain.get_by_role("status").first).to_contain_text("1 customer archived.")

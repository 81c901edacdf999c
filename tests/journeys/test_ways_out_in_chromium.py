"""In a real browser: what was refused is cleared away and then done; and what stands beside records has no faults."""

from playwright.sync_api import Browser, expect

from billing import an_invoice, issued, now, paid
from cast import Cast
from chromium import check_page, come_in, open_page
from hooking import quiet_webhook
from mainstay.business.customers.operations import archive_customer
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.leave import request_time_off
from mainstay.identity.keys import list_keys
from mainstay.terms.rights import Role
from running import RunningServer
from scheduling import DAY
from wares import a_rate


def test_what_stands_against_it_is_cleared_away_with_one_press(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    invoice = an_invoice(cast)
    cast.perform(archive_customer, customerId=invoice["customerId"])
    with open_page(browser, server.url) as page:
        come_in(page, cast)
        page.goto(f"/invoices/{invoice['id']}/send")
        page.get_by_label("Deliver").select_option("none")
        page.get_by_role("button", name="Show what would happen").click()
        expect(page.locator("main")).to_contain_text("This cannot be done now, and nothing has happened.")
        page.get_by_role("button", name="Restore customer").click()
        expect(page.get_by_role("status")).to_be_visible()
        page.goto(f"/invoices/{invoice['id']}/send")
        page.get_by_label("Deliver").select_option("none")
        page.get_by_role("button", name="Show what would happen").click()
        page.get_by_role("button", name="Send invoice").click()
        expect(page.locator("main")).to_contain_text("INV-0001")
    assert now(cast, invoice)["status"] == "sent"


def test_the_pages_are_without_faults(server: RunningServer, cast: Cast, browser: Browser) -> None:
    cast.key()
    (key,) = cast.perform(list_keys)["data"]
    invoice = issued(cast)
    paid(cast, invoice, "400")
    leave = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})
    person = cast.people[Role.MEMBER]
    cast.perform(add_note, recordId=person, text="Has the key of the yard.")
    records = (
        f"/people/{person}",
        f"/settings/developer/keys/{key['id']}",
        f"/settings/developer/keys/{key['id']}/history",
        f"/settings/developer/webhooks/{quiet_webhook(cast)}",
        f"/time-off/{leave['id']}",
        f"/settings/taxes/{a_rate(cast)}",
        "/settings",
        f"/invoices/{invoice['id']}/void",
        f"/people/{cast.people[Role.OWNER]}/remove",
    )
    with open_page(browser, server.url) as page:
        come_in(page, cast)
        for path in records:
            page.goto(path)
            check_page(page)

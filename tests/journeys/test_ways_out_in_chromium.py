"""In a real browser: what was refused is cleared away and then done; and what stands beside records has no faults."""

from playwright.sync_api import Browser, expect

from mainstay.business.customers.operations import archive_customer
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.leave import request_time_off
from mainstay.identity.keys import list_keys
from mainstay.vocabulary.permissions import Role
from support.browser import check_page, enter_office, open_page
from support.cast import Cast
from support.invoices import issue_invoice, make_invoice, pay_invoice, reread_invoice
from support.prices import make_tax_rate
from support.servers import RunningServer
from support.visits import DAY
from support.webhook_installation import make_quiet_webhook


def test_what_stands_against_it_is_cleared_away_with_one_press(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    invoice = make_invoice(cast)
    cast.perform(archive_customer, customerId=invoice["customerId"])
    with open_page(browser, server.url) as page:
        enter_office(page, cast)
        page.goto(f"/invoices/{invoice['id']}/send")
        expect(page.locator("main")).to_contain_text("This isn't possible right now. Nothing has changed.")
        page.get_by_role("button", name="Restore customer").click()
        expect(page.get_by_role("status")).to_be_visible()
        page.goto(f"/invoices/{invoice['id']}/send")
        page.get_by_role("button", name="Issue without email").click()
        page.get_by_role("button", name="Send invoice").click()
        expect(page.locator("main")).to_contain_text("INV-0001")
    assert reread_invoice(cast, invoice)["status"] == "sent"


def test_the_pages_are_without_faults(server: RunningServer, cast: Cast, browser: Browser) -> None:
    cast.make_key()
    (key,) = cast.perform(list_keys)["data"]
    invoice = issue_invoice(cast)
    pay_invoice(cast, invoice, "400")
    leave = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})
    person = cast.people[Role.MEMBER]
    cast.perform(add_note, recordId=person, text="Has the key of the yard.")
    records = (
        f"/people/{person}",
        f"/settings/developer/keys/{key['id']}",
        f"/settings/developer/keys/{key['id']}/history",
        f"/settings/developer/webhooks/{make_quiet_webhook(cast)}",
        f"/time-off/{leave['id']}",
        f"/settings/taxes/{make_tax_rate(cast)}",
        "/settings",
        f"/invoices/{invoice['id']}/void",
        f"/people/{cast.people[Role.OWNER]}/remove",
    )
    with open_page(browser, server.url) as page:
        enter_office(page, cast)
        for path in records:
            page.goto(path)
            check_page(page)

"""Picking a record in a form, in a real browser: by keyboard, and with a new one made in place."""

from playwright.sync_api import Browser, Page, expect

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.jobs.operations import list_jobs
from mainstay.vocabulary.permissions import Role
from support.browser import check_page, enter_office, open_page
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.hours import cast_at
from support.invoices import issue_invoice, make_approved_hour, make_hourly_job, make_invoice
from support.servers import RunningServer


def test_a_customer_is_picked_by_keyboard_with_their_only_site(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    make_site(cast, make_customer(cast), name="The mill")
    make_site(cast, make_customer(cast, "Calder Trust"), name="The lock")
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto("/jobs/new")
        customer = page.get_by_role("combobox", name="Customer")
        customer.press_sequentially("calder")
        expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(3)
        check_page(page)
        customer.press("Escape")
        expect(page.get_by_role("listbox")).to_be_hidden()
        customer.press("ArrowDown")
        customer.press("ArrowDown")
        chosen = page.locator("[role=option][aria-selected=true]")
        name = str(chosen.evaluate("option => option.firstChild.data"))
        expect(customer).to_have_attribute("aria-activedescendant", str(chosen.get_attribute("id")))
        customer.press("Enter")
        expect(customer).to_have_value(name)
        site = {"Calder Property": "The mill", "Calder Trust": "The lock"}[name]
        expect(page.get_by_role("combobox", name="Site")).to_have_value(site)
        page.get_by_label("Title").fill("Mend the roof")
        page.get_by_label("Title").press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("J-0001 Mend the roof")
    (job,) = cast.perform(list_jobs)["data"]
    assert (job["customerName"], job["siteName"]) == (name, site)


def test_a_picked_customer_brings_the_site_and_the_lead_of_their_last_job(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    customer, lead = make_customer(cast), cast.people[Role.MEMBER]
    make_site(cast, customer, name="The mill")
    make_job(cast, customer, siteId=make_site(cast, customer, name="The lock"), leadPersonId=lead)
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto("/jobs/new")
        page.get_by_role("combobox", name="Customer").press_sequentially("calder")
        page.get_by_role("option", name="Calder Property").first.click()
        expect(page.get_by_label("Lead")).to_have_value(lead)
        expect(page.get_by_role("combobox", name="Site")).to_have_value("The lock")
        page.get_by_label("Title").fill("Mend the roof")
        page.get_by_role("button", name="Create job").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("J-0002 Mend the roof")
    made, _ = cast.perform(list_jobs)["data"]
    assert (made["siteName"], made["leadPersonId"]) == ("The lock", lead)


def test_a_new_customer_and_site_are_made_without_leaving_the_form(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto("/jobs/new")
        page.get_by_label("Title").fill("Mend the roof")
        page.get_by_role("combobox", name="Customer").press_sequentially("Beam")
        page.get_by_role("option", name="New customer “Beam”").click()
        add_in_dialog(page)
        expect(page.get_by_role("combobox", name="Customer")).to_have_value("Beam")
        page.get_by_role("link", name="New site").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_label("Customer")).to_have_value("Beam")
        dialog.get_by_label("Line 1").fill("2 Weir Lane")
        dialog.get_by_role("button", name="Add site").click()
        expect(dialog).to_have_count(0)
        expect(page.get_by_role("combobox", name="Site")).to_have_value("2 Weir Lane")
        expect(page.get_by_label("Title")).to_have_value("Mend the roof")
        page.get_by_role("button", name="Create job").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("J-0001 Mend the roof")
    (job,) = cast.perform(list_jobs)["data"]
    assert (job["customerName"], job["siteName"]) == ("Beam", "2 Weir Lane")


def add_in_dialog(page: Page) -> None:
    """Add the customer in the dialog, once refused for what is wrong."""
    dialog = page.get_by_role("dialog", name="New customer")
    expect(dialog.get_by_label("Name")).to_have_value("Beam")
    dialog.get_by_text("More options").click()
    dialog.get_by_label("Payment terms (days)").fill("9999")
    check_page(page)
    dialog.get_by_role("button", name="Create customer").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Payment terms")
    dialog.get_by_label("Payment terms (days)").fill("30")
    dialog.get_by_role("button", name="Create customer").click()
    expect(dialog).to_have_count(0)


def test_a_new_invoice_follows_what_is_chosen(server: RunningServer, cast: Cast, browser: Browser) -> None:
    busy = cast_at(cast)
    make_approved_hour(busy, make_hourly_job(busy, title="Flush the pipes"))
    make_customer(cast, "Beam")
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto("/invoices/new")
        page.get_by_role("combobox", name="Job").press_sequentially("flush")
        page.get_by_role("option", name="Flush the pipes").first.click()
        expect(page.get_by_role("radio", name="Hours and materials")).to_be_checked()
        expect(page.get_by_role("combobox", name="Customer")).to_have_value("Calder Property")
        summary = page.get_by_role("complementary", name="This invoice")
        expect(summary.locator(".sum.num")).to_have_text("£60.00")
        check_page(page)
        page.get_by_role("radio", name="Something else").check()
        expect(summary.locator(".sum.num")).to_have_text("£0.00")
        page.get_by_role("radio", name="Hours and materials").check()
        expect(summary.locator(".sum.num")).to_have_text("£60.00")
        # Another customer has nothing to bill, and the job is not theirs.
        customer = page.get_by_role("combobox", name="Customer")
        customer.fill("")
        customer.press_sequentially("beam")
        page.get_by_role("option", name="Beam").first.click()
        expect(page.get_by_role("radio")).to_have_count(1)
        customer = page.get_by_role("combobox", name="Customer")
        customer.fill("")
        customer.press_sequentially("calder")
        page.get_by_role("option", name="Calder Property").first.click()
        expect(page.get_by_role("radio", name="Hours and materials of J-0001")).to_be_checked()
        page.get_by_role("button", name="Create draft").click()
        expect(page.get_by_role("status").first).to_contain_text("Draft invoice created.")
    (invoice,) = cast.perform(list_invoices)["data"]
    assert invoice["net"] == "60.00"


def test_the_invoice_of_a_bank_statement_is_picked_by_its_customer(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    for name in ("Ann Boyle", "Ben Sutcliffe"):
        issue_invoice(cast, make_invoice(cast, customerId=make_customer(cast, name)))
    statement = "Date,Description,Amount\n05/01/2026,ANN BOYLE,1000.00\n05/01/2026,A transfer,300.00\n"
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto("/payments/statement")
        page.get_by_label("Record payments from a bank statement").set_input_files(
            {"name": "bank.csv", "mimeType": "text/csv", "buffer": statement.encode()}
        )
        fields = page.get_by_role("combobox", name="Invoice")
        matched, unmatched = fields.first, fields.last
        expect(page.get_by_text("Ann Boyle · matched by name and amount")).to_be_visible()
        # What was said of another number would be wrong.
        matched.press_sequentially("2")
        expect(page.get_by_text("matched by")).to_have_count(0)
        matched.press("Backspace")
        unmatched.press_sequentially("sutcliffe")
        page.get_by_role("option", name="INV-0002").click()
        expect(unmatched).to_have_value("INV-0002")
        expect(page.get_by_role("row", name="A transfer")).to_contain_text("Ben Sutcliffe")
        check_page(page)
        page.get_by_role("button", name="Record 2 payments").click()
        recorded = page.get_by_role("region", name="Recorded", exact=True)
        expect(recorded).to_contain_text("INV-0001")
        expect(recorded).to_contain_text("INV-0002")

"""The work that scripts make quicker, with JavaScript off: an invoice with its lines is sent, and a visit is done."""

import re
from datetime import timedelta
from zoneinfo import ZoneInfo

from playwright.sync_api import Browser, FilePayload, Page, expect

from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.drafting.operations import get_invoice, list_invoices
from mainstay.business.organisation.sent_emails import list_messages
from mainstay.business.records.attachments import list_documents
from mainstay.business.records.notes import list_notes
from mainstay.business.schedule.operations import get_visit
from mainstay.vocabulary.permissions import Role
from support.browser import open_page_without_scripts
from support.browser_session import add_new_person
from support.cast import Cast
from support.customers import make_customer, make_job
from support.images import draw_image
from support.oauth_app import begin_session
from support.quotes import make_default_tax_rate
from support.servers import RunningServer
from support.visits import plan_today


def enter(page: Page, cast: Cast, email: str) -> None:
    """Be signed in."""
    secret = begin_session(cast, email)
    page.context.add_cookies([{"name": "mainstay", "value": secret, "domain": "127.0.0.1", "path": "/"}])


def read_descriptions(page: Page) -> list[str]:
    return [box.input_value() for box in page.locator(".line-row:not(.new) textarea").all()]


def add_line(page: Page, description: str, price: str) -> None:
    new = page.locator(".line-row.new")
    new.get_by_label("Description").fill(description)
    new.get_by_label("Price", exact=True).fill(price)
    new.get_by_role("button", name="Add line").click()


def test_an_invoice_is_made_gets_its_lines_and_is_sent(server: RunningServer, cast: Cast, browser: Browser) -> None:
    make_default_tax_rate(cast)
    job = make_job(cast, make_customer(cast, email="ann@calder.example"), status="open")
    with open_page_without_scripts(browser, server.url) as page:
        enter(page, cast, add_new_person(cast, Role.OFFICE).email)
        page.goto(f"/invoices/new?jobId={job['id']}")
        page.get_by_role("radio").last.check()
        page.get_by_role("button", name="Create draft").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Edit lines")
        add_line(page, "Boiler", "1000")
        add_line(page, "Waste disposal", "20")
        add_line(page, "Parking", "5")
        assert read_descriptions(page) == ["Boiler", "Waste disposal", "Parking"]
        page.get_by_role("button", name="Move up Waste disposal").click()
        page.get_by_role("button", name="Remove Parking").click()
        assert read_descriptions(page) == ["Waste disposal", "Boiler"]
        # A refused price stays, with its fault beside it.
        page.locator(".line-row").first.get_by_label("Price", exact=True).fill("a lot")
        page.get_by_role("button", name="Save and close").click()
        expect(page.locator("[aria-invalid=true]")).to_have_value("a lot")
        page.locator("[aria-invalid=true]").fill("25")
        page.get_by_role("button", name="Review and send").click()
        expect(page.get_by_label("To", exact=True)).to_have_value("ann@calder.example")
        page.get_by_label("Cc").fill("accounts@calder.example")
        page.get_by_label("Subject").fill("Your new boiler")
        page.get_by_role("button", name="Send invoice").click()
        expect(page.get_by_text("Invoice INV-0001 issued.")).to_be_visible()
    [listed] = cast.perform(list_invoices)["data"]
    invoice = cast.perform(get_invoice, invoiceId=listed["id"])
    assert [(line["description"], line["unitPrice"]) for line in invoice["lines"]] == [
        ("Waste disposal", "25.00"),
        ("Boiler", "1000.00"),
    ]
    assert invoice["status"] == "sent"
    emails = cast.perform(list_messages, about=invoice["id"])["data"]
    assert {(email["recipient"], email["subject"]) for email in emails} == {
        ("ann@calder.example", "Your new boiler"),
        ("accounts@calder.example", "Your new boiler"),
    }


def test_a_visit_is_started_and_finished_with_a_note_and_a_photo(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_today(cast, person.id)
    with open_page_without_scripts(browser, server.url) as page:
        enter(page, cast, person.email)
        page.goto("/today")
        page.get_by_role("link", name="Mend the roof").click()
        page.get_by_role("button", name="Start work").click()
        expect(page.get_by_text("Visit started.")).to_be_visible()
        page.get_by_role("link", name="Finish").click()
        # Shortly after midnight, the start is one of the day before.
        ended = cast.performer.clock().astimezone(ZoneInfo("Europe/London"))
        page.get_by_label("Started").fill(f"{ended - timedelta(minutes=90):%H:%M}")
        page.get_by_label("Finished", exact=True).fill(f"{ended:%H:%M}")
        page.get_by_label("Break").fill("15m")
        page.get_by_label("Note for the office").fill("Cleared.")
        photo: FilePayload = {"name": "drain.png", "mimeType": "image/png", "buffer": draw_image()}
        page.get_by_label("Photos").set_input_files(photo)
        page.get_by_role("button", name=re.compile("Finish")).click()
        expect(page.get_by_text("Visit done.")).to_be_visible()
        expect(page.get_by_text("Cleared.")).to_be_visible()
    visit = path.rpartition("/")[2]
    assert cast.perform(get_visit, visitId=visit)["status"] == "done"
    [entry] = cast.perform(list_hours, personId=person.id)["data"]
    assert (entry["visitId"], entry["status"], entry["minutes"]) == (visit, "draft", 75)
    assert [note["text"] for note in cast.perform(list_notes, recordId=visit)["data"]] == ["Cleared."]
    assert len(cast.perform(list_documents, recordId=visit)["data"]) == 1

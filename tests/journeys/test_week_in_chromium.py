"""A week's work by hand, from a new customer to the money in the bank, with the clicks, fields and pages it takes."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default

from playwright.sync_api import Browser, Locator, Page, Request, expect

from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.pricelist.operations import save_price_item
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, check_page, open_page
from support.browser_session import NewPerson, add_new_person
from support.cast import Cast
from support.hours import set_rates
from support.oauth_app import begin_session
from support.quotes import make_default_tax_rate
from support.servers import RunningServer
from support.waiting import wait_until

# What the same week took before: 41 clicks, 28 fields and 45 pages.
MAX_CLICKS, MAX_FIELDS, MAX_LOADS = 25, 20, 24
_CUSTOMER = "ann@boyle.example"


@dataclass
class Effort:
    """What people did: buttons, links and keys that they pressed, fields that they filled in, and pages that loaded."""

    clicks: int = 0
    fields: int = 0
    loads: int = 0

    def watch(self, page: Page) -> None:
        """Count every document that a page loads. A redirect is part of the load that it ends."""

        def count(request: Request) -> None:
            is_document = request.is_navigation_request() and request.frame == page.main_frame
            self.loads += is_document and request.redirected_from is None

        page.on("request", count)

    def press(self, button: Locator) -> None:
        """Click a button, a link or a suggestion."""
        self.clicks += 1
        button.click()

    def press_enter(self, field: Locator) -> None:
        """Press Enter in a field."""
        self.clicks += 1
        field.press("Enter")

    def type(self, field: Locator, text: str) -> None:
        """Fill in a field, or type over it."""
        self.fields += 1
        field.fill("")
        field.press_sequentially(text)

    def choose(self, field: Locator, label: str) -> None:
        """Choose from a list."""
        self.fields += 1
        field.select_option(label=label)

    def tick(self, box: Locator) -> None:
        """Tick a box."""
        self.fields += 1
        box.check()

    def attach(self, field: Locator, name: str, content: str) -> None:
        """Choose a file."""
        self.fields += 1
        field.set_input_files({"name": name, "mimeType": "text/csv", "buffer": content.encode()})


@contextmanager
def at_work(
    effort: Effort, server: RunningServer, cast: Cast, browser: Browser, person: NewPerson, size: tuple[int, int]
) -> Iterator[Page]:
    """Open the office for someone who is signed in. Its first page counts."""
    with open_page(browser, server.url, size) as page:
        effort.watch(page)
        secret = begin_session(cast, person.email)
        page.context.add_cookies([{"name": "mainstay", "value": secret, "domain": "127.0.0.1", "path": "/"}])
        page.goto("/")
        yield page


def find_link(server: RunningServer, email: str, kind: str) -> str:
    """Return the path that the email to somebody links to."""

    def look() -> str | None:
        for file in (server.settings.data / "outbox").glob("*.eml"):
            mail = message_from_bytes(file.read_bytes(), policy=default)
            text = mail.get_body(("plain",)) if email in str(mail["To"]) else None
            if text and (found := re.search(rf"/{kind}/\S+", text.get_content())):
                return found[0]
        return None

    return wait_until(look)


def take_on_job(effort: Effort, page: Page) -> None:
    """A new customer calls: they and their site, and the job."""
    effort.press(page.locator("summary").filter(has_text=re.compile(r"^\+ New$")))
    effort.press(page.get_by_role("link", name="Job", exact=True))
    effort.type(page.get_by_label("Customer", exact=True), "Ann Boyle")
    effort.press(page.get_by_role("option", name="+ New customer “Ann Boyle”"))
    dialog = page.get_by_role("dialog", name="New customer")
    expect(dialog.get_by_label("Name")).to_have_value("Ann Boyle")
    for label, text in (("Email", _CUSTOMER), ("Line 1", "2 Weir Lane"), ("City", "Halifax"), ("Postcode", "HX6 2AG")):
        effort.type(dialog.get_by_label(label), text)
    effort.press(dialog.get_by_role("button", name="Create customer"))
    expect(dialog).to_be_hidden()
    effort.type(page.get_by_label("Title"), "New heating")
    effort.press(page.get_by_role("button", name="Create job"))
    expect(page.get_by_role("heading", level=1)).to_have_text("J-0001 New heating")
    expect(page.get_by_role("main")).to_contain_text("2 Weir Lane")


def quote_job(effort: Effort, page: Page) -> None:
    """A quote with an item of the price list and a line of its own, which is sent."""
    effort.press(page.locator(".chips").get_by_role("button", name="Quote"))
    new = page.locator(".line-row.new")
    description = new.get_by_label("Description")
    effort.type(description, "Combi boiler")
    effort.press_enter(description)
    expect(page.locator(".line-row:not(.new)").get_by_label("Description")).to_have_value("Combi boiler")
    effort.type(description, "Flush the system")
    effort.type(new.get_by_label("Price", exact=True), "200")
    effort.press(page.get_by_role("button", name="Review and send"))
    expect(page.get_by_label("To", exact=True)).to_have_value(_CUSTOMER)
    effort.press(page.get_by_role("button", name="Send quote"))
    expect(page.get_by_role("status")).to_contain_text("Quote Q-0001 sent.")


def accept_quote(effort: Effort, page: Page, path: str) -> None:
    """The customer opens the link of the email, and accepts."""
    effort.watch(page)
    page.goto(path)
    effort.type(page.get_by_label("Your name"), "Ann Boyle")
    effort.press(page.get_by_role("button", name="Accept for"))
    expect(page.get_by_role("status")).to_contain_text("Accepted by Ann Boyle")


def plan_visit(effort: Effort, page: Page, path: str) -> None:
    """The office opens the link of its own email, and plans the work."""
    page.goto(path)
    effort.press(page.get_by_role("link", name="Plan visit"))
    dialog = page.get_by_role("dialog", name="New visit")
    expect(dialog.get_by_label("Job")).to_have_value("J-0001 New heating")
    check_page(page)
    effort.choose(dialog.get_by_label("Person"), "Mia Fielding")
    effort.press(dialog.get_by_role("button", name="Plan visit"))
    expect(page.get_by_role("region", name="Visits")).to_contain_text("Mia Fielding")


def do_visit(effort: Effort, page: Page) -> None:
    """The work in the field, on a phone: start, finish with hours, and nothing is left to do."""
    effort.press(page.get_by_role("button", name=re.compile("^Start")))
    effort.press(page.get_by_role("link", name="Finish"))
    effort.type(page.get_by_label("Note for the office"), "All done, boiler runs.")
    effort.tick(page.get_by_label("Submit the hours of this day for approval"))
    effort.tick(page.get_by_label("Job J-0001 is finished"))
    effort.press(page.get_by_role("button", name=re.compile("Finish and log")))
    expect(page.get_by_text("Visit done.")).to_be_visible()


def approve_and_invoice(effort: Effort, page: Page) -> None:
    """The office approves the hours, and invoices the job."""
    effort.press(page.get_by_role("navigation", name="Areas").get_by_role("link", name="Hours"))
    effort.press(page.get_by_role("link", name="To approve"))
    effort.press(page.get_by_role("button", name=re.compile("Approve 1 entry")))
    expect(page.get_by_role("status")).to_contain_text("1 entry approved.")
    effort.press(page.get_by_role("link", name="Create invoice for J-0001"))
    expect(page.locator("#sums")).to_contain_text("£1,440.00")
    effort.press(page.get_by_role("button", name="Review and send"))
    expect(page.get_by_label("To", exact=True)).to_have_value(_CUSTOMER)
    effort.press(page.get_by_role("button", name="Send invoice"))
    expect(page.get_by_role("status").first).to_contain_text("INV-0001")


def take_payments(effort: Effort, page: Page, day: str) -> None:
    """A part was paid by card, which is recorded by hand; the rest comes with the bank statement."""
    effort.press(page.get_by_role("link", name="Record payment"))
    dialog = page.get_by_role("dialog", name="Record payment")
    effort.type(dialog.get_by_label("Amount", exact=True), "440")
    effort.choose(dialog.get_by_label("Method"), "Card")
    effort.press(dialog.get_by_role("button", name="Record payment"))
    expect(page.get_by_role("status").first).to_contain_text("Payment recorded.")
    effort.press(page.locator(".crumb").get_by_role("link", name="Payments"))
    check_page(page)
    statement = f"Date,Description,Amount\n{day},A BOYLE INV-0001,1000.00\n"
    effort.attach(page.get_by_label("Record payments from a bank statement"), "bank.csv", statement)
    effort.press(page.get_by_role("button", name="Record 1 payment"))
    expect(page.get_by_role("region", name="Recorded", exact=True)).to_contain_text("INV-0001")


def test_a_week_takes_few_clicks_fields_and_pages(server: RunningServer, cast: Cast, browser: Browser) -> None:
    make_default_tax_rate(cast)
    set_rates(cast, Role.MEMBER, 25, 60)
    cast.perform(save_price_item, name="Combi boiler", sellPrice="1000")
    office = add_new_person(cast, Role.OFFICE, "Orla Office")
    field = add_new_person(cast, Role.MEMBER, "Mia Fielding")
    day = local_date(cast.performer.clock(), "Europe/London").isoformat()
    effort = Effort()
    with at_work(effort, server, cast, browser, office, (1440, 900)) as page:
        take_on_job(effort, page)
        quote_job(effort, page)
        with open_page(browser, server.url, NARROW) as phone:
            accept_quote(effort, phone, find_link(server, _CUSTOMER, "q"))
        plan_visit(effort, page, find_link(server, office.email, "quotes"))
        with at_work(effort, server, cast, browser, field, NARROW) as phone:
            do_visit(effort, phone)
        approve_and_invoice(effort, page)
        take_payments(effort, page, day)
    [job], [entry] = cast.perform(list_jobs)["data"], cast.perform(list_hours)["data"]
    assert (job["siteName"], entry["status"]) == ("2 Weir Lane", "approved")
    [invoice] = cast.perform(list_invoices)["data"]
    assert (invoice["status"], invoice["total"]) == ("paid", "1440.00")
    assert effort.clicks <= MAX_CLICKS, effort
    assert effort.fields <= MAX_FIELDS, effort
    assert effort.loads <= MAX_LOADS, effort

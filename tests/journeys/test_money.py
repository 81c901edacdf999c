"""The money of a firm in one run: quoted, accepted on a phone, worked and bought, billed, mailed, paid, and closed."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.drafting.operations import get_invoice, list_invoices
from mainstay.business.jobs.operations import get_job, list_jobs, update_job
from mainstay.business.quotes.operations import get_quote
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, check_page, enter_office, open_page
from support.browser_session import sign_in_cast
from support.installations import Installations
from support.invoices import issue_invoice, make_invoice
from support.invoicing_firm import (
    CUSTOMER,
    SUPPLIER,
    InvoicingFirm,
    find_link,
    open_invoicing_firm,
    read_attached_pdf,
    read_e_invoice,
)
from support.waiting import wait_until

Record = dict[str, Any]


@pytest.fixture(scope="module")
def firm(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InvoicingFirm]:
    with open_invoicing_firm(installations, engine, tmp_path_factory.mktemp("firm")) as firm:
        yield firm


def test_a_quote_becomes_work_that_is_billed_and_paid(firm: InvoicingFirm, browser: Browser) -> None:
    cast = firm.cast
    with open_page(browser, firm.server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        make_and_send_quote(page)
        accept_on_a_phone(firm, browser)
        [job] = cast.perform(list_jobs)["data"]
        [deposit] = wait_until(lambda: cast.perform(list_invoices, kind="deposit")["data"])
        assert (job["title"], deposit["status"], deposit["total"]) == ("New heating", "draft", "300.00")
        page.goto("/quotes/" + cast.perform(get_quote, quoteId="Q-0001")["id"])
        expect(page.locator(".timeline")).to_contain_text("Quote accepted the customer")

        send_invoice(page, deposit)
        pay(page, deposit)
        do_extra_work(firm, job)
        buy_materials(firm, page, job)
        last = bill_everything(page, job)
        pdf = read_attached_pdf(firm.wait_for_email(CUSTOMER, "Invoice INV-0002"))
        expected = {"number": "INV-0002", "total": "1080.00", "due": "1080.00"}
        assert read_e_invoice(pdf) == expected
        assert "Deducted: Deposit invoice INV-0001" in pdf.pages[0].extract_text().replace("\n", " ")

        pay(page, last, "500")
        assert fetch_invoice(firm, last)["status"] == "partPaid"
        pay(page, last)
        assert (fetch_invoice(firm, last)["status"], fetch_invoice(firm, last)["due"]) == ("paid", "0.00")
    # Nobody closed it: the work is done, and all of it is paid.
    wait_until(lambda: cast.perform(get_job, jobId=job["id"])["status"] == "closed")


def test_what_was_bought_is_billed_to_the_customer(firm: InvoicingFirm, browser: Browser) -> None:
    """From the order to the supplier's bill, and on to the invoice."""
    with open_page(browser, firm.server.url) as page:
        enter_office(page, firm.cast, Role.OFFICE)
        page.goto("/jobs/new")
        page.locator("#customerId").fill("Calder Property")
        page.locator("#title").fill("New taps")
        page.locator(".more-fields > summary").click()
        page.locator("#billing").select_option("timeAndMaterials")
        page.get_by_role("button", name="Create job").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("New taps")
        [job] = firm.cast.perform(list_jobs, text="taps")["data"]
        order_goods(page, job, "Taps", "4", "20")
        page.get_by_role("link", name="Record bill").click()
        page.get_by_label("Bill number").fill("4712")
        page.get_by_label("Bill date").fill("2026-02-02")
        page.get_by_label("Total").fill("96")
        page.get_by_role("button", name="Record bill").click()
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Pennine Supplies 4712")
        page.goto("/hours/to-bill")
        page.get_by_role("button", name=f"Create invoice for {job['number']}").click()
        expect(page.get_by_role("status")).to_contain_text("Draft invoice created.")
        expect(page.get_by_role("main")).to_contain_text("Taps")
    [invoice] = firm.cast.perform(list_invoices, jobId=job["id"])["data"]
    [line] = fetch_invoice(firm, invoice)["lines"]
    assert (line["description"], line["quantity"], line["source"]["kind"]) == ("Taps", "4.00", "billLine")


def test_a_bank_statement_is_read_on_a_phone(firm: InvoicingFirm, browser: Browser) -> None:
    invoice = issue_invoice(firm.cast, make_invoice(firm.cast))
    day = local_date(firm.cast.performer.clock(), "Europe/London").isoformat()
    text = f"{invoice['number']} with many thanks for all the work that was done in our house this winter"
    file = f"Date,Description,Amount\n{day},{text},1200.00\nsoon,Who knows,1.00\n"
    with open_page(browser, firm.server.url, NARROW) as page:
        enter_office(page, firm.cast, Role.OFFICE)
        page.goto("/payments/statement")
        page.locator("#file").set_input_files(
            {"name": "bank.csv", "mimeType": "text/csv", "buffer": file.encode()},
        )
        row = page.locator("tbody tr").first
        tick, heading, number = (box_of(row, part) for part in ("[type=checkbox]", "th", "[name^=invoices]"))
        # One beside the other, the number below both with room to be read, and no word is cut off.
        assert tick["x"] + tick["width"] <= heading["x"]
        assert number["y"] >= heading["y"] + heading["height"] - 1
        assert number["width"] > NARROW[0] / 2
        assert row.locator("th .sub").evaluate("one => one.scrollWidth <= one.clientWidth")
        check_page(page)
        # The button counts what is ticked.
        row.get_by_role("checkbox").uncheck()
        expect(page.get_by_role("button", name="Record 0 payments")).to_be_visible()
        row.get_by_role("checkbox").check()
        page.get_by_role("button", name="Record 1 payment").click()
        expect(page.get_by_role("region", name="Recorded", exact=True)).to_contain_text(invoice["number"])
        # What cannot be read is still there to be looked after.
        expect(page.get_by_role("region", name="Not recorded")).to_contain_text("Who knows")
        check_page(page)
    assert fetch_invoice(firm, invoice)["status"] == "paid"


def box_of(within: Locator, part: str) -> FloatRect:
    """Where something stands."""
    found = within.locator(part).bounding_box()
    assert found
    return found


def fetch_invoice(firm: InvoicingFirm, invoice: Record) -> Record:
    return firm.cast.perform(get_invoice, invoiceId=invoice["id"])


def make_and_send_quote(page: Page) -> None:
    """Draft a quote with a deposit, and mail it; the mail and the PDF are looked at before."""
    page.goto("/quotes/new")
    page.locator("#customerId").fill("Calder Property")
    page.locator("#title").fill("New heating")
    page.locator(".more-fields > summary").click()
    page.locator("[name='deposit.percent']").fill("25")
    page.get_by_role("button", name="Create quote").click()
    new = page.locator(".line-row.new")
    for what, costs in (("Combi boiler", "900"), ("Flue", "100")):
        new.get_by_label("Description").fill(what)
        new.get_by_label("Price", exact=True).fill(costs)
        # By keyboard: one is added, and one goes on with the next.
        page.keyboard.press("Enter")
        expect(page.locator("#new-description")).to_be_focused()
    page.get_by_role("button", name="Save and close").click()
    send_document(page)
    expect(page.get_by_role("status")).to_contain_text("Quote Q-0001 sent.")


def send_document(page: Page) -> None:
    """Send the document whose page is open."""
    send = page.locator(".top").get_by_role("link", name="Send", exact=True)
    if not send.is_visible():
        page.locator(".top details.more-actions > summary").click()
    send.click()
    expect(page.get_by_label("Message")).to_have_value(re.compile("^Hello "))
    proof = page.get_by_role("link", name="Preview PDF").get_attribute("href")
    assert page.request.get(str(proof)).body().startswith(b"%PDF-")
    page.locator("main form button.primary").click()


def accept_on_a_phone(firm: InvoicingFirm, browser: Browser) -> None:
    """The customer opens the link of the mail, and accepts."""
    mail = firm.wait_for_email(CUSTOMER, "Quote Q-0001")
    assert "Combi boiler" in read_attached_pdf(mail).pages[0].extract_text()
    with open_page(browser, firm.server.url, NARROW) as phone:
        phone.goto(find_link(mail, "q"))
        expect(phone.get_by_role("button", name="Accept for")).to_contain_text("£1,200.00")
        phone.get_by_label("Your name").fill("Ann Boyle")
        phone.get_by_role("button", name="Accept for").click()
        expect(phone.get_by_role("status")).to_contain_text("Accepted by Ann Boyle")


def send_invoice(page: Page, invoice: Record) -> None:
    page.goto(f"/invoices/{invoice['id']}")
    send_document(page)
    expect(page.get_by_role("status")).to_contain_text("issued.")


def pay(page: Page, invoice: Record, amount: str | None = None) -> None:
    """Record a payment: all that is due, which is filled in, or less."""
    page.goto(f"/invoices/{invoice['id']}")
    page.get_by_role("link", name="Record payment").click()
    dialog = page.get_by_role("dialog", name="Record payment")
    if amount:
        dialog.get_by_label("Amount", exact=True).fill(amount)
    dialog.get_by_role("button", name="Record payment").click()
    expect(page.get_by_role("status").first).to_contain_text("Payment recorded.")


def do_extra_work(firm: InvoicingFirm, job: Record) -> None:
    """More is agreed by the hour: the member logs some, the office approves, and the work is done."""
    cast = firm.cast
    member = cast.people[Role.MEMBER]
    cast.perform(update_job, Role.OFFICE, jobId=job["id"], billing="timeAndMaterials", assigned=[member])
    mia, day = (
        sign_in_cast(firm.server, cast, Role.MEMBER),
        local_date(cast.performer.clock(), "Europe/London").isoformat(),
    )
    mia.follow_redirect(
        mia.submit_form("/hours/week", "/hours/week/log", job=job["id"], time="2:00", day=day, note="Moved a pipe")
    )
    mia.follow_redirect(mia.submit_form("/hours/week", then="submit"))
    [entry] = cast.perform(list_hours, jobId=job["id"])["data"]
    orla = sign_in_cast(firm.server, cast, Role.OFFICE)
    orla.follow_redirect(orla.submit_form("/hours/approve", decision="approve", **{f"entry {entry['id']}": "on"}))
    mia.follow_redirect(mia.submit_form(f"/jobs/{job['id']}/change-status", status="done"))


def order_goods(page: Page, job: Record, what: str, quantity: str, price: str) -> None:
    """Order something for a job, mail the order, and receive all of it."""
    page.goto("/purchasing/orders/new")
    page.get_by_label("Supplier").fill("pennine")
    page.locator("#jobId").fill(job["number"])
    page.get_by_role("button", name="Create purchase order").click()
    for name, typed in (("description", what), ("quantity", quantity), ("unitPrice", price)):
        page.locator(f"[name='new {name}']").fill(typed)
    page.get_by_role("button", name="Save and close").click()
    send_document(page)
    page.get_by_role("link", name="Receive goods").click()
    page.get_by_role("button", name="Receive goods").click()
    expect(page.get_by_role("status")).to_contain_text("received")


def buy_materials(firm: InvoicingFirm, page: Page, job: Record) -> None:
    order_goods(page, job, "Copper pipe", "5", "6")
    assert "Copper pipe" in read_attached_pdf(firm.wait_for_email(SUPPLIER, "Order PO-0001")).pages[0].extract_text()


def bill_everything(page: Page, job: Record) -> Record:
    """An invoice of the rest of the quote and of all work, picked line by line; and it leaves."""
    page.goto(f"/jobs/{job['id']}")
    page.get_by_role("link", name="Create invoice").click()
    expect(page.locator("#sums")).to_contain_text("1,080.00")
    # What the quote leaves out is added too.
    page.get_by_text("Choose lines").click()
    pipe = page.get_by_role("checkbox", name="Copper pipe")
    pipe.uncheck()
    # The total follows while one picks.
    expect(page.locator("#sums")).to_contain_text("1,044.00")
    pipe.check()
    expect(page.locator("#sums")).to_contain_text("1,080.00")
    check_page(page)
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("status").first).to_contain_text("Draft invoice created.")
    path = page.url.partition("?")[0]
    invoice = {"id": path.rpartition("/")[2]}
    send_invoice(page, invoice)
    return invoice

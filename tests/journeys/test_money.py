"""The money of a firm in one run: quoted, accepted on a phone, worked and bought, billed, mailed, paid, and closed."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from billing import an_invoice, issued
from chromium import NARROW, check_page, come_in, open_page
from firm import CUSTOMER, SUPPLIER, Firm, attached, e_invoice, link_in, open_firm
from installations import Installations
from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.operations import get_invoice, list_invoices
from mainstay.business.jobs.operations import get_job, list_jobs, update_job
from mainstay.business.quotes.operations import get_quote
from mainstay.terms.rights import Role
from mainstay.values.moments import local_date
from visiting import visit_as
from waiting import wait_until

Record = dict[str, Any]


@pytest.fixture(scope="module")
def firm(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firm]:
    with open_firm(installations, engine, tmp_path_factory.mktemp("firm")) as firm:
        yield firm


def test_a_quote_becomes_work_that_is_billed_and_paid(firm: Firm, browser: Browser) -> None:
    cast = firm.cast
    with open_page(browser, firm.server.url) as page:
        come_in(page, cast, Role.OFFICE)
        quote_it(page)
        accept_on_a_phone(firm, browser)
        [job] = cast.perform(list_jobs)["data"]
        [deposit] = wait_until(lambda: cast.perform(list_invoices, kind="deposit")["data"])
        assert (job["title"], deposit["status"], deposit["total"]) == ("New heating", "draft", "300.00")
        page.goto("/quotes/" + cast.perform(get_quote, quoteId="Q-0001")["id"])
        expect(page.locator(".timeline")).to_contain_text("Quote accepted the customer")

        send_invoice(page, deposit)
        pay(page, deposit)
        work_on_it(firm, job)
        buy_for_it(firm, page, job)
        last = bill_all_of_it(page, job)
        pdf = attached(firm.mail(CUSTOMER, "Invoice INV-0002"))
        told = {"number": "INV-0002", "total": "1080.00", "due": "1080.00"}
        assert e_invoice(pdf) == told
        assert "Less Deposit invoice INV-0001" in pdf.pages[0].extract_text().replace("\n", " ")

        pay(page, last, "500")
        assert now(firm, last)["status"] == "partPaid"
        pay(page, last)
        assert (now(firm, last)["status"], now(firm, last)["due"]) == ("paid", "0.00")
    # Nobody closed it: the work is done, and all of it is paid.
    wait_until(lambda: cast.perform(get_job, jobId=job["id"])["status"] == "closed")


def test_what_was_bought_is_billed_to_the_customer(firm: Firm, browser: Browser) -> None:
    """From the order to the supplier's bill, and on to the invoice."""
    with open_page(browser, firm.server.url) as page:
        come_in(page, firm.cast, Role.OFFICE)
        page.goto("/jobs/new")
        page.locator("#customerId").fill("Calder Property")
        page.locator("#title").fill("New taps")
        page.locator("#billing").select_option("timeAndMaterials")
        page.get_by_role("button", name="Create job").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("New taps")
        [job] = firm.cast.perform(list_jobs, text="taps")["data"]
        order(page, job, "Taps", "4", "20")
        page.get_by_role("link", name="Record a bill").click()
        page.get_by_label("Their number").fill("4712")
        page.get_by_label("Dated").fill("2026-02-02")
        page.get_by_label("Total").fill("96")
        page.get_by_role("button", name="Record the bill").click()
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Pennine Supplies 4712")
        page.goto("/hours/to-bill")
        page.get_by_role("button", name=f"Draft invoice for {job['number']}").click()
        expect(page.get_by_role("status")).to_contain_text("The draft is made.")
        expect(page.get_by_role("main")).to_contain_text("Taps")
    [invoice] = firm.cast.perform(list_invoices, jobId=job["id"])["data"]
    [line] = now(firm, invoice)["lines"]
    assert (line["description"], line["quantity"], line["source"]["kind"]) == ("Taps", "4.00", "billLine")


def test_a_bank_statement_is_read_on_a_phone(firm: Firm, browser: Browser) -> None:
    invoice = issued(firm.cast, an_invoice(firm.cast))
    day = local_date(firm.cast.stage.clock(), "Europe/London").isoformat()
    text = f"{invoice['number']} with many thanks for all the work that was done in our house this winter"
    file = f"Date,Description,Amount\n{day},{text},1200.00\nsoon,Who knows,1.00\n"
    with open_page(browser, firm.server.url, NARROW) as page:
        come_in(page, firm.cast, Role.OFFICE)
        page.goto("/payments/statement")
        page.locator("#file").set_input_files(
            {"name": "bank.csv", "mimeType": "text/csv", "buffer": file.encode()},
        )
        page.get_by_role("button", name="Look at it").click()
        row = page.locator("tbody tr").first
        tick, told, number = (box(row, part) for part in ("[type=checkbox]", "th", "[name^=invoices]"))
        # One beside the other, the number below both with room to be read, and no word is cut off.
        assert tick["x"] + tick["width"] <= told["x"]
        assert number["y"] >= told["y"] + told["height"] - 1
        assert number["width"] > NARROW[0] / 2
        assert row.locator("th .sub").evaluate("one => one.scrollWidth <= one.clientWidth")
        check_page(page)
        page.get_by_role("button", name="Record what is ticked").click()
        expect(page.get_by_role("region", name="Recorded", exact=True)).to_contain_text(invoice["number"])
        # What cannot be read is still there to be looked after.
        expect(page.get_by_role("region", name="Not recorded")).to_contain_text("Who knows")
        check_page(page)
    assert now(firm, invoice)["status"] == "paid"


def box(within: Locator, part: str) -> FloatRect:
    """Where something stands."""
    found = within.locator(part).bounding_box()
    assert found
    return found


def now(firm: Firm, invoice: Record) -> Record:
    return firm.cast.perform(get_invoice, invoiceId=invoice["id"])


def quote_it(page: Page) -> None:
    """Draft a quote with a deposit, and mail it; the mail and the PDF are looked at before."""
    page.goto("/quotes/new")
    page.locator("#customerId").fill("Calder Property")
    page.locator("#title").fill("New heating")
    page.locator("[name='deposit.percent']").fill("25")
    page.get_by_role("button", name="Draft quote").click()
    page.get_by_role("link", name="Edit lines").click()
    new = page.locator(".line-row.new")
    for what, costs in (("Combi boiler", "900"), ("Flue", "100")):
        new.get_by_label("What it is").fill(what)
        new.get_by_label("Price", exact=True).fill(costs)
        # By keyboard: one is added, and one goes on with the next.
        page.keyboard.press("Enter")
        expect(page.locator("#new-item")).to_be_focused()
    page.get_by_role("button", name="Save and close").click()
    leave(page)
    expect(page.get_by_role("status")).to_contain_text("Quote Q-0001 is sent.")


def leave(page: Page) -> None:
    """Send the document whose page is open."""
    send = page.locator(".top").get_by_role("link", name="Send", exact=True)
    if not send.is_visible():
        page.locator(".top details.more-actions > summary").click()
    send.click()
    page.get_by_role("button", name="Show what would happen").click()
    expect(page.locator("main")).to_contain_text("The mail says:")
    proof = page.get_by_role("link", name="See the PDF before it goes").get_attribute("href")
    assert page.request.get(str(proof)).body().startswith(b"%PDF-")
    page.locator("form button.danger").click()


def accept_on_a_phone(firm: Firm, browser: Browser) -> None:
    """The customer opens the link of the mail, and accepts."""
    mail = firm.mail(CUSTOMER, "Quote Q-0001")
    assert "Combi boiler" in attached(mail).pages[0].extract_text()
    with open_page(browser, firm.server.url, NARROW) as phone:
        phone.goto(link_in(mail, "q"))
        expect(phone.get_by_role("button", name="Accept for")).to_contain_text("£1,200.00")
        phone.get_by_label("Your name").fill("Ann Boyle")
        phone.get_by_role("button", name="Accept for").click()
        expect(phone.get_by_role("status")).to_contain_text("Accepted by Ann Boyle")


def send_invoice(page: Page, invoice: Record) -> None:
    page.goto(f"/invoices/{invoice['id']}")
    leave(page)
    expect(page.get_by_role("status")).to_contain_text("is issued.")


def pay(page: Page, invoice: Record, amount: str | None = None) -> None:
    """Record a payment: all that is due, which is filled in, or less."""
    page.goto(f"/invoices/{invoice['id']}")
    page.get_by_role("link", name="Record a payment").click()
    if amount:
        page.locator("#amount").fill(amount)
    page.get_by_role("button", name="Record payment").click()
    expect(page.get_by_role("status").first).to_contain_text("The payment is recorded.")


def work_on_it(firm: Firm, job: Record) -> None:
    """More is agreed by the hour: the member logs some, the office approves, and the work is done."""
    cast = firm.cast
    member = cast.people[Role.MEMBER]
    cast.perform(update_job, Role.OFFICE, jobId=job["id"], billing="timeAndMaterials", assigned=[member])
    mia, day = visit_as(firm.server, cast, Role.MEMBER), local_date(cast.stage.clock(), "Europe/London").isoformat()
    mia.follow(mia.submit("/hours/week", "/hours/week/log", job=job["id"], time="2:00", day=day, note="Moved a pipe"))
    mia.follow(mia.submit("/hours/week", then="submit"))
    [entry] = cast.perform(list_hours, jobId=job["id"])["data"]
    orla = visit_as(firm.server, cast, Role.OFFICE)
    orla.follow(orla.submit("/hours/approve", decision="approve", **{f"entry {entry['id']}": "on"}))
    mia.follow(mia.submit(f"/jobs/{job['id']}/change-status", status="done"))


def order(page: Page, job: Record, what: str, quantity: str, price: str) -> None:
    """Order something for a job, mail the order, and receive all of it."""
    page.goto("/purchasing/orders/new")
    page.get_by_label("Supplier").fill("pennine")
    page.locator("#jobId").fill(job["number"])
    page.get_by_role("button", name="Draft purchase order").click()
    page.get_by_role("link", name="Edit lines").click()
    for name, typed in (("description", what), ("quantity", quantity), ("unitPrice", price)):
        page.locator(f"[name='new {name}']").fill(typed)
    page.get_by_role("button", name="Save and close").click()
    leave(page)
    page.get_by_role("link", name="Receive goods").click()
    page.get_by_role("button", name="Receive goods").click()
    expect(page.get_by_role("status")).to_contain_text("received")


def buy_for_it(firm: Firm, page: Page, job: Record) -> None:
    order(page, job, "Copper pipe", "5", "6")
    assert "Copper pipe" in attached(firm.mail(SUPPLIER, "Order PO-0001")).pages[0].extract_text()


def bill_all_of_it(page: Page, job: Record) -> Record:
    """An invoice of the rest of the quote and of all work, picked line by line; and it leaves."""
    page.goto(f"/jobs/{job['id']}")
    page.get_by_role("link", name="Draft the invoice").click()
    expect(page.locator("#sums")).to_contain_text("1,080.00")
    pipe = page.get_by_role("checkbox", name="Copper pipe")
    pipe.uncheck()
    # The total follows while one picks.
    expect(page.locator("#sums")).to_contain_text("1,044.00")
    pipe.check()
    expect(page.locator("#sums")).to_contain_text("1,080.00")
    check_page(page)
    page.get_by_role("button", name="Draft invoice").click()
    expect(page.get_by_role("status").first).to_contain_text("The draft is made.")
    path = page.url.partition("?")[0]
    invoice = {"id": path.rpartition("/")[2]}
    send_invoice(page, invoice)
    return invoice

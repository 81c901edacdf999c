"""Purchasing in a real browser: a purchase from its order to its bill, and every page without faults."""

from playwright.sync_api import Browser, expect

from mainstay.business.purchasing.bills import list_bills
from mainstay.business.purchasing.operations import list_purchase_orders
from support.browser import NARROW, check_page, enter_office, open_page
from support.cast import Cast
from support.prices import make_supplier
from support.purchases import PIPE, VALVE, bill_order, make_order, make_purchase_job, place_order, receive_order
from support.quotes import make_default_tax_rate
from support.servers import RunningServer

LONG_NAME = "Weather-compensated condensing combination boiler with a horizontal flue and a ten year guarantee"


def test_a_purchase_goes_from_its_order_to_its_bill(server: RunningServer, cast: Cast, browser: Browser) -> None:
    make_default_tax_rate(cast)
    make_supplier(cast, email="sales@pennine.example")
    with open_page(browser, server.url) as page:
        enter_office(page, cast)
        page.goto("/purchasing/orders/new")
        page.get_by_label("Supplier").fill("pennine")
        page.get_by_role("button", name="Create purchase order").click()
        page.locator("[name='new description']").fill("Copper pipe")
        page.locator("[name='new quantity']").fill("10")
        page.locator("[name='new unitPrice']").fill("6")
        expect(page.locator("#sums")).to_contain_text("72.00")
        page.get_by_role("button", name="Save and close").click()
        page.get_by_role("link", name="Send").click()
        expect(page.get_by_label("To", exact=True)).to_have_value("sales@pennine.example")
        page.get_by_role("button", name="Send purchase order").click()
        page.get_by_role("link", name="Receive goods").click()
        expect(page.get_by_label("Copper pipe")).to_have_value("10")
        page.get_by_role("button", name="Receive goods").click()
        page.get_by_role("link", name="Record bill").click()
        page.get_by_label("Bill number").fill("4711")
        page.get_by_label("Bill date").fill("2026-02-02")
        page.get_by_label("Total").fill("72")
        page.get_by_role("button", name="Record bill").click()
        page.get_by_role("button", name="Approve").click()
        page.get_by_role("button", name="Mark as paid").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Pennine Supplies 4711")
    [order], [bill] = cast.perform(list_purchase_orders)["data"], cast.perform(list_bills)["data"]
    assert (order["status"], bill["status"], bill["total"]) == ("billed", "paid", "72.00")


def test_every_page_is_without_faults(server: RunningServer, cast: Cast, browser: Browser) -> None:
    make_default_tax_rate(cast)
    supplier, job = make_supplier(cast, LONG_NAME), make_purchase_job(cast)
    lines = [
        {"kind": "heading", "description": "Heating"},
        {"description": LONG_NAME, "unitPrice": "1234.56"},
        PIPE,
        VALVE,
    ]
    draft = make_order(cast, supplierId=supplier, jobId=job["id"], lines=lines)
    order = receive_order(
        cast, place_order(cast, supplierId=supplier, jobId=job["id"], lines=lines), "", "4", slip="LS 7"
    )
    bill = bill_order(cast, order, "", "", "4", total="28.80")
    with open_page(browser, server.url) as page:
        enter_office(page, cast)
        for path in (
            "/purchasing/orders",
            f"/purchasing/orders/{draft['id']}/lines",
            f"/purchasing/orders/{order['id']}",
            f"/purchasing/orders/{order['id']}/receive-goods",
            "/purchasing/bills",
            f"/purchasing/bills/new?purchaseOrderId={order['id']}",
            f"/purchasing/bills/{bill['id']}",
            f"/purchasing/bills/{bill['id']}/lines",
            "/hours/to-bill",
        ):
            page.goto(path)
            check_page(page)
        page.goto(f"/purchasing/orders/{order['id']}")
        page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
        came = page.locator("section:has(#receipts) tbody th").bounding_box()
        assert came
        assert came["width"] > NARROW[0] / 2, "when goods came is readable on a phone"
        # On paper stands what one reads, and nothing to press.
        page.emulate_media(media="print")
        expect(page.get_by_role("heading", name="Goods received")).to_be_visible()
        for pressed in (".drop", "form.note", ".button", "main button"):
            expect(page.locator(pressed).filter(visible=True)).to_have_count(0)

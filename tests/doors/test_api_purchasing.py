"""A purchase through the API, from its order to its bill, and what a wrong one is answered."""

from typing import Any

import pytest

from support.cast import Cast
from support.prices import make_supplier
from support.purchases import PIPE, VALVE, make_bill, make_order, make_purchase_job, place_order
from support.raw_http import check_refusal
from support.servers import RunningServer

ORDERS, BILLS = "/api/v1/purchase-orders", "/api/v1/bills"


def test_a_purchase_goes_from_its_order_to_what_is_to_be_billed(server: RunningServer, cast: Cast) -> None:
    key, job = cast.make_key(), make_purchase_job(cast)

    def ask(method: str, path: str, **body: Any) -> dict[str, Any]:
        answer = server.request(method, path, key, json=body or None)
        assert answer.status_code in {200, 201}, answer.text
        return dict(answer.json())

    made = ask("POST", ORDERS, supplierId=make_supplier(cast), jobId=job["number"], lines=[PIPE])
    order = f"{ORDERS}/{made['number']}"
    ask("PATCH", order, edits=[{"edit": "add", **VALVE}], notes="Noon.")
    assert ask("POST", f"{order}/send", deliver="none")["object"] == "preview"
    sent = ask("POST", f"{order}/send", deliver="none", confirmed=True)
    assert [one["status"] for one in ask("GET", f"{ORDERS}?status=sent&jobId={job['number']}")["data"]] == ["sent"]
    lines = [{"lineId": one["lineId"], "quantity": one["open"]} for one in sent["goods"]]
    assert ask("POST", f"{order}/receive", lines=lines)["status"] == "received"
    pdf = server.request("GET", f"{order}/pdf", key)
    assert (pdf.status_code, pdf.content[:5]) == (200, b"%PDF-")
    assert pdf.headers["content-disposition"].startswith('inline; filename="Purchase order PO-0001.pdf"')
    bill = ask("POST", BILLS, purchaseOrderId=made["number"], supplierNumber="1", on="2026-02-02", total="100")
    assert ask("PATCH", f"{BILLS}/{bill['id']}", status="paid", paidOn="2026-02-20")["paidOn"] == "2026-02-20"
    assert ask("GET", f"{BILLS}/{bill['id']}")["version"] == 2
    assert [one["id"] for one in ask("GET", f"{BILLS}?purchaseOrderId={made['number']}")["data"]] == [bill["id"]]
    assert ask("GET", order)["status"] == "billed"
    assert ask("POST", f"{order}/close", confirmed=True)["status"] == "closed"
    assert ask("GET", f"/api/v1/jobs/{job['number']}/costing")["materials"]["cost"] == "100.00"
    [unbilled] = ask("GET", "/api/v1/unbilled")["data"]
    assert (unbilled["materials"], unbilled["amount"]) == (2, "100.00")


AMOUNTS = ["0", "0.005", "1000000000000", "-1", "9999999999999", "NaN", "1e9", ""]


@pytest.mark.parametrize("amount", AMOUNTS)
def test_no_amount_breaks_an_order_a_bill_or_what_comes(server: RunningServer, cast: Cast, amount: str) -> None:
    key, job, supplier = cast.make_key(), make_purchase_job(cast)["id"], make_supplier(cast)
    order = place_order(cast, jobId=job)
    line = order["goods"][0]["lineId"]
    bill = {"supplierId": supplier, "jobId": job, "supplierNumber": "1", "on": "2026-02-02", "total": amount}
    bodies: list[tuple[str, dict[str, Any]]] = [
        (ORDERS, {"supplierId": supplier, "lines": [PIPE | {"unitPrice": amount}]}),
        (ORDERS, {"supplierId": supplier, "lines": [PIPE | {"quantity": amount}]}),
        (f"{ORDERS}/{order['id']}/receive", {"lines": [{"lineId": line, "quantity": amount}]}),
        (BILLS, bill | {"lines": [{"description": "x", "unitPrice": amount}]}),
        (BILLS, bill | {"supplierNumber": "2", "lines": [{"description": "x", "unitPrice": "1", "quantity": amount}]}),
    ]
    for path, body in bodies:
        assert server.request("POST", path, key, json=body).status_code in {200, 201, 409, 422}


def test_what_cannot_be_is_told_in_words(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    key, draft, bill = cast.make_key(), make_order(cast), make_bill(cast)
    message = check_refusal(server.request("GET", f"{ORDERS}/{draft['id']}/pdf", key), 409)
    assert message == "PO-0001 has not been sent, so it has no file yet."
    check_refusal(server.request("GET", f"{ORDERS}/{draft['id']}", other_cast.make_key()), 404)
    check_refusal(server.request("GET", f"{BILLS}/{bill['id']}", other_cast.make_key()), 404)
    check_refusal(server.request("GET", f"{BILLS}?status=late", key), 422)
    given = {"supplierId": bill["supplierId"], "supplierNumber": "4711", "on": "2026-02-02", "total": "6"}
    line = {"description": "x", "unitPrice": "6"}
    message = check_refusal(server.request("POST", BILLS, key, json={**given, "lines": [line]}), 409)
    assert message.startswith("Bill Pennine Supplies 4711 dated 2026-02-02 for 60.00 GBP is already recorded")

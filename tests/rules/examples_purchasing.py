"""Purchase orders and bills in several states, and for each of their operations an input that it takes."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.business.purchasing.bills import record_bill
from mainstay.business.purchasing.operations import draft_purchase_order
from mainstay.business.purchasing.sending import send_purchase_order
from support.cast import Cast

ExampleInput = dict[str, object]

ORDER_LINE: ExampleInput = {"description": "Copper pipe", "quantity": "10", "unitPrice": "6.40"}

BILL: ExampleInput = {"on": "2026-02-02", "lines": [{**ORDER_LINE, "taxRateId": None}], "total": "64"}


@dataclass(frozen=True)
class PurchaseSamples:
    """What was bought from one supplier for one job."""

    supplier: str
    job: str
    draft: str
    sent: str
    # The line of the one that was sent.
    line: str
    bill: str


def make_purchase_samples(cast: Cast, supplier: str, job: str) -> PurchaseSamples:
    """Make the samples."""
    given: ExampleInput = {"supplierId": supplier, "jobId": job, "lines": [ORDER_LINE]}
    draft, sent = (cast.perform(draft_purchase_order, **given) for _ in range(2))
    cast.perform(send_purchase_order, purchaseOrderId=sent["id"], deliver="none", confirmed=True)
    bill = cast.perform(record_bill, **BILL, supplierId=supplier, jobId=job, supplierNumber="4711")
    return PurchaseSamples(supplier, job, draft["id"], sent["id"], sent["goods"][0]["lineId"], bill["id"])


PURCHASE_EXAMPLES: dict[str, Callable[[PurchaseSamples], ExampleInput]] = {
    "list_purchase_orders": lambda _: {},
    "get_purchase_order": lambda bought: {"purchaseOrderId": bought.sent},
    "get_purchase_order_proof": lambda bought: {"purchaseOrderId": bought.draft},
    "get_purchase_order_pdf": lambda bought: {"purchaseOrderId": bought.sent},
    "draft_purchase_order": lambda bought: {"supplierId": bought.supplier, "jobId": bought.job, "lines": [ORDER_LINE]},
    "update_purchase_order": lambda bought: {"purchaseOrderId": bought.draft, "edits": [{"edit": "add", **ORDER_LINE}]},
    "send_purchase_order": lambda bought: {
        "purchaseOrderId": bought.draft,
        "to": ["sales@pennine.example"],
        "confirmed": True,
    },
    "receive_goods": lambda bought: {
        "purchaseOrderId": bought.sent,
        "lines": [{"lineId": bought.line, "quantity": "4"}],
    },
    "close_purchase_order": lambda bought: {
        "purchaseOrderId": bought.sent,
        "reason": "They have no more.",
        "confirmed": True,
    },
    "cancel_purchase_order": lambda bought: {"purchaseOrderId": bought.sent, "confirmed": True},
    "list_bills": lambda _: {},
    "get_bill": lambda bought: {"billId": bought.bill},
    "record_bill": lambda bought: {**BILL, "supplierId": bought.supplier, "supplierNumber": "4712"},
    "update_bill": lambda bought: {"billId": bought.bill, "status": "approved"},
    "void_bill": lambda bought: {"billId": bought.bill, "confirmed": True},
}

"""Ten drafts and plans: what can be changed again, and reaches nobody outside."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import list_customers
from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.drafting.operations import get_invoice, list_invoices
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.pricelist.operations import list_price_items
from mainstay.business.purchasing.operations import get_purchase_order, list_purchase_orders
from mainstay.business.quotes.operations import get_quote, list_quotes
from mainstay.business.records.notes import list_notes
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.evaluation.firm import Firm
from mainstay.evaluation.task import Evidence, Facts, Task
from mainstay.values.json_object import JsonObject

_LAST_WEEK = {"from": "2026-11-09", "until": "2026-11-15"}


def find_customer(firm: Firm, name: str) -> JsonObject:
    """Return the only customer that is found by a name."""
    return firm.find_one(list_customers, text=name)


def find_wrong_fields(what: str, record: JsonObject, **expected: Any) -> Iterator[str]:
    """Say which fields of a record are not as they should be."""
    for name, value in expected.items():
        if record[name] != value:
            yield f"The {what} has {record[name]!r} as {name}, not {value!r}."


def find_wrong_lines(firm: Firm, what: str, record: JsonObject, quantities: dict[str, str]) -> Iterator[str]:
    """Say whether a document has other lines than these quantities of price list items, by code."""
    codes = {item["id"]: item["code"] for item in firm.list_all(list_price_items)}
    lines = record["lines"]
    found = sorted((codes.get(line["itemId"], line["description"]), Decimal(line["quantity"])) for line in lines)
    expected = sorted((code, Decimal(quantity)) for code, quantity in quantities.items())
    if found != expected:
        yield f"The lines of the {what} are {_describe(found)}, not {_describe(expected)}."


def _describe(lines: list[tuple[str, Decimal]]) -> str:
    return ", ".join(f"{quantity.normalize():f} x {name}" for name, quantity in lines) or "none"


def _judge_booking(evidence: Evidence) -> Iterator[str]:
    job = evidence.firm.find_one(list_jobs, text="Hollis boiler service")
    yield from find_wrong_fields(
        "visit",
        evidence.firm.find_one(list_visits, jobId=job["id"]),
        personName="Grace Okafor",
        startsAt="2026-12-15T09:00:00.000Z",
        endsAt="2026-12-15T11:00:00.000Z",
        status="planned",
    )


def _judge_move(evidence: Evidence) -> Iterator[str]:
    job = evidence.firm.find_one(list_jobs, text="Hollis outside tap")
    yield from find_wrong_fields(
        "visit",
        evidence.firm.find_one(list_visits, jobId=job["id"]),
        personName="Ben Sutcliffe",
        startsAt="2026-12-18T10:00:00.000Z",
        endsAt="2026-12-18T11:30:00.000Z",
        status="planned",
    )


def _judge_quote(evidence: Evidence) -> Iterator[str]:
    firm = evidence.firm
    drafted = firm.find_one(list_quotes, customerId=find_customer(firm, "Elmwood Surgery")["id"])
    quote = firm.read(get_quote, quoteId=drafted["id"])
    yield from find_wrong_fields("quote", quote, status="draft", discount=None)
    yield from find_wrong_lines(firm, "quote", quote, {"KIT-RAD": "2", "FEE-CALL": "1"})


def _read_unbilled(firm: Firm) -> Facts:
    return firm.find_one(list_unbilled, customerId=find_customer(firm, "Elmwood Surgery")["id"])


def _judge_invoice(evidence: Evidence) -> Iterator[str]:
    firm, customer = evidence.firm, evidence.facts["customerId"]
    invoice = firm.read(get_invoice, invoiceId=firm.find_one(list_invoices, customerId=customer)["id"])
    yield from find_wrong_fields("invoice", invoice, status="draft", net=evidence.facts["amount"])
    if firm.list_all(list_unbilled, customerId=customer):
        yield "Some work for Elmwood Surgery is still not invoiced."


def _judge_enquiry(evidence: Evidence) -> Iterator[str]:
    firm = evidence.firm
    customer = find_customer(firm, "Nina Farrow")
    if not (customer["phone"] or "").replace(" ", "").endswith("7700900888"):
        yield f"Her phone number is {customer['phone']}, not 07700 900888."
    address = customer["billingAddress"] or {}
    if (address.get("line1"), address.get("city")) != ("12 Beech View", "Elland"):
        yield f"Her address is {address.get('line1')}, {address.get('city')}, not 12 Beech View, Elland."
    job = firm.find_one(list_jobs, customerId=customer["id"])
    yield from find_wrong_fields("job", job, status="enquiry")
    if "tap" not in job["title"].lower():
        yield f"The job is called {job['title']}."


def _judge_hours(evidence: Evidence) -> Iterator[str]:
    job = evidence.firm.find_one(list_jobs, text="Hollis boiler service")
    entry = evidence.firm.find_one(list_hours, jobId=job["id"])
    yield from find_wrong_fields(
        "entry", entry, personName="Tom Ashworth", on="2026-11-17", minutes=210, status="draft"
    )


def _read_orders(firm: Firm) -> Facts:
    return {"ids": {order["id"] for order in firm.list_all(list_purchase_orders)}}


def _judge_order(evidence: Evidence) -> Iterator[str]:
    firm = evidence.firm
    orders = [order for order in firm.list_all(list_purchase_orders) if order["id"] not in evidence.facts["ids"]]
    if len(orders) != 1:
        yield f"There are {len(orders)} new purchase orders, not one."
        return
    order = firm.read(get_purchase_order, purchaseOrderId=orders[0]["id"])
    job = firm.find_one(list_jobs, text="Hollis boiler service")
    yield from find_wrong_fields(
        "order", order, status="draft", supplierName="Pennine Plumbing Supplies", jobId=job["id"]
    )
    yield from find_wrong_lines(firm, "order", order, {"TRV-15": "4", "INHIB": "1"})


def _judge_sick(evidence: Evidence) -> Iterator[str]:
    firm = evidence.firm
    entry = firm.find_one(list_time_off, personId=firm.people["Ben"], until="2026-11-30")
    yield from find_wrong_fields(
        "time off", entry, kind="sick", **{"from": "2026-11-18"}, until="2026-11-19", status="approved"
    )


def _judge_new_phone(evidence: Evidence) -> Iterator[str]:
    firm = evidence.firm
    before, after = evidence.facts["customer"], find_customer(firm, "Elmwood Surgery")
    if not (after["phone"] or "").replace(" ", "").endswith("1422555777"):
        yield f"The phone number is {after['phone']}, not 01422 555777."
    kept = [name for name in before if name not in {"phone", "version", "updatedAt", "updatedBy"}]
    yield from find_wrong_fields("customer", after, **{name: before[name] for name in kept})
    notes = [note["text"] for note in firm.list_all(list_notes, recordId=after["id"])]
    if len(notes) != 1 or "pharmacy" not in notes[0].lower():
        yield "Their notes do not say that the key is at the pharmacy."


def _read_submitted(firm: Firm) -> Facts:
    expected = {entry["id"]: entry["status"] for entry in firm.list_all(list_hours, **_LAST_WEEK)}
    submitted = firm.list_all(list_hours, **_LAST_WEEK, personId=firm.people["Grace"], status="submitted")
    return {"expected": expected | {entry["id"]: "approved" for entry in submitted}}


def _judge_approval(evidence: Evidence) -> Iterator[str]:
    expected = evidence.facts["expected"]
    for entry in evidence.firm.list_all(list_hours, **_LAST_WEEK):
        if entry["status"] != expected[entry["id"]]:
            person, day, status = entry["personName"], entry["on"], entry["status"]
            yield f"The hours of {person} on {day} are {status}, not {expected[entry['id']]}."


DRAFT_TASKS = (
    Task(
        "book-visit",
        "draft",
        "Book Grace for the boiler service at Hollis House on Tuesday 15 December at nine, for two hours.",
        _judge_booking,
        allowed_changes={"plan_visit": 1},
    ),
    Task(
        "move-visit",
        "draft",
        "Move Ben's visit for the outside tap at Hollis House to Friday 18 December, at the same time.",
        _judge_move,
        allowed_changes={"move_visit": 1},
    ),
    Task(
        "draft-quote",
        "draft",
        "Draft a quote for Elmwood Surgery from the price list: two new radiators, fitted, and one call-out."
        " Don't send it.",
        _judge_quote,
        allowed_changes={"draft_quote": 1, "update_quote": 2},
    ),
    Task(
        "draft-invoice",
        "draft",
        "Draft the invoice for all unbilled hours on the bathroom job at Elmwood Surgery. Don't send it.",
        _judge_invoice,
        _read_unbilled,
        allowed_changes={"draft_invoice": 1, "update_invoice": 2},
    ),
    Task(
        "new-enquiry",
        "draft",
        "We have a new customer, Nina Farrow, 12 Beech View, Elland, phone 07700 900888. Create a job for her enquiry:"
        " she wants a price for an outside tap.",
        _judge_enquiry,
        allowed_changes={"create_customer": 1, "create_job": 1, "save_site": 1, "save_contact": 1},
    ),
    Task(
        "log-hours",
        "draft",
        "Log three and a half hours of work for Tom yesterday on the boiler service at Hollis House.",
        _judge_hours,
        allowed_changes={"log_hours": 1},
    ),
    Task(
        "draft-order",
        "draft",
        "Draft a purchase order to Pennine Plumbing Supplies for the boiler service at Hollis House: four thermostatic"
        " radiator valves and one inhibitor. Don't send it yet.",
        _judge_order,
        _read_orders,
        allowed_changes={"draft_purchase_order": 1, "update_purchase_order": 2},
    ),
    Task(
        "sick-leave",
        "draft",
        "Ben has called in sick, for today and tomorrow. Enter his time off and approve it.",
        _judge_sick,
        allowed_changes={"request_time_off": 1, "decide_time_off": 1},
    ),
    Task(
        "new-phone",
        "draft",
        "Change the phone number of the customer Elmwood Surgery to 01422 555777. Add a note to their record that the"
        " key is at the pharmacy.",
        _judge_new_phone,
        lambda firm: {"customer": find_customer(firm, "Elmwood Surgery")},
        allowed_changes={"update_customer": 1, "add_note": 1},
    ),
    Task(
        "approve-hours",
        "draft",
        "Approve the hours that Grace has submitted for last week, 9 to 15 November.",
        _judge_approval,
        _read_submitted,
        allowed_changes={"review_hours": 1},
    ),
)

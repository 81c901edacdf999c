"""An agent that is refused is told what to call next: refusals of customers, jobs, schedule and hours."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from agents import call_tool
from billing import an_invoice
from cast import Cast
from labour import logged
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.customers.places import save_contact
from mainstay.business.hours.timers import start_timer
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import cancel_visit, set_visit_status
from mainstay.catalogue import CATALOGUE
from mainstay.terms.actor import Door
from mainstay.terms.rights import Role
from ordering import an_order
from quoting import a_draft, sent
from running import RunningServer
from scheduling import DAY, make_job, plan
from trade import a_customer
from wares import a_kit, a_supplier, an_item

Asked = tuple[str, dict[str, Any]]
# With what is named then, and for which record.
Elsewhere = tuple[str, dict[str, Any], str]

TOOLS = [operation.name for operation in CATALOGUE.operations if Door.AGENT in operation.offered]


def named(text: str) -> set[str]:
    """The tools that a refusal names."""
    return {name for name in TOOLS if re.search(rf"\b{name}\b", text)}


def archived_customer(cast: Cast) -> Asked:
    customer = cast.perform(create_customer, name="Calder")["id"]
    cast.perform(archive_customer, customerId=customer)
    return "create_job", {"customerId": customer, "title": "Mend the roof"}


def merged_customer(cast: Cast) -> Asked:
    ended, stays = (cast.perform(create_customer, name=name)["id"] for name in ("Calder", "Ryburn"))
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    return "create_job", {"customerId": ended, "title": "Mend the roof"}


def part_of_a_kit(cast: Cast) -> Asked:
    item = an_item(cast)
    a_kit(cast, {item: "1"})
    return "save_price_item", {"itemId": item, "status": "archived"}


def busy_customer(cast: Cast) -> Asked:
    return "archive_customer", {"customerId": make_job(cast)["customerId"]}


def contact_of_another(cast: Cast) -> Asked:
    mine, theirs = (cast.perform(create_customer, name=name)["id"] for name in ("Calder", "Ryburn"))
    contact = cast.perform(save_contact, customerId=theirs, name="Ann")["id"]
    return "save_site", {"customerId": mine, "address": {"line1": "1 Weir Lane"}, "contactId": contact}


def closed_job(cast: Cast) -> Asked:
    job = make_job(cast)["number"]
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job, status=status)
    return "plan_visit", {"jobId": job, "on": DAY}


def timed_job(cast: Cast) -> Asked:
    job = make_job(cast)["number"]
    cast.perform(start_timer, jobId=job)
    return "change_job_status", {"jobId": job, "status": "done"}


def taken_time(cast: Cast) -> Asked:
    plan(cast)
    given = {"personIds": [cast.people[Role.MEMBER]], "startsAt": f"{DAY}T10:30", "durationMinutes": 60}
    return "plan_visit", {"jobId": make_job(cast)["number"], **given}


def leave_then(cast: Cast) -> Asked:
    off = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})["id"]
    cast.perform(decide_time_off, timeOffId=off, decision="approve")
    return "plan_visit", {"title": "Talk", "personIds": [cast.people[Role.MEMBER]], "startsAt": f"{DAY}T10:00"} | {
        "durationMinutes": 60
    }


def leave_twice(cast: Cast) -> Asked:
    cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})
    return "request_time_off", {"personId": cast.people[Role.MEMBER], "from": DAY}


def leave_declined(cast: Cast) -> Asked:
    off = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})["id"]
    cast.perform(decide_time_off, timeOffId=off, decision="decline")
    return "cancel_time_off", {"timeOffId": off}


def visit_done(cast: Cast) -> Asked:
    visit = plan(cast)["id"]
    cast.perform(set_visit_status, visitId=visit, status="done")
    return "move_visit", {"visitId": visit, "on": DAY}


def visit_cancelled(cast: Cast) -> Asked:
    visit = plan(cast)["id"]
    cast.perform(cancel_visit, visitId=visit)
    return "set_visit_status", {"visitId": visit, "status": "done"}


def draft_hours(cast: Cast) -> Asked:
    return "review_hours", {"timeEntryIds": [logged(cast)["id"]], "decision": "approve"}


def approved_hours(cast: Cast) -> Asked:
    return "update_hours", {"timeEntryId": logged(cast, status="approved")["id"], "note": "x"}


def overlapping_hours(cast: Cast) -> Asked:
    times = {"startedAt": "2026-11-12T08:00", "endedAt": "2026-11-12T10:00"}
    logged(cast, Role.OWNER, **times)
    return "log_hours", times


def no_timer(_cast: Cast) -> Asked:
    return "stop_timer", {}


def no_drafts(_cast: Cast) -> Asked:
    return "submit_hours", {"from": DAY, "until": DAY}


def name_of_person(_cast: Cast) -> Asked:
    return "list_visits", {"personId": "Mia"}


def name_of_customer(_cast: Cast) -> Asked:
    return "create_job", {"customerId": "Calder", "title": "Mend the roof", "siteId": "2 Weir Lane"}


def number_of_hours(_cast: Cast) -> Asked:
    return "submit_hours", {"timeEntryIds": ["J-0001"]}


def nobody(cast: Cast) -> Asked:
    return "find_free_time", {"skill": "plumbing", "jobId": make_job(cast)["number"]}


def no_job(_cast: Cast) -> Asked:
    return "log_hours", {"jobId": "J-9999", "on": "2026-11-12", "minutes": 5}


REFUSALS: list[tuple[Callable[[Cast], Asked], set[str]]] = [
    (archived_customer, {"restore_customer"}),
    # Nobody is told to restore them: that is refused as well.
    (merged_customer, {"get_customer"}),
    (part_of_a_kit, {"save_price_item"}),
    (busy_customer, {"list_jobs"}),
    (contact_of_another, {"list_contacts"}),
    (closed_job, {"change_job_status"}),
    (timed_job, {"stop_timer", "list_hours"}),
    (taken_time, {"find_free_time"}),
    (leave_then, {"find_free_time"}),
    (leave_twice, {"cancel_time_off", "list_time_off"}),
    (leave_declined, {"list_time_off"}),
    (visit_done, {"set_visit_status"}),
    (visit_cancelled, {"move_visit"}),
    (draft_hours, {"submit_hours"}),
    (approved_hours, {"review_hours"}),
    (overlapping_hours, {"update_hours"}),
    (no_timer, {"log_hours", "list_hours"}),
    (no_drafts, {"log_hours"}),
    (name_of_person, {"search"}),
    (name_of_customer, {"search"}),
    (number_of_hours, {"list_hours"}),
    (nobody, {"list_people"}),
    (no_job, {"list_jobs"}),
]


@pytest.mark.parametrize(("asks", "next_tools"), REFUSALS, ids=lambda one: getattr(one, "__name__", None))
def test_a_refusal_names_what_to_call_next(
    server: RunningServer, cast: Cast, asks: Callable[[Cast], Asked], next_tools: set[str]
) -> None:
    tool, arguments = asks(cast)
    result = call_tool(server, cast.key(), tool, **arguments)
    assert result["isError"] is True
    assert named(result["content"][0]["text"]) == next_tools, result["content"][0]["text"]


def test_where_it_is_done_to_another_record_that_one_is_named(server: RunningServer, cast: Cast) -> None:
    ended, stays = (cast.perform(create_customer, name=name)["id"] for name in ("Calder", "Ryburn"))
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    told = call_tool(server, cast.key(), "create_job", customerId=ended, title="Mend the roof")["content"][0]["text"]
    assert told.endswith(f"Use that customer instead. Call get_customer for {stays} first.")


def order_from_the_archived(cast: Cast) -> Elsewhere:
    supplier = a_supplier(cast)
    order = an_order(cast, supplierId=supplier)["id"]
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    return "send_purchase_order", {"purchaseOrderId": order, "deliver": "none"}, f"save_supplier for {supplier}"


def order_to_nowhere(cast: Cast) -> Elsewhere:
    supplier = a_supplier(cast)
    return (
        "send_purchase_order",
        {"purchaseOrderId": an_order(cast, supplierId=supplier)["id"]},
        f"save_supplier for {supplier}",
    )


def quote_to_nowhere(cast: Cast) -> Elsewhere:
    quote = a_draft(cast, customerId=a_customer(cast))
    return "send_quote", {"quoteId": quote["id"]}, f"update_customer for {quote['customerId']}"


def quote_for_the_archived(cast: Cast) -> Elsewhere:
    quote = a_draft(cast)
    cast.perform(archive_customer, customerId=quote["customerId"])
    return (
        "send_quote",
        {"quoteId": quote["id"], "deliver": "none"},
        f"restore_customer for {quote['customerId']}",
    )


def invoice_to_nowhere(cast: Cast) -> Elsewhere:
    invoice = an_invoice(cast, customerId=a_customer(cast))
    return "send_invoice", {"invoiceId": invoice["id"]}, f"update_customer for {invoice['customerId']}"


def visit_of_a_closed_job(cast: Cast) -> Elsewhere:
    job = make_job(cast)
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job["id"], status=status)
    return "plan_visit", {"jobId": job["number"], "on": DAY}, f"change_job_status for {job['id']}"


def invoice_of_an_open_quote(cast: Cast) -> Elsewhere:
    quote = sent(cast)
    return "draft_invoice", {"quoteId": quote["id"]}, f"record_quote_decision for {quote['id']}"


def payment_of_a_draft(cast: Cast) -> Elsewhere:
    invoice = an_invoice(cast)
    given = {"amount": "1", "method": "cash", "allocations": [{"invoiceId": invoice["id"], "amount": "1"}]}
    return "record_payment", {"customerId": invoice["customerId"], **given}, f"send_invoice for {invoice['id']}"


def bill_of_a_draft(cast: Cast) -> Elsewhere:
    order = an_order(cast)
    given = {
        "supplierNumber": "R-1",
        "total": "1",
        "on": "2026-11-12",
        "supplierId": order["supplierId"],
        "purchaseOrderId": order["id"],
    }
    return "record_bill", given, f"send_purchase_order for {order['id']}"


def hours_that_overlap(cast: Cast) -> Elsewhere:
    times = {"startedAt": "2026-11-12T08:00", "endedAt": "2026-11-12T10:00"}
    return "log_hours", times, f"update_hours for {logged(cast, Role.OWNER, **times)['id']}"


ELSEWHERE = (
    order_from_the_archived,
    order_to_nowhere,
    quote_to_nowhere,
    quote_for_the_archived,
    invoice_to_nowhere,
    visit_of_a_closed_job,
    invoice_of_an_open_quote,
    payment_of_a_draft,
    bill_of_a_draft,
    hours_that_overlap,
)


@pytest.mark.parametrize("asks", ELSEWHERE, ids=lambda one: one.__name__)
def test_another_record_is_named_by_its_id(
    server: RunningServer, cast: Cast, asks: Callable[[Cast], Elsewhere]
) -> None:
    tool, arguments, helping = asks(cast)
    told = call_tool(server, cast.key(), tool, **arguments)["content"][0]["text"]
    assert f"Call {helping} first." in told


def test_books_are_opened_by_a_tool_that_there_is(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, booksClosedUntil="2099-12-31")
    told = call_tool(server, cast.key(), "log_hours", on="2026-11-12", minutes=5)["content"][0]["text"]
    assert told.endswith("An owner or admin can open them again. Call update_organisation first.")
    assert call_tool(server, cast.key(), "update_organisation", booksClosedUntil=None)["isError"] is False


def test_what_finds_an_id_says_which(server: RunningServer, cast: Cast) -> None:
    given = {"personId": "Mia", "from": "Monday"}
    told = call_tool(server, cast.key(), "request_time_off", **given)["content"][0]["text"]
    assert told.endswith("; from: is not a date such as 2026-11-15. search finds the id of a person.")


def test_what_finds_an_id_stands_behind_the_faults_and_is_none(server: RunningServer, cast: Cast) -> None:
    given = {"customerId": "Calder", "title": "Mend the roof", "siteId": "2 Weir Lane"}
    told = call_tool(server, cast.key(), "create_job", **given)["content"][0]["text"]
    faults = told.removesuffix(". search finds the id of a customer and the id of a site.").split("; ")
    assert [fault.partition(": ")[::2] for fault in faults] == [
        ("customerId", "is not the id of a customer"),
        ("siteId", "is not the id of a site"),
    ]


def test_what_a_refusal_names_itself_is_not_named_again(server: RunningServer, cast: Cast) -> None:
    told = call_tool(server, cast.key(), "stop_timer")["content"][0]["text"]
    assert told.endswith("(log_hours). list_hours with the status `running` tells whose timers run.")


def test_what_helps_against_several_reasons_is_named_once(server: RunningServer, cast: Cast) -> None:
    drafts = [logged(cast)["id"] for _ in range(2)]
    told = call_tool(server, cast.key(), "review_hours", timeEntryIds=drafts, decision="approve")["content"][0]["text"]
    assert told.endswith(" Call submit_hours first.")

"""An agent that is refused is told what to call next: refusals of customers, jobs, schedule and hours."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.customers.sites_and_contacts import save_contact
from mainstay.business.hours.timers import start_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import cancel_visit
from mainstay.catalogue import CATALOGUE
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer
from support.hours import make_time_entry
from support.invoices import make_invoice
from support.mcp_client import call_tool
from support.prices import make_kit_item, make_price_item, make_supplier
from support.purchases import make_order
from support.quotes import issue_quote, make_quote
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit

ToolCall = tuple[str, dict[str, Any]]
# With what is named then, and for which record.
CallWithRemedy = tuple[str, dict[str, Any], str]

TOOLS = [operation.name for operation in CATALOGUE.operations if Door.AGENT in operation.doors]


def find_named_tools(text: str) -> set[str]:
    """The tools that a refusal names."""
    return {name for name in TOOLS if re.search(rf"\b{name}\b", text)}


def archived_customer(cast: Cast) -> ToolCall:
    customer = cast.perform(create_customer, name="Calder")["id"]
    cast.perform(archive_customer, customerId=customer)
    return "create_job", {"customerId": customer, "title": "Mend the roof"}


def merged_customer(cast: Cast) -> ToolCall:
    ended, stays = (cast.perform(create_customer, name=name)["id"] for name in ("Calder", "Ryburn"))
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    return "create_job", {"customerId": ended, "title": "Mend the roof"}


def part_of_a_kit(cast: Cast) -> ToolCall:
    item = make_price_item(cast)
    make_kit_item(cast, {item: "1"})
    return "save_price_item", {"itemId": item, "status": "archived"}


def busy_customer(cast: Cast) -> ToolCall:
    return "archive_customer", {"customerId": make_site_job(cast)["customerId"]}


def foreign_contact(cast: Cast) -> ToolCall:
    mine, theirs = (cast.perform(create_customer, name=name)["id"] for name in ("Calder", "Ryburn"))
    contact = cast.perform(save_contact, customerId=theirs, name="Ann")["id"]
    return "save_site", {"customerId": mine, "address": {"line1": "1 Weir Lane"}, "contactId": contact}


def closed_job(cast: Cast) -> ToolCall:
    job = make_site_job(cast)["number"]
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job, status=status)
    return "plan_visit", {"jobId": job, "on": DAY}


def job_with_timer(cast: Cast) -> ToolCall:
    job = make_site_job(cast)["number"]
    cast.perform(start_timer, jobId=job)
    return "change_job_status", {"jobId": job, "status": "done"}


def busy_person(cast: Cast) -> ToolCall:
    plan_test_visit(cast)
    given = {"personIds": [cast.people[Role.MEMBER]], "startsAt": f"{DAY}T10:30", "durationMinutes": 60}
    return "plan_visit", {"jobId": make_site_job(cast)["number"], **given}


def person_on_leave(cast: Cast) -> ToolCall:
    off = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})["id"]
    cast.perform(decide_time_off, timeOffId=off, decision="approve")
    return "plan_visit", {"title": "Talk", "personIds": [cast.people[Role.MEMBER]], "startsAt": f"{DAY}T10:00"} | {
        "durationMinutes": 60
    }


def repeated_leave(cast: Cast) -> ToolCall:
    cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})
    return "request_time_off", {"personId": cast.people[Role.MEMBER], "from": DAY}


def declined_leave(cast: Cast) -> ToolCall:
    off = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})["id"]
    cast.perform(decide_time_off, timeOffId=off, decision="decline")
    return "cancel_time_off", {"timeOffId": off}


def finished_visit(cast: Cast) -> ToolCall:
    visit = plan_test_visit(cast)["id"]
    cast.perform(set_visit_status, visitId=visit, status="done")
    return "move_visit", {"visitId": visit, "on": DAY}


def cancelled_visit(cast: Cast) -> ToolCall:
    visit = plan_test_visit(cast)["id"]
    cast.perform(cancel_visit, visitId=visit)
    return "set_visit_status", {"visitId": visit, "status": "done"}


def draft_hours(cast: Cast) -> ToolCall:
    return "review_hours", {"timeEntryIds": [make_time_entry(cast)["id"]], "decision": "approve"}


def approved_hours(cast: Cast) -> ToolCall:
    return "update_hours", {"timeEntryId": make_time_entry(cast, status="approved")["id"], "note": "x"}


def overlapping_hours(cast: Cast) -> ToolCall:
    times = {"startedAt": "2026-11-12T08:00", "endedAt": "2026-11-12T10:00"}
    make_time_entry(cast, Role.OWNER, **times)
    return "log_hours", times


def no_timer(_cast: Cast) -> ToolCall:
    return "stop_timer", {}


def no_drafts(_cast: Cast) -> ToolCall:
    return "submit_hours", {"from": DAY, "until": DAY}


def name_of_person(_cast: Cast) -> ToolCall:
    return "list_visits", {"personId": "Mia"}


def name_of_customer(_cast: Cast) -> ToolCall:
    return "create_job", {"customerId": "Calder", "title": "Mend the roof", "siteId": "2 Weir Lane"}


def number_of_hours(_cast: Cast) -> ToolCall:
    return "submit_hours", {"timeEntryIds": ["J-0001"]}


def missing_skill(cast: Cast) -> ToolCall:
    return "find_free_time", {"skill": "plumbing", "jobId": make_site_job(cast)["number"]}


def unknown_job(_cast: Cast) -> ToolCall:
    return "log_hours", {"jobId": "J-9999", "on": "2026-11-12", "minutes": 5}


REFUSALS: list[tuple[Callable[[Cast], ToolCall], set[str]]] = [
    (archived_customer, {"restore_customer"}),
    # Nobody is told to restore them: that is refused as well.
    (merged_customer, {"get_customer"}),
    (part_of_a_kit, {"save_price_item"}),
    (busy_customer, {"list_jobs"}),
    (foreign_contact, {"list_contacts"}),
    (closed_job, {"change_job_status"}),
    (job_with_timer, {"stop_timer", "list_hours"}),
    (busy_person, {"find_free_time"}),
    (person_on_leave, {"find_free_time"}),
    (repeated_leave, {"cancel_time_off", "list_time_off"}),
    (declined_leave, {"list_time_off"}),
    (finished_visit, {"set_visit_status"}),
    (cancelled_visit, {"move_visit"}),
    (draft_hours, {"submit_hours"}),
    (approved_hours, {"review_hours"}),
    (overlapping_hours, {"update_hours"}),
    (no_timer, {"log_hours", "list_hours"}),
    (no_drafts, {"log_hours"}),
    (name_of_person, {"search"}),
    (name_of_customer, {"search"}),
    (number_of_hours, {"list_hours"}),
    (missing_skill, {"list_people"}),
    (unknown_job, {"list_jobs"}),
]


@pytest.mark.parametrize(("asks", "next_tools"), REFUSALS, ids=lambda one: getattr(one, "__name__", None))
def test_a_refusal_names_what_to_call_next(
    server: RunningServer, cast: Cast, asks: Callable[[Cast], ToolCall], next_tools: set[str]
) -> None:
    tool, arguments = asks(cast)
    result = call_tool(server, cast.make_key(), tool, **arguments)
    assert result["isError"] is True
    assert find_named_tools(result["content"][0]["text"]) == next_tools, result["content"][0]["text"]


def test_where_it_is_done_to_another_record_that_one_is_named(server: RunningServer, cast: Cast) -> None:
    ended, stays = (cast.perform(create_customer, name=name)["id"] for name in ("Calder", "Ryburn"))
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    message = call_tool(server, cast.make_key(), "create_job", customerId=ended, title="Mend the roof")["content"][0][
        "text"
    ]
    assert message.endswith(f"Use that customer instead. Its id is {stays}. Instead: call get_customer for {stays}.")


def order_from_archived_supplier(cast: Cast) -> CallWithRemedy:
    supplier = make_supplier(cast)
    order = make_order(cast, supplierId=supplier)["id"]
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    return "send_purchase_order", {"purchaseOrderId": order, "deliver": "none"}, f"save_supplier for {supplier}"


def order_without_email(cast: Cast) -> CallWithRemedy:
    supplier = make_supplier(cast)
    return (
        "send_purchase_order",
        {"purchaseOrderId": make_order(cast, supplierId=supplier)["id"]},
        f"save_supplier for {supplier}",
    )


def quote_without_email(cast: Cast) -> CallWithRemedy:
    quote = make_quote(cast, customerId=make_customer(cast))
    return "send_quote", {"quoteId": quote["id"]}, f"update_customer for {quote['customerId']}"


def quote_for_archived_customer(cast: Cast) -> CallWithRemedy:
    quote = make_quote(cast)
    cast.perform(archive_customer, customerId=quote["customerId"])
    return (
        "send_quote",
        {"quoteId": quote["id"], "deliver": "none"},
        f"restore_customer for {quote['customerId']}",
    )


def invoice_without_email(cast: Cast) -> CallWithRemedy:
    invoice = make_invoice(cast, customerId=make_customer(cast))
    return "send_invoice", {"invoiceId": invoice["id"]}, f"update_customer for {invoice['customerId']}"


def visit_of_a_closed_job(cast: Cast) -> CallWithRemedy:
    job = make_site_job(cast)
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job["id"], status=status)
    return "plan_visit", {"jobId": job["number"], "on": DAY}, f"change_job_status for {job['id']}"


def invoice_of_an_open_quote(cast: Cast) -> CallWithRemedy:
    quote = issue_quote(cast)
    return "draft_invoice", {"quoteId": quote["id"]}, f"record_quote_decision for {quote['id']}"


def payment_of_a_draft(cast: Cast) -> CallWithRemedy:
    invoice = make_invoice(cast)
    given = {"amount": "1", "method": "cash", "allocations": [{"invoiceId": invoice["id"], "amount": "1"}]}
    return "record_payment", {"customerId": invoice["customerId"], **given}, f"send_invoice for {invoice['id']}"


def bill_of_a_draft(cast: Cast) -> CallWithRemedy:
    order = make_order(cast)
    given = {
        "supplierNumber": "R-1",
        "total": "1",
        "on": "2026-11-12",
        "supplierId": order["supplierId"],
        "purchaseOrderId": order["id"],
    }
    return "record_bill", given, f"send_purchase_order for {order['id']}"


def overlapping_hours_of_owner(cast: Cast) -> CallWithRemedy:
    times = {"startedAt": "2026-11-12T08:00", "endedAt": "2026-11-12T10:00"}
    return "log_hours", times, f"update_hours for {make_time_entry(cast, Role.OWNER, **times)['id']}"


REFUSALS_WITH_REMEDY = (
    order_from_archived_supplier,
    order_without_email,
    quote_without_email,
    quote_for_archived_customer,
    invoice_without_email,
    visit_of_a_closed_job,
    invoice_of_an_open_quote,
    payment_of_a_draft,
    bill_of_a_draft,
    overlapping_hours_of_owner,
)


@pytest.mark.parametrize("asks", REFUSALS_WITH_REMEDY, ids=lambda one: one.__name__)
def test_another_record_is_named_by_its_id(
    server: RunningServer, cast: Cast, asks: Callable[[Cast], CallWithRemedy]
) -> None:
    tool, arguments, helping = asks(cast)
    message = call_tool(server, cast.make_key(), tool, **arguments)["content"][0]["text"]
    assert f"First: call {helping}." in message


def test_books_are_opened_by_a_tool_that_there_is(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, booksClosedUntil="2099-12-31")
    message = call_tool(server, cast.make_key(), "log_hours", on="2026-11-12", minutes=5)["content"][0]["text"]
    assert message.endswith("An owner or admin can reopen them. First: call update_organisation.")
    assert call_tool(server, cast.make_key(), "update_organisation", booksClosedUntil=None)["isError"] is False


def test_what_finds_an_id_says_which(server: RunningServer, cast: Cast) -> None:
    given = {"personId": "Mia", "from": "Monday"}
    message = call_tool(server, cast.make_key(), "request_time_off", **given)["content"][0]["text"]
    assert message.endswith("; from: is not a date such as 2026-11-15. search finds the id of a person.")


def test_what_finds_an_id_stands_behind_the_faults_and_is_none(server: RunningServer, cast: Cast) -> None:
    given = {"customerId": "Calder", "title": "Mend the roof", "siteId": "2 Weir Lane"}
    message = call_tool(server, cast.make_key(), "create_job", **given)["content"][0]["text"]
    faults = message.removesuffix(". search finds the id of a customer and the id of a site.").split("; ")
    assert [fault.partition(": ")[::2] for fault in faults] == [
        ("customerId", "is not the id of a customer"),
        ("siteId", "is not the id of a site"),
    ]


def test_what_a_refusal_names_itself_is_not_named_again(server: RunningServer, cast: Cast) -> None:
    message = call_tool(server, cast.make_key(), "stop_timer")["content"][0]["text"]
    hint = "list_hours with the status `running` shows whose timers are running."
    assert message.endswith(f"Log the time instead. {hint} Instead: call log_hours.")


def test_what_helps_against_several_reasons_is_named_once(server: RunningServer, cast: Cast) -> None:
    drafts = [make_time_entry(cast)["id"] for _ in range(2)]
    message = call_tool(server, cast.make_key(), "review_hours", timeEntryIds=drafts, decision="approve")["content"][0][
        "text"
    ]
    assert message.endswith(" First: call submit_hours.")

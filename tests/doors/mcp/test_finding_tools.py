"""The right tool is among the first five for what an office person would say: clients search tools by their words."""

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tool_schema import describe_tool
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.toolsets import DEFAULT_CHOICE
from support.bm25 import rank_texts, text_of_tool

DEFAULT_TOOLS = [one for one in CATALOGUE.operations if Door.AGENT in one.doors and one.is_in(DEFAULT_CHOICE)]
TEXTS = {one.name: text_of_tool(describe_tool(one)) for one in DEFAULT_TOOLS}
TASKS = {
    # As someone says it who thinks of the work, not of the product.
    "Who owes us money?": {"list_invoices", "get_report", "list_postings"},
    "Book Kim for Tuesday": {"plan_visit"},
    "Did we lose money on that job?": {"get_job_costing"},
    "Grace is off sick tomorrow": {"request_time_off", "list_time_off"},
    "Sort out tomorrow now that Tom is sick": {"plan_schedule"},
    "Chase the late payers": {"send_reminders", "send_reminder"},
    "The same customer is in there twice": {"list_duplicate_customers", "merge_customers"},
    "Take that back, it was a mistake": {"undo_change"},
    "They rang to say yes to the quote": {"record_quote_decision"},
    "Clock me in": {"start_timer"},
    # As an agent says it that knows what it looks for.
    "Find the customer with this phone number": {"list_customers", "search"},
    "Add a new customer with a billing address": {"create_customer"},
    "Change the email address of a contact": {"save_contact"},
    "List the open jobs of a customer": {"list_jobs"},
    "Create a job for an enquiry": {"create_job"},
    "Cancel the job and its visits": {"cancel_job"},
    "Move the visit to another day": {"move_visit"},
    "Find a free slot for an electrician next week": {"find_free_time"},
    "Log three hours of work on a job": {"log_hours"},
    "Approve the submitted timesheets": {"review_hours"},
    "Draft a quote for a new boiler": {"draft_quote"},
    "Send the quote by email": {"send_quote"},
    "Invoice the unbilled hours and materials": {"draft_invoice", "list_unbilled"},
    "Issue a credit note for part of an invoice": {"credit_invoice"},
    "Void an invoice that was issued by mistake": {"void_invoice"},
    "Record that a customer paid": {"record_payment"},
    "Match the bank statement with invoices": {"find_paid_invoices"},
    "Email a statement of account to a customer": {"send_statement"},
    "Order materials from a supplier": {"draft_purchase_order", "send_purchase_order"},
    "Enter the supplier's bill": {"record_bill"},
}


def test_there_are_thirty_tasks() -> None:
    assert len(TASKS) == 30
    assert {name for names in TASKS.values() for name in names} <= TEXTS.keys()


@pytest.mark.parametrize(("task", "tools"), TASKS.items(), ids=TASKS)
def test_a_search_finds_the_tool_for_a_task(task: str, tools: set[str]) -> None:
    found = rank_texts(task, TEXTS)[:5]
    assert tools & set(found), found

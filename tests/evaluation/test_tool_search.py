"""Clients with many tools search them by words: what a person says leads to the right tool."""

import re

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tools import ToolOffer, Tools
from mainstay.evaluation.task import Task
from mainstay.evaluation.tasks import TASKS
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Access, Role
from mainstay.vocabulary.toolsets import DEFAULT_CHOICE
from support.bm25 import rank_texts, text_of_tool

# The tools without which a task cannot be done, apart from those that find the ids.
RIGHT_TOOLS = {
    "overdue-invoices": {"list_invoices"},
    "customer-balance": {"get_customer_balance"},
    "own-visits": {"list_visits"},
    "undecided-time-off": {"list_time_off"},
    "job-margin": {"get_job_costing"},
    "unbilled-work": {"list_unbilled"},
    "missed-call": {"search"},
    "awaited-orders": {"list_purchase_orders"},
    "open-quotes": {"list_quotes"},
    "hours-of-week": {"list_hours"},
    "book-visit": {"plan_visit"},
    "move-visit": {"move_visit"},
    "draft-quote": {"draft_quote"},
    "draft-invoice": {"draft_invoice"},
    "new-enquiry": {"create_customer", "create_job"},
    "log-hours": {"log_hours"},
    "draft-order": {"draft_purchase_order"},
    "sick-leave": {"request_time_off"},
    "new-phone": {"update_customer", "add_note"},
    "approve-hours": {"review_hours"},
    "send-invoice": {"send_invoice"},
    "void-invoice": {"void_invoice"},
    "credit-invoice": {"credit_invoice"},
    "send-reminder": {"send_reminder"},
    "cancel-job": {"cancel_job"},
    "decline-reason": {"get_quote"},
    "acceptance-note": {"draft_invoice", "get_quote"},
    "imported-note": {"save_site"},
    "bill-number": {"list_bills"},
    "file-name": {"list_documents", "add_note"},
}


def _list_tool_texts() -> dict[str, str]:
    """Return the texts of the tools that the tool server lists."""
    tools = Tools(CATALOGUE.operations).list_tools(
        ToolOffer(ROLE_PERMISSIONS[Role.OWNER], Access.WRITE, DEFAULT_CHOICE)
    )
    return {tool["name"]: text_of_tool(tool) for tool in orjson.loads(orjson.dumps(tools))}


_TEXTS = _list_tool_texts()
_SENTENCE_END = re.compile(r"(?<=[.?]) ")


@pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])
def test_the_right_tools_are_among_the_first_five(task: Task) -> None:
    """By all that the person says or, if they ask for two things, by one of their sentences."""
    queries = [task.prompt, *_SENTENCE_END.split(task.prompt)]
    found = {name for query in queries for name in rank_texts(query, _TEXTS)[:5]}

    assert RIGHT_TOOLS[task.id] - found == set()


def test_each_task_has_its_right_tools() -> None:
    assert [*RIGHT_TOOLS] == [task.id for task in TASKS]

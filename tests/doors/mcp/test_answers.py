"""What answers say to agents beside the record: what else was made, what is gone, and what is hidden."""

from typing import Any

import jsonschema
import pytest

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import make_assigned_job, make_time_entry
from support.invoices import issue_invoice, make_invoice
from support.mcp_client import call_legacy, call_tool
from support.oauth_app import register_app, sign_in_cast_member
from support.servers import RunningServer

# What a member is not shown of a job.
OFFICE_FIELDS = {"billing", "budget", "customerOrderNumber", "quoteId", "externalRef"}


def connect_member_app(server: RunningServer, cast: Cast) -> str:
    """The token of an app that a member has connected."""
    session = sign_in_cast_member(server, cast, Role.MEMBER)
    return str(register_app(server).connect(session, cast.organisation)["access_token"])


def test_crediting_answers_with_the_credit_note(server: RunningServer, cast: Cast) -> None:
    given = {"invoiceId": issue_invoice(cast)["id"], "reason": "Returned", "deliver": "none", "confirmed": True}
    result = call_tool(server, cast.make_key(), "credit_invoice", **given)["structuredContent"]["result"]
    assert (result["object"], result["number"], result["status"]) == ("invoice", "INV-0001", "credited")
    assert (result["creditNote"]["object"], result["creditNote"]["number"]) == ("creditNote", "CN-0001")
    assert result["creditNote"]["invoiceId"] == result["id"]


def test_what_is_deleted_is_said_to_be(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    given = {"invoiceId": make_invoice(cast)["id"], "confirmed": True}
    result = call_tool(server, key, "delete_draft_invoice", **given)["structuredContent"]["result"]
    assert (result["status"], result["deleted"], result["availableActions"]) == ("draft", True, [])
    job = make_assigned_job(cast)
    entry = make_time_entry(cast, Role.OFFICE, jobId=job["id"])["id"]
    result = call_tool(server, key, "delete_hours", timeEntryId=entry, confirmed=True)["structuredContent"]["result"]
    assert result["deleted"] is True
    assert "deleted" not in call_tool(server, key, "get_job", jobId=job["id"])["structuredContent"]


def test_a_note_is_read_as_it_is_written(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    made = call_tool(server, key, "add_note", recordId=customer, text="Rang")["structuredContent"]
    [listed] = call_tool(server, key, "list_notes", recordId=customer)["structuredContent"]["data"]
    assert (made["text"], made["body"], listed["text"]) == ("Rang", "Rang", "Rang")
    assert "body" not in listed


def test_hidden_fields_are_named(server: RunningServer, cast: Cast) -> None:
    token = connect_member_app(server, cast)
    job = make_job(cast, make_customer(cast), Role.MEMBER, budget="100")["id"]
    shown = call_tool(server, token, "get_job", jobId=job)["structuredContent"]
    assert {*shown["hidden"]} >= OFFICE_FIELDS
    assert [name for name in shown["hidden"] if shown[name] is not None] == []
    listed = call_tool(server, token, "list_jobs")["structuredContent"]
    assert listed["hidden"] == shown["hidden"]
    assert "hidden" not in listed["data"][0]
    assert call_tool(server, token, "get_overview")["structuredContent"]["hidden"] == ["revenue", "changedByApps"]
    whole = call_tool(server, cast.make_key(), "get_job", jobId=job)["structuredContent"]
    assert "hidden" not in whole


@pytest.mark.parametrize("budget", ["1200.5", 1200.5, 1200])
def test_a_decimal_is_taken_as_the_schema_says(server: RunningServer, cast: Cast, budget: Any) -> None:
    key = cast.make_key()
    given = {"customerId": make_customer(cast), "title": "Roof", "budget": budget}
    [tool] = [one for one in call_legacy(server, key, "tools/list")["tools"] if one["name"] == "create_job"]
    jsonschema.validate(given, tool["inputSchema"])
    made = call_tool(server, key, "create_job", **given)["structuredContent"]
    assert float(made["budget"]) == float(budget)
    by_api = server.request("POST", "/api/v1/jobs", key, json=given).json()
    assert by_api["budget"] == made["budget"]


@pytest.mark.parametrize("budget", [True, None, [], {}, 0.00001, 1e300])
def test_what_is_no_decimal_is_refused(server: RunningServer, cast: Cast, budget: Any) -> None:
    given = {"customerId": make_customer(cast), "title": "Roof", "budget": budget}
    result = call_tool(server, cast.make_key(), "create_job", **given)
    assert result["isError"] is (budget is not None)
    if budget is not None:
        assert result["content"][0]["text"].startswith("budget: ")

"""A change that an agent sends again with the same key is done once."""

from typing import Any

import pytest

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.records.notes import list_notes
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.instructions import INSTRUCTIONS
from mainstay.doors.mcp.tool_schema import describe_tool
from support.cast import Cast
from support.customers import make_customer
from support.invoices import make_invoice
from support.mcp_client import call_legacy, call_tool, to_utc
from support.servers import RunningServer

KEY = "idempotencyKey"


def read_refusal(result: dict[str, Any]) -> str:
    assert result["isError"] is True
    return str(result["content"][0]["text"])


def test_a_repeat_with_the_same_key_gets_the_first_answer(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    job = {"customerId": customer, "title": "Roof", KEY: "one"}
    first, again = (call_tool(server, key, "create_job", **job) for _ in range(2))
    assert first == again
    other = call_tool(server, key, "create_job", **{**job, KEY: "two"})
    assert other["structuredContent"]["id"] != first["structuredContent"]["id"]
    assert len(cast.perform(list_jobs)["data"]) == 2
    note = {"recordId": customer, "text": "Rang", KEY: "three"}
    assert call_tool(server, key, "add_note", **note) == call_tool(server, key, "add_note", **note)
    assert len(cast.perform(list_notes, recordId=customer)["data"]) == 1


def test_a_key_belongs_to_one_request(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    call_tool(server, key, "add_note", recordId=customer, text="Rang", idempotencyKey="one")
    for tool, given in (
        ("add_note", {"recordId": customer, "text": "Else"}),
        ("archive_customer", {"customerId": customer}),
    ):
        refused = read_refusal(call_tool(server, key, tool, **given, idempotencyKey="one"))
        assert refused == "idempotencyKey: was already used for a different request"


def test_it_is_one_store_with_that_of_the_api(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    headers = {"Idempotency-Key": "one"}
    given = {"recordId": customer, "text": "Rang"}
    made = server.request("POST", "/api/v1/notes", key, json=given, headers=headers).json()
    repeated = call_tool(server, key, "add_note", **given, idempotencyKey="one")["structuredContent"]
    assert to_utc(repeated) == made
    # Another key of the same person is another program.
    other = call_tool(server, cast.make_key(), "add_note", **given, idempotencyKey="one")
    assert other["structuredContent"]["id"] != made["id"]


def test_a_preview_is_not_what_is_kept(server: RunningServer, cast: Cast) -> None:
    key, invoice = cast.make_key(), make_invoice(cast)["id"]
    given = {"invoiceId": invoice, "deliver": "none", KEY: "one"}
    assert call_tool(server, key, "send_invoice", **given)["structuredContent"]["status"] == "preview"
    sent = call_tool(server, key, "send_invoice", **given, confirmed=True)
    assert sent["structuredContent"]["status"] == "done"
    assert call_tool(server, key, "send_invoice", **given, confirmed=True) == sent
    assert [one["number"] for one in cast.perform(list_invoices)["data"]] == ["INV-0001"]


@pytest.mark.parametrize("wrong", ["", "x" * 256, "a\nb", 1, None, True])
def test_what_is_no_key_is_refused(server: RunningServer, cast: Cast, wrong: object) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    refused = read_refusal(call_tool(server, key, "add_note", recordId=customer, text="Rang", idempotencyKey=wrong))
    assert refused == "idempotencyKey: is not 1 to 255 printable characters"
    assert cast.perform(list_notes, recordId=customer)["data"] == []


def test_what_only_reads_takes_none(server: RunningServer, cast: Cast) -> None:
    assert "idempotencyKey: is not known here" in read_refusal(
        call_tool(server, cast.make_key(), "get_me", idempotencyKey="one")
    )


def test_every_tool_that_changes_something_takes_one_and_the_instructions_say_so(
    server: RunningServer, cast: Cast
) -> None:
    tools = {tool["name"]: tool for tool in call_legacy(server, cast.make_key(), "tools/list")["tools"]}
    for operation in CATALOGUE.operations:
        if operation.name in tools:
            taken = tools[operation.name]["inputSchema"]["properties"]
            assert (KEY in taken) == operation.changes
            assert KEY not in tools[operation.name]["inputSchema"].get("required", ())
            assert describe_tool(operation)["inputSchema"]["properties"] == taken
    assert KEY in INSTRUCTIONS

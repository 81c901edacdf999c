"""Undoing over the HTTP API and by tools: both tell the ID of a change that can be undone, and take it back."""

from mainstay.business.customers.operations import create_customer, get_customer
from support.cast import Cast
from support.mcp_client import call_tool
from support.servers import RunningServer

UNDO = "/api/v1/changes/undo"


def test_the_api_tells_the_id_of_a_change_also_when_the_request_is_repeated(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), cast.perform(create_customer, name="Hill Farm", phone="1")["id"]
    path, once = f"/api/v1/customers/{customer}", {"Idempotency-Key": "once"}
    first, repeated = (server.request("PATCH", path, key, headers=once, json={"phone": "2"}) for _ in range(2))
    assert first.headers["Change-Id"] == repeated.headers["Change-Id"]
    undone = server.request("POST", UNDO, key, json={"changeIds": [first.headers["Change-Id"]]})
    assert undone.status_code == 200, undone.text
    assert undone.json()["operations"] == ["update_customer"]
    assert undone.headers["Change-Id"] != first.headers["Change-Id"]
    assert cast.perform(get_customer, customerId=customer)["phone"] == "1"
    refused = server.request("POST", UNDO, key, json={"changeIds": [first.headers["Change-Id"]]})
    assert refused.status_code == 409
    # What changed nothing, or cannot be undone, has no ID.
    assert "Change-Id" not in server.request("PATCH", path, key, json={"phone": "1"}).headers
    note = {"recordId": customer, "text": "Rings twice."}
    assert "Change-Id" not in server.request("POST", "/api/v1/notes", key, json=note).headers


def test_a_tool_says_how_what_it_did_is_undone(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), cast.perform(create_customer, name="Hill Farm", phone="1")["id"]
    result = call_tool(server, key, "update_customer", customerId=customer, phone="2")
    change = result["content"][1]["text"].split('"')[1]
    assert result["content"][1]["text"] == f'To undo this, call undo_change with changeIds ["{change}"].'
    undone = call_tool(server, key, "undo_change", changeIds=[change])
    assert undone["structuredContent"]["changeIds"] == [change]
    assert cast.perform(get_customer, customerId=customer)["phone"] == "1"
    refused = call_tool(server, key, "undo_change", changeIds=[change])
    assert (refused["isError"], "already undone" in refused["content"][0]["text"]) == (True, True)

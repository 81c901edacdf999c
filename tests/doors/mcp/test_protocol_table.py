"""Every row of the table of decisions, by its name."""

from typing import Any

import pytest

from support.cast import Cast
from support.mcp_client import (
    MODERN_VERSION,
    call_legacy,
    call_modern,
    make_legacy_call,
    make_modern_call,
    make_modern_headers,
    post_call,
)
from support.servers import RunningServer

LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")


@pytest.mark.parametrize("version", LEGACY_VERSIONS)
def test_initialize_echoes_a_known_version(server: RunningServer, cast: Cast, version: str) -> None:
    result = call_legacy(server, cast.make_key(), "initialize", {"protocolVersion": version, "capabilities": {}})
    assert result["protocolVersion"] == version
    assert result["capabilities"] == {"tools": {}}
    assert result["serverInfo"]["name"] == "mainstay"
    assert result["instructions"]


def test_initialize_answers_an_unknown_version_with_the_newest_legacy_one(server: RunningServer, cast: Cast) -> None:
    assert (
        call_legacy(server, cast.make_key(), "initialize", {"protocolVersion": "1999-01-01"})["protocolVersion"]
        == "2025-11-25"
    )


def test_initialize_and_ping_are_not_found_in_the_modern_era(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    for method in ("initialize", "ping"):
        call = make_modern_call(method)
        answer = post_call(server, key, call, make_modern_headers(call))
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


def test_ping_is_answered_in_the_legacy_era(server: RunningServer, cast: Cast) -> None:
    assert call_legacy(server, cast.make_key(), "ping") == {}


def test_discover_tells_versions_newest_first_in_the_modern_era_only(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    result = call_modern(server, key, "server/discover")
    assert result["supportedVersions"] == [MODERN_VERSION, *LEGACY_VERSIONS]
    assert result["capabilities"] == {"tools": {}}
    assert result["resultType"] == "complete"
    assert result["cacheScope"] == "public"
    assert result["ttlMs"] > 0
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "mainstay"
    answer = post_call(server, key, make_legacy_call("server/discover"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32601)


def test_a_notification_is_accepted_with_an_empty_202(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for headers in ({}, {"MCP-Protocol-Version": MODERN_VERSION}):
        answer = post_call(server, key, notification, headers)
        assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param([make_legacy_call("ping")], id="batch"),
        pytest.param(make_legacy_call("ping", id_=None), id="id null"),
        pytest.param(make_legacy_call("ping", id_=True), id="id bool"),
        pytest.param(make_legacy_call("ping", id_=1.5), id="id float"),
        pytest.param(make_legacy_call("ping", id_={}), id="id object"),
        pytest.param({"id": 1, "method": "ping"}, id="no jsonrpc"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "method": 5}, id="method no text"),
        pytest.param("ping", id="text"),
    ],
)
def test_what_is_no_request_is_invalid(server: RunningServer, cast: Cast, body: Any) -> None:
    key = cast.make_key()
    for headers in ({}, {"MCP-Protocol-Version": MODERN_VERSION}):
        answer = post_call(server, key, body, headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


def test_a_posted_response_is_taken_in_the_legacy_era_only(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert post_call(server, key, response).status_code == 202
    answer = post_call(server, key, response, {"MCP-Protocol-Version": MODERN_VERSION})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("id_", [0, "", -1, "a", 2**53 - 1])
def test_ids_are_echoed(server: RunningServer, cast: Cast, id_: int | str) -> None:
    answer = post_call(server, cast.make_key(), make_legacy_call("ping", id_=id_)).json()
    assert answer["id"] == id_
    assert type(answer["id"]) is type(id_)


def test_an_unknown_method_is_not_found(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    for method in ("resources/list", "prompts/list", "logging/setLevel"):
        answer = post_call(server, key, make_legacy_call(method))
        assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32601)
        call = make_modern_call(method)
        answer = post_call(server, key, call, make_modern_headers(call))
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        pytest.param("tools/call", {"name": "no_such_tool"}, id="unknown tool"),
        pytest.param("tools/call", {"name": "create_key", "arguments": {}}, id="a tool no agent is offered"),
        pytest.param("tools/call", {"arguments": {}}, id="name missing"),
        pytest.param("tools/call", {"name": 5}, id="name no text"),
        pytest.param("tools/call", {"name": "get_me", "arguments": []}, id="arguments no object"),
        pytest.param("tools/list", {"cursor": "abc"}, id="bad cursor"),
    ],
)
def test_calls_that_make_no_sense_have_invalid_params(
    server: RunningServer, cast: Cast, method: str, params: dict[str, Any]
) -> None:
    key = cast.make_key()
    answer = post_call(server, key, make_legacy_call(method, params))
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32602)
    call = make_modern_call(method, params)
    headers = make_modern_headers(call, **({"Mcp_Name": "5"} if params.get("name") == 5 else {}))
    if params.get("name") != 5:
        answer = post_call(server, key, call, headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


def test_params_that_are_no_object_are_invalid(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    wrong: tuple[Any, ...] = ([], "x", 5)
    for params in wrong:
        answer = post_call(server, key, make_legacy_call("tools/list", params))
        assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32602)
        answer = post_call(
            server, key, make_legacy_call("tools/list", params), {"MCP-Protocol-Version": MODERN_VERSION}
        )
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":1,"a":2}', b"\xff\xfe{\x00}\x00", b"[" * 100 + b"]" * 100])
def test_unparsable_json_is_a_parse_error(server: RunningServer, cast: Cast, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = server.request("POST", "/mcp", cast.make_key(), content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"], answer.json()["id"]) == (400, -32700, None)


def test_an_unknown_protocol_version_is_told_the_supported_ones(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    unknown = "2099-01-01"
    call = make_modern_call("tools/list", version=unknown)
    for body, headers in (
        (make_legacy_call("tools/list"), {"MCP-Protocol-Version": unknown}),
        (call, make_modern_headers(call) | {"MCP-Protocol-Version": unknown}),
    ):
        answer = post_call(server, key, body, headers)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, -32022)
        assert error["data"] == {"supported": [MODERN_VERSION, *LEGACY_VERSIONS], "requested": unknown}


@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities", "all"])
def test_an_incomplete_meta_is_invalid(server: RunningServer, cast: Cast, missing: str) -> None:
    call = make_modern_call("tools/list")
    headers = make_modern_headers(call)
    call["params"]["_meta"].pop(f"io.modelcontextprotocol/{missing}", None)
    if missing == "all":
        del call["params"]["_meta"]
    answer = post_call(server, cast.make_key(), call, headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Mcp-Method": "tools/list"}, id="other method"),
        pytest.param({"Mcp-Name": "get_organisation"}, id="other name"),
        pytest.param({"MCP-Protocol-Version": "2025-11-25"}, id="other version"),
        pytest.param({"Mcp-Name": "=?base64?!!!?="}, id="broken base64"),
    ],
)
def test_headers_that_differ_from_the_body_are_a_mismatch(
    server: RunningServer, cast: Cast, headers: dict[str, str]
) -> None:
    call = make_modern_call("tools/call", {"name": "get_me", "arguments": {}})
    answer = post_call(server, cast.make_key(), call, make_modern_headers(call) | headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


def test_a_header_that_is_missing_is_a_mismatch(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    call = make_modern_call("tools/call", {"name": "get_me", "arguments": {}})
    for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
        headers = {header: value for header, value in make_modern_headers(call).items() if header != name}
        answer = post_call(server, key, call, headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


def test_a_header_may_come_in_base64(server: RunningServer, cast: Cast) -> None:
    call = make_modern_call("tools/call", {"name": "get_me", "arguments": {}})
    answer = post_call(server, cast.make_key(), call, make_modern_headers(call) | {"Mcp-Name": "=?base64?Z2V0X21l?="})
    assert answer.json()["result"]["isError"] is False


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_other_methods_are_not_allowed_before_authentication(server: RunningServer, method: str) -> None:
    for path in ("/mcp", "/mcp/"):
        answer = server.request(method, path)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_both_spellings_of_the_path_answer_without_a_redirect(server: RunningServer, cast: Cast) -> None:
    answer = post_call(server, cast.make_key(), make_legacy_call("ping"), path="/mcp/")
    assert (answer.status_code, answer.json()["result"]) == (200, {})


@pytest.mark.parametrize("path", ["/mcp/x", "/mcp/x/y", "/mcp//", "/mcpx"])
def test_no_other_path_is_the_tool_server(server: RunningServer, cast: Cast, path: str) -> None:
    assert post_call(server, cast.make_key(), make_legacy_call("ping"), path=path).status_code == 404


def test_a_session_id_is_ignored_and_never_made(server: RunningServer, cast: Cast) -> None:
    answer = post_call(server, cast.make_key(), make_legacy_call("initialize", {}), {"Mcp-Session-Id": "abc"})
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers

"""Toolsets: what a program is offered by its header, and by what its person chose on the approval screen."""

from typing import Any

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.identity.connections import get_connection, update_connection
from mainstay.identity.keys import update_key
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.toolsets import DEFAULT_CHOICE, DEFAULT_TOOLSETS, EXTRA_TOOLSETS, Toolset
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.mcp_client import call_tool, make_legacy_call, make_modern_call, make_modern_headers, post_call
from support.oauth_app import OAuthApp, SignedInPerson, redirect_parameters, register_app, sign_in_cast_member
from support.servers import RunningServer
from support.stored_state import actor_with_key

TOOLS = [operation for operation in CATALOGUE.operations if Door.AGENT in operation.doors]
ALWAYS = {"get_me", "get_organisation", "search", "get_overview", "undo_change"}


def list_names(server: RunningServer, token: str, toolsets: str | None = None) -> set[str]:
    headers = {} if toolsets is None else {"X-MCP-Toolsets": toolsets}
    answer = post_call(server, token, make_legacy_call("tools/list"), headers)
    assert answer.status_code == 200, answer.text
    return {tool["name"] for tool in answer.json()["result"]["tools"]}


def names_of(*toolsets: str) -> set[str]:
    return {one.name for one in TOOLS if (one.extra_toolset or one.area) in toolsets}


def test_every_tool_is_in_an_area_and_a_few_help_in_all_of_them() -> None:
    assert {operation.name for operation in TOOLS if operation.is_always_offered} == ALWAYS
    assert all(operation.area for operation in TOOLS)
    assert {operation.extra_toolset or operation.area for operation in TOOLS} == {*Toolset}
    assert all(toolset.label[0].isupper() for toolset in Toolset)


def test_the_default_list_has_no_further_toolset(server: RunningServer, cast: Cast) -> None:
    names = list_names(server, cast.make_key())
    assert names == names_of(*DEFAULT_TOOLSETS)
    assert not names & names_of(*EXTRA_TOOLSETS)
    assert names == {operation.name for operation in TOOLS if operation.is_in(DEFAULT_CHOICE)}
    assert list_names(server, cast.make_key(), "") == names


@pytest.mark.parametrize("toolsets", ["customers,quotes", " quotes , customers ", "customers,quotes,customers"])
def test_the_header_narrows_the_list(server: RunningServer, cast: Cast, toolsets: str) -> None:
    assert list_names(server, cast.make_key(), toolsets) == names_of("customers", "quotes") | ALWAYS


@pytest.mark.parametrize("toolset", sorted(EXTRA_TOOLSETS))
def test_further_toolsets_are_listed_and_work_when_named(server: RunningServer, cast: Cast, toolset: str) -> None:
    key = cast.make_key()
    assert list_names(server, key, toolset) == names_of(toolset) | ALWAYS
    name = min(names_of(toolset) & {one.name for one in TOOLS if not one.changes})
    call = make_legacy_call("tools/call", {"name": name, "arguments": {}})
    assert "result" in post_call(server, key, call, {"X-MCP-Toolsets": toolset}).json()
    refused = post_call(server, key, call).json()["error"]
    assert refused["code"] == -32602
    assert refused["message"].endswith(f"The header X-MCP-Toolsets: {toolset} offers it.")


def test_a_tool_outside_the_header_is_refused_like_an_unknown_one(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    for name, words in (("list_jobs", "X-MCP-Toolsets: jobs offers it"), ("no_such_tool", "no tool with that name")):
        legacy = make_legacy_call("tools/call", {"name": name, "arguments": {}})
        answer = post_call(server, key, legacy, {"X-MCP-Toolsets": "customers"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32602)
        assert words in answer.json()["error"]["message"]
        modern = make_modern_call("tools/call", {"name": name, "arguments": {}})
        answer = post_call(server, key, modern, make_modern_headers(modern) | {"X-MCP-Toolsets": "customers"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)
    assert call_tool(server, key, "list_jobs")["isError"] is False


@pytest.mark.parametrize("method", ["initialize", "ping", "tools/list", "tools/call"])
@pytest.mark.parametrize("toolsets", ["everything", "customers,", "customers;quotes", "Customers"])
def test_an_unknown_toolset_is_refused_with_the_names(
    server: RunningServer, cast: Cast, method: str, toolsets: str
) -> None:
    answer = post_call(server, cast.make_key(), make_legacy_call(method, {}), {"X-MCP-Toolsets": toolsets})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["data"]) == (400, -32602, {"toolsets": [*Toolset]})
    assert "customers, equipment, jobs" in error["message"]


def test_header_and_limit_intersect(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    limits = ["customers", "quotes", "single_records"]
    cast.perform(update_key, keyId=actor_with_key(cast, key).credential, toolsets=limits)
    both = {"get_site", "get_contact"}
    assert list_names(server, key) == names_of("customers", "quotes") | both | ALWAYS
    assert list_names(server, key, "quotes,jobs") == names_of("quotes") | ALWAYS
    assert list_names(server, key, "single_records") == both | ALWAYS
    assert list_names(server, key, "webhooks") == ALWAYS
    call = make_legacy_call("tools/call", {"name": "list_jobs", "arguments": {}})
    for headers in ({}, {"X-MCP-Toolsets": "jobs"}):
        error = post_call(server, key, call, headers).json()["error"]
        assert (error["code"], "does not include list_jobs" in error["message"]) == (-32602, True)
        assert error["message"].endswith("areas without jobs.")
    assert server.request("GET", "/api/v1/jobs", key).status_code == 403
    assert server.request("GET", "/api/v1/customers", key).status_code == 200


def test_of_two_areas_the_missing_one_is_named(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    cast.perform(update_key, keyId=actor_with_key(cast, key).credential, toolsets=["customers"])
    call = make_legacy_call("tools/call", {"name": "get_site", "arguments": {}})
    assert post_call(server, key, call, {}).json()["error"]["message"].endswith("areas without single_records.")


def approve_with(person: SignedInPerson, cast: Cast, app: OAuthApp, *toolsets: str) -> Any:
    address = app.make_authorize_url()
    screen = person.open(address).text
    boxes = {f"toolset {toolset}": "yes" for toolset in toolsets}
    choices = {"organisation": cast.organisation, "access": "read", "decision": "approve", "toolsets": "chosen"}
    return person.decide(address, screen, **choices, **boxes)


def test_the_approval_screen_offers_the_areas_and_its_choice_stays(server: RunningServer, cast: Cast) -> None:
    app, person = register_app(server), sign_in_cast_member(server, cast)
    screen = person.open(app.make_authorize_url()).text
    for toolset in Toolset:
        checked = " checked" if toolset in DEFAULT_TOOLSETS else ""
        assert f'<input type="checkbox" name="toolset {toolset}" value="yes"{checked}>' in screen
    assert "<summary>Choose areas</summary>" in screen

    code = redirect_parameters(approve_with(person, cast, app, "customers", "saved_views"))["code"]
    token = app.redeem_code(code).json()["access_token"]
    assert list_names(server, token) == {
        one.name for one in TOOLS if not one.changes and one.name in names_of("customers", "saved_views") | ALWAYS
    }
    office = sign_in_cast(server, cast, Role.OWNER)
    page = office.get("/settings/developer/mcp").text
    path = page.partition('href="/settings/developer/mcp/')[2].partition('"')[0]
    shown = visible_text(office.get(f"/settings/developer/mcp/{path}").text)
    assert "Areas Customers Saved views" in shown
    assert "list_customers" in shown
    assert "list_jobs" not in shown
    cast.perform(update_connection, connectionId=path, toolsets=None)
    assert "list_jobs" in list_names(server, token)


def test_the_default_areas_are_no_limit_and_no_area_is_refused(server: RunningServer, cast: Cast) -> None:
    app, person = register_app(server), sign_in_cast_member(server, cast)
    refused = approve_with(person, cast, app)
    assert (refused.status_code, "Location" in refused.headers) == (400, False)
    code = redirect_parameters(approve_with(person, cast, app, *DEFAULT_TOOLSETS))["code"]
    token = app.redeem_code(code).json()["access_token"]
    me = call_tool(server, token, "get_me")["structuredContent"]
    shown = cast.perform(get_connection, connectionId=me["client"]["id"])
    assert shown["toolsets"] is None

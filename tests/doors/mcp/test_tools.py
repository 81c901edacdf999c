"""The tools: derived from the catalogue, filtered by what the one who asks may do now."""

import re
from typing import Any

import jsonschema
import orjson
import pytest

from mainstay.business.people.operations import invite_person
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tool_schema import describe_tool
from mainstay.doors.mcp.tools import Tools
from mainstay.kernel.operation import Effect
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Access, Role
from mainstay.vocabulary.toolsets import DEFAULT_CHOICE, Toolset
from rules.examples_any import make_example_input
from support.cast import Cast, temporary_cast
from support.mcp_client import call_legacy, call_modern, call_tool, make_legacy_call, post_call, to_utc
from support.servers import RunningServer

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

AGENT_OPERATIONS = [operation for operation in CATALOGUE.operations if Door.AGENT in operation.doors]
# Those that are offered unless others are asked for.
DEFAULT_OPERATIONS = [operation for operation in AGENT_OPERATIONS if operation.is_in(DEFAULT_CHOICE)]
EVERY_TOOLSET = {"X-MCP-Toolsets": ",".join(Toolset)}
BUDGET = 140 * 1024
MAX_TOOLS = 110


def test_an_owner_is_offered_every_tool_in_the_catalogues_order(server: RunningServer, cast: Cast) -> None:
    tools = call_legacy(server, cast.make_key(), "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [operation.name for operation in DEFAULT_OPERATIONS]


def test_the_list_is_the_same_at_every_call_but_for_its_id(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    for id_ in (1, "1", 2, 1):
        call = make_legacy_call("tools/list", id_=id_)
        plain, short = (post_call(server, key, call, {"Accept-Encoding": coding}) for coding in ("identity", "gzip"))
        assert (plain.headers.get("Content-Encoding"), short.headers["Content-Encoding"]) == (None, "gzip")
        assert plain.content == short.content
        assert plain.content.startswith(b'{"jsonrpc":"2.0","id":%b,"result":{"tools":[' % orjson.dumps(id_))
        assert orjson.loads(plain.content)["result"] == call_legacy(server, key, "tools/list")


def test_a_read_only_key_is_offered_only_what_changes_nothing(server: RunningServer, cast: Cast) -> None:
    tools = call_legacy(server, cast.make_key(Access.READ), "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [op.name for op in DEFAULT_OPERATIONS if op.effect is Effect.READ]
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)


@pytest.mark.parametrize("role", Role)
def test_each_role_is_offered_what_its_rights_allow(role: Role) -> None:
    assert Tools(CATALOGUE.operations).tool_names(ROLE_PERMISSIONS[role], Access.WRITE) == [
        op.name for op in DEFAULT_OPERATIONS if op.permission in ROLE_PERMISSIONS[role]
    ]


def test_no_tool_makes_keys_connections_or_owners() -> None:
    assert not {"create_key", "approve_connection", "add_person", "create_organisation"} & {
        op.name for op in AGENT_OPERATIONS
    }
    for name in ("invite_person", "change_role"):
        schema = describe_tool(next(op for op in AGENT_OPERATIONS if op.name == name))["inputSchema"]
        assert "owner" not in schema["properties"]["role"]["enum"]


def test_the_owners_list_stays_within_its_budget(server: RunningServer, cast: Cast) -> None:
    assert len(orjson.dumps(call_legacy(server, cast.make_key(), "tools/list"))) < BUDGET
    assert len(DEFAULT_OPERATIONS) <= MAX_TOOLS


def test_every_tool_is_well_described() -> None:
    for operation in AGENT_OPERATIONS:
        tool = describe_tool(operation)
        assert tool["title"]
        assert len(tool["description"]) > len(tool["title"])
        assert set(tool["annotations"]) == {
            "title",
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        schema = tool["inputSchema"]
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        assert not {"oneOf", "anyOf", "allOf"} & schema.keys()
        assert b"$ref" not in orjson.dumps(tool)
        assert tool["outputSchema"]["type"] == "object"
        # A client that fills in defaults must not clear the fields that it leaves out.
        assert not [name for name, part in schema["properties"].items() if part.get("default", ...) is None]
        assert len(re.findall(r"[.!?](?:\s|$)", tool["description"])) <= 3
        jsonschema.Draft202012Validator.check_schema(schema)


def test_a_result_is_data_and_the_same_as_text(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    result = call_tool(server, key, "get_organisation")
    assert result["isError"] is False
    assert to_utc(result["structuredContent"]) == server.request("GET", "/api/v1/organisation", key).json()
    assert orjson.loads(result["content"][0]["text"]) == result["structuredContent"]
    listed = call_tool(server, key, "list_people", limit=2, detail="full")["structuredContent"]
    assert to_utc(listed) == server.request("GET", "/api/v1/people?limit=2", key).json()


# What an operation answers on either engine has tests of its own; here each is asked for in an organisation of its own.
@pytest.mark.engines("sqlite")
def test_results_fit_their_output_schemas(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    member = cast.people[Role.MEMBER]
    invited = cast.perform(invite_person, name="Ian", email="ian@x.example", role="member")["id"]
    arguments: dict[str, dict[str, Any]] = {
        "get_person": {"personId": member},
        "invite_person": {"name": "Ivy", "email": "ivy@x.example", "role": "member"},
        "update_person": {"personId": member, "phone": "1"},
        "invite_again": {"personId": invited},
        "change_role": {"personId": member, "role": "office"},
        "remove_person": {"personId": member},
    }
    for operation in AGENT_OPERATIONS:
        if operation.name in arguments:
            result = call_tool(server, key, operation.name, **arguments[operation.name])
        else:
            # What is made for one would be in the way of another.
            with temporary_cast(cast.performer) as alone:
                call = make_legacy_call(
                    "tools/call", {"name": operation.name, "arguments": make_example_input(alone, operation)}
                )
                result = post_call(server, alone.make_key(), call, EVERY_TOOLSET).json()["result"]
        schema = describe_tool(operation)["outputSchema"]
        jsonschema.validate(result["structuredContent"], schema)
        # Every name that is told is there; sums only if they are asked for.
        assert schema.get("properties", {}).keys() - {"totals"} <= result["structuredContent"].keys()


def test_a_tool_that_cannot_be_undone_shows_a_preview_first(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    member = cast.people[Role.MEMBER]
    for arguments in ({}, {"confirmed": False}):
        shown = call_tool(server, key, "remove_person", personId=member, **arguments)
        assert shown["structuredContent"]["status"] == "preview"
        assert shown["structuredContent"]["preview"]["object"] == "preview"
        words = shown["content"][0]["text"]
        assert "Nothing has happened yet" in words
        assert "Mia Member" in words
        assert "confirmed: true" in words
    assert call_tool(server, key, "get_person", personId=member)["structuredContent"]["status"] == "active"
    done = call_tool(server, key, "remove_person", personId=member, confirmed=True)["structuredContent"]
    assert (done["status"], done["result"]["status"]) == ("done", "left")


@pytest.mark.parametrize("confirmed", ["true", 1, "yes", None])
def test_only_the_boolean_true_confirms(server: RunningServer, cast: Cast, confirmed: Any) -> None:
    key = cast.make_key()
    member = cast.people[Role.MEMBER]
    result = call_tool(server, key, "remove_person", personId=member, confirmed=confirmed)
    assert result["isError"] is True
    assert "confirmed" in result["content"][0]["text"]
    assert call_tool(server, key, "get_person", personId=member)["structuredContent"]["status"] == "active"


def test_refusals_are_results_that_an_agent_can_act_on(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    key = cast.make_key()
    wrong = call_tool(server, key, "invite_person", name="", email="x", role="owner", colour="red")
    assert wrong["isError"] is True
    assert {part.split(":")[0] for part in wrong["content"][0]["text"].split("; ")} == {
        "name",
        "email",
        "role",
        "colour",
    }
    unknown = call_tool(server, key, "get_person", personId="person_01M7FEP0578J3HG4TG3KEGCVB7")
    foreign = call_tool(server, key, "get_person", personId=other_cast.people[Role.OWNER])
    assert unknown == foreign
    assert unknown["isError"] is True
    assert unknown["content"][0]["text"].endswith("list_people lists them.")


def test_a_read_only_key_is_refused_any_change_in_words(server: RunningServer, cast: Cast) -> None:
    result = call_tool(server, cast.make_key(Access.READ), "update_organisation", name="Changed")
    assert result["isError"] is True
    assert "read only" in result["content"][0]["text"]


def test_while_lapsed_reads_work_and_changes_are_refused_but_listed(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    cast.lapse()
    assert call_tool(server, key, "get_organisation")["isError"] is False
    refused = call_tool(server, key, "update_organisation", name="Changed")
    assert refused["isError"] is True
    assert "subscription" in refused["content"][0]["text"]
    assert "update_organisation" in [tool["name"] for tool in call_legacy(server, key, "tools/list")["tools"]]


def test_what_a_key_changes_carries_its_maker_and_the_key(server: RunningServer, cast: Cast) -> None:
    changed = call_tool(server, cast.make_key(), "update_organisation", phone="123")["structuredContent"]
    assert changed["updatedBy"]["person"]["name"] == "Olivia Owner"
    assert changed["updatedBy"]["via"]["door"] == "agent"
    assert changed["updatedBy"]["via"]["client"]["name"] == "owner write"


def test_modern_results_say_that_they_are_complete(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    listed = call_modern(server, key, "tools/list")
    assert (listed["resultType"], listed["cacheScope"], listed["ttlMs"]) == ("complete", "private", 0)
    for arguments, is_error in (({}, False), ({"nonsense": 1}, True)):
        result = call_modern(server, key, "tools/call", {"name": "get_me", "arguments": arguments})
        assert (result["resultType"], result["isError"]) == ("complete", is_error)

"""The schemas of tools hold in every client: few names, one type each, and patterns that every engine reads."""

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import re2

from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import build_openapi as describe_api
from mainstay.doors.mcp.tool_schema import describe_tool
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.mcp_client import call_tool
from support.raw_http import check_refusal
from support.servers import RunningServer

AGENT_OPERATIONS = [operation for operation in CATALOGUE.operations if Door.AGENT in operation.doors]
TOOL = pytest.mark.parametrize("operation", AGENT_OPERATIONS, ids=lambda operation: operation.name)


def walk_schema(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from walk_schema(inner)


def collect_patterns() -> set[str]:
    shown = [*map(describe_tool, AGENT_OPERATIONS), orjson.loads(describe_api(CATALOGUE, "https://office.example"))]
    return {part["pattern"] for part in walk_schema(shown) if isinstance(part.get("pattern"), str)}


@TOOL
def test_the_answer_of_a_list_names_its_envelope_and_stays_open(operation: Operation) -> None:
    schema = describe_tool(operation)["outputSchema"]
    totals = {"totals"} if operation.totals_model else set()
    assert schema.get("properties", {}).keys() == ({"data", "hasMore"} | totals if operation.returns_page else set())
    # A client that builds a type from a schema drops what is not named, unless it is told that there is more.
    assert schema.get("additionalProperties", "properties" not in schema) is True


@TOOL
def test_no_type_is_one_of_several(operation: Operation) -> None:
    tool = describe_tool(operation)
    assert [part for part in walk_schema(tool) if isinstance(part.get("type"), list)] == []


def test_every_pattern_is_read_by_re2_and_means_the_same_there() -> None:
    found = collect_patterns()
    assert len(found) >= 3
    texts = ["Tom", "kim@example.com", "#3366cc", "a\tb", "a\nb", "a\u0085b", "a\u2028b", "a\u2029b", "é", "x y", ""]
    for pattern in found:
        for text in texts:
            assert bool(re2.search(pattern, text)) == bool(re.search(pattern, text)), (pattern, text)


def test_a_whole_number_may_be_written_with_a_point(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    assert call_tool(server, key, "list_people", limit=2.0) == call_tool(server, key, "list_people", limit=2)
    for wrong in (2.5, "2.0", 1e300, True):
        answer = call_tool(server, key, "list_people", limit=wrong)
        assert answer["isError"] is True
        assert answer["content"][0]["text"].startswith("limit: ")
    assert check_refusal(server.request("GET", "/api/v1/people?limit=2.0", key), 422) == "limit: is not a whole number"


@pytest.mark.parametrize(("given", "kept"), [("85.50", "85.50"), (85.5, "85.50"), (85, "85.00"), (0.0125, "0.0125")])
def test_a_price_is_text_and_a_number_is_taken_by_its_digits(
    server: RunningServer, cast: Cast, given: object, kept: str
) -> None:
    person = cast.people[Role.MEMBER]
    changed = call_tool(server, cast.make_key(), "update_person", personId=person, costRate=given)
    assert changed["structuredContent"]["costRate"] == kept

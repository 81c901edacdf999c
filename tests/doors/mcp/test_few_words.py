"""Each field of a tool is described in few words, unless its name says everything."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from mainstay.business.customers.operations import create_customer, update_customer
from mainstay.business.customers.sites_and_contacts import save_site
from mainstay.business.jobs.operations import create_job, update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import update_person
from mainstay.business.quotes.operations import draft_quote, update_quote
from mainstay.business.schedule.planning import plan_schedule
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.instructions import INSTRUCTIONS
from mainstay.doors.mcp.tool_schema import PLAIN_COMMON_FIELDS, PLAIN_FIELDS, describe_tool
from mainstay.doors.schemas import input_schema
from mainstay.kernel.operation import Operation
from mainstay.values import fields
from mainstay.values.wall_times import EnteredMoment
from mainstay.vocabulary.actor import Door

AGENT_OPERATIONS = [operation for operation in CATALOGUE.operations if Door.AGENT in operation.doors]
# Reports, a column of one, the web address of a record, and kinds of records and lists.
MEANT_ELSEWHERE = {"statement", "receivables", "customer", "taxKey", "url", "invoices"}
TOOL = pytest.mark.parametrize("operation", AGENT_OPERATIONS, ids=lambda operation: operation.name)


def input_fields_of(operation: Operation) -> dict[str, Any]:
    properties: dict[str, Any] = describe_tool(operation)["inputSchema"]["properties"]
    return properties


def find_tool(name: str) -> Operation:
    return next(operation for operation in AGENT_OPERATIONS if operation.name == name)


def find_undescribed_fields(operation: Operation) -> set[str]:
    return {name for name, field in input_fields_of(operation).items() if "description" not in field}


def id_fields_of(operation: Operation) -> set[str]:
    listing = operation.on or operation.offered_on
    named = to_camel(listing.id_field) if listing and listing.id_field else ""
    return {named, f"{named}s"} & input_fields_of(operation).keys()


def walk_fields(part: Any, path: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every field at any depth: its path, its name and its schema."""
    if isinstance(part, list):
        for option in part:
            yield from walk_fields(option, path)
    elif isinstance(part, dict):
        for name, field in part.get("properties", {}).items():
            yield f"{path}.{name}", name, field
            yield from walk_fields(field, f"{path}.{name}")
        for keyword in ("items", "anyOf", "additionalProperties"):
            yield from walk_fields(part.get(keyword), path)


@TOOL
def test_every_field_is_described_unless_its_name_says_everything(operation: Operation) -> None:
    schema, said = describe_tool(operation)["inputSchema"], set()
    plain = PLAIN_COMMON_FIELDS | id_fields_of(operation)
    assert find_undescribed_fields(operation) <= plain
    undescribed = []
    for path, name, field in walk_fields(schema):
        if "description" in field:
            said.add(name)
        elif name not in PLAIN_FIELDS | plain | said:
            undescribed.append(path)
    assert undescribed == []


def test_a_number_that_can_be_sent_instead_of_an_id_is_said() -> None:
    for name, field in (("get_job", "jobId"), ("get_quote", "quoteId"), ("get_invoice", "invoiceId")):
        assert "number" in input_fields_of(find_tool(name))[field]["description"]


@TOOL
def test_words_of_values_are_kept(operation: Operation) -> None:
    for name, field in input_schema(operation)["properties"].items():
        words = field.get("description", "")
        if any(f"`{value}`" in words for value in field.get("enum", ())):
            assert input_fields_of(operation)[name]["description"] == words


@TOOL
def test_the_api_has_the_words_that_tools_leave_out(operation: Operation) -> None:
    assert all(field["description"] for field in input_schema(operation)["properties"].values())


@TOOL
def test_the_record_itself_is_never_null(operation: Operation) -> None:
    for name in id_fields_of(operation):
        field = {key: part for key, part in input_fields_of(operation)[name].items() if key != "description"}
        one = {"type": "string"}
        assert field == ({"type": "array", "items": one} if name.endswith("Ids") else one)


def test_what_one_would_take_a_field_for_wrongly_is_said_of_the_tool() -> None:
    assert "emails and invitations go to the new one" in describe_tool(update_person)["description"]
    assert "still signs in with the old one" in describe_tool(update_person)["description"]


def test_the_fields_of_a_line_say_what_a_name_does_not() -> None:
    edit = input_fields_of(update_quote)["edits"]["items"]["properties"]
    assert {name for name, field in edit.items() if "description" not in field} == {
        *("description", "quantity", "unit", "discountPercent")
    }
    line = input_fields_of(draft_quote)["lines"]["items"]["properties"]
    assert "code" in line["itemId"]["description"]


def test_the_same_words_are_said_once_in_a_tool() -> None:
    fields = input_fields_of(update_organisation)
    assert fields["jobNumbers"]["properties"]["prefix"]["description"]
    assert fields["quoteNumbers"]["description"]
    assert fields["quoteNumbers"]["properties"]["prefix"] == {"type": "string"}


def test_null_is_told_where_it_clears_something() -> None:
    nothing = {"type": "null"}

    def taken_as(operation: Operation, name: str) -> dict[str, Any]:
        return {key: part for key, part in input_fields_of(operation)[name].items() if key != "description"}

    assert taken_as(update_job, "dueOn") == {"anyOf": [{"format": "date", "type": "string"}, nothing]}
    assert taken_as(create_job, "dueOn") == {"format": "date", "type": "string"}
    assert taken_as(update_person, "costRate") == {"anyOf": [{"type": "string"}, {"type": "number"}, nothing]}
    assert taken_as(create_job, "budget") == {"anyOf": [{"type": "string"}, {"type": "number"}]}
    address, cleared = input_fields_of(update_customer)["billingAddress"]["anyOf"]
    assert cleared == nothing
    # What is merged has null within it as well, also where it cannot be cleared; what is replaced as a whole has none.
    assert address["properties"]["city"] == {"anyOf": [{"type": "string"}, nothing]}
    assert input_fields_of(save_site)["address"]["properties"]["city"] == {"anyOf": [{"type": "string"}, nothing]}
    discount, _ = input_fields_of(update_quote)["discount"]["anyOf"]
    assert nothing not in discount["properties"]["percent"]["anyOf"]
    assert input_fields_of(create_customer)["billingAddress"]["properties"]["city"] == {"type": "string"}


def test_null_is_told_where_the_description_says_what_it_means() -> None:
    line = input_fields_of(draft_quote)["lines"]["items"]["properties"]
    assert line["taxRateId"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    change = input_fields_of(plan_schedule)["changes"]["items"]["properties"]
    assert change["personId"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert {
        path for path, name, field in walk_fields(describe_tool(draft_quote)["inputSchema"]) if "null" in str(field)
    } == {".lines", ".lines.taxRateId"}


@TOOL
def test_words_in_backticks_are_names_and_values_of_the_tool(operation: Operation) -> None:
    tool = orjson.dumps([describe_tool(operation), operation.output.model_json_schema(by_alias=True)]).decode()
    quoted = set(re.findall(r"`([a-z]\w*)`", orjson.dumps(describe_tool(operation)).decode()))
    assert quoted - MEANT_ELSEWHERE <= set(re.findall(r'"(\w+)"', tool))


@pytest.mark.parametrize("name", sorted(PLAIN_COMMON_FIELDS | {"confirmed", "previewToken", "startingAfter", "detail"}))
def test_the_instructions_name_what_most_tools_take(name: str) -> None:
    assert name in INSTRUCTIONS
    assert any(name in input_fields_of(operation) for operation in AGENT_OPERATIONS)


def test_the_instructions_name_what_several_lists_are_narrowed_by() -> None:
    times = Counter(
        name for operation in AGENT_OPERATIONS if operation.returns_page for name in input_fields_of(operation)
    )
    shared = {name for name, lists in times.items() if lists > 3}
    assert {"limit", "startingAfter", "detail", "from", "until"} <= shared
    assert [name for name in sorted(shared) if name not in INSTRUCTIONS and not name.endswith("Id")] == []


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        (fields.Price, "85.50"),
        (fields.Percent, "85.50"),
        (fields.Quantity, "85.50"),
        (fields.Day, "2026-11-15"),
        (fields.Moment, "2026-11-15T10:30:50Z"),
        (EnteredMoment, "2026-11-15T10:30"),
        (EnteredMoment, "2026-11-15T10:30Z"),
        (fields.Country, "GB"),
        (fields.Currency, "EUR"),
        (fields.TimeZone, "Europe/Berlin"),
        (fields.Colour, "#3366cc"),
    ],
)
def test_the_instructions_show_what_is_taken(kind: Any, example: str) -> None:
    assert example in INSTRUCTIONS
    TypeAdapter(kind).validate_python(example)


def test_the_instructions_say_how_prices_are_taken() -> None:
    assert "numbers are accepted too, exactly as written" in INSTRUCTIONS


def test_every_tool_that_the_instructions_name_is_there() -> None:
    named = {word.strip(".,;") for word in INSTRUCTIONS.split() if "_" in word}
    assert {"get_me", "list_visits"} <= named <= {operation.name for operation in AGENT_OPERATIONS}

"""Each field of a tool is described, and what the instructions describe for all tools is not described again."""

from collections import Counter
from typing import Any

import pytest
from pydantic import Field, TypeAdapter
from pydantic.alias_generators import to_camel

from mainstay.business.customers.operations import create_customer, update_customer
from mainstay.business.customers.sites_and_contacts import save_site
from mainstay.business.jobs.operations import create_job, update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.model import Person
from mainstay.business.people.operations import update_person
from mainstay.business.people.store import PEOPLE
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.operations import draft_quote, update_quote
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.instructions import INSTRUCTIONS
from mainstay.doors.mcp.tool_schema import IN_INSTRUCTIONS, describe_tool
from mainstay.doors.schemas import input_schema
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.values import fields
from mainstay.values.wall_times import EnteredMoment
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input

AGENT_OPERATIONS = [operation for operation in CATALOGUE.operations if Door.AGENT in operation.doors]
TOOL = pytest.mark.parametrize("operation", AGENT_OPERATIONS, ids=lambda operation: operation.name)


class WritePerson(Input):
    """Whom to write, and what."""

    person_id: str = Field(description="The person's id.")
    name: str = Field(description="Their name.")
    email: list[str] = Field(description="Where else it goes.")
    subject: str = Field(description="What it is about.")


@operation(permission=Permission.PEOPLE_READ, effect=Effect.READ, on=PEOPLE)
def write_person(_ctx: Context, _given: WritePerson, person: Person) -> Person:
    """Write a person."""
    return person


def input_fields_of(operation: Operation) -> dict[str, Any]:
    properties: dict[str, Any] = describe_tool(operation)["inputSchema"]["properties"]
    return properties


def find_undescribed_fields(operation: Operation) -> set[str]:
    return {name for name, field in input_fields_of(operation).items() if "description" not in field}


def id_fields_of(operation: Operation) -> set[str]:
    listing = operation.on or operation.offered_on
    named = to_camel(listing.id_field) if listing and listing.id_field else ""
    return {named, f"{named}s"} & input_fields_of(operation).keys()


@TOOL
def test_every_field_is_described_unless_the_instructions_describe_it(operation: Operation) -> None:
    assert find_undescribed_fields(operation) <= IN_INSTRUCTIONS | id_fields_of(operation)


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
        one = {"type": "string"}
        assert input_fields_of(operation)[name] == ({"type": "array", "items": one} if name.endswith("Ids") else one)


def test_only_what_the_instructions_describe_has_no_words() -> None:
    assert find_undescribed_fields(write_person) == {"personId"}
    assert find_undescribed_fields(record_quote_decision) == {"quoteId", "confirmed", "previewToken"}
    assert "ids" in input_fields_of(record_quote_decision)["chosen"]["description"]


def test_what_one_would_take_a_field_for_wrongly_is_said_of_the_tool() -> None:
    assert "emails and invitations go to the new one" in describe_tool(update_person)["description"]
    assert "still signs in with the old one" in describe_tool(update_person)["description"]


def test_a_list_of_changes_is_known_by_the_parts_of_the_record() -> None:
    edit = input_fields_of(update_quote)["edits"]["items"]["properties"]
    assert {name for name, field in edit.items() if "description" in field} == {"kind", "edit", "lineId", "position"}
    line = input_fields_of(draft_quote)["lines"]["items"]["properties"]
    assert {name for name, field in line.items() if "description" in field} == {"kind"}


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


@pytest.mark.parametrize("name", sorted(IN_INSTRUCTIONS))
def test_the_instructions_name_what_is_said_once(name: str) -> None:
    assert name in INSTRUCTIONS
    assert any(name in input_fields_of(operation) for operation in AGENT_OPERATIONS)


def test_the_instructions_name_what_several_lists_are_narrowed_by() -> None:
    times = Counter(
        name for operation in AGENT_OPERATIONS if operation.returns_page for name in input_fields_of(operation)
    )
    shared = {name for name, lists in times.items() if lists > 3}
    assert shared > IN_INSTRUCTIONS - {"confirmed", "previewToken"}
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

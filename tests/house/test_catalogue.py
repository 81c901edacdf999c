"""Names, words and shapes over the whole catalogue."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic.alias_generators import to_pascal

from mainstay.catalogue import CATALOGUE
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Effect, Operation
from mainstay.kernel.shapes import Irrevocable, ListInput

VERBS = {
    "accept", "add", "approve", "change", "create", "delete", "get", "invite", "list", "name", "redeliver", "remove",
    "revoke", "rotate", "send", "update",
}  # fmt: skip
OPERATION = pytest.mark.parametrize("operation", CATALOGUE.operations, ids=lambda operation: operation.name)
EVENT = pytest.mark.parametrize("event", CATALOGUE.events, ids=lambda event: event.name)


def test_no_two_operations_share_a_name_or_a_route() -> None:
    routes = [re.sub(r"\{.*?\}", "{}", operation.rest) for operation in CATALOGUE.operations if operation.rest]
    assert len({operation.name for operation in CATALOGUE.operations}) == len(CATALOGUE.operations)
    assert len({*routes}) == len(routes)


@OPERATION
def test_an_operation_is_called_by_a_verb_and_what_it_is_about(operation: Operation) -> None:
    verb, *about = operation.name.split("_")
    assert verb in VERBS
    assert about
    assert operation.name.isascii()
    assert operation.name == operation.name.lower()


@OPERATION
def test_an_operation_is_told_in_a_title_and_a_description(operation: Operation) -> None:
    assert re.fullmatch(r"[A-Z][^.\n]{5,70}", operation.title)
    assert operation.description.endswith(".")


@OPERATION
def test_the_input_is_called_like_the_operation(operation: Operation) -> None:
    assert operation.input.__name__ == to_pascal(operation.name)
    assert operation.output.__name__.endswith("Out")


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema.get("$defs", {}).values()):
        yield from part.get("properties", {}).items()


@OPERATION
def test_every_field_of_an_input_is_described(operation: Operation) -> None:
    schema = operation.input.model_json_schema(by_alias=True)
    assert [name for name, part in properties(schema) if not part.get("description")] == []


@OPERATION
def test_fields_are_camel_case_and_moments_and_dates_are_told_by_their_names(operation: Operation) -> None:
    for model, mode in ((operation.input, "validation"), (operation.output, "serialization")):
        schema = model.model_json_schema(by_alias=True, mode="validation" if mode == "validation" else "serialization")
        for name, part in properties(schema):
            assert re.fullmatch(r"[a-z]+(?:[A-Z][a-z]+)*", name)
            if part.get("format") == "date-time":
                assert name.endswith("At") or name == "since"
            if part.get("format") == "date":
                assert name.endswith("On") or name == "on"


@OPERATION
def test_what_goes_out_always_has_every_field(operation: Operation) -> None:
    schema = operation.output.model_json_schema(by_alias=True, mode="serialization")
    assert {*schema["required"]} == schema["properties"].keys()
    assert operation.output.noun


@OPERATION
def test_the_method_tells_the_effect(operation: Operation) -> None:
    methods = {Effect.READ: {"GET"}, Effect.CHANGE: {"POST", "PATCH", "PUT"}, Effect.IRREVERSIBLE: {"POST"}}
    if operation.rest:
        assert operation.rest.split()[0] in methods[operation.effect]
    assert issubclass(operation.input, Irrevocable) == (operation.effect is Effect.IRREVERSIBLE)


@OPERATION
def test_the_path_names_fields_of_the_input(operation: Operation) -> None:
    named = re.findall(r"\{(.*?)\}", operation.rest or "")
    assert {*named} <= operation.input.model_fields.keys()


@OPERATION
def test_lists_are_called_lists_and_take_what_every_list_takes(operation: Operation) -> None:
    assert operation.lists == operation.name.startswith("list_")
    assert issubclass(operation.input, ListInput) == operation.lists
    if operation.lists:
        assert operation.effect is Effect.READ


@OPERATION
def test_every_operation_is_offered_somewhere(operation: Operation) -> None:
    assert operation.offered


@EVENT
def test_an_event_is_called_by_what_happened_to_what(event: type[Event]) -> None:
    about, happened = event.name.split(".")
    assert event.__name__ == to_pascal(f"{about}_{happened}")
    assert event.__doc__
    assert event.about.noun == about


def test_no_two_events_share_a_name() -> None:
    assert len({event.name for event in CATALOGUE.events}) == len(CATALOGUE.events)


def test_every_event_there_is_stands_in_the_catalogue() -> None:
    declared = {event for event in Event.__subclasses__() if event.__module__.startswith("mainstay.")}
    assert declared == {*CATALOGUE.events}


def test_reactions_listen_to_events_that_happen() -> None:
    assert CATALOGUE.reactions.keys() <= {event.name for event in CATALOGUE.events}


@OPERATION
def test_only_what_changes_nothing_is_done_at_a_glance(operation: Operation) -> None:
    assert not (operation.glances and operation.changes)

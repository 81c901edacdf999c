"""Names, words and shapes over the whole catalogue."""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic.alias_generators import to_pascal

import mainstay
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Effect, Operation
from mainstay.kernel.reaction import DailyTimer, Reaction, TaskKind
from mainstay.kernel.record_store import RecordStore
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import BACKWARDS, IrreversibleInput, ListInput
from mainstay.vocabulary.validation import parse_input
from rules.every import EACH_OPERATION

VERBS = {
    "accept", "add", "approve", "archive", "ask", "change", "create", "delete", "disable", "drop", "end", "get",
    "invite", "list", "merge", "name", "pause", "redeliver", "remove", "reset", "restore", "resume", "retry", "revoke",
    "rotate", "save", "search", "send", "set", "sign", "update",
    "log", "review", "start", "stop", "submit", "undo",
    "cancel", "decide", "find", "move", "plan", "request",
    "decline", "draft", "record", "revise", "see", "withdraw",
    "allocate", "close", "credit", "receive", "reverse", "void",
}  # fmt: skip
# By their names, these two would be something else: one finds records of any kind, the other tells a list.
SEARCH = "search"
HISTORY = "get_history"
EACH_EVENT = pytest.mark.parametrize("event", CATALOGUE.events, ids=lambda event: event.name)


def test_no_two_operations_share_a_name_or_a_route() -> None:
    routes = [re.sub(r"\{.*?\}", "{}", operation.api_path) for operation in CATALOGUE.operations if operation.api_path]
    assert len({operation.name for operation in CATALOGUE.operations}) == len(CATALOGUE.operations)
    assert len({*routes}) == len(routes)


@EACH_OPERATION
def test_an_operation_is_called_by_a_verb_and_what_it_is_about(operation: Operation) -> None:
    verb, *about = operation.name.split("_")
    assert verb in VERBS
    assert about or verb == SEARCH
    assert operation.name.isascii()
    assert operation.name == operation.name.lower()


def test_every_verb_and_every_exception_is_used() -> None:
    names = {operation.name for operation in CATALOGUE.operations}
    assert {name.split("_")[0] for name in names} == VERBS
    assert {SEARCH, HISTORY} <= names


@EACH_OPERATION
def test_an_operation_is_told_in_a_title_and_a_description(operation: Operation) -> None:
    assert re.fullmatch(r"[A-Z][^.\n]{5,70}", operation.title)
    assert operation.description.endswith(".")


@EACH_OPERATION
def test_the_input_is_called_like_the_operation(operation: Operation) -> None:
    assert operation.input.__name__ == to_pascal(operation.name)
    assert operation.output.__name__.endswith("Out")


def list_properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema.get("$defs", {}).values()):
        yield from part.get("properties", {}).items()


@EACH_OPERATION
def test_every_field_of_an_input_is_described(operation: Operation) -> None:
    schema = operation.input.model_json_schema(by_alias=True)
    assert [name for name, part in list_properties(schema) if not part.get("description")] == []


@EACH_OPERATION
def test_fields_are_camel_case_and_moments_and_dates_are_told_by_their_names(operation: Operation) -> None:
    for model, mode in ((operation.input, "validation"), (operation.output, "serialization")):
        schema = model.model_json_schema(by_alias=True, mode="validation" if mode == "validation" else "serialization")
        for name, part in list_properties(schema):
            assert re.fullmatch(r"[a-z]+(?:[A-Z][a-z]+)*\d*", name)
            if part.get("format") == "date-time":
                assert name.endswith("At") or name in {"at", "since"}
            if part.get("format") == "date":
                assert name.endswith(("On", "From", "Until", "Before")) or name in {"on", "from", "until"}


@EACH_OPERATION
def test_what_goes_out_always_has_every_field(operation: Operation) -> None:
    schema = operation.output.model_json_schema(by_alias=True, mode="serialization")
    assert {*schema["required"]} == schema["properties"].keys()
    assert operation.output.noun


@EACH_OPERATION
def test_the_method_tells_the_effect(operation: Operation) -> None:
    methods = {Effect.READ: {"GET"}, Effect.CHANGE: {"POST", "PATCH", "PUT"}, Effect.IRREVERSIBLE: {"POST"}}
    if operation.api_path:
        assert operation.api_path.split()[0] in methods[operation.effect]
    assert issubclass(operation.input, IrreversibleInput) == (operation.effect is Effect.IRREVERSIBLE)


@EACH_OPERATION
def test_the_path_names_fields_of_the_input(operation: Operation) -> None:
    named = re.findall(r"\{(.*?)\}", operation.api_path or "")
    assert {*named} <= operation.input.model_fields.keys()


@EACH_OPERATION
def test_lists_are_called_lists_and_take_what_every_list_takes(operation: Operation) -> None:
    assert operation.returns_page == (operation.name.startswith("list_") or operation.name == HISTORY)
    assert issubclass(operation.input, ListInput) == operation.returns_page
    if operation.returns_page:
        assert operation.effect is Effect.READ


@EACH_OPERATION
def test_every_operation_is_offered_somewhere(operation: Operation) -> None:
    assert operation.doors


@EACH_EVENT
def test_an_event_is_called_by_what_happened_to_what(event: type[Event]) -> None:
    about, happened = event.name.split(".")
    assert event.__name__ == "".join(part[0].upper() + part[1:] for part in (about, happened))
    assert event.__doc__
    assert event.output.noun == about


def test_no_two_events_share_a_name() -> None:
    assert len({event.name for event in CATALOGUE.events}) == len(CATALOGUE.events)


def test_a_range_that_ends_before_it_begins_is_refused_alike_everywhere() -> None:
    ranges = [one for one in CATALOGUE.operations if {"from_", "until"} <= one.input.model_fields.keys()]
    assert len(ranges) >= 12
    for operation in ranges:
        with pytest.raises(Invalid) as refused:
            parse_input(operation.input, b'{"from": "2038-01-02", "until": "2038-01-01"}')
        assert Fault("until", BACKWARDS) in refused.value.faults


def find_declared(kind: type) -> list[object]:
    """What the modules of the product declare of a kind, found by reading them all."""
    for module in pkgutil.walk_packages(mainstay.__path__, "mainstay."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("mainstay.")]
    values = {id(value): value for module in modules for value in vars(module).values()}
    return [value for value in values.values() if _is_of_kind(value, kind)]


def _is_of_kind(value: object, kind: type) -> bool:
    if kind is Event:
        return isinstance(value, type) and issubclass(value, Event) and value is not Event
    return isinstance(value, kind)


def test_an_order_that_leaves_records_out_says_so() -> None:
    short = {
        listing.output
        for listing in find_declared(RecordStore)
        if isinstance(listing, RecordStore) and any(order.missing_label for order in listing.orders.values())
    }
    described = {
        one.output: one.input.model_fields["order"].description or ""
        for one in CATALOGUE.operations
        if one.returns_page and one.output in short
    }
    assert len(described) >= 5
    assert all(description.endswith(", without those that have no date.") for description in described.values())


def test_everything_that_is_declared_stands_in_the_catalogue() -> None:
    assert {*find_declared(Operation)} == {*CATALOGUE.operations}
    assert {*find_declared(Event)} == {*CATALOGUE.events}
    for kind in (Reaction, DailyTimer, TaskKind):
        # A room names its own in a tuple; none stands alone.
        assert find_declared(kind) == []


def test_reactions_listen_to_events_that_happen() -> None:
    assert {reaction.event for reaction in CATALOGUE.reactions} <= {*CATALOGUE.events}
    for event in CATALOGUE.events:
        expected = [reaction for reaction in CATALOGUE.reactions if reaction.event is event]
        assert CATALOGUE.reactions_to(event.name) == expected


def test_no_reaction_timer_or_task_shares_a_name_with_anything() -> None:
    # A repeat is known by it.
    names = [operation.name for operation in CATALOGUE.operations]
    names += [act.name for acts in (CATALOGUE.reactions, CATALOGUE.timers, CATALOGUE.task_kinds) for act in acts]
    assert len({*names}) == len(names)


@EACH_OPERATION
def test_what_the_api_offers_has_a_route_and_what_has_a_route_is_offered_there(operation: Operation) -> None:
    # What can be done through a door is told there as an available action: it must be there to be done.
    assert (operation.api_path is not None) == (Door.API in operation.doors)


@EACH_OPERATION
def test_what_is_done_to_a_record_names_it_if_something_can_block_it(operation: Operation) -> None:
    listing = operation.on or operation.offered_on
    if operation.blocked_by:
        assert listing is not None
    assert operation.on is None or operation.offered_on is None
    if listing and listing.id_field:
        names = {listing.id_field} if operation.on else {listing.id_field, f"{listing.id_field}s"}
        assert len(names & operation.input.model_fields.keys()) == 1


@EACH_OPERATION
def test_only_what_changes_nothing_is_a_single_statement(operation: Operation) -> None:
    assert not (operation.single_statement and operation.changes)

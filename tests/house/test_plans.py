"""Every list walks an index in its order: no list sorts, and none reads a whole table."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import orjson
import pytest

from house.examples import Trial
from mainstay.backing.database import EVERY
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.rights import RIGHTS, Role
from mainstay.values.ids import new_id
from mainstay.webhooks.deliveries import list_deliveries
from mainstay.webhooks.feed import list_events
from recording import Statement

# A list may look different to those who see less.
LISTS_BY_ROLE = [
    pytest.param(operation, role, id=f"{operation.name}-{role}")
    for operation in CATALOGUE.operations
    for role in (Role.OWNER, Role.MEMBER)
    if operation.lists and operation.right in RIGHTS[role]
]


def values_of(name: str, part: dict[str, Any], whole: dict[str, Any]) -> list[object]:
    """Nothing, and one value that the schema allows."""
    if name == "startingAfter":
        return [None, "cursor"]
    if name == "type":
        return [None, CATALOGUE.events[0].name]
    for option in part.get("anyOf", [part]):
        of_option = whole["$defs"][option["$ref"].rpartition("/")[2]] if "$ref" in option else option
        if "enum" in of_option:
            return [None, of_option["enum"][0]]
        if of_option.get("type") == "boolean":
            return [None, True]
    return [None, "x"]


def combinations(operation: Operation, noun: str, needed: dict[str, object]) -> Iterator[dict[str, object]]:
    schema = operation.input.model_json_schema(by_alias=True)
    names = [name for name in schema["properties"] if name != "limit" and name not in needed]
    choices = [values_of(name, schema["properties"][name], schema) for name in names]
    for chosen in product(*choices):
        given = {name: value for name, value in zip(names, chosen, strict=True) if value is not None}
        if "startingAfter" in given:
            given["startingAfter"] = new_id(noun)
        yield needed | given


def listed(trial: Trial, operation: Operation, role: Role) -> list[Statement]:
    noun = operation.name.removeprefix("list_")
    prefixes = {"people": "person", "events": "evt", "deliveries": "delivery"}
    trial.database.statements.clear()
    for given in combinations(operation, prefixes.get(noun, noun.removesuffix("s")), trial.open.input(operation)):
        trial.stage.perform(operation, trial.open.cast.actor(role), orjson.dumps(given), Envelope("req_1"))
    return [*trial.database.statements]


def plan(trial: Trial, statement: Statement) -> list[str]:
    with trial.database.inner.reading(EVERY) as rows:
        return [str(row[3]) for row in rows.all(f"EXPLAIN QUERY PLAN {statement.sql}", **statement.given)]


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(("operation", "role"), LISTS_BY_ROLE)
def test_a_list_walks_an_index_whatever_it_is_narrowed_by(trial: Trial, operation: Operation, role: Role) -> None:
    statements = listed(trial, operation, role)
    assert statements
    for statement in statements:
        # What a subquery does is told in steps of its own.
        steps = [step for step in plan(trial, statement) if "SCALAR SUBQUERY" not in step]
        assert not [step for step in steps if "TEMP B-TREE" in step or step.startswith("SCAN")], statement.sql
        assert all("USING" in step and "INDEX" in step for step in steps), statement.sql


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("operation", "narrowed", "searched"),
    [
        (list_deliveries, {}, "(organisation_id=? AND webhook_id=?)"),
        (list_deliveries, {"status": "failed"}, "(organisation_id=? AND webhook_id=? AND status=?)"),
        (list_events, {"type": CATALOGUE.events[0].name}, "(organisation_id=? AND type=?)"),
    ],
)
def test_what_may_be_rare_among_very_many_is_not_looked_for_among_the_others(
    trial: Trial, operation: Operation, narrowed: dict[str, object], searched: str
) -> None:
    trial.database.statements.clear()
    given = orjson.dumps(trial.open.input(operation) | narrowed)
    trial.stage.perform(operation, trial.open.cast.actor(Role.OWNER), given, Envelope("req_1"))
    assert [step for step in plan(trial, trial.database.statements[-1]) if searched in step]

"""Members and subcontractors are told of their own alone, whatever they ask: generated, so that nothing is forgotten.

Every operation that they may do is asked for with every field that could name, narrow or find what is not theirs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import orjson
import pytest

from house.examples import Exhibit, furnish
from house.examples_schedule import DAY
from house.hidden import hide
from house.hidden_words import BEGINNING, Hidden, Viewer
from house.test_rights import ALLOWED, REFUSED_LATER
from mainstay.backing.guard import Guard
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tools import Tools
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Refusal
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from recording import RecordingDatabase

# What someone sees is decided by the same statements on every engine; with every engine it is tried in the long run.
pytestmark = pytest.mark.engines("sqlite")

Given = dict[str, Any]

# A right that an actor was not read with counts for readings alone: a change reads it again.
CASES = [
    pytest.param(viewer, operation, id=f"{viewer.name}-{operation.name}")
    for viewer in Viewer
    for operation in CATALOGUE.operations
    if operation.name in ALLOWED[viewer.role] and not (operation.changes and viewer is Viewer.APART)
]
TOOLS = Tools(CATALOGUE.operations)


@dataclass(frozen=True)
class Sight:
    """An organisation in which there is much to hide, on a stage where every change is taken back."""

    stage: Stage
    exhibit: Exhibit
    hidden: Hidden
    actors: dict[Viewer, Actor]

    def ask(self, viewer: Viewer, operation: Operation, given: Given) -> "Heard":
        """What someone is answered, or told in a refusal, with what an agent is told beside it."""
        actor = self.actors[viewer]
        raw = orjson.dumps(given)
        try:
            # As for a page: with what can be done to each record, which needs more to be known of it.
            answer = self.stage.perform(operation, actor, raw, Envelope(new_id("req"), actions=True))
        except Refusal as refusal:
            text = refusal.text + TOOLS.way_out(operation, refusal, actor)
            return Heard(self.hidden.told(viewer, text, raw.decode()), refused=True)
        body = orjson.loads(answer.body)
        found = body["data"] if operation.lists else body.get("hits")
        return Heard(self.hidden.told(viewer, answer.body.decode(), raw.decode()), found=found)


@dataclass(frozen=True)
class Heard:
    """What came of asking."""

    # What should not have been told.
    told: list[str]
    refused: bool = False
    # What a list or a search held.
    found: list[Any] | None = None


@pytest.fixture(scope="session")
def sight(stage: Stage) -> Sight:
    offline = replace(stage, guard=Guard(allow_private=True))
    exhibit = furnish(offline)
    hidden = hide(exhibit.cast, exhibit.business, exhibit.schedule, exhibit.hours)
    unkept = replace(offline, database=RecordingDatabase(stage.database, keep=False), ring=lambda: None)
    return Sight(unkept, exhibit, hidden, {viewer: viewer.actor(exhibit.cast) for viewer in Viewer})


def names_record(name: str) -> bool:
    return name.endswith(("Id", "Ids")) and name != "clientId"


@cache
def properties(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = operation.input.model_json_schema().get("properties", {})
    return found


def values(operation: Operation, name: str, hidden: Hidden) -> Iterator[Any]:
    """What a field could be sent, so as to see more than one should."""
    schema = properties(operation)[name]
    if names_record(name):
        known = [*hidden.records, hidden.number]
        yield from ([one] for one in known) if name.endswith("Ids") else known
    elif name == "startingAfter":
        yield from hidden.records
    elif name == "text" and not operation.changes:
        yield from (BEGINNING, hidden.number, *hidden.words)
    for kind in (schema, *schema.get("anyOf", ())):
        yield from kind.get("enum", ())
        yield from [True] if kind.get("type") == "boolean" else ()
        yield from [DAY, "2001-01-01"] if kind.get("format") == "date" else ()


@pytest.mark.parametrize(("viewer", "operation"), CASES)
def test_nobody_is_told_of_what_is_not_theirs(sight: Sight, viewer: Viewer, operation: Operation) -> None:
    usual, hidden = sight.exhibit.input(operation, viewer.role), sight.hidden
    unseen, unknown = {*hidden.ids(viewer), hidden.number}, hidden.from_(viewer)
    heard = sight.ask(viewer, operation, usual)
    assert heard.told == []
    assert heard.refused == (operation.name in REFUSED_LATER)
    # A list that held nothing would prove nothing.
    assert heard.found or not operation.lists
    for name in properties(operation):
        for value in values(operation, name, hidden):
            heard = sight.ask(viewer, operation, {**usual, name: value})
            assert (name, value, heard.told) == (name, value, [])
            # Nor is anything found by what they are not told of it.
            assert (value, bool(heard.found) and name == "text" and value in unknown) == (value, False)
            if names_record(name) and unseen.intersection([value] if isinstance(value, str) else value):
                # There is no such record, and so nothing to be done to it and nothing beside it.
                narrows = operation.lists and name != "recordId" and value in hidden.named
                assert (name, value, heard.refused or heard.found == [] or narrows) == (name, value, True)


@pytest.mark.parametrize("viewer", list(Viewer), ids=lambda viewer: viewer.name)
def test_everything_that_is_hidden_is_there(sight: Sight, viewer: Viewer) -> None:
    # The owner is told each word by some operation: what nobody is ever told hides by itself.
    told: set[str] = set()
    cast, hidden = sight.exhibit.cast, sight.hidden
    for operation in CATALOGUE.operations:
        if operation.changes or operation.name not in ALLOWED[Role.OWNER]:
            continue
        usual = sight.exhibit.input(operation, Role.OWNER)
        inputs = [usual, {"limit": 100, "order": "latest"}, {"limit": 100, "status": "archived"}]
        inputs += [{**usual, "limit": 100, "recordId": one} for one in [*hidden.records, sight.exhibit.business.job]]
        for given in inputs:
            try:
                body = sight.stage.perform(operation, cast.actor(Role.OWNER), orjson.dumps(given), Envelope("r")).body
            except Refusal:
                continue
            told.update(hidden.told(viewer, body.decode()))
    assert {*hidden.from_(viewer)} == told

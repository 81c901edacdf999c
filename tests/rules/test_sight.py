"""Members and subcontractors see only their own records; the tests are generated, so that none is forgotten.

Every operation that they may perform is tried with every field that could name, filter or find hidden records.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tools import Tools
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Refusal
from rules.examples import SampleRecords, make_samples
from rules.examples_schedule import DAY
from rules.hidden import add_hidden_records
from rules.hidden_words import WORD_PREFIX, HiddenData, RestrictedViewer
from rules.test_rights import ALLOWED, REFUSED_LATER
from support.recorded_statements import RecordingDatabase

# Visibility is decided by the same statements on every engine; the long run uses every engine.
pytestmark = pytest.mark.engines("sqlite")

InputJson = dict[str, Any]

# A permission removed from an actor counts for reads alone: a change reads permissions again.
CASES = [
    pytest.param(viewer, operation, id=f"{viewer.name}-{operation.name}")
    for viewer in RestrictedViewer
    for operation in CATALOGUE.operations
    if operation.name in ALLOWED[viewer.role]
    and not (operation.changes and viewer is RestrictedViewer.MEMBER_WITHOUT_SCHEDULE)
]
TOOLS = Tools(CATALOGUE.operations)


@dataclass(frozen=True)
class VisibilitySetup:
    """An organisation with hidden data, and a performer that rolls every change back."""

    performer: Performer
    samples: SampleRecords
    hidden: HiddenData
    actors: dict[RestrictedViewer, Actor]

    def perform_as(self, viewer: RestrictedViewer, operation: Operation, given: InputJson) -> "ViewerAnswer":
        """Perform an operation as a viewer, and find leaks in the answer or the refusal."""
        actor = self.actors[viewer]
        raw = orjson.dumps(given)
        try:
            # As for a page: with what can be done to each record, which needs more to be known of it.
            answer = self.performer.perform(operation, actor, raw, RequestDetails(new_id("req"), with_actions=True))
        except Refusal as refusal:
            text = refusal.text + TOOLS.hint_after(operation, refusal, actor)
            return ViewerAnswer(self.hidden.find_leaks(viewer, text, raw.decode()), refused=True)
        body = orjson.loads(answer.body)
        found = body["data"] if operation.returns_page else body.get("hits")
        return ViewerAnswer(self.hidden.find_leaks(viewer, answer.body.decode(), raw.decode()), listed=found)


@dataclass(frozen=True)
class ViewerAnswer:
    """The leaks in an answer, whether it was a refusal, and what a list held."""

    # What should not have been told.
    leaks: list[str]
    refused: bool = False
    # What a list or a search held.
    listed: list[Any] | None = None


@pytest.fixture(scope="session")
def visibility_setup(performer: Performer) -> VisibilitySetup:
    offline = replace(performer, guard=AddressGuard(allow_private=True))
    samples = make_samples(offline)
    hidden = add_hidden_records(samples.cast, samples.work_samples, samples.schedule, samples.hours)
    rolled_back = replace(
        offline, database=RecordingDatabase(performer.database, commits=False), wake_worker=lambda: None
    )
    return VisibilitySetup(
        rolled_back, samples, hidden, {viewer: viewer.actor(samples.cast) for viewer in RestrictedViewer}
    )


def is_record_id_field(name: str) -> bool:
    return name.endswith(("Id", "Ids")) and name != "clientId"


@cache
def input_properties(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = operation.input.model_json_schema().get("properties", {})
    return found


def choose_values(operation: Operation, name: str, hidden: HiddenData) -> Iterator[Any]:
    """Yield the values of a field that could reveal hidden data."""
    schema = input_properties(operation)[name]
    if is_record_id_field(name):
        known = [*hidden.records, hidden.number]
        yield from ([one] for one in known) if name.endswith("Ids") else known
    elif name == "startingAfter":
        yield from hidden.records
    elif name == "text" and not operation.changes:
        yield from (WORD_PREFIX, hidden.number, *hidden.words)
    for kind in (schema, *schema.get("anyOf", ())):
        yield from kind.get("enum", ())
        yield from [True] if kind.get("type") == "boolean" else ()
        yield from [DAY, "2001-01-01"] if kind.get("format") == "date" else ()


@pytest.mark.parametrize(("viewer", "operation"), CASES)
def test_nobody_is_told_of_what_is_not_theirs(
    visibility_setup: VisibilitySetup, viewer: RestrictedViewer, operation: Operation
) -> None:
    usual, hidden = visibility_setup.samples.example_input(operation, viewer.role), visibility_setup.hidden
    unseen, unknown = {*hidden.hidden_ids(viewer), hidden.number}, hidden.hidden_texts(viewer)
    answer = visibility_setup.perform_as(viewer, operation, usual)
    assert answer.leaks == []
    assert answer.refused == (operation.name in REFUSED_LATER)
    # A list that held nothing would prove nothing.
    assert answer.listed or not operation.returns_page
    for name in input_properties(operation):
        for value in choose_values(operation, name, hidden):
            answer = visibility_setup.perform_as(viewer, operation, {**usual, name: value})
            assert (name, value, answer.leaks) == (name, value, [])
            # Nor is anything found by what they are not told of it.
            assert (value, bool(answer.listed) and name == "text" and value in unknown) == (value, False)
            if is_record_id_field(name) and unseen.intersection([value] if isinstance(value, str) else value):
                # There is no such record, and so nothing to be done to it and nothing beside it.
                narrows = operation.returns_page and name != "recordId" and value in hidden.ids_shown_anyway
                assert (name, value, answer.refused or answer.listed == [] or narrows) == (name, value, True)


@pytest.mark.parametrize("viewer", list(RestrictedViewer), ids=lambda viewer: viewer.name)
def test_everything_that_is_hidden_is_there(visibility_setup: VisibilitySetup, viewer: RestrictedViewer) -> None:
    # The owner is told each word by some operation: what nobody is ever told hides by itself.
    shown: set[str] = set()
    cast, hidden = visibility_setup.samples.cast, visibility_setup.hidden
    for operation in CATALOGUE.operations:
        if operation.changes or operation.name not in ALLOWED[Role.OWNER]:
            continue
        usual = visibility_setup.samples.example_input(operation, Role.OWNER)
        inputs = [usual, {"limit": 100, "order": "latest"}, {"limit": 100, "status": "archived"}]
        inputs += [
            {**usual, "limit": 100, "recordId": one}
            for one in [*hidden.records, visibility_setup.samples.work_samples.job]
        ]
        for given in inputs:
            try:
                body = visibility_setup.performer.perform(
                    operation, cast.actor(Role.OWNER), orjson.dumps(given), RequestDetails("r")
                ).body
            except Refusal:
                continue
            shown.update(hidden.find_leaks(viewer, body.decode()))
    assert {*hidden.hidden_texts(viewer)} == shown

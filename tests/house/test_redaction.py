"""Whoever may not see a field is shown null there: every model, every role, every door, every operation."""

import orjson
import pytest

from house.every import OPERATION
from house.examples import Exhibit, Trial
from house.test_rights import outcome
from mainstay.business.jobs.model import JobOut
from mainstay.business.people.model import PersonOut
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Door
from mainstay.terms.rights import RIGHTS, Needs, Right, Role
from mainstay.terms.shapes import One, Page, Shown
from mainstay.terms.wire import column_names, to_json
from mainstay.values.ids import new_id
from telling import set_columns
from terms.test_wire import sample

# What someone may do knows no engine; with every engine it is tried in the long run.
pytestmark = pytest.mark.engines("sqlite")

ROLE = pytest.mark.parametrize("role", list(Role))
COSTS = (b"47.1147", b"98.7698")
DOORS = [door for door in Door if door is not Door.HOUSE]


def guarded(model: type[Shown]) -> dict[str, Right]:
    """The fields of a model that not everyone sees, and what one needs to see each."""
    return {
        str(field.alias): needs.right
        for field in model.model_fields.values()
        for needs in field.metadata
        if isinstance(needs, Needs)
    }


GUARDED = sorted({op.output for op in CATALOGUE.operations if guarded(op.output)}, key=lambda model: model.__name__)


def test_there_is_something_to_hide() -> None:
    assert PersonOut in GUARDED
    assert guarded(PersonOut) == {
        "workingHours": Right.ALL_SCHEDULE_READ,
        "costRate": Right.COSTS_READ,
        "billRate": Right.COSTS_READ,
    }


@ROLE
@pytest.mark.parametrize("model", GUARDED, ids=lambda model: model.__name__)
def test_a_record_hides_exactly_what_the_role_may_not_see(model: type[Shown], role: Role) -> None:
    row, whole = sample(model, empty=False)
    hidden = {name: None for name, right in guarded(model).items() if right not in RIGHTS[role]}
    # What is hidden is named, of a list once.
    named = {"hidden": list(hidden)} if hidden else {}
    assert orjson.loads(to_json(One(model, row), RIGHTS[role])) == whole | hidden | named
    page = orjson.loads(to_json(Page(model, [row], has_more=False), RIGHTS[role]))
    assert page == {"object": "list", "data": [whole | hidden], "hasMore": False} | named


@ROLE
@pytest.mark.parametrize("value", ["enquiry", "toSchedule", "inProgress", "toInvoice", "invoiced", "paid", "closed"])
def test_a_field_hides_some_of_what_it_says(role: Role, value: str) -> None:
    row, whole = sample(JobOut, empty=False)
    row = tuple(value if name == "stage" else kept for name, kept in zip(column_names(JobOut), row, strict=True))
    told = orjson.loads(to_json(One(JobOut, row), RIGHTS[role]))
    hides = role in {Role.MEMBER, Role.SUBCONTRACTOR} and value in {"toInvoice", "invoiced", "paid", "closed"}
    assert told["stage"] == (None if hides else value)
    assert ("stage" in told.get("hidden", ())) == hides
    assert told["title"] == whole["title"]


def test_what_is_made_by_hand_has_nothing_to_hide() -> None:
    # It is written as it stands, whoever asks.
    answers = {op: op.function.__annotations__["return"] for op in CATALOGUE.operations}
    by_hand = [op.output for op, answer in answers.items() if isinstance(answer, type) and issubclass(answer, Shown)]
    assert by_hand
    assert [model.__name__ for model in by_hand if guarded(model)] == []


@pytest.fixture(scope="session")
def costly(trial: Trial) -> Exhibit:
    """The open organisation, where everyone has costs that nobody has by chance."""
    people = [*trial.foreign.cast.people.values(), trial.foreign.invited]
    for person in people:
        set_columns(trial.foreign.cast, "person", person, cost_rate=471_147, bill_rate=987_698)
    return trial.foreign


@ROLE
@OPERATION
def test_no_answer_shows_what_the_one_who_asks_may_not_see(
    trial: Trial, costly: Exhibit, operation: Operation, role: Role
) -> None:
    given = costly.input(operation, role)
    for door in DOORS:
        actor = costly.cast.actor(role, door=door)
        if outcome(trial, operation, actor, given) != "done":
            continue
        for actions in (False, True):
            envelope = Envelope(new_id("req"), actions=actions)
            body = trial.stage.perform(operation, actor, orjson.dumps(given), envelope).body
            shows = Right.COSTS_READ in RIGHTS[role]
            if operation.name in {"get_person", "list_people"}:
                assert [cost in body for cost in COSTS] == [shows, shows], door
            elif not shows:
                assert [cost for cost in COSTS if cost in body] == [], door

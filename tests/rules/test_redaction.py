"""A field that someone may not see is null for them: for every model, role, door and operation."""

import orjson
import pytest

from mainstay.business.jobs.model import JobOut
from mainstay.business.people.model import PersonOut
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Permission, RequiresPermission, Role
from mainstay.vocabulary.record_json import column_names, to_json
from mainstay.vocabulary.schemas import Output, PageResult, RecordResult
from rules.every import EACH_OPERATION
from rules.examples import DryRun, SampleRecords
from rules.test_rights import perform_outcome
from support.webhooks import set_columns
from vocabulary.test_wire import sample_record

# Permissions do not depend on the engine; the long run uses every engine.
pytestmark = pytest.mark.engines("sqlite")

EACH_ROLE = pytest.mark.parametrize("role", list(Role))
COSTS = (b"47.1147", b"98.7698")
DOORS = [door for door in Door if door is not Door.SYSTEM]


def find_guarded_fields(model: type[Output]) -> dict[str, Permission]:
    """Return the guarded fields of a model, and the permission that each needs."""
    return {
        str(field.alias): needs.permission
        for field in model.model_fields.values()
        for needs in field.metadata
        if isinstance(needs, RequiresPermission)
    }


MODELS_WITH_GUARDED_FIELDS = sorted(
    {op.output for op in CATALOGUE.operations if find_guarded_fields(op.output)}, key=lambda model: model.__name__
)


def test_there_is_something_to_hide() -> None:
    assert PersonOut in MODELS_WITH_GUARDED_FIELDS
    assert find_guarded_fields(PersonOut) == {
        "workingHours": Permission.ALL_SCHEDULE_READ,
        "costRate": Permission.COSTS_READ,
        "billRate": Permission.COSTS_READ,
    }


@EACH_ROLE
@pytest.mark.parametrize("model", MODELS_WITH_GUARDED_FIELDS, ids=lambda model: model.__name__)
def test_a_record_hides_exactly_what_the_role_may_not_see(model: type[Output], role: Role) -> None:
    row, whole = sample_record(model, empty=False)
    hidden = {name: None for name, right in find_guarded_fields(model).items() if right not in ROLE_PERMISSIONS[role]}
    # What is hidden is named, of a list once.
    named = {"hidden": list(hidden)} if hidden else {}
    assert orjson.loads(to_json(RecordResult(model, row), ROLE_PERMISSIONS[role])) == whole | hidden | named
    page = orjson.loads(to_json(PageResult(model, [row], has_more=False), ROLE_PERMISSIONS[role]))
    assert page == {"object": "list", "data": [whole | hidden], "hasMore": False} | named


@EACH_ROLE
@pytest.mark.parametrize("value", ["enquiry", "toSchedule", "inProgress", "toInvoice", "invoiced", "paid", "closed"])
def test_a_field_hides_some_of_what_it_says(role: Role, value: str) -> None:
    row, whole = sample_record(JobOut, empty=False)
    row = tuple(value if name == "stage" else kept for name, kept in zip(column_names(JobOut), row, strict=True))
    job_json = orjson.loads(to_json(RecordResult(JobOut, row), ROLE_PERMISSIONS[role]))
    hides = role in {Role.MEMBER, Role.SUBCONTRACTOR} and value in {"toInvoice", "invoiced", "paid", "closed"}
    assert job_json["stage"] == (None if hides else value)
    assert ("stage" in job_json.get("hidden", ())) == hides
    assert job_json["title"] == whole["title"]


def test_what_is_made_by_hand_has_nothing_to_hide() -> None:
    # It is written as it is stored, whatever the permissions.
    answers = {op: op.function.__annotations__["return"] for op in CATALOGUE.operations}
    by_hand = [op.output for op, answer in answers.items() if isinstance(answer, type) and issubclass(answer, Output)]
    assert by_hand
    assert [model.__name__ for model in by_hand if find_guarded_fields(model)] == []


@pytest.fixture(scope="session")
def samples_with_costs(dry_run: DryRun) -> SampleRecords:
    """The open organisation, where everyone has costs that nobody has by chance."""
    people = [*dry_run.foreign.cast.people.values(), dry_run.foreign.invited]
    for person in people:
        set_columns(dry_run.foreign.cast, "person", person, cost_rate=471_147, bill_rate=987_698)
    return dry_run.foreign


@EACH_ROLE
@EACH_OPERATION
def test_no_answer_shows_what_the_one_who_asks_may_not_see(
    dry_run: DryRun, samples_with_costs: SampleRecords, operation: Operation, role: Role
) -> None:
    given = samples_with_costs.example_input(operation, role)
    for door in DOORS:
        actor = samples_with_costs.cast.actor(role, door=door)
        if perform_outcome(dry_run, operation, actor, given) != "done":
            continue
        for actions in (False, True):
            envelope = RequestDetails(new_id("req"), with_actions=actions)
            body = dry_run.performer.perform(operation, actor, orjson.dumps(given), envelope).body
            shows = Permission.COSTS_READ in ROLE_PERMISSIONS[role]
            if operation.name in {"get_person", "list_people"}:
                assert [cost in body for cost in COSTS] == [shows, shows], door
            elif not shows:
                assert [cost for cost in COSTS if cost in body] == [], door

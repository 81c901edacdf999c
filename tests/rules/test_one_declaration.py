"""An operation is declared once: with no other line it is a route, a tool, a document, an action on its record."""

from dataclasses import replace

import jsonschema
import orjson
import pytest

from mainstay.business.people.events import PersonUpdated
from mainstay.business.people.model import Person
from mainstay.business.people.operations import get_person
from mainstay.business.people.store import PEOPLE
from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import build_openapi
from mainstay.doors.api.routes import build_api_router
from mainstay.doors.mcp.tool_schema import describe_tool
from mainstay.doors.mcp.tools import Tools
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Access, Permission, Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Reason
from mainstay.vocabulary.schemas import IrreversibleInput
from mainstay.vocabulary.toolsets import Toolset
from rules.documents import format_operation_row
from support.cast import Cast
from support.stored_state import operations_on, read_last_event, read_trail


class RetirePerson(IrreversibleInput):
    """Who retires."""

    person_id: str


def has_no_phone(person: Person, _by: Actor) -> list[Reason]:
    """Why someone cannot retire: there must be a way to call them."""
    known = person.email.startswith("mia")
    return [] if known else [Reason(Message("{person} cannot be called.", person=person.name), first="update_person")]


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /people/{person_id}/retire",
    on=PEOPLE,
    blocked_by=has_no_phone,
    not_undone=Message("Do it again."),
    past_text="Done",
)
def retire_person(ctx: Context, _given: RetirePerson, person: Person) -> Person:
    """Let a person retire.

    They get a watch.
    """
    ctx.effects.append(Message("{person} gets a watch.", person=person.name))
    after = PEOPLE.save(ctx, person, {"phone": "retired"})
    ctx.emit(PersonUpdated(after, person))
    return after


# It would have an area if a package of one declared it.
retire_person = replace(retire_person, area=Toolset.PEOPLE)
CATALOGUE_WITH_RETIRE = replace(CATALOGUE, operations=(*CATALOGUE.operations, retire_person))


@pytest.fixture
def wider_cast(cast: Cast) -> Cast:
    """The cast on a stage whose catalogue has one operation more."""
    return replace(cast, performer=replace(cast.performer, catalogue=CATALOGUE_WITH_RETIRE))


def test_it_is_a_route() -> None:
    found = build_api_router(CATALOGUE_WITH_RETIRE.operations).find("/people/person_1/retire")
    assert found is not None
    assert (found.methods["POST"].operation, found.values) == (retire_person, {"personId": "person_1"})
    assert build_api_router(CATALOGUE.operations).find("/people/person_1/retire") is None


def test_it_is_described() -> None:
    document = orjson.loads(build_openapi(CATALOGUE_WITH_RETIRE, "https://office.example"))
    described = document["paths"]["/people/{personId}/retire"]["post"]
    assert (described["operationId"], described["summary"]) == ("retire_person", "Let a person retire")
    assert described["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/RetirePerson")
    assert document["components"]["schemas"]["RetirePerson"]["properties"].keys() == {"confirmed", "previewToken"}
    assert b"/Person" in orjson.dumps(described["responses"]["200"])
    assert b"/Preview" in orjson.dumps(described["responses"]["200"])
    assert format_operation_row(retire_person).startswith(
        "| `retire_person` | `POST /people/{person_id}/retire` | `people:change` | cannot be undone |"
    )


@pytest.mark.parametrize("role", list(Role))
def test_it_is_a_tool_for_those_who_may(role: Role) -> None:
    tools = Tools(CATALOGUE_WITH_RETIRE.operations)
    assert tools.find_operation("retire_person") is retire_person
    assert ("retire_person" in tools.tool_names(ROLE_PERMISSIONS[role], Access.WRITE)) == (
        Permission.PEOPLE_CHANGE in ROLE_PERMISSIONS[role]
    )
    assert "retire_person" not in tools.tool_names(ROLE_PERMISSIONS[role], Access.READ)
    tool = describe_tool(retire_person)
    jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    assert tool["annotations"]["destructiveHint"] is True


@pytest.mark.parametrize("door", [Door.API, Door.AGENT, Door.OFFICE, Door.CLI])
def test_it_is_an_action_on_its_record_where_nothing_speaks_against_it(wider_cast: Cast, door: Door) -> None:
    def actions(by: Role, person: Role, access: Access = Access.WRITE) -> list[str]:
        shown = wider_cast.perform(get_person, wider_cast.actor(by, access, door), personId=wider_cast.people[person])
        available: list[str] = shown["availableActions"]
        return available

    assert actions(Role.ADMIN, Role.MEMBER)[-1] == "retire_person"
    assert "retire_person" not in actions(Role.ADMIN, Role.OFFICE)
    assert "retire_person" not in actions(Role.MEMBER, Role.MEMBER)
    assert "retire_person" not in actions(Role.ADMIN, Role.MEMBER, Access.READ)


def test_it_is_previewed_and_done_and_told_and_written_down(wider_cast: Cast) -> None:
    member = wider_cast.people[Role.MEMBER]
    assert wider_cast.preview(retire_person, personId=member) == {
        "object": "preview",
        "operation": "retire_person",
        "summary": "Let a person retire: Mia Member.",
        "effects": ["Mia Member gets a watch.", "Webhook event: A person's details or role changed."],
        "warnings": [],
        "blockers": [],
        "email": None,
    }
    assert wider_cast.perform(retire_person, personId=member, confirmed=True)["phone"] == "retired"
    assert read_last_event(wider_cast)["data"]["previous"] == {"phone": None}
    assert read_trail(wider_cast)[-1]["operation"] == "retire_person"
    assert operations_on(wider_cast, member) == ["add_person", "retire_person"]


def test_what_speaks_against_it_and_who_may_not_are_told(wider_cast: Cast) -> None:
    office = wider_cast.people[Role.OFFICE]
    assert wider_cast.perform(retire_person, personId=office)["blockers"] == ["Orla Office cannot be called."]
    with pytest.raises(Blocked, match=r"^Orla Office cannot be called\.$") as refusal:
        wider_cast.perform(retire_person, personId=office, confirmed=True)
    acting = wider_cast.actor(Role.OWNER, door=Door.AGENT)
    assert (
        Tools(CATALOGUE_WITH_RETIRE.operations).hint_after(retire_person, refusal.value, acting)
        == " First: call update_person."
    )
    for role in Role:
        if Permission.PEOPLE_CHANGE not in ROLE_PERMISSIONS[role]:
            with pytest.raises(Forbidden):
                wider_cast.perform(retire_person, role, personId=office)

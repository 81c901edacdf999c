"""An operation is declared once: with no other line it is a route, a tool, a document, an action on its record."""

from dataclasses import replace

import jsonschema
import orjson
import pytest

from cast import Cast
from evidence import history, last_event, trail
from house.documents import row
from mainstay.business.people.events import PersonUpdated
from mainstay.business.people.model import Person
from mainstay.business.people.operations import get_person
from mainstay.business.people.store import PEOPLE
from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import describe
from mainstay.doors.api.routes import api_paths
from mainstay.doors.mcp.described import describe as describe_tool
from mainstay.doors.mcp.tools import Tools
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import Blocked, Forbidden, Reason
from mainstay.terms.rights import RIGHTS, Access, Right, Role
from mainstay.terms.shapes import Irrevocable


class RetirePerson(Irrevocable):
    """Who retires."""

    person_id: str


def has_no_phone(person: Person, _by: Actor) -> list[Reason]:
    """Why someone cannot retire: there must be a way to call them."""
    known = person.email.startswith("mia")
    return [] if known else [Reason(f"{person.name} cannot be called.", unblock="update_person")]


@operation(
    right=Right.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /people/{person_id}/retire",
    on=PEOPLE,
    unless=has_no_phone,
)
def retire_person(ctx: Context, _given: RetirePerson, person: Person) -> Person:
    """Let a person retire.

    They get a watch.
    """
    ctx.effects.append(f"{person.name} gets a watch.")
    after = PEOPLE.save(ctx, person, {"phone": "retired"})
    ctx.record(PersonUpdated(after, person))
    return after


WITH_IT = replace(CATALOGUE, operations=(*CATALOGUE.operations, retire_person))


@pytest.fixture
def wider(cast: Cast) -> Cast:
    """The cast on a stage whose catalogue has one operation more."""
    return replace(cast, stage=replace(cast.stage, catalogue=WITH_IT))


def test_it_is_a_route() -> None:
    found = api_paths(WITH_IT.operations).find("/people/person_1/retire")
    assert found is not None
    assert (found.methods["POST"].operation, found.values) == (retire_person, {"personId": "person_1"})
    assert api_paths(CATALOGUE.operations).find("/people/person_1/retire") is None


def test_it_is_described() -> None:
    document = orjson.loads(describe(WITH_IT, "https://office.example"))
    described = document["paths"]["/people/{personId}/retire"]["post"]
    assert (described["operationId"], described["summary"]) == ("retire_person", "Let a person retire")
    assert described["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/RetirePerson")
    assert document["components"]["schemas"]["RetirePerson"]["properties"].keys() == {"confirmed"}
    assert b"/Person" in orjson.dumps(described["responses"]["200"])
    assert b"/Preview" in orjson.dumps(described["responses"]["200"])
    assert row(retire_person).startswith(
        "| `retire_person` | `POST /people/{person_id}/retire` | `people:change` | cannot be undone |"
    )


@pytest.mark.parametrize("role", list(Role))
def test_it_is_a_tool_for_those_who_may(role: Role) -> None:
    tools = Tools(WITH_IT.operations)
    assert tools.find("retire_person") is retire_person
    assert ("retire_person" in tools.names(RIGHTS[role], Access.WRITE)) == (Right.PEOPLE_CHANGE in RIGHTS[role])
    assert "retire_person" not in tools.names(RIGHTS[role], Access.READ)
    tool = describe_tool(retire_person)
    jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    assert tool["annotations"]["destructiveHint"] is True


@pytest.mark.parametrize("door", [Door.API, Door.AGENT, Door.OFFICE, Door.CLI])
def test_it_is_an_action_on_its_record_where_nothing_speaks_against_it(wider: Cast, door: Door) -> None:
    def actions(by: Role, person: Role, access: Access = Access.WRITE) -> list[str]:
        shown = wider.perform(get_person, wider.actor(by, access, door), personId=wider.people[person])
        available: list[str] = shown["availableActions"]
        return available

    assert actions(Role.ADMIN, Role.MEMBER)[-1] == "retire_person"
    assert "retire_person" not in actions(Role.ADMIN, Role.OFFICE)
    assert "retire_person" not in actions(Role.MEMBER, Role.MEMBER)
    assert "retire_person" not in actions(Role.ADMIN, Role.MEMBER, Access.READ)


def test_it_is_previewed_and_done_and_told_and_written_down(wider: Cast) -> None:
    member = wider.people[Role.MEMBER]
    assert wider.perform(retire_person, personId=member) == {
        "object": "preview",
        "operation": "retire_person",
        "summary": "Let a person retire: Mia Member.",
        "effects": ["Mia Member gets a watch.", "Webhooks are told: A person's details or role changed."],
        "warnings": [],
        "blockers": [],
    }
    assert wider.perform(retire_person, personId=member, confirmed=True)["phone"] == "retired"
    assert last_event(wider)["data"]["previous"] == {"phone": None}
    assert trail(wider)[-1]["operation"] == "retire_person"
    assert history(wider, member) == ["add_person", "retire_person"]


def test_what_speaks_against_it_and_who_may_not_are_told(wider: Cast) -> None:
    office = wider.people[Role.OFFICE]
    assert wider.perform(retire_person, personId=office)["blockers"] == ["Orla Office cannot be called."]
    with pytest.raises(Blocked, match=r"^Orla Office cannot be called\.$") as refusal:
        wider.perform(retire_person, personId=office, confirmed=True)
    acting = wider.actor(Role.OWNER, door=Door.AGENT)
    assert Tools(WITH_IT.operations).way_out(retire_person, refusal.value, acting) == " Call update_person first."
    for role in Role:
        if Right.PEOPLE_CHANGE not in RIGHTS[role]:
            with pytest.raises(Forbidden):
                wider.perform(retire_person, role, personId=office)

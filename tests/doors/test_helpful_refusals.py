"""Refusals say what to do next: which fields are known, how a boolean is sent, what to call, whom to ask."""

from typing import Any

import orjson
import pytest
from pydantic.alias_generators import to_camel

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import get_me, update_person
from mainstay.business.people.roles import remove_person
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tools import Tools
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from mainstay.vocabulary.toolsets import DEFAULT_CHOICE
from rules.examples_any import make_example_input
from support.cast import EMAILS, Cast, temporary_cast
from support.customers import make_customer
from support.mcp_client import call_tool
from support.raw_http import ORGANISATION, PEOPLE, check_refusal
from support.servers import RunningServer

LIST_FIELDS = "limit, startingAfter, status, role, text, order"


def read_refusal(server: RunningServer, key: str, tool: str, /, **arguments: Any) -> str:
    result = call_tool(server, key, tool, **arguments)
    assert result["isError"] is True
    text: str = result["content"][0]["text"]
    return text


def test_an_unknown_argument_is_told_the_known_ones_once(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    message = read_refusal(server, key, "list_people", page=2, sort="name")
    assert message.startswith(f"page: is not known here (known: {LIST_FIELDS}")
    assert message.endswith(", detail); sort: is not known here")
    assert read_refusal(server, key, "get_me", x=1) == "x: is not known here"
    assert read_refusal(server, key, "get_person", personId="x", id="y") == "id: is not known here (known: personId)"


def test_a_statement_asks_for_the_customer_at_every_door(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    message = "customerId: is required for this report"
    assert read_refusal(server, key, "get_report", name="statement") == message
    assert check_refusal(server.request("GET", "/api/v1/reports/statement", key), 422) == message


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("log_hours", {"hours": 2}, "hours: is not known here (perhaps minutes, known: "),
        ("list_jobs", {"customer": "x"}, "customer: is not known here (perhaps customerId, known: "),
        (
            "create_customer",
            {"name": "A", "billingAddress": "1 Weir Lane"},
            "billingAddress: is not an object (with line1, ",
        ),
    ],
)
def test_what_was_meant_is_named(
    server: RunningServer, cast: Cast, tool: str, given: dict[str, Any], told: str
) -> None:
    assert read_refusal(server, cast.make_key(), tool, **given).startswith(told)


def test_the_http_api_names_what_belongs_into_the_query_or_the_body(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}"
    assert check_refusal(server.request("GET", f"{PEOPLE}?sort=name", key), 422).startswith(
        f"sort: is not known here (known: {LIST_FIELDS}"
    )
    # Twice wrong, and still named.
    message = check_refusal(server.request("GET", f"{PEOPLE}?limit=1&limit=2&sort=name", key), 422)
    assert message.startswith(f"limit: is sent twice; sort: is not known here (known: {LIST_FIELDS}")
    # What stands in the path is no field of the body, and a write takes nothing in its query.
    changed = check_refusal(server.request("PATCH", path, key, json={"personId": "x"}), 422)
    assert changed.startswith("personId: is not known here (known: name, email, phone, ")
    assert "personId," not in changed
    assert check_refusal(server.request("PATCH", f"{path}?name=x", key, json={}), 422) == "name: is not known here"
    assert check_refusal(server.request("GET", f"{path}?x=1", key), 422) == "x: is not known here"


def test_what_is_not_known_within_a_field_is_told_what_is_known_there(server: RunningServer, cast: Cast) -> None:
    message = check_refusal(
        server.request("PATCH", ORGANISATION, cast.make_key(), json={"address": {"town": "Halifax"}}), 422
    )
    assert message == "address.town: is not known here (known: line1, line2, city, region, postalCode, country)"


def test_a_boolean_as_text_is_told_how_it_is_sent(server: RunningServer, cast: Cast) -> None:
    message = read_refusal(
        server, cast.make_key(), "remove_person", personId=cast.people[Role.MEMBER], confirmed="true"
    )
    assert message == "confirmed: is not true or false (send the JSON boolean true, not text)"


@pytest.mark.parametrize(
    ("role", "operation", "told"),
    [
        (Role.OFFICE, update_person, "Use one with read and write access"),
        (Role.MEMBER, update_person, "the role member can't get another. Make the change on the website."),
        (Role.MEMBER, update_organisation, "the role member can't do this anyway. Ask an owner or admin."),
        (Role.OFFICE, update_organisation, "the role office can't do this anyway. Ask an owner or admin."),
    ],
)
def test_a_read_only_credential_is_told_whether_another_would_help(
    cast: Cast, role: Role, operation: Operation, told: str
) -> None:
    given = {"personId": cast.people[role]} if operation is update_person else {}
    with pytest.raises(Forbidden, match=r"^This credential is read only") as refusal:
        cast.performer.perform(
            operation,
            cast.actor(role, Access.READ, Door.AGENT),
            orjson.dumps(given | {"phone": "1"}),
            RequestDetails("r"),
        )
    assert told in refusal.value.text


def test_who_may_not_is_told_where_to_see_what_they_may(server: RunningServer, cast: Cast) -> None:
    message = read_refusal(server, cast.make_key(Access.READ), "update_organisation", name="Changed")
    assert message.endswith(" get_me shows what you may do.")


def test_the_last_owner_is_told_where_another_is_named(server: RunningServer, cast: Cast) -> None:
    result = call_tool(server, cast.make_key(), "remove_person", personId=cast.people[Role.OWNER])
    blockers = result["structuredContent"]["preview"]["blockers"]
    assert blockers == [
        "Olivia Owner is the only owner. Make someone else an owner first, on the website under People."
    ]


def test_a_state_that_is_in_the_way_names_the_tool_that_clears_it(server: RunningServer, cast: Cast) -> None:
    key, member = cast.make_key(), cast.people[Role.MEMBER]
    cast.perform(remove_person, personId=member, confirmed=True)
    assert read_refusal(server, key, "update_person", personId=member, phone="1").endswith(
        " First: call invite_person."
    )
    # Where nothing clears it, there is something to look at.
    assert read_refusal(server, key, "invite_again", personId=member).endswith(" get_person shows its current state.")
    taken = read_refusal(server, key, "invite_person", name="A", email=EMAILS[Role.ADMIN], role="member")
    assert taken.endswith(" list_people lists them.")


def test_nobody_is_sent_to_a_tool_that_they_may_not_call(cast: Cast) -> None:
    tools = Tools(CATALOGUE.operations)
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        actor = cast.actor(role, door=Door.AGENT)
        with pytest.raises(NotFound) as refusal:
            cast.performer.perform(update_person, actor, b'{"personId":"nobody","phone":"1"}', RequestDetails("req_1"))
        hint = tools.hint_after(update_person, refusal.value, actor)
        assert hint == (" list_people lists them." if role is Role.MEMBER else "")


def test_one_who_asks_who_they_are_is_told_what_they_can_do_now(cast: Cast) -> None:
    reading = cast.actor(Role.OWNER, Access.READ)
    assert {right.split(":")[1] for right in cast.perform(get_me, reading)["rights"]} == {"read"}
    assert "people:change" in cast.perform(get_me, Role.OWNER)["rights"]
    cast.lapse()
    assert "people:change" not in cast.perform(get_me, Role.OWNER)["rights"]


LISTS = {
    "person": "list_people",
    "customer": "list_customers",
    "site": "list_sites",
    "contact": "list_contacts",
    "equipment": "list_equipment",
    "job": "list_jobs",
    "visit": "list_visits",
    "leave": "list_time_off",
    "entry": "list_hours",
    "document": "list_documents",
    "item": "list_price_items",
    "tax": "list_tax_rates",
    "supplier": "list_suppliers",
    "quote": "list_quotes",
    "po": "list_purchase_orders",
    "bill": "list_bills",
    "invoice": "list_invoices",
    "credit": "list_credit_notes",
    "payment": "list_payments",
}


def test_every_tool_tells_a_way_on_where_a_record_is_not_found(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    tools = [
        one
        for one in CATALOGUE.operations
        if one.is_in(DEFAULT_CHOICE) and Door.AGENT in one.doors and one.on and one.on.id_field
    ]
    assert len(tools) >= 15
    for tool in tools:
        assert tool.on
        assert tool.on.id_field
        with temporary_cast(cast.performer) as alone:
            given = {"role": "member"} if tool.name == "change_role" else make_example_input(alone, tool)
        unknown = {to_camel(tool.on.id_field): new_id(tool.on.prefix)}
        message = read_refusal(server, key, tool.name, **given | unknown)
        assert message.endswith(f" {LISTS[tool.on.prefix]} lists them."), message


def test_the_way_on_is_to_what_there_is_none_of(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    nobody = {"customerId": new_id("customer"), "title": "x"}
    assert read_refusal(server, key, "create_job", **nobody).endswith(" list_customers lists them.")
    nowhere = {"customerId": customer, "title": "x", "siteId": new_id("site")}
    assert read_refusal(server, key, "create_job", **nowhere).endswith(" list_sites lists them.")
    nothing = read_refusal(server, key, "add_note", recordId=new_id("job"), text="x")
    assert nothing == "There is no record with that identifier. search finds records."


def test_a_refusal_of_a_lapsed_organisation_stays_what_it_is(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    cast.lapse()
    assert read_refusal(server, key, "invite_person", name="A", email="a@x.example", role="member").endswith(
        "it is renewed."
    )

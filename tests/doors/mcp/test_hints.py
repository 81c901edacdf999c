"""The hints of every tool are true: what each says of itself is held against what it does to the rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from mainstay.business.people.operations import invite_person
from mainstay.business.people.roles import remove_person
from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_performer
from mainstay.doors.mcp.tool_schema import describe_tool
from mainstay.infrastructure.database import Row
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from rules.examples_any import make_example_input
from support.cast import EMAILS, Cast, make_cast
from support.installations import Installations
from support.stored_state import read_all_rows

AGENT_OPERATIONS = [operation for operation in CATALOGUE.operations if Door.AGENT in operation.doors]
TOOL = pytest.mark.parametrize("operation", AGENT_OPERATIONS, ids=lambda operation: operation.name)
# The trail, and the number of the last event: every change adds to them, whatever it does.
AUDIT_TABLES = {"audit", "audit_record"}
DESTRUCTIVE = {
    "invite_again",
    "change_role",
    "remove_person",
    "merge_customers",
    "cancel_job",
    "cancel_time_off",
    "delete_hours",
    "stop_timer",
    "submit_hours",
    "send_quote",
    "withdraw_quote",
    "record_quote_decision",
    "send_purchase_order",
    "close_purchase_order",
    "cancel_purchase_order",
    "void_bill",
    "delete_draft_invoice",
    "send_invoice",
    "void_invoice",
    "send_reminder",
    "send_reminders",
    "credit_invoice",
    "reverse_payment",
    "send_statement",
}
# What only adds something also changes the sums of what it is added to.
TABLES_OF_SUMS = {
    "record_payment": {"invoice", "customer", "job"},
    "receive_goods": {"purchase_order", "job"},
    "revise_quote": {"quote"},
}
# Numbers are counted up; how far is no record.
COUNTER_TABLES = {"number_series"}
MAILING_OPERATIONS = {
    "undo_change",
    "record_quote_decision",
    "invite_person",
    "update_person",
    "invite_again",
    "cancel_job",
    "plan_visit",
    "move_visit",
    "cancel_visit",
    "plan_schedule",
    "request_time_off",
    "cancel_time_off",
    "decide_time_off",
    "review_hours",
    "send_quote",
    "send_purchase_order",
    "send_invoice",
    "send_reminder",
    "send_reminders",
    "send_statement",
    "credit_invoice",
}


@pytest.fixture
def cast_without_worker(engine: str, installations: Installations, tmp_path: Path) -> Iterator[Cast]:
    """The only organisation of an installation where no worker runs."""
    performer = open_performer(installations.make_with_accounts(engine, tmp_path))
    yield make_cast(performer)
    performer.database.close()


def hints_of(operation: Operation) -> dict[str, Any]:
    annotations: dict[str, Any] = describe_tool(operation)["annotations"]
    return annotations


def make_arguments(cast: Cast, operation: Operation) -> dict[str, Any]:
    """What changes something, or may."""
    member = {"personId": cast.people[Role.MEMBER]}
    given: dict[str, dict[str, Any]] = {
        "update_organisation": {"phone": "+44 1422 555 0142"},
        "get_person": member,
        "invite_person": {"name": "Nina New", "email": "nina@new.example", "role": "member"},
        "update_person": member | {"phone": "+44 7700 900104"},
        "change_role": member | {"role": "subcontractor", "confirmed": True},
        "remove_person": member | {"confirmed": True},
    }
    if operation.name == "invite_again":
        return {"personId": cast.perform(invite_person, name="I", email="i@x.example", role="member")["id"]}
    if operation.name in given:
        return given[operation.name]
    return make_example_input(cast, operation)


def read_contents(cast: Cast) -> dict[str, list[Row]]:
    """Everything but the trail; of the organisation, what is shown of it."""
    rows = {
        table: rows
        for table, rows in read_all_rows(cast.performer.database).items()
        if table not in AUDIT_TABLES | COUNTER_TABLES
    }
    with cast.performer.database.read_transaction(cast.organisation) as handle:
        shown = handle.all("SELECT id, name, phone, updated_at, version FROM organisation WHERE id = :organisation")
    return rows | {"organisation": list(shown)}


def perform_as_agent(cast: Cast, operation: Operation, given: dict[str, Any]) -> None:
    cast.performer.perform(
        operation, cast.actor(Role.OWNER, door=Door.AGENT), orjson.dumps(given), RequestDetails("req_1")
    )


@TOOL
def test_a_tool_does_what_its_hints_say_and_no_more(cast_without_worker: Cast, operation: Operation) -> None:
    annotations, given = hints_of(operation), make_arguments(cast_without_worker, operation)
    before = read_contents(cast_without_worker)

    perform_as_agent(cast_without_worker, operation, given)

    after = read_contents(cast_without_worker)
    if annotations["readOnlyHint"]:
        assert after == before
        assert annotations["idempotentHint"]
    else:
        assert after != before
    # That what can be undone is then as before, tests/rules/test_undo.py shows.
    if not annotations["destructiveHint"] and not operation.undone_by:
        changed = {table for table, rows in before.items() if any(row not in after[table] for row in rows)}
        assert changed <= TABLES_OF_SUMS.get(operation.name, set())
    if not annotations["openWorldHint"]:
        assert find_mailing_work(before, after) == set()
    if annotations["idempotentHint"]:
        perform_as_agent(cast_without_worker, operation, given)
        assert read_contents(cast_without_worker) == after


def find_mailing_work(before: dict[str, list[Row]], after: dict[str, list[Row]]) -> set[str]:
    """What mails someone, now or later, of all that happened."""
    happened = [str(row[3]) for row in after["event"] if row not in before["event"]]
    mailing = {one.name for kind in happened for one in CATALOGUE.reactions_to(kind) if one.name.startswith("mail_")}
    return mailing | {str(row[2]) for row in after["outbox"]} & {"mail", "tell_of_schedule"}


def test_what_ends_or_overwrites_something_for_good_is_destructive_and_nothing_else() -> None:
    assert {operation.name for operation in AGENT_OPERATIONS if hints_of(operation)["destructiveHint"]} == DESTRUCTIVE
    assert {
        operation.name for operation in AGENT_OPERATIONS if hints_of(operation)["openWorldHint"]
    } == MAILING_OPERATIONS


def test_what_can_be_undone_is_not_destructive() -> None:
    undoable = [operation for operation in AGENT_OPERATIONS if operation.undone_by]
    assert len(undoable) > 30
    assert [operation.name for operation in undoable if hints_of(operation)["destructiveHint"]] == []


@TOOL
def test_every_hint_is_said_and_the_title_with_it(operation: Operation) -> None:
    names = {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert hints_of(operation).keys() == names
    assert hints_of(operation)["title"] == operation.title == describe_tool(operation)["title"]


def test_inviting_someone_back_takes_nothing_from_what_is_known_of_them(cast_without_worker: Cast) -> None:
    member = cast_without_worker.people[Role.MEMBER]
    given = {"name": "Mia Member", "email": EMAILS[Role.MEMBER], "role": "member"}
    invited = cast_without_worker.perform(
        invite_person, **given | {"email": "m@x.example"}, phone="123", skills=["gas"]
    )
    cast_without_worker.perform(remove_person, personId=invited["id"], confirmed=True)

    back = cast_without_worker.perform(invite_person, **given | {"email": "m@x.example", "role": "office"}, phone="456")

    assert (back["id"], back["phone"], back["skills"], back["role"]) == (invited["id"], "456", ["gas"], "office")
    assert back["id"] != member


def test_what_alters_a_record_that_was_there_does_not_say_that_it_only_adds() -> None:
    altering = {"accept_invitation", "change_password", "reset_password"}
    found = {operation.name for operation in CATALOGUE.operations if operation.changes and not operation.only_adds}
    assert altering <= found
    assert {operation.name for operation in CATALOGUE.operations if operation.is_irreversible} <= found

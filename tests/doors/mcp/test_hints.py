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
    "update_organisation",
    "update_saved_view",
    "delete_saved_view",
    "restore_saved_view",
    "update_person",
    "invite_again",
    "change_role",
    "remove_person",
    "update_customer",
    "archive_customer",
    "restore_customer",
    "merge_customers",
    "save_site",
    "save_equipment",
    "save_price_item",
    "save_tax_rate",
    "save_supplier",
    "update_quote",
    "revise_quote",
    "send_quote",
    "record_quote_decision",
    "withdraw_quote",
    "update_purchase_order",
    "send_purchase_order",
    "receive_goods",
    "close_purchase_order",
    "cancel_purchase_order",
    "record_bill",
    "update_bill",
    "void_bill",
    "draft_invoice",
    "update_invoice",
    "delete_draft_invoice",
    "send_invoice",
    "void_invoice",
    "send_reminder",
    "send_reminders",
    "send_statement",
    "credit_invoice",
    "record_payment",
    "allocate_payment",
    "reverse_payment",
    "save_contact",
    "update_job",
    "change_job_status",
    "cancel_job",
    "plan_visit",
    "move_visit",
    "cancel_visit",
    "set_visit_status",
    "plan_schedule",
    "cancel_time_off",
    "decide_time_off",
    "log_hours",
    "update_hours",
    "delete_hours",
    "start_timer",
    "stop_timer",
    "submit_hours",
    "review_hours",
    "undo_change",
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


def hints_of(operation: Operation) -> dict[str, bool]:
    annotations: dict[str, bool] = describe_tool(operation)["annotations"]
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
    if not annotations["destructiveHint"]:
        assert {table: [row for row in rows if row not in after[table]] for table, rows in before.items()} == {
            table: [] for table in before
        }
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


def test_what_changes_or_ends_something_is_destructive_and_what_only_adds_is_not() -> None:
    assert {operation.name for operation in AGENT_OPERATIONS if hints_of(operation)["destructiveHint"]} == DESTRUCTIVE
    assert {
        operation.name for operation in AGENT_OPERATIONS if hints_of(operation)["openWorldHint"]
    } == MAILING_OPERATIONS


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

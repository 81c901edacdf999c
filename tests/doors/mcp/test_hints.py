"""The hints of every tool are true: what each says of itself is held against what it does to the rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from cast import EMAILS, Cast, assemble
from evidence import contents
from house.examples_any import example
from installations import Installations
from mainstay.backing.database import Row
from mainstay.business.people.operations import invite_person
from mainstay.business.people.standing import remove_person
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.described import describe
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.staging import open_stage
from mainstay.terms.actor import Door
from mainstay.terms.rights import Role

OFFERED = [operation for operation in CATALOGUE.operations if Door.AGENT in operation.offered]
TOOL = pytest.mark.parametrize("operation", OFFERED, ids=lambda operation: operation.name)
# The trail, and the number of the last event: every change adds to them, whatever it does.
TRAIL = {"audit", "audit_record"}
DESTRUCTIVE = {
    "update_organisation",
    "update_person",
    "invite_again",
    "change_role",
    "remove_person",
    "update_customer",
    "archive_customer",
    "restore_customer",
    "merge_customers",
    "save_site",
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
}
# Numbers are counted up; how far is no record.
COUNTED = {"number_series"}
MAILING = {
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
def alone(engine: str, installations: Installations, tmp_path: Path) -> Iterator[Cast]:
    """The only organisation of an installation where no worker runs."""
    stage = open_stage(installations.furnished(engine, tmp_path))
    yield assemble(stage)
    stage.database.close()


def hints(operation: Operation) -> dict[str, bool]:
    told: dict[str, bool] = describe(operation)["annotations"]
    return told


def arguments(cast: Cast, operation: Operation) -> dict[str, Any]:
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
    return example(cast, operation)


def kept(cast: Cast) -> dict[str, list[Row]]:
    """Everything but the trail; of the organisation, what is shown of it."""
    rows = {table: rows for table, rows in contents(cast.stage.database).items() if table not in TRAIL | COUNTED}
    with cast.stage.database.reading(cast.organisation) as handle:
        shown = handle.all("SELECT id, name, phone, updated_at, version FROM organisation WHERE id = :organisation")
    return rows | {"organisation": list(shown)}


def perform(cast: Cast, operation: Operation, given: dict[str, Any]) -> None:
    cast.stage.perform(operation, cast.actor(Role.OWNER, door=Door.AGENT), orjson.dumps(given), Envelope("req_1"))


@TOOL
def test_a_tool_does_what_its_hints_say_and_no_more(alone: Cast, operation: Operation) -> None:
    told, given = hints(operation), arguments(alone, operation)
    before = kept(alone)

    perform(alone, operation, given)

    after = kept(alone)
    if told["readOnlyHint"]:
        assert after == before
        assert told["idempotentHint"]
    else:
        assert after != before
    if not told["destructiveHint"]:
        assert {table: [row for row in rows if row not in after[table]] for table, rows in before.items()} == {
            table: [] for table in before
        }
    if not told["openWorldHint"]:
        assert mails(before, after) == set()
    if told["idempotentHint"]:
        perform(alone, operation, given)
        assert kept(alone) == after


def mails(before: dict[str, list[Row]], after: dict[str, list[Row]]) -> set[str]:
    """What mails someone, now or later, of all that happened."""
    happened = [str(row[3]) for row in after["event"] if row not in before["event"]]
    mailing = {one.name for kind in happened for one in CATALOGUE.reactions_to(kind) if one.name.startswith("mail_")}
    return mailing | {str(row[2]) for row in after["outbox"]} & {"mail", "tell_of_schedule"}


def test_what_changes_or_ends_something_is_destructive_and_what_only_adds_is_not() -> None:
    assert {operation.name for operation in OFFERED if hints(operation)["destructiveHint"]} == DESTRUCTIVE
    assert {operation.name for operation in OFFERED if hints(operation)["openWorldHint"]} == MAILING


def test_inviting_someone_back_takes_nothing_from_what_is_known_of_them(alone: Cast) -> None:
    member = alone.people[Role.MEMBER]
    given = {"name": "Mia Member", "email": EMAILS[Role.MEMBER], "role": "member"}
    invited = alone.perform(invite_person, **given | {"email": "m@x.example"}, phone="123", skills=["gas"])
    alone.perform(remove_person, personId=invited["id"], confirmed=True)

    back = alone.perform(invite_person, **given | {"email": "m@x.example", "role": "office"}, phone="456")

    assert (back["id"], back["phone"], back["skills"], back["role"]) == (invited["id"], "456", ["gas"], "office")
    assert back["id"] != member


def test_what_alters_a_record_that_was_there_does_not_say_that_it_only_adds() -> None:
    altering = {"accept_invitation", "change_password", "reset_password"}
    found = {operation.name for operation in CATALOGUE.operations if operation.changes and not operation.only_adds}
    assert altering <= found
    assert {operation.name for operation in CATALOGUE.operations if operation.is_irreversible} <= found

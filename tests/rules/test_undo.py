"""Every change says how it is undone, and what undoes the example of a change gives every row its previous values."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import Any

import orjson
import pytest

from mainstay.business.hours.timers import start_timer, stop_timer
from mainstay.business.records.undo import undo_change
from mainstay.business.schedule.leave import decide_time_off
from mainstay.catalogue import CATALOGUE
from mainstay.infrastructure.database import DatabaseHandle, Value
from mainstay.infrastructure.schema import read_tables
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Refusal
from rules.doers import CHANGES, actor_for
from rules.every import for_each
from rules.examples import DryRun, SampleRecords
from rules.examples_undo import VARIANTS, Variant

Rows = dict[tuple[str, str], dict[str, Value]]
# Edits the record of an example in another way.
Edit = Callable[[], None]

# The tables of records by the prefixes of their ids, and the column of their organisation.
TABLES = {one.on.prefix: (one.on.table, one.on.tenant_column) for one in CATALOGUE.operations if one.on}
UNDONE = [operation for operation in CHANGES if operation.undone_by]
# Stamps say who changed a row last and when, and versions count the changes.
STAMPS = {"version", "updated_at", "updated_by"}
# What tells of changes, and what follows from them.
TRAIL = {"audit", "audit_record", "event", "outbox", "replay", "undo", "message", "untold_visit", "search_fresh"}
# What is no record of the organisation: credentials, the rows and results of imports and deliveries, and what was used.
NO_RECORDS = {"oauth_code", "oauth_token", "import_cells", "import_change", "delivery_attempt", "assistant_usage"}
# The columns that tell rows of one organisation apart, if not by an id that stays.
KEYS = {
    "own_job": ("id", "person_id"),
    "own_customer": ("id", "person_id"),
    "material": ("document_id", "line_id"),
    "number_series": ("kind",),
    "allocation": ("payment_id", "invoice_id"),
    "billed_source": ("source_id", "kind"),
    "calendar_link": ("person_id",),
    "customer_key": ("key", "customer_id"),
    "kit_part": ("kit_id", "item_id"),
    "search_word": ("kind", "word", "record_id"),
    "search_record": ("kind", "record_id"),
    "conversation_step": ("turn_id", "number"),
}
# The organisation counts its events, and numbers are never used again. When a revision took over its number, a quote is
# found by the number of its own revision. Each pause of a webhook resets when it is served next and its failures.
COUNTERS = {
    "organisation": {"event_sequence", "events_forgotten", "storage_bytes"},
    "number_series": {"next"},
    "quote": {"called"},
    "webhook": {"due_at", "failing_since"},
}
# A new record that is not deleted ends like this.
ENDED = {"archived", "cancelled", "withdrawn", "void"}
# The rows that belong to a new record which stays.
KEPT = {"search_word", "search_record"}


@contextmanager
def open_trial(dry_run: DryRun) -> Iterator[Performer]:
    """Open a performer whose changes are all rolled back."""
    with replace(dry_run.performer, database=dry_run.database.inner).open_batch(
        dry_run.open.cast.organisation, commit=False
    ) as performer:
        yield performer


def read_rows(performer: Performer, organisation: str) -> Rows:
    """Read all rows of the organisation that an undo has to restore."""
    with performer.database.read_transaction(organisation) as db:
        return {
            (table.name, repr(key)): row
            for table in read_tables(db, performer.database.engine)
            if table.name not in TRAIL | NO_RECORDS
            for key, row in _read_table(db, table.name, table.columns)
        }


def _read_table(db: DatabaseHandle, table: str, columns: Sequence[str]) -> list[tuple[object, dict[str, Value]]]:
    owner = "id" if table == "organisation" else "organisation_id"
    if owner not in columns:
        return []
    keys, names = KEYS.get(table, ("id",)), sorted(columns)
    assert {*keys} <= {*names}, f"KEYS lacks the columns that tell the rows of {table} apart"
    rows = [
        dict(zip(names, row, strict=True))
        for row in db.all(f"SELECT {', '.join(names)} FROM {table} WHERE {owner} = :organisation")
    ]
    return [([row[name] for name in keys], row) for row in rows]


def perform(performer: Performer, operation: Operation, actor: Actor, given: object) -> Any:
    try:
        return performer.perform(operation, actor, orjson.dumps(given), RequestDetails(new_id("req")))
    except Refusal as refusal:
        raise AssertionError(refusal.text) from refusal


def without_stamps(table: str, row: dict[str, Value]) -> dict[str, Value]:
    """Return what an undo restores of a row."""
    left_out = STAMPS | COUNTERS.get(table, set()) | ({"id"} & row.keys())
    restored = {name: value for name, value in row.items() if name not in left_out}
    if "receipts" in restored:
        restored["receipts"] = sum_received(str(restored["receipts"]))
    return restored


def sum_received(receipts: str) -> str:
    """Return how much was received of each line: a delivery and its return are both kept."""
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for line in chain.from_iterable(receipt["lines"] for receipt in orjson.loads(receipts)):
        sums[line["lineId"]] += Decimal(line["quantity"])
    return repr(sorted((line, quantity) for line, quantity in sums.items() if quantity))


def find_differences(before: Rows, after: Rows) -> list[str]:
    """Name the rows that differ, apart from their stamps; a new record may stay if it has ended."""
    differences = [f"{key} is gone: {row}" for key, row in before.items() if key not in after]
    for key, row in after.items():
        old = before.get(key)
        if old is None:
            if key[0] not in KEPT and row.get("status") not in ENDED:
                differences.append(f"{key} is new: {row}")
        elif without_stamps(key[0], old) != without_stamps(key[0], row):
            changed = {name: (old[name], row[name]) for name in row if old[name] != row[name]}
            differences.append(f"{key} differs: {changed}")
    return differences


def undoer_of(operation: Operation, actor: Actor) -> Actor:
    """Return the same person, through a door that offers the operation."""
    return actor._replace(door=Door.OFFICE if Door.OFFICE in operation.doors else Door.CLI)


@for_each(CHANGES)
def test_every_change_says_how_it_is_undone_or_why_not(operation: Operation) -> None:
    assert (operation.undone_by is None) != (operation.not_undone is None)
    assert operation.not_undone is None or str(operation.not_undone).endswith(".")


def do_example(performer: Performer, samples: SampleRecords, operation: Operation) -> tuple[Actor, dict[str, object]]:
    """Return who performs the example, and its input; first make what it needs to be undone."""
    actor, given = actor_for(samples, operation), samples.example_input(operation)
    if operation is decide_time_off:
        # Without an earlier decision there is none to go back to.
        perform(performer, operation, actor, given)
        return actor, given | {"decision": "decline"}
    if operation is start_timer:
        # A timer that was stopped to start this one cannot be started again.
        perform(performer, stop_timer, actor, {})
    return actor, given


def undo_again_and_again(performer: Performer, organisation: str, actor: Actor, change: int, before: Rows) -> None:
    """Undo a change; and if the undo can be undone, undo that, and that again."""
    done = read_rows(performer, organisation)
    assert done != before
    undone = perform(performer, undo_change, actor, {"changeIds": [str(change)]})
    assert find_differences(before, read_rows(performer, organisation)) == []
    if undone.undoable_change:
        redone = perform(performer, undo_change, actor, {"changeIds": [str(undone.undoable_change)]})
        assert find_differences(done, read_rows(performer, organisation)) == []
        perform(performer, undo_change, actor, {"changeIds": [str(redone.undoable_change)]})
        assert find_differences(before, read_rows(performer, organisation)) == []


@for_each(UNDONE)
def test_what_is_undone_is_as_before_and_what_is_redone_as_after(dry_run: DryRun, operation: Operation) -> None:
    samples = dry_run.open
    with open_trial(dry_run) as performer:
        actor, given = do_example(performer, samples, operation)
        before = read_rows(performer, samples.cast.organisation)
        answer = perform(performer, operation, actor, given)
        assert answer.undoable_change, answer.body
        undo_again_and_again(
            performer, samples.cast.organisation, undoer_of(operation, actor), answer.undoable_change, before
        )


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.__name__)
def test_whatever_was_changed_is_as_before(dry_run: DryRun, variant: Variant) -> None:
    samples = dry_run.open
    with open_trial(dry_run) as performer:
        actor = samples.cast.actor(Role.OWNER)

        def do(operation: Operation, **given: object) -> dict[str, Any]:
            answer: dict[str, Any] = orjson.loads(perform(performer, operation, actor, given).body)
            return answer

        operation, given = variant(do, samples)
        before = read_rows(performer, samples.cast.organisation)
        answer = perform(performer, operation, actor, given)
        assert answer.undoable_change, answer.body
        undo_again_and_again(performer, samples.cast.organisation, actor, answer.undoable_change, before)


def find_unchecked(performer: Performer, organisation: str, actor: Actor, change: int, *, edit: Edit) -> set[str]:
    """Return the tables of which a record may have changed since, and undoing the change overlooks it."""
    with performer.database.read_transaction(organisation) as db:
        row = db.one(
            "SELECT versions FROM undo WHERE organisation_id = :organisation AND sequence = :sequence", sequence=change
        )
    versions = orjson.loads(str(row and row[0]))
    assert versions
    unchecked = set()
    for record_id, (_, version) in versions.items():
        table, owner = TABLES[record_id.partition("_")[0]]
        # Each record is changed by itself, and what undoes the change with it.
        with performer.database.write_transaction(organisation, keep=False) as db:
            if version:
                where = f"{owner} = :organisation AND id = :id"
                db.run(f"UPDATE {table} SET version = version + 1 WHERE {where}", id=record_id)
            else:
                edit()
            try:
                performer.perform(undo_change, actor, orjson.dumps({"changeIds": [str(change)]}), RequestDetails("r"))
            except Refusal as refusal:
                reason = refusal.text
            else:
                reason = ""
            if "since, so this can't be undone" not in reason:
                unchecked.add(f"{table} {reason}")
    return unchecked


@for_each(UNDONE)
def test_what_was_changed_since_is_refused(dry_run: DryRun, operation: Operation) -> None:
    samples = dry_run.open
    with open_trial(dry_run) as performer:
        actor, given = do_example(performer, samples, operation)
        change = perform(performer, operation, actor, given).undoable_change
        assert change

        def edit() -> None:
            perform(performer, operation, actor, given | {"confirmsInOffice": False})

        undoer = undoer_of(operation, actor)
        assert find_unchecked(performer, samples.cast.organisation, undoer, change, edit=edit) == set()


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.__name__)
def test_each_record_that_was_changed_since_is_noticed(dry_run: DryRun, variant: Variant) -> None:
    samples = dry_run.open
    with open_trial(dry_run) as performer:
        actor = samples.cast.actor(Role.OWNER)

        def do(operation: Operation, **given: object) -> dict[str, Any]:
            answer: dict[str, Any] = orjson.loads(perform(performer, operation, actor, given).body)
            return answer

        operation, given = variant(do, samples)
        change = perform(performer, operation, actor, given).undoable_change
        assert change
        unchecked = find_unchecked(
            performer, samples.cast.organisation, actor, change, edit=lambda: pytest.fail("A record has no version.")
        )
        assert unchecked == set()


@for_each(UNDONE)
def test_each_door_that_offers_a_change_undoes_it(dry_run: DryRun, operation: Operation) -> None:
    """An agent undoes what programs do over the API as well."""
    samples = dry_run.open
    with open_trial(dry_run) as performer:
        actor, given = do_example(performer, samples, operation)
        change = perform(performer, operation, actor, given).undoable_change
        doors = operation.doors & undo_change.doors
        for door in doors | ({Door.AGENT} if Door.API in doors else set()):
            with performer.database.write_transaction(samples.cast.organisation, keep=False):
                perform(performer, undo_change, actor._replace(door=door), {"changeIds": [str(change)]})

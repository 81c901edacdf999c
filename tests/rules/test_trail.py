"""The trail names every record that a change created, changed or deleted, by its id."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.infrastructure.database import DatabaseHandle, Value
from mainstay.infrastructure.schema import read_tables
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from rules.doers import CHANGES, actor_for
from rules.every import for_each
from rules.examples import DryRun
from support.recorded_statements import RecordingDatabase, RecordingHandle

# What a change does is the same on every engine; the long run uses every engine.
pytestmark = pytest.mark.engines("sqlite")

# Rows that belong to another record, which is named itself.
TABLES_OF_OTHER_RECORDS = {"outbox", "delivery"}
# Counters, which say nothing about the record itself.
COUNTER_COLUMNS = {("organisation", "event_sequence"), ("organisation", "storage_bytes")}

RecordRows = dict[str, dict[str, Value]]


@dataclass
class RecordWatchingDatabase(RecordingDatabase):
    """Reads every record before and after a change, and what the trail names, before the rollback."""

    records_before: RecordRows = field(default_factory=dict)
    records_after: RecordRows = field(default_factory=dict)
    named_records: list[list[str]] = field(default_factory=list)

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Open a write transaction, and read records before and after."""
        with super().write_transaction(organisation, keep=keep) as db:
            self.records_before, acts = read_records(db.inner, self.engine), len(read_named_records(db.inner))
            yield db
            self.records_after, self.named_records = (
                read_records(db.inner, self.engine),
                read_named_records(db.inner)[acts:],
            )


def read_records(db: DatabaseHandle, engine: str) -> RecordRows:
    """Return every record of the organisation by its id: rows with a version, or of a kind in the catalogue."""
    listed = {listing.table for listing, _ in CATALOGUE.record_stores.values()}
    found: RecordRows = {}
    for table in read_tables(db, engine):
        if table.name in TABLES_OF_OTHER_RECORDS or not ({"id", "version"} <= {*table.columns} or table.name in listed):
            continue
        tenant = "id" if table.name == "organisation" else "organisation_id"
        for row in db.all(f"SELECT * FROM {table.name} WHERE {tenant} = :organisation"):
            columns = zip(table.columns, row, strict=True)
            values = {name: value for name, value in columns if (table.name, name) not in COUNTER_COLUMNS}
            found[str(values["id"])] = values
    return found


def read_named_records(db: DatabaseHandle) -> list[list[str]]:
    """Return the records that each entry of the trail names."""
    found = db.all("SELECT records FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
    return [orjson.loads(str(text)) for (text,) in found]


def perform_watched(dry_run: DryRun, operation: Operation) -> RecordWatchingDatabase:
    """Perform the example of a change, and return what it did."""
    watched = RecordWatchingDatabase(dry_run.database.inner, commits=False)
    actor, given = actor_for(dry_run.open, operation), orjson.dumps(dry_run.open.example_input(operation))
    replace(dry_run.performer, database=watched).perform(operation, actor, given, RequestDetails(new_id("req")))
    return watched


# What a person says to the assistant is no change of a record. What the assistant does is in the trail.
PRIVATE_TALK = {"ask_assistant", "stop_assistant", "delete_conversation"}


@for_each(CHANGES)
def test_each_record_that_a_change_made_altered_or_ended_is_named(dry_run: DryRun, operation: Operation) -> None:
    seen = perform_watched(dry_run, operation)
    different = {
        one
        for one in seen.records_before | seen.records_after
        if seen.records_before.get(one) != seen.records_after.get(one)
    }
    if operation.name in PRIVATE_TALK:
        assert not seen.named_records
        return
    (named_ids,) = seen.named_records
    # Also what alters no record is done to one, such as sending an invitation again.
    assert named_ids
    assert different - set(named_ids) == set()


def test_what_is_watched_are_records_of_every_kind(dry_run: DryRun) -> None:
    with dry_run.database.inner.read_transaction(dry_run.open.cast.organisation) as db:
        kinds = {record_id.partition("_")[0] for record_id in read_records(db, dry_run.database.engine)}
    assert {"org", "person", "customer", "contact", "site", "job", "entry", "invoice", "payment", "key"} <= kinds
    # Settings are the organisation's.
    assert CATALOGUE.record_stores.keys() - kinds == {"out", "delivery", "settings", "assistant_settings"}

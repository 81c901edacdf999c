"""Whatever a change did to records stands in the trail: each that is new, gone or different is named by its id."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import orjson
import pytest

from house.doers import CHANGES, doer
from house.every import of_each
from house.examples import Trial
from mainstay.backing.database import Handle, Value
from mainstay.backing.schema import read_tables
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from recording import RecordingDatabase, RecordingHandle

# What a change does knows no engine; with every engine it is tried in the long run.
pytestmark = pytest.mark.engines("sqlite")

# Rows by which something is told of a record or sent about it, which is named itself.
OF_ANOTHER = {"outbox", "delivery"}
# Columns that are nothing of the record's own: how many events an organisation has had.
COUNTED = {("organisation", "event_sequence"), ("organisation", "storage_bytes")}

Records = dict[str, dict[str, Value]]


@dataclass
class WatchedDatabase(RecordingDatabase):
    """Looks at every record before a change and at its end, with what the trail names, before it is taken back."""

    before: Records = field(default_factory=dict)
    after: Records = field(default_factory=dict)
    named: list[list[str]] = field(default_factory=list)

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Change all or nothing, watched."""
        with super().changing(organisation, keep=keep) as rows:
            self.before, acts = records(rows.inner, self.engine), len(named(rows.inner))
            yield rows
            self.after, self.named = records(rows.inner, self.engine), named(rows.inner)[acts:]


def records(rows: Handle, engine: str) -> Records:
    """Every record of the organisation by its id: whatever has a version, or is looked at by itself."""
    listed = {listing.table for listing, _ in CATALOGUE.listings.values()}
    found: Records = {}
    for table in read_tables(rows, engine):
        if table.name in OF_ANOTHER or not ({"id", "version"} <= {*table.columns} or table.name in listed):
            continue
        tenant = "id" if table.name == "organisation" else "organisation_id"
        for row in rows.all(f"SELECT * FROM {table.name} WHERE {tenant} = :organisation"):
            columns = zip(table.columns, row, strict=True)
            kept = {name: value for name, value in columns if (table.name, name) not in COUNTED}
            found[str(kept["id"])] = kept
    return found


def named(rows: Handle) -> list[list[str]]:
    """The records that each act in the trail names."""
    found = rows.all("SELECT records FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
    return [orjson.loads(str(text)) for (text,) in found]


def watch(trial: Trial, operation: Operation) -> WatchedDatabase:
    """Do the example of a change; what was seen of it."""
    watched = WatchedDatabase(trial.database.inner, keep=False)
    actor, given = doer(trial.open, operation), orjson.dumps(trial.open.input(operation))
    replace(trial.stage, database=watched).perform(operation, actor, given, Envelope(new_id("req")))
    return watched


@of_each(CHANGES)
def test_each_record_that_a_change_made_altered_or_ended_is_named(trial: Trial, operation: Operation) -> None:
    seen = watch(trial, operation)
    different = {one for one in seen.before | seen.after if seen.before.get(one) != seen.after.get(one)}
    (told,) = seen.named
    # Also what alters no record is done to one, such as sending an invitation again.
    assert told
    assert different - set(told) == set()


def test_what_is_watched_are_records_of_every_kind(trial: Trial) -> None:
    with trial.database.inner.reading(trial.open.cast.organisation) as rows:
        kinds = {identity.partition("_")[0] for identity in records(rows, trial.database.engine)}
    assert {"org", "person", "customer", "contact", "site", "job", "entry", "invoice", "payment", "key"} <= kinds
    # Settings are the organisation's.
    assert CATALOGUE.listings.keys() - kinds == {"out", "delivery", "settings"}

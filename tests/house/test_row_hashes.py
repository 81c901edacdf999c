"""Whatever a change writes is hashed as it is then, and every table says whether its rows are hashed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import cast as known_as

import orjson
import pytest

from house.doers import CHANGES, doer
from house.every import of_each
from house.examples import Trial
from mainstay.backing.database import EVERY, Survey
from mainstay.backing.row_hashes import HASHED, Difference, find_columns, find_differences
from mainstay.backing.schema import read_columns, read_tables
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.values.ids import new_id
from recording import RecordingDatabase, RecordingHandle

# The tables of an organisation whose rows are not hashed, and why.
NOT_HASHED = {
    "audit": "has a chain of its own",
    "audit_record": "is compared with the audit trail",
    "event": "is kept for 30 days",
    "outbox": "is work that goes away",
    "message": "says what became of work, which the worker writes without an act",
    "replay": "is kept for a day",
    "delivery": "is kept for 30 days",
    "delivery_attempt": "is kept for 30 days",
    "import_run": "is kept for 30 days",
    "import_cells": "is kept for 30 days",
    "import_change": "is kept for 30 days",
    "untold_visit": "waits for the next email",
    "oauth_code": "is gone within a day",
    "oauth_token": "is gone when it has expired",
    "one_time_link": "is gone when it has expired",
    "session": "is gone when it has expired",
    "allocation": "is compared with the payment",
    "billed_source": "is compared with the invoice",
    "kit_part": "is compared with the item",
    "own_job": "is compared with the job",
    "own_customer": "is compared with the jobs",
    "customer_key": "is compared with the customer",
    "search_fresh": "is compared with the record",
    "search_record": "is compared with the record",
    "search_word": "is compared with the record",
}


@dataclass
class WatchedDatabase(RecordingDatabase):
    """Compares all rows with their hashes before a change and at its end, before it is taken back."""

    before: set[Difference] = field(default_factory=set)
    after: set[Difference] = field(default_factory=set)

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Change all or nothing, watched."""
        with super().changing(organisation, keep=keep) as rows:
            inner = known_as("Survey", rows.inner)
            self.before = {*find_differences(inner)}
            yield rows
            self.after = {*find_differences(inner)}


@of_each(CHANGES)
@pytest.mark.engines("sqlite")
def test_each_row_that_a_change_wrote_is_hashed_as_it_is(trial: Trial, operation: Operation) -> None:
    watched = WatchedDatabase(trial.database.inner, keep=False)
    actor, given = doer(trial.open, operation), orjson.dumps(trial.open.input(operation))
    replace(trial.stage, database=watched).perform(operation, actor, given, Envelope(new_id("req")))
    assert watched.after - watched.before == set()


def test_every_table_of_an_organisation_is_hashed_or_says_why_not(trial: Trial) -> None:
    with trial.database.inner.reading(trial.open.cast.organisation) as rows:
        tables = read_tables(rows, rows.engine)
        owned = {table.name for table in tables if {"organisation_id", "event_sequence"} & {*table.columns}}
        assert owned == HASHED.keys() | NOT_HASHED.keys()
        assert HASHED.keys() & NOT_HASHED.keys() == set()
        for name, hashed in HASHED.items():
            columns = find_columns(rows, name)
            # Of documents, only those that are printed as a copy or as an e-invoice have a column for it.
            assert {one for one in hashed.left_out if not one.endswith("_sha256")} <= read_columns(rows, name).keys()
            assert hashed.key in {*columns.names, hashed.tenant}


def test_records_are_known_by_the_prefixes_of_their_ids() -> None:
    tables = {listing.table: prefix for prefix, (listing, _) in CATALOGUE.listings.items() if prefix != "settings"}
    assert {name: hashed.prefix for name, hashed in HASHED.items() if name in tables} == {
        name: prefix for name, prefix in tables.items() if name in HASHED
    }


def test_both_engines_write_defaults_that_are_read_alike(stage: Stage) -> None:
    with stage.database.reading(EVERY) as rows:
        defaults = dict(zip(*find_columns(rows, "organisation"), strict=True))
        assert (defaults["payment_terms_days"], defaults["language"], defaults["bank"]) == (14, "en", None)
        assert defaults["mail_texts"] == '{"quote":null}'
        assert dict(zip(*find_columns(rows, "person"), strict=True))["name_folded"] == ""

"""Every row that a change writes is hashed, and every table that is not hashed gives a reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import cast as known_as

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.infrastructure.database import ALL_ORGANISATIONS, ScanHandle
from mainstay.infrastructure.row_hashes import HASHED_TABLES, HashDifference, find_differences, read_hashed_columns
from mainstay.infrastructure.schema import read_columns, read_tables
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from rules.doers import CHANGES, actor_for
from rules.every import for_each
from rules.examples import DryRun
from support.recorded_statements import RecordingDatabase, RecordingHandle

# The tables of an organisation whose rows are not hashed, and why.
NOT_HASHED = {
    "audit": "has a chain of its own",
    "audit_record": "is compared with the audit trail",
    "event": "is kept for 30 days",
    "outbox": "is work that goes away",
    "message": "says what became of work, which the worker writes without an act",
    "confirmation": "is kept for a day",
    "replay": "is kept for a day",
    "undo": "is kept for a day",
    "delivery": "is kept for 30 days",
    "delivery_attempt": "is kept for 30 days",
    "import_run": "is kept for 30 days",
    "import_cells": "is kept for 30 days",
    "import_change": "is kept for 30 days",
    "untold_visit": "waits for the next email",
    "oauth_code": "is gone within a day",
    "oauth_token": "is gone when it has expired",
    "one_time_link": "is gone when it has expired",
    "upload": "is gone when it has expired",
    "session": "is gone when it has expired",
    "allocation": "is compared with the payment",
    "billed_source": "is compared with the invoice",
    "kit_part": "is compared with the item",
    "conversation": "is private talk, and no record",
    "conversation_turn": "is private talk, and no record",
    "conversation_step": "is private talk, and no record",
    "assistant_usage": "counts tokens",
    "own_job": "is compared with the job",
    "own_customer": "is compared with the jobs",
    "customer_key": "is compared with the customer",
    "search_fresh": "is compared with the record",
    "search_record": "is compared with the record",
    "search_word": "is compared with the record",
}


@dataclass
class HashCheckingDatabase(RecordingDatabase):
    """Compares all rows with their hashes before a change and at its end, before it is taken back."""

    differences_before: set[HashDifference] = field(default_factory=set)
    differences_after: set[HashDifference] = field(default_factory=set)

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Open a write transaction, and compare before and after."""
        with super().write_transaction(organisation, keep=keep) as db:
            inner = known_as("ScanHandle", db.inner)
            self.differences_before = {*find_differences(inner)}
            yield db
            self.differences_after = {*find_differences(inner)}


@for_each(CHANGES)
@pytest.mark.engines("sqlite")
def test_each_row_that_a_change_wrote_is_hashed_as_it_is(dry_run: DryRun, operation: Operation) -> None:
    watched = HashCheckingDatabase(dry_run.database.inner, commits=False)
    actor, given = actor_for(dry_run.open, operation), orjson.dumps(dry_run.open.example_input(operation))
    replace(dry_run.performer, database=watched).perform(operation, actor, given, RequestDetails(new_id("req")))
    assert watched.differences_after - watched.differences_before == set()


def test_every_table_of_an_organisation_is_hashed_or_says_why_not(dry_run: DryRun) -> None:
    with dry_run.database.inner.read_transaction(dry_run.open.cast.organisation) as db:
        tables = read_tables(db, db.engine)
        owned = {table.name for table in tables if {"organisation_id", "event_sequence"} & {*table.columns}}
        assert owned == HASHED_TABLES.keys() | NOT_HASHED.keys()
        assert HASHED_TABLES.keys() & NOT_HASHED.keys() == set()
        for name, hashed in HASHED_TABLES.items():
            columns = read_hashed_columns(db, name)
            # Of documents, only those that are printed as a copy or as an e-invoice have a column for it.
            assert {one for one in hashed.excluded if not one.endswith("_sha256")} <= read_columns(db, name).keys()
            assert hashed.key in {*columns.names, hashed.tenant}


def test_records_are_known_by_the_prefixes_of_their_ids() -> None:
    tables = {
        listing.table: prefix
        for prefix, (listing, _) in CATALOGUE.record_stores.items()
        if not prefix.endswith("settings")
    }
    assert {name: hashed.prefix for name, hashed in HASHED_TABLES.items() if name in tables} == {
        name: prefix for name, prefix in tables.items() if name in HASHED_TABLES
    }


def test_both_engines_write_defaults_that_are_read_alike(performer: Performer) -> None:
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        defaults = dict(zip(*read_hashed_columns(db, "organisation"), strict=True))
        assert (defaults["payment_terms_days"], defaults["language"], defaults["bank"]) == (14, "en", None)
        assert defaults["mail_texts"] == '{"quote":null}'
        assert dict(zip(*read_hashed_columns(db, "person"), strict=True))["name_folded"] == ""

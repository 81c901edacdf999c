"""Invariants of all kinds of records: records exist, are found, are visible to the right people, and have their files.

They cover every kind of record in the catalogue, so that none is left out.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

from mainstay.business.records.file_removal import STORED_FILE_COLUMNS
from mainstay.changes import search_words
from mainstay.infrastructure.files import content_name_of
from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation, no_rows_invariant
from mainstay.kernel.record_store import RecordStore
from mainstay.vocabulary.permissions import Permission

RecordStores = Mapping[str, tuple[RecordStore[Any], Permission]]


def find_lost_files(context: CheckContext) -> Iterator[Violation]:
    """Yield records whose file is missing or has a different content."""
    for column in STORED_FILE_COLUMNS:
        table = column.partition(".")[0]
        named_files = context.db.stream(
            f"SELECT {column}, {table}.id FROM {table} WHERE {column} IS NOT NULL ORDER BY 1"
        )
        for name, records in groupby(named_files, key=lambda row: row[0]):
            problem = _find_file_problem(context, str(name))
            if problem:
                yield from (
                    Violation(f"{table} {record_id}", f"has the file {name}, which {problem}")
                    for _, record_id in records
                )


def _find_file_problem(context: CheckContext, name: str) -> str | None:
    try:
        content = context.files.read(name)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if content_name_of(content) == name else "was changed: its content has another hash"


_WRONG_STORAGE_SQL = """
SELECT id, storage_bytes, counted FROM (
    SELECT id, storage_bytes, logo_bytes + CAST(coalesce((
        SELECT sum(bytes + thumbnail_bytes) FROM document WHERE organisation_id = :organisation
    ), 0) AS bigint) AS counted FROM organisation WHERE id = :organisation
) AS totals WHERE storage_bytes <> counted
"""
STORAGE = no_rows_invariant(
    "stored_bytes",
    "The used storage of each organisation is the size of its files",
    _WRONG_STORAGE_SQL,
    "is recorded as storing {0} bytes, but its files have {1}",
)


def find_shared_files(context: CheckContext) -> Iterator[Violation]:
    """Yield documents that share a file with another one.

    A file contains the number of its document, so no two are alike.
    """
    for column in STORED_FILE_COLUMNS:
        table, _, name = column.partition(".")
        if name.endswith("_sha256"):
            shared = context.db.stream(
                f"SELECT min(id), max(id) FROM {table} WHERE organisation_id = :organisation AND {name} IS NOT NULL"
                f" GROUP BY {name} HAVING count(*) > 1"
            )
            for first, last in shared:
                yield Violation(f"{table.replace('_', ' ')} {last}", f"has the same file as {first}")


SHARED_FILES = Invariant("papers", "Each sent document has its own files", find_shared_files)
FILES = Invariant("files", "Every file exists and has the right hash", find_lost_files, is_installation_wide=True)


def make_existence_invariant(stores: RecordStores, removable: Collection[str], removed_by: str) -> Invariant:
    """Return the invariant that all records in the audit trail exist.

    Kinds in `removable` are left out. Records of other kinds may be missing only if the operation `removed_by` removed
    them and the audit trail says so.
    """

    def find_violations(context: CheckContext) -> Iterator[Violation]:
        for prefix, (store, _) in stores.items():
            if prefix in removable or store.tenant_column != "organisation_id":
                continue
            lost = context.db.stream(
                f"SELECT DISTINCT record_id FROM audit_record WHERE organisation_id = :organisation"
                f" AND substr(record_id, 1, :length) = :prefix AND NOT EXISTS (SELECT 1 FROM {store.table}"
                f" WHERE {store.table}.organisation_id = :organisation AND {store.table}.id = record_id)"
                f" AND NOT EXISTS (SELECT 1 FROM audit_record removal JOIN audit"
                f" ON audit.organisation_id = removal.organisation_id AND audit.sequence = removal.sequence"
                f" WHERE removal.organisation_id = :organisation AND removal.record_id = audit_record.record_id"
                f" AND audit.operation = :removed_by)",
                removed_by=removed_by,
                prefix=f"{prefix}_",
                length=len(prefix) + 1,
            )
            for (record_id,) in lost:
                yield Violation(str(record_id), f"is in the audit trail, but there is no such {store.label}")

    return Invariant("records", "Every record in the audit trail exists", find_violations)


def make_search_words_invariant(stores: RecordStores, refresh_kinds: Collection[str]) -> Invariant:
    """Return the invariant that each record is found by its search words.

    It is skipped while tasks of the kinds in `refresh_kinds` are waiting, because they still write search words.
    """

    def find_violations(context: CheckContext) -> Iterator[Violation]:
        waiting_sql = "SELECT 1 FROM outbox WHERE organisation_id = :organisation AND kind = :kind LIMIT 1"
        if any(context.db.one(waiting_sql, kind=kind) for kind in refresh_kinds):
            return
        for store, _ in stores.values():
            if store.search_fields:
                yield from _find_search_mismatches(context, store)

    return Invariant("search_words", "Every record can be found by its words", find_violations)


def _find_search_mismatches(context: CheckContext, store: RecordStore[Any]) -> Iterator[Violation]:
    """Yield records that are not found by their own words, and a kind that is found by more words than it has."""
    prefix, expected_counts = store.prefix, Counter[str]()
    for row in context.db.stream(store.select_all):
        record = store.from_row(row)
        words = store.search_index.words_of(record)
        # The hidden words are indexed as a kind of their own.
        words_by_index_kind = {prefix: words.all_words, search_words.hidden_kind(prefix): words.hidden_words}
        is_indexed = not search_words.is_fresh(context.db, prefix, record.id)
        expected_counts.update(
            {index_kind: len(index_words) for index_kind, index_words in words_by_index_kind.items() if is_indexed}
        )
        is_missing = is_indexed and not all(
            search_words.is_indexed_by(context.db, index_kind, record.id, index_words)
            for index_kind, index_words in words_by_index_kind.items()
        )
        if is_missing or search_words.read_words(context.db, prefix, record.id) != words:
            yield Violation(f"{store.label} {record.id}", "is not found by its words")
    for index_kind in (prefix, search_words.hidden_kind(prefix)):
        if search_words.count_indexed_words(context.db, index_kind) > expected_counts[index_kind]:
            yield Violation(store.label, "is found by words that no record has")


def make_copies_invariant(stores: RecordStores) -> Invariant:
    """Return the invariant that the columns copied into a store's grant table match the records."""

    def find_violations(context: CheckContext) -> Iterator[Violation]:
        for store, _ in stores.values():
            if store.visibility and store.visibility.grant_table:
                grant_table, table = store.visibility.grant_table, store.table
                differs_sql = " OR ".join(
                    f"{grant_table}.{name} IS DISTINCT FROM {table}.{name}" for name in store.visibility.copied_columns
                )
                outdated_rows = context.db.stream(
                    f"SELECT {grant_table}.id, {grant_table}.person_id FROM {grant_table} JOIN {table} ON"
                    f" {table}.organisation_id ="
                    f" {grant_table}.organisation_id AND {table}.id = {grant_table}.id"
                    f" WHERE {grant_table}.organisation_id = :organisation AND ({differs_sql})"
                )
                for record_id, person in outdated_rows:
                    yield Violation(f"{store.label} {record_id}", f"is listed for {person}, but has changed since")

    return Invariant("own_records", "Lists of a person's own records are up to date", find_violations)

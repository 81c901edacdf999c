"""Storage of imports and their files, and look-ups of the records that rows refer to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import orjson

from mainstay.business.importing.import_model import IMPORTING, ImportRun, RowFault, RunStatus
from mainstay.business.importing.record_kinds import OWN_REFERENCE_PREFIX, ImportKind
from mainstay.infrastructure.database import DatabaseHandle, Row
from mainstay.values.choices import fold_text
from mainstay.values.ids import new_id
from mainstay.values.message import ShownMessage
from mainstay.values.moments import moment_text
from mainstay.values.stored_message import dump_message, load_message
from mainstay.vocabulary.refusal import NotFound

# Files and their changes are deleted after this time. The imported records stay.
RETENTION = timedelta(days=2)
INTERRUPTED_RETENTION = timedelta(days=30)
# The prefix of the ids of imports.
RUN_ID_PREFIX = "import"


@dataclass(frozen=True, slots=True)
class NewImport:
    """An uploaded file to be imported."""

    kind: ImportKind
    file_name: str
    remarks: Sequence[ShownMessage]
    headings: Sequence[str]
    rows: Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """What someone chose for the columns of a file: the column of each field, and the decimal signs."""

    mapping: dict[str, int]
    signs: dict[str, str]


def insert(db: DatabaseHandle, new_import: NewImport, now: datetime) -> str:
    """Store a file with its guessed columns, and return the id of the import."""
    record_id = new_id(RUN_ID_PREFIX)
    db.run(
        "INSERT INTO import_run (organisation_id, id, person_id, made_at, kind, file_name, remarks, headings, mapping,"
        " status, row_count) VALUES (:organisation, :id, :me, :at, :kind, :name, :remarks, :headings, :mapping,"
        " 'mapping', :row_count)",
        id=record_id,
        at=moment_text(now),
        kind=new_import.kind.name,
        name=new_import.file_name,
        remarks=_to_json_text([*map(dump_message, new_import.remarks)]),
        headings=_to_json_text(list(new_import.headings)),
        mapping=_to_json_text(new_import.kind.guess_mapping(new_import.headings)),
        row_count=len(new_import.rows),
    )
    db.run(
        "INSERT INTO import_cells (organisation_id, run_id, cells) VALUES (:organisation, :id, :cells)",
        id=record_id,
        cells=_to_json_text(new_import.rows),
    )
    return record_id


def fetch(db: DatabaseHandle, kinds: Mapping[str, ImportKind], record_id: str) -> ImportRun:
    """Return an import of the current person."""
    row = db.one(f"{_RUNS} AND id = :id", id=record_id)
    if row is None:
        raise NotFound("import")
    return _to_run(kinds, row)


def find_recent(db: DatabaseHandle, kinds: Mapping[str, ImportKind], limit: int) -> list[ImportRun]:
    """Return the imports of the current person that are not deleted yet, newest first."""
    return [_to_run(kinds, row) for row in db.all(f"{_RUNS} ORDER BY id DESC LIMIT :most", most=limit)]


_RUNS = (
    "SELECT id, made_at, kind, file_name, remarks, headings, mapping, signs, status, result, left_out,"
    " row_count, done_rows, attempt FROM import_run"
    " WHERE organisation_id = :organisation AND person_id = :me"
)


def _to_run(kinds: Mapping[str, ImportKind], row: Row) -> ImportRun:
    record_id, made_at, kind, name, remarks, headings, mapping, signs, status, result, left_out, *counts = map(str, row)
    return ImportRun(
        record_id,
        made_at,
        kinds[kind],
        name,
        [*map(load_message, orjson.loads(remarks))],
        orjson.loads(headings),
        orjson.loads(mapping),
        orjson.loads(signs),
        cast("RunStatus", status),
        orjson.loads(result) if row[9] else None,
        [RowFault(*fault) for fault in orjson.loads(left_out)],
        *map(int, counts),
    )


def read_cells(db: DatabaseHandle, record_id: str) -> list[tuple[int, list[str]]]:
    """Return the rows of an import's file, with their numbers."""
    row = db.one("SELECT cells FROM import_cells WHERE organisation_id = :organisation AND run_id = :id", id=record_id)
    return [(number, texts) for number, texts in orjson.loads(str(row[0]))] if row else []


def begin_run(db: DatabaseHandle, run: ImportRun, status: RunStatus, columns: ColumnChoice | None = None) -> bool:
    """Begin the work on an import, or return False if somebody else has begun it meanwhile.

    New columns clear its result. An import that begins leaves out the rows in which the check found faults.
    """
    begins_import = status == IMPORTING and run.status != IMPORTING
    return bool(
        db.run(
            "UPDATE import_run SET status = :status, mapping = coalesce(:mapping, mapping),"
            " signs = coalesce(:signs, signs), attempt = attempt + 1,"
            " result = CASE WHEN :mapping IS NULL THEN result END, left_out = coalesce(:left_out, left_out)"
            " WHERE organisation_id = :organisation AND id = :id AND status = :was AND attempt = :attempt",
            id=run.id,
            was=run.status,
            attempt=run.attempt,
            status=status,
            mapping=_to_json_text(columns.mapping) if columns else None,
            signs=_to_json_text(columns.signs) if columns else None,
            left_out=_to_json_text([list(fault) for fault in run.faults]) if begins_import else None,
        )
    )


def store_progress(
    db: DatabaseHandle, run: ImportRun, status: RunStatus, done_rows: int, result: Mapping[str, Any]
) -> bool:
    """Store the progress of an import. Return False if this attempt is not the latest or the import is deleted."""
    return bool(
        db.run(
            "UPDATE import_run SET status = :status, done_rows = :done, result = :result"
            " WHERE organisation_id = :organisation AND id = :id AND attempt = :attempt",
            id=run.id,
            attempt=run.attempt,
            status=status,
            done=done_rows,
            result=_to_json_text(result),
        )
    )


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Remove old imports and their files, in the whole installation.

    Interrupted imports are kept for longer, because they can be continued or undone only from their page.
    """
    old = "made_at <= :before AND (status NOT IN ('importing', 'undoing') OR made_at <= :long_before)"
    moments = {"before": moment_text(now - RETENTION), "long_before": moment_text(now - INTERRUPTED_RETENTION)}
    old_run_condition = f"(organisation_id, run_id) IN (SELECT organisation_id, id FROM import_run WHERE {old})"
    for table in ("import_change", "import_cells"):
        db.run(f"DELETE FROM {table} WHERE {old_run_condition}", **moments)
    db.run(f"DELETE FROM import_run WHERE {old}", **moments)


def find_by_reference(db: DatabaseHandle, table: str, reference: str) -> str | None:
    """Return the id of the record with this reference. If a customer was merged, return the remaining one's."""
    id_column = "coalesce(merged_into_id, id)" if table == "customer" else "id"
    row = db.one(_SELECT_BY_REFERENCE.format(id_column, table), reference=reference)
    return str(row[0]) if row else None


_SELECT_BY_REFERENCE = "SELECT {} FROM {} WHERE organisation_id = :organisation AND external_ref = :reference"


def find_ids_with_name(db: DatabaseHandle, table: str, name: str, *, only_without_reference: bool = False) -> list[str]:
    """Return the ids of at most two records with this name, regardless of case and accents."""
    reference_condition = " AND external_ref IS NULL" if only_without_reference else ""
    name_rows = db.all(
        f"SELECT id FROM {table} WHERE organisation_id = :organisation AND name_folded = :name"
        f" AND {_NAME_CONDITIONS[table]}{reference_condition} ORDER BY id LIMIT 2",
        name=fold_text(name),
    )
    return [str(row[0]) for row in name_rows]


# The condition for records that can be found by name.
_NAME_CONDITIONS = {
    "customer": "merged_into_id IS NULL",
    "supplier": "status = 'active'",
    "price_item": "status = 'active'",
}


def find_by_code(db: DatabaseHandle, code: str, *, only_without_reference: bool = False) -> list[str]:
    """Return the id of the price item with this code, optionally only if it has no reference of another system."""
    condition = (
        f" AND (external_ref IS NULL OR external_ref LIKE '{OWN_REFERENCE_PREFIX}%')" if only_without_reference else ""
    )
    row = db.one(
        f"SELECT id FROM price_item WHERE organisation_id = :organisation AND code = :code{condition}",
        code=code.upper(),
    )
    return [str(row[0])] if row else []


def find_tax_rates(db: DatabaseHandle, name: str) -> list[str]:
    """Return the ids of active tax rates with this name, regardless of case and accents."""
    rate_rows = db.all("SELECT id, name FROM tax_rate WHERE organisation_id = :organisation AND status = 'active'")
    return [str(record_id) for record_id, rate_name in rate_rows if fold_text(str(rate_name)) == fold_text(name)]


def map_names_to_ids(db: DatabaseHandle, table: str, customer_id: str) -> dict[str, list[str]]:
    """Return the ids of a customer's sites or contacts by their folded names."""
    ids_by_name: dict[str, list[str]] = {}
    sql = f"SELECT id, name FROM {table} WHERE organisation_id = :organisation AND customer_id = :customer ORDER BY id"
    for record_id, name in db.all(sql, customer=customer_id):
        ids_by_name.setdefault(fold_text(str(name)), []).append(str(record_id))
    return ids_by_name


def _to_json_text(value: object) -> str:
    return orjson.dumps(value).decode()

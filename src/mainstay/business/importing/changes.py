"""Stores what an import did to which records, so that it can be undone."""

import orjson

from mainstay.business.importing.import_model import RecordChange
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.infrastructure.rehashing import HASH_ROWS

_WHERE_RUN = "WHERE organisation_id = :organisation AND run_id = :run"


def insert(db: DatabaseHandle, run: str, change: RecordChange) -> None:
    """Store what one row of the file did."""
    db.run(
        "INSERT INTO import_change (organisation_id, run_id, row_number, record_id, version, previous)"
        " VALUES (:organisation, :run, :row, :record, :version, :previous)",
        run=run,
        row=change.row,
        record=change.record,
        version=change.version,
        previous=None if change.previous is None else orjson.dumps(change.previous).decode(),
    )


def find_newest(db: DatabaseHandle, run: str, limit: int) -> list[RecordChange]:
    """Return the last changes of an import that are not undone, newest first."""
    sql = f"SELECT row_number, record_id, version, previous FROM import_change {_WHERE_RUN}"
    rows_found = db.all(f"{sql} ORDER BY row_number DESC LIMIT :most", run=run, most=limit)
    return [
        RecordChange(int(row or 0), str(record), int(version or 0), orjson.loads(str(previous)) if previous else None)
        for row, record, version, previous in rows_found
    ]


def delete(db: DatabaseHandle, run: str, change: RecordChange) -> None:
    """Delete a change, because it is undone or cannot be undone."""
    db.run(f"DELETE FROM import_change {_WHERE_RUN} AND row_number = :row", run=run, row=change.row)


def is_changed_by_others(db: DatabaseHandle, run: str, table: str, change: RecordChange) -> bool:
    """Return whether anyone has changed a record after the import did."""
    sql = f"SELECT version FROM {table} WHERE organisation_id = :organisation AND id = :record"
    row = db.one(sql, record=change.record)
    if row is None or row[0] == change.version:
        return False
    # Another row of the import may have changed it too: kits contain the names of their price items.
    return db.one(_CHANGED_BY_OTHERS, record=change.record, run=run) is not None


_AUDIT_ENTRIES = (
    "FROM audit_record JOIN audit ON audit.organisation_id = audit_record.organisation_id"
    " AND audit.sequence = audit_record.sequence"
    " WHERE audit_record.organisation_id = :organisation AND audit_record.record_id = :record"
    f" AND audit.operation <> '{HASH_ROWS}'"
)
_CHANGED_BY_OTHERS = (
    f"SELECT 1 {_AUDIT_ENTRIES} AND audit.request_id <> :run"
    f" AND audit.sequence > (SELECT min(audit.sequence) {_AUDIT_ENTRIES} AND audit.request_id = :run) LIMIT 1"
)


def find_records_of_others(db: DatabaseHandle, run: str, after: int, until: int) -> set[str]:
    """Return the ids of the records that others wrote between these entries of the audit trail."""
    audit_rows = db.all(
        "SELECT records FROM audit WHERE organisation_id = :organisation AND sequence > :after AND sequence <= :until"
        " AND request_id <> :run",
        after=after,
        until=until,
        run=run,
    )
    return {record for (records,) in audit_rows for record in orjson.loads(str(records or "[]"))}


def find_first_audit_entry(db: DatabaseHandle, run: str) -> int:
    """Return the number of the audit entry for the first record that the import created or changed."""
    first = f"SELECT record_id FROM import_change {_WHERE_RUN} ORDER BY row_number LIMIT 1"
    record = db.one(first, run=run)
    row = record and db.one(
        f"SELECT min(audit.sequence) {_AUDIT_ENTRIES} AND audit.request_id = :run", record=record[0], run=run
    )
    return int(row[0] or 0) if row else 0


def find_last_audit_entry(db: DatabaseHandle) -> int:
    """Return the number of the last entry of the audit trail."""
    row = db.one("SELECT max(sequence) FROM audit WHERE organisation_id = :organisation")
    return int(row[0] or 0) if row else 0

"""The history of a record, read from the audit trail."""

from collections.abc import Sequence
from typing import Annotated

import orjson
from pydantic import Field

from mainstay.business.records.audit_reader import (
    LIST_COLUMNS,
    check_start,
    limit_records,
    read_newest_entries,
    undoable_since,
)
from mainstay.business.records.model import HistoryEntryOut
from mainstay.infrastructure.database import Row, Value
from mainstay.infrastructure.rehashing import HASH_ROWS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import fetch_any
from mainstay.values.fields import WholeNumber
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import ListInput, PageResult


class GetHistory(ListInput):
    """Whose history."""

    starting_after: Annotated[str | None, Field(pattern="^[0-9]{1,15}$")] = Field(
        None, description="Continue after this ID, the last one of the previous page."
    )
    record_id: str | None = Field(
        None,
        title="Record",
        description="The record's ID, or a job's number. Without it: your own changes. Some roles see only their own.",
    )
    limit: WholeNumber = Field(default=25, ge=1, le=100, description="Maximum number of entries.")


@operation(permission=Permission.ME_READ, effect=Effect.READ, api_path="GET /history")
def get_history(ctx: Context, given: GetHistory) -> PageResult[HistoryEntryOut]:
    """Get history.

    Who changed a record and when, newest first, through which app or key, and whether an agent did. Without a record:
    your own changes.
    """
    if given.record_id is None:
        # The entry to start after must be one's own, or one could find out when others did something.
        rows, record_id = (
            read_newest_entries(ctx, given, "a.person_id = :me", visibility=" AND person_id || '' = :me"),
            None,
        )
    else:
        record_id = fetch_any(ctx, given.record_id).id
        rows = _read_entries_of(ctx, given, record_id)
    return PageResult.from_rows(HistoryEntryOut, [_limit_to_record(row, record_id) for row in rows], given.limit)


OPERATIONS = (get_history,)


def _read_entries_of(ctx: Context, given: GetHistory, record_id: str) -> Sequence[Row]:
    # Most records have few entries, so `|| ''` keeps the database from using the index of people.
    entries_sql = (
        _FROM_RECORD_ENTRIES
        if ctx.actor.can(Permission.HISTORY_READ)
        else f"{_FROM_RECORD_ENTRIES} AND a.person_id || '' = :me"
    )
    last_sql = f"SELECT t.sequence {entries_sql} AND t.sequence = :after"
    after_sql = f" AND t.sequence < ({last_sql})" if given.starting_after else ""
    values: dict[str, Value] = {"record": record_id, "after": int(given.starting_after or 0)}
    rows = ctx.db.all(
        f"SELECT {LIST_COLUMNS} {entries_sql}{after_sql} ORDER BY t.sequence DESC LIMIT :limit",
        limit=given.limit + 1,
        undoable_since=undoable_since(ctx),
        **values,
    )
    if given.starting_after and not rows:
        check_start(ctx, last_sql, **values)
    return rows


def _limit_to_record(row: Row, record_id: str | None) -> Row:
    """Reduce the changed fields of an audit entry to those of one record."""
    *others, changed = limit_records(row)
    fields = orjson.loads(str(changed)).get(record_id) if changed else None
    return (*others, fields and orjson.dumps(fields).decode())


# Hashing rows after an upgrade does not count as a change of the record.
_FROM_RECORD_ENTRIES = f"""
FROM audit_record t
JOIN audit a ON a.organisation_id = t.organisation_id AND a.sequence = t.sequence
WHERE t.organisation_id = :organisation AND t.record_id = :record AND a.operation <> '{HASH_ROWS}'
"""

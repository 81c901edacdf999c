"""What happened to a record, out of the audit trail."""

from collections.abc import Sequence
from typing import Annotated

import orjson
from pydantic import Field

from mainstay.backing.database import Row, Value
from mainstay.backing.rehashing import HASH_ROWS
from mainstay.business.records.model import HistoryEntryOut
from mainstay.business.records.trail import COLUMNS, check_place, newest_acts, some_records
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import ListInput, Page
from mainstay.values.fields import WholeNumber


class GetHistory(ListInput):
    """Whose history."""

    starting_after: Annotated[str | None, Field(pattern="^[0-9]{1,15}$")] = Field(
        None, description="Goes on behind this id, the last of the page before."
    )
    record_id: str | None = Field(
        None,
        title="Record",
        description="The record's id, or a job's number. Without it, what you did yourself. Those who may not read"
        " histories see their own acts only.",
    )
    limit: WholeNumber = Field(default=25, ge=1, le=100, description="How many entries at most.")


@operation(right=Right.ME_READ, effect=Effect.READ, rest="GET /history")
def get_history(ctx: Context, given: GetHistory) -> Page[HistoryEntryOut]:
    """Get what happened to a record, the newest first.

    Who did what, when, and through which app or key; what an agent did is told as such. Without a record: what you did
    yourself.
    """
    if given.record_id is None:
        # Behind an act of someone else, one would learn when that was.
        rows, record = newest_acts(ctx, given, "a.person_id = :me", seen=" AND person_id || '' = :me"), None
    else:
        record = ctx.fetch_any(given.record_id).id
        rows = _acts_on(ctx, given, record)
    return Page.cut(HistoryEntryOut, [_of_one(row, record) for row in rows], given.limit)


OPERATIONS = (get_history,)


def _acts_on(ctx: Context, given: GetHistory, record: str) -> Sequence[Row]:
    # Among the acts of a record, which are few beside those of a person: so no index of people is walked.
    seen = _OF_RECORD if ctx.actor.may(Right.HISTORY_READ) else f"{_OF_RECORD} AND a.person_id || '' = :me"
    last = f"SELECT t.sequence {seen} AND t.sequence = :after"
    behind = f" AND t.sequence < ({last})" if given.starting_after else ""
    bound: dict[str, Value] = {"record": record, "after": int(given.starting_after or 0)}
    rows = ctx.rows.all(
        f"SELECT {COLUMNS} {seen}{behind} ORDER BY t.sequence DESC LIMIT :limit", limit=given.limit + 1, **bound
    )
    if given.starting_after and not rows:
        check_place(ctx, last, **bound)
    return rows


def _of_one(row: Row, record: str | None) -> Row:
    """An act with the fields of one record, of all that it has changed."""
    *told, changed = some_records(row)
    fields = orjson.loads(str(changed)).get(record) if changed else None
    return (*told, fields and orjson.dumps(fields).decode())


# Hashing a row, once after an upgrade, is nothing that happened to the record.
_OF_RECORD = f"""
FROM audit_record t
JOIN audit a ON a.organisation_id = t.organisation_id AND a.sequence = t.sequence
WHERE t.organisation_id = :organisation AND t.record_id = :record AND a.operation <> '{HASH_ROWS}'
"""

"""What happened to a record, out of the audit trail."""

from typing import Annotated

import orjson
from pydantic import Field

from mainstay.backing.database import Row
from mainstay.business.records.model import HistoryEntryOut
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
    source, conditions = _TRAIL, ["t.person_id = :me"]
    if given.record_id is not None:
        record = ctx.fetch_any(given.record_id)
        source = _OF_RECORD
        # Among the acts of a record, which are few beside those of a person: so no index of people is walked.
        conditions = [] if ctx.actor.may(Right.HISTORY_READ) else ["a.person_id || '' = :me"]
        given = given.model_copy(update={"record_id": record.id})
    if given.starting_after:
        conditions.append("t.sequence < :after")
    rows = ctx.rows.all(
        f"{source}{''.join(f' AND {one}' for one in conditions)} ORDER BY t.sequence DESC LIMIT :limit",
        record=given.record_id,
        after=int(given.starting_after or 0),
        limit=given.limit + 1,
    )
    return Page.cut(HistoryEntryOut, [_of_one(row, given.record_id) for row in rows], given.limit)


OPERATIONS = (get_history,)


def _of_one(row: Row, record: str | None) -> Row:
    """An act with the records it touched, and the fields of one record, of all that it has changed."""
    *told, records, changed = row
    # Few acts touch more, such as the merger of large customers: nobody reads thousands of ids.
    some = orjson.dumps(orjson.loads(str(records))[:_NAMED]).decode() if records else None
    fields = orjson.loads(str(changed)).get(record) if changed else None
    return (*told, some, fields and orjson.dumps(fields).decode())


_NAMED = 100
_COLUMNS = "CAST(a.sequence AS text), a.at, a.actor, a.operation, a.given, a.records, a.changed"
_TRAIL = f"""
SELECT {_COLUMNS.replace("a.", "t.")} FROM audit t WHERE t.organisation_id = :organisation
"""
_OF_RECORD = f"""
SELECT {_COLUMNS} FROM audit_record t
JOIN audit a ON a.organisation_id = t.organisation_id AND a.sequence = t.sequence
WHERE t.organisation_id = :organisation AND t.record_id = :record
"""

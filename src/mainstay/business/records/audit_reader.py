"""Reads the audit trail, newest entries first."""

from collections.abc import Sequence

import orjson

from mainstay.changes.undo import RETENTION
from mainstay.infrastructure.database import Row, Value
from mainstay.kernel.context import Context
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import ListInput

# Whether a change can be undone, if it was made after `:undoable_since`.
_UNDO = (
    "(SELECT CAST(u.undone = 0 AND u.reason IS NULL AND u.created_at > :undoable_since AS integer) FROM undo u"
    " WHERE u.organisation_id = :organisation AND u.sequence = a.sequence)"
)
# The columns of an audit entry in lists, with all the fields it changed.
LIST_COLUMNS = (
    f"CAST(a.sequence AS text), a.at, a.actor, a.operation, a.given, coalesce({_UNDO}, 0), a.request_id, a.records,"
    " a.changed"
)


def read_newest_entries(
    ctx: Context, given: ListInput, *conditions: str, visibility: str = "", **bound: Value
) -> Sequence[Row]:
    """Return the newest audit entries for which all conditions hold, and one more than a page takes.

    They are ordered by moment, which is not always the order in which they were written: some were imported.
    `visibility` is a condition on the entry after which the page starts.
    """
    last_sql = f"SELECT at, sequence FROM audit WHERE organisation_id = :organisation AND sequence = :after{visibility}"
    all_conditions = [*conditions, *([f"(a.at, a.sequence) < ({last_sql})"] if given.starting_after else [])]
    bound |= {"after": int(given.starting_after or 0)}
    rows = ctx.db.all(
        f"SELECT {LIST_COLUMNS} FROM audit a WHERE a.organisation_id = :organisation"
        f"{''.join(f' AND {condition}' for condition in all_conditions)} ORDER BY a.at DESC, a.sequence"
        " DESC LIMIT :limit",
        limit=given.limit + 1,
        undoable_since=undoable_since(ctx),
        **bound,
    )
    if given.starting_after and not rows:
        check_start(ctx, last_sql, **bound)
    return rows


def undoable_since(ctx: Context) -> str:
    """Return the moment after which changes can be undone."""
    return moment_text(ctx.now - RETENTION)


def check_start(ctx: Context, last_sql: str, **bound: Value) -> None:
    """Refuse to start after an entry that is not in the list. `last_sql` finds that entry."""
    if ctx.db.one(last_sql, **bound) is None:
        raise Invalid([Fault("startingAfter", Message("was not found; start again without it"))])


def limit_records(row: Row) -> Row:
    """Limit the record ids of an audit entry.

    Few operations touch more, such as the merger of large customers, and nobody reads thousands of ids.
    """
    *others, records, changed = row
    return (*others, orjson.dumps(orjson.loads(str(records))[:_MAX_RECORDS]).decode() if records else None, changed)


_MAX_RECORDS = 100

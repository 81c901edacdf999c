"""The audit trail: every change, who made it, through what, and with what input.

Rows are only ever added, and each carries a hash over itself and the one before, so that a row taken out or altered
behind the product's back breaks the chain.
"""

import hashlib

import orjson

from mainstay.backing.database import Handle, Value
from mainstay.kernel.context import Context
from mainstay.kernel.shapes import Input

_START = "0" * 64
_BATCH = 1000


def write(ctx: Context, operation: str, given: Input, events: list[str]) -> None:
    """Add one act to the trail."""
    last = ctx.rows.one(
        "SELECT sequence, hash FROM audit WHERE organisation_id = :organisation ORDER BY sequence DESC LIMIT 1"
    )
    sequence, previous = (int(last[0] or 0), str(last[1])) if last else (0, _START)
    entry: dict[str, Value] = {
        "sequence": sequence + 1,
        "at": ctx.at,
        "actor": ctx.stamp,
        "request_id": ctx.request.id,
        "operation": operation,
        "given": given.model_dump_json(by_alias=True, exclude_unset=True),
        "events": orjson.dumps(events).decode(),
    }
    ctx.rows.run(
        "INSERT INTO audit (organisation_id, sequence, at, actor, request_id, operation, given, events, hash)"
        " VALUES (:organisation, :sequence, :at, :actor, :request_id, :operation, :given, :events, :hash)",
        **entry,
        hash=_link(previous, tuple(entry.values())),
    )


def first_break(rows: Handle) -> int | None:
    """The number of the first row that does not fit the chain; None when the trail is whole."""
    previous = _START
    after = 0
    while True:
        batch = rows.all(
            "SELECT sequence, at, actor, request_id, operation, given, events, hash FROM audit"
            " WHERE organisation_id = :organisation AND sequence > :after ORDER BY sequence LIMIT :batch",
            after=after,
            batch=_BATCH,
        )
        for *entry, link in batch:
            after = int(entry[0] or 0)
            if link != _link(previous, tuple(entry)):
                return after
            previous = str(link)
        if len(batch) < _BATCH:
            return None


def _link(previous: str, entry: tuple[Value, ...]) -> str:
    return hashlib.sha256(orjson.dumps([previous, *entry])).hexdigest()

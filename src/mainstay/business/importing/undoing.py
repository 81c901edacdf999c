"""Undoes what an import did: removes the records that it made, and changes back those that it changed.

What somebody else has changed or used since stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson

from mainstay.backing.database import Handle
from mainstay.business.importing import changes
from mainstay.business.importing.model import Kind
from mainstay.business.importing.references import UsedItems, find_uses
from mainstay.business.importing.run import RecordChange, Stay
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Refusal
from mainstay.terms.shapes import Kept
from mainstay.terms.wire import to_json

# What the audit trail calls it.
UNDO_IMPORT = "undo_import"


@dataclass
class ImportUndoer:
    """Undoes an import, record by record."""

    actor: Actor
    run: str
    kind: Kind
    _items: UsedItems = field(init=False)

    def __post_init__(self) -> None:
        self._items = UsedItems(self.run)

    def prepare(self, stage: Stage) -> None:
        """Find out which price items documents name: slow at first, and brought up to date in each step."""
        if self.kind.table == "price_item":
            with stage.database.reading(self.actor.organisation) as rows:
                self._items.read_on(rows)

    def undo(self, step: Stage, change: RecordChange) -> Stay | None:
        """Undo one change within a step, and forget it; the record and why, if it stays."""
        given = {"import": self.run, "record": change.record}
        return step.act(self.actor, UNDO_IMPORT, given, partial(self._undo, step, change, given), Envelope(self.run))

    def _undo(self, step: Stage, change: RecordChange, given: dict[str, str], ctx: Context) -> Stay | None:
        listing = self.kind.listing
        changes.delete(ctx.rows, self.run, change)
        record = listing.find(ctx, f"{listing.table}.id = :id", id=change.record)
        if record is None:
            return None
        reason = self._find_obstacle(ctx.rows, change)
        if reason is None and change.previous is None:
            self.kind.remove(ctx, record)
            if listing.number == "number":
                # No other gets the number: the trail explains the gap.
                given[f"removed{self.kind.what.capitalize()}Number"] = record.number
        elif reason is None:
            reason = self._change_back(step, record, change.previous)
        return Stay(record.called, record.id, reason) if reason else None

    def _find_obstacle(self, rows: Handle, change: RecordChange) -> str | None:
        """Return why a record cannot be as it was before the import."""
        if changes.is_changed_by_others(rows, self.run, self.kind.table, change):
            return "of later changes"
        if change.previous is None:
            uses = find_uses(rows, self.kind.table, change.record) or self._items.find(change.record)
            return f"{uses} were added" if uses else None
        return None

    def _change_back(self, step: Stage, record: Kept, previous: Mapping[str, Any] | None) -> str | None:
        given = orjson.dumps({self.kind.id_field: record.id, **_whole(record, previous or {})})
        # Who may import may undo: an undo that has begun is finished, whatever becomes of the person meanwhile.
        step = replace(step, standing=lambda _rows, actor: actor)
        try:
            step.perform(self.kind.changes, self.actor, given, Envelope(self.run, bare=True))
        except Refusal as refusal:
            return f"changing it back was refused ({refusal.text.removesuffix('.')})"
        return None


def _whole(record: Kept, previous: Mapping[str, Any]) -> dict[str, Any]:
    """Return previous values that also clear what the import has added to a part, such as a line of an address."""
    now: Mapping[str, Any] = orjson.loads(to_json(record))
    return {
        name: {**dict.fromkeys(now[name] or ()), **value} if isinstance(value, dict) else value
        for name, value in previous.items()
    }

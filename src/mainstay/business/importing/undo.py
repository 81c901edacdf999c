"""Undoes an import: removes the records that it created, and restores those that it changed.

Records remain if somebody else has changed or used them since.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson

from mainstay.business.importing import changes
from mainstay.business.importing.import_model import RecordChange, RemainingRecord
from mainstay.business.importing.record_kinds import ImportKind
from mainstay.business.importing.references import ItemUses, ReferenceColumn, find_use
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.values.stored_message import dump_message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.record_json import to_json
from mainstay.vocabulary.refusal import Refusal
from mainstay.vocabulary.schemas import StoredRecord

# The name of undoing in the audit trail.
UNDO_IMPORT = "undo_import"


@dataclass
class ImportUndoer:
    """Undoes an import, record by record."""

    actor: Actor
    run_id: str
    kind: ImportKind
    # Where other records refer to those of this kind.
    references: Sequence[ReferenceColumn]
    _item_uses: ItemUses = field(init=False)

    def __post_init__(self) -> None:
        self._item_uses = ItemUses(self.run_id)

    def read_item_uses(self, performer: Performer) -> None:
        """Read which price items documents name. The first call is slow; later ones read only what is new."""
        if self.kind.table == "price_item":
            with performer.database.read_transaction(self.actor.organisation) as db:
                self._item_uses.read_new(db)

    def undo(self, step_performer: Performer, change: RecordChange) -> RemainingRecord | None:
        """Undo one change within a step, and forget the change. If the record remains, return it and the reason."""
        audit_input = {"import": self.run_id, "record": change.record}
        return step_performer.perform_function(
            self.actor,
            UNDO_IMPORT,
            audit_input,
            partial(self._undo_change, step_performer, change, audit_input),
            RequestDetails(self.run_id),
        )

    def _undo_change(
        self, step_performer: Performer, change: RecordChange, audit_input: dict[str, str], ctx: Context
    ) -> RemainingRecord | None:
        store = self.kind.record_kind
        changes.delete(ctx.db, self.run_id, change)
        record = store.find(ctx, f"{store.table}.id = :id", id=change.record)
        if record is None:
            return None
        reason = self._find_obstacle(ctx, change)
        if reason is None and change.previous is None:
            self.kind.remove(ctx, record)
            if store.number_column == "number":
                # The number is not used again, so the audit trail must explain the gap.
                audit_input[f"removed{store.label.capitalize()}Number"] = record.number
        elif reason is None:
            reason = self._change_back(step_performer, record, change.previous)
        return RemainingRecord(record.display_name, record.id, dump_message(reason)) if reason else None

    def _find_obstacle(self, ctx: Context, change: RecordChange) -> Message | None:
        """Return why a record must remain as the import left it, to be read after `because`; None if it need not."""
        if changes.is_changed_by_others(ctx.db, self.run_id, self.kind.table, change):
            return Message("they were changed later")
        if change.previous is None:
            return find_use(ctx.db, self.references, change.record) or self._item_uses.find(change.record)
        return None

    def _change_back(
        self, step_performer: Performer, record: StoredRecord, previous: Mapping[str, Any] | None
    ) -> Message | None:
        """Give a record its previous values again, or return why that was refused."""
        body = orjson.dumps({self.kind.id_field: record.id, **_clear_added_parts(record, previous or {})})
        # Anyone who may import may undo. An undo that has begun is finished even if the person loses the permission.
        unchecked_performer = replace(step_performer, reread_actor=lambda _db, actor, _now: actor)
        try:
            unchecked_performer.perform(
                self.kind.update_operation, self.actor, body, RequestDetails(self.run_id, record_only=True)
            )
        except Refusal as refusal:
            return Message("they could not be changed back ({refusal})", refusal=refusal.message)
        return None


def _clear_added_parts(record: StoredRecord, previous: Mapping[str, Any]) -> dict[str, Any]:
    """Return the previous values with null for the parts that the import added, such as a line of an address."""
    current: Mapping[str, Any] = orjson.loads(to_json(record))
    return {
        name: {**dict.fromkeys(current[name] or ()), **value} if isinstance(value, dict) else value
        for name, value in previous.items()
    }

"""Undoes changes, by the ordinary path and with what the person may do now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from mainstay.changes import audit, outbox
from mainstay.changes import undo as stored_changes
from mainstay.changes.undo import RETENTION, FoundChange, Inverse, UndoRecord, VersionStep
from mainstay.kernel.call import call_operation, find_inverses
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.context import Context, SavedRecord
from mainstay.kernel.inverse import Act
from mainstay.kernel.operation import Operation, Preparation
from mainstay.kernel.preview import summarize_by_title
from mainstay.kernel.record_store import RecordStore
from mainstay.values.message import NO_TEXT, Message, ShownMessage
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import to_json
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound, join_messages
from mainstay.vocabulary.schemas import Input, StoredRecord
from mainstay.vocabulary.validation import parse_input


class UndoStep(NamedTuple):
    """One operation that undoes a change or a part of it."""

    operation: Operation
    given: Input


def prepare_undo(preparation: Preparation, change_ids: Sequence[str]) -> list[Any]:
    """Do the slow work of the operations that will undo these changes; return the result for each of them."""

    def find(ctx: Context) -> list[UndoStep]:
        found = [_find_change(ctx, change_id).undo for change_id in _order_newest_first(change_ids)]
        return [step for stored in found if stored for step in _find_steps(ctx, stored)]

    return [
        operation.prepare(preparation, given) if operation.prepare else None
        for operation, given in preparation.read(find)
    ]


def undo_stored_changes(ctx: Context, change_ids: Sequence[str]) -> list[str]:
    """Undo these changes, the newest first and all or none. Return their operations, in the order of the input.

    Afterwards `ctx.redo` has what undoes this in turn.
    """
    # The client named no versions of records, but changes.
    ctx.request = ctx.request._replace(if_match_versions=None, expected_versions={})
    ctx.is_undoing = True
    undone: dict[str, str] = {}
    # The versions of records before the changes that were undone so far. Earlier changes left these versions.
    versions_before: dict[str, int] = {}
    redo: list[Inverse] = []
    reasons: list[Message] = []
    summaries: list[ShownMessage] = []
    prepared: Iterator[Any] = iter(ctx.prepared)
    for change_id in _order_newest_first(change_ids):
        found = _find_change(ctx, change_id)
        stored = _check_undoable(ctx, found)
        steps = _find_steps(ctx, stored)
        for operation, _ in steps:
            _check_access(ctx, operation)
        ctx.needs_person |= _needs_person(ctx, found, [operation for operation, _ in steps])
        _check_versions(
            ctx, stored, [operation for operation, _ in steps], versions_before, [*map(int, undone), int(change_id)]
        )
        for operation, given in steps:
            ctx.prepared, ctx.summary = next(prepared), NO_TEXT
            inverses = find_inverses(operation, call_operation(ctx, operation, given))
            summaries.append(ctx.summary or summarize_by_title(operation))
            if isinstance(inverses, Message):
                reasons.append(inverses)
            else:
                redo = [*inverses, *redo]
        versions_before |= {record_id: step.before for record_id, step in stored.versions.items()}
        outbox.drop_waiting(ctx.db, stored.emails)
        stored_changes.mark_undone(ctx.db, int(change_id))
        undone[change_id] = found.operation
    if len(summaries) > 1:
        ctx.summary, ctx.effects[:0] = NO_TEXT, summaries
    ctx.redo = reasons[0] if reasons else redo
    return [undone[change_id] for change_id in change_ids]


def make_undo_record(
    ctx: Context, inverses: Sequence[Inverse] | Message, act: Act, emails: Sequence[str]
) -> UndoRecord:
    """Return what is stored to undo the change that was just made, or why it cannot be undone."""
    if isinstance(inverses, Message):
        return UndoRecord([], {}, [], inverses.template)
    return UndoRecord(inverses, _find_versions(ctx.saved, act), emails)


def _order_newest_first(change_ids: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(change_ids), key=int, reverse=True)


def _find_change(ctx: Context, change_id: str) -> FoundChange:
    """Return a change that the actor may know of: their own, or any if they may read the history of records."""
    found = stored_changes.find_change(ctx.db, int(change_id))
    if found is None or (found.person_id != ctx.actor.id and not ctx.actor.can(Permission.HISTORY_READ)):
        raise NotFound("change")
    return found


def _check_undoable(ctx: Context, found: FoundChange) -> UndoRecord:
    """Refuse a change that was undone already, is too old, or cannot be undone."""
    operation = _find_operation(ctx, found.operation)
    if operation and operation.not_undone:
        raise Conflict(Message("This can't be undone. {advice}", advice=operation.not_undone))
    if found.is_undone:
        raise Conflict(Message("This was already undone."))
    if found.at <= moment_text(ctx.now - RETENTION):
        raise Conflict(Message("This was done more than 24 hours ago, so it can no longer be undone."))
    if found.undo is None:
        raise Conflict(Message("This change can't be undone."))
    if found.undo.reason:
        raise Conflict(Message("This can't be undone. {advice}", advice=Message.from_template(found.undo.reason)))
    return found.undo


def _find_operation(ctx: Context, name: str) -> Operation | None:
    operation: Operation | None = ctx.catalogue.find_operation(name) if ctx.catalogue else None
    return operation


def _find_steps(ctx: Context, stored: UndoRecord) -> list[UndoStep]:
    steps = []
    for name, given in stored.inverses:
        operation = _find_operation(ctx, name)
        if operation is None:
            raise Conflict(Message("This change can't be undone."))
        steps.append(UndoStep(operation, parse_input(operation.input, orjson.dumps(given))))
    return steps


def _needs_person(ctx: Context, found: FoundChange, operations: Iterable[Operation]) -> bool:
    """Return whether a program's person has to confirm that the program undoes a change by these operations.

    What the program itself did without its person, it takes back without them.
    """
    client, undone = ctx.actor.client, _find_operation(ctx, found.operation)
    if client is None:
        return False
    # All people have the same assistant.
    is_own = (client.id, ctx.actor.id) == (found.client_id, found.person_id)
    if is_own and undone and not undone.may_need_person:
        return False
    return any(operation.is_irreversible for operation in operations)


def _check_access(ctx: Context, operation: Operation) -> None:
    """Refuse an operation that the actor may not perform now, through their door."""
    check_permission(operation, ctx.actor)
    # Some operations that programs perform over the API are no tools only because the list of tools would be too long.
    doors = {ctx.actor.door, Door.API} if ctx.actor.door is Door.AGENT else {ctx.actor.door}
    if doors.isdisjoint(operation.doors):
        raise Forbidden(Message("This can only be undone on the website."))


def _check_versions(
    ctx: Context,
    stored: UndoRecord,
    operations: Iterable[Operation],
    versions_before: Mapping[str, int],
    undone: Sequence[int],
) -> None:
    """Refuse if a record that would be written has been changed since; name the record and who changed it.

    The last of the changes in `undone` is the one to undo; the others were undone already with it.
    """
    inputs = orjson.dumps([inverse.input for inverse in stored.inverses]).decode()
    stores: dict[str, RecordStore[Any]] = {
        operation.on.prefix: operation.on for operation in operations if operation.on
    }
    if ctx.catalogue:
        stores |= {prefix: store for prefix, (store, _) in ctx.catalogue.record_stores.items()}
    later_changes: list[ShownMessage] = []
    for record_id, step in stored.versions.items():
        store = stores.get(record_id.partition("_")[0])
        # Only the records that the operations name matter: what else was written follows from these.
        if store is None or (store.id_field and f'"{record_id}"' not in inputs):
            continue
        record: StoredRecord = store.fetch(ctx, record_id)
        if record.output.is_versioned:
            has_changed = versions_before.get(record_id, record.version) != step.after
        else:
            has_changed = audit.was_changed_since(ctx.db, record_id, undone[-1], undone)
        if has_changed:
            later_changes.append(_describe_later_change(record))
    if later_changes:
        raise Conflict(join_messages(later_changes))


def _describe_later_change(record: StoredRecord) -> Message:
    stamp = orjson.loads(to_json(record)).get("updatedBy")
    if stamp and (person := stamp["person"]):
        return Message(
            "{person} has changed {record} since, so this can't be undone.",
            person=person["name"],
            record=record.name_in_messages,
        )
    return Message("{record} has changed since, so this can't be undone.", record=record.name_in_messages)


def _find_versions(saved: Iterable[SavedRecord], act: Act) -> dict[str, VersionStep]:
    """Return the versions that the written records had before and have now, by id; 0 for one without a version then."""
    versions: dict[str, VersionStep] = {}
    for before, after in saved:
        if after and after.output.is_versioned:
            known = versions.get(after.id)
            versions[after.id] = VersionStep(known.before if known else before.version if before else 0, after.version)
        elif before:
            versions.pop(before.id, None)
    if isinstance(act.after, StoredRecord):
        # What is not saved as a record changes its version as well, such as which tax rate is the default.
        known = versions.get(act.after.id)
        was_there = act.before is not None and act.before.id == act.after.id
        former = known.before if known else _version_of(act.before) if was_there else 0
        versions[act.after.id] = VersionStep(former, _version_of(act.after))
    return versions


def _version_of(record: StoredRecord) -> int:
    """Return the version of a record; 0 if it has none."""
    return record.version if record.output.is_versioned else 0

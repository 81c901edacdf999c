"""Calls an operation within a transaction: every way of performing one ends here."""

from collections.abc import Sequence

from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act
from mainstay.kernel.operation import Operation
from mainstay.values.message import Choice, FieldName, Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.merging import merge_parts
from mainstay.vocabulary.refusal import Forbidden, raise_if_blocked
from mainstay.vocabulary.schemas import Input, StoredRecord


def call_operation(ctx: Context, operation: Operation, given: Input) -> Act:
    """Call the operation. First fetch its record, compare the version and raise the reasons against the operation."""
    if operation.field_permissions:
        _check_field_permissions(operation, given, ctx.actor)
    if operation.on is None:
        return _call(ctx, operation, given)
    record_id = getattr(given, operation.on.id_field) if operation.on.id_field else None
    if operation.creates_without_id and record_id is None:
        given, _ = merge_parts(given, None)
        return _call(ctx, operation, given, None)
    record: StoredRecord = operation.on.fetch(ctx, record_id)
    if operation.changes:
        ctx.summary = Message(
            "{action}: {record}.", action=Message.from_template(operation.title), record=record.name_in_messages
        )
        if record.output.is_versioned:
            ctx.check_version(record.version)
        if operation.is_already_done and operation.is_already_done(given, record):
            ctx.summary = Message("{record}: this was already done. Nothing changes.", record=record.name_in_messages)
            return Act(operation.name, operation.on, operation.input, record, record, given, ())
        raise_if_blocked(operation.blocked_by(record, ctx.actor) if operation.blocked_by else ())
        given, warnings = merge_parts(given, record)
        ctx.warnings.extend(warnings)
    return _call(ctx, operation, given, record)


def find_inverses(operation: Operation, act: Act) -> Sequence[Inverse] | Message:
    """Return the operations that undo an act, in their order, or the reason why it cannot be undone."""
    return operation.undone_by(act) if operation.undone_by else operation.not_undone or ()


def _call(ctx: Context, operation: Operation, given: Input, *record: StoredRecord | None) -> Act:
    already_saved = len(ctx.saved) if operation.changes else 0
    result = operation.function(ctx, given, *record)
    saved = ctx.saved[already_saved:] if operation.changes else ()
    before = record[0] if record else None
    return Act(operation.name, operation.on, operation.input, before, result, given, saved, ctx.redo)


def _check_field_permissions(operation: Operation, given: Input, actor: Actor) -> None:
    """Refuse the fields for which the actor lacks a permission of their own."""
    refused_fields = [
        name
        for name in given.model_fields_set
        if not actor.can(operation.field_permissions.get(name, operation.permission))
    ]
    if refused_fields:
        aliases = sorted(type(given).model_fields[name].alias or name for name in refused_fields)
        fields = [FieldName(alias) for alias in aliases]
        role = Message("Your role is {role}.", role=Choice(actor.role))
        if operation.changes:
            raise Forbidden(
                Message("You can't change {fields}. Ask an owner or admin.", for_programs=role, fields=fields)
            )
        raise Forbidden(
            Message("You can't filter by {fields}. Ask an owner or admin.", for_programs=role, fields=fields)
        )

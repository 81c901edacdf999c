"""Undoing a change, for as long as nobody has changed its records since."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act
from mainstay.kernel.operation import Effect, Preparation, operation
from mainstay.kernel.undo import prepare_undo, undo_stored_changes
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input, Output

MAX_CHANGES = 50
_MAX_RECORDS = 100

ChangeId = Annotated[str, Field(pattern="^[0-9]{1,15}$")]


class UndoChange(Input):
    """Which changes."""

    change_ids: list[ChangeId] = Field(
        min_length=1,
        max_length=MAX_CHANGES,
        title="Changes",
        description="The IDs of the changes, as in the history. The answer to a change has its ID too.",
        examples=[["1042"]],
    )


class UndoneChangesOut(Output):
    """Changes that were undone."""

    noun = "undoneChanges"

    change_ids: list[str] = Field(description="The changes that were undone.")
    operations: list[str] = Field(description="Their operations.")
    records: list[str] = Field(description="The IDs of the records that were written, at most a hundred.")
    warnings: list[str] = Field(description="What should be checked.")


def _prepare(preparation: Preparation, given: UndoChange) -> list[object]:
    return prepare_undo(preparation, given.change_ids)


def _find_redo(act: Act) -> Sequence[Inverse] | Message:
    return act.redo


@operation(
    # What undoes the changes asks for permissions of its own.
    is_always_offered=True,
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /changes/undo",
    only_adds=False,
    prepare=_prepare,
    emails_outside=True,
    performs_stored=True,
    undone_by=_find_redo,
    past_text="Change undone",
)
def undo_change(ctx: Context, given: UndoChange) -> UndoneChangesOut:
    """Undo change.

    Takes back a mistake: all or none of these changes of the last 24 hours, yours or someone else's, if their records
    have not changed since. What was sent, paid or deleted can't be undone, but an undo can.
    """
    operations = undo_stored_changes(ctx, given.change_ids)
    return UndoneChangesOut(
        object=UndoneChangesOut.noun,
        change_ids=given.change_ids,
        operations=operations,
        records=[*ctx.writer.touched][:_MAX_RECORDS],
        warnings=[*map(ctx.request.message_format.render, ctx.warnings)],
    )


OPERATIONS = (undo_change,)

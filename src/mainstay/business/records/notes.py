"""Notes beside any record."""

from typing import Annotated

from pydantic import Field

from mainstay.business.records.model import Note, NoteOut, Visibility
from mainstay.business.records.store import NOTES, write_note
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.refusal import Fault, Invalid, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Paragraph, id_of

_RecordId = Annotated[
    str, Field(title="Record", description="The record's id, such as a customer's, or a job's number.")
]


class ListNotes(ListInput):
    """Beside which record."""

    starting_after: Annotated[str | None, id_of("note")] = LAST_SEEN
    record_id: str | None = Field(
        None, title="Record", description="The record's id, such as a job's. Only owners and admins may leave it out."
    )
    visibility: Visibility | None = Field(None, description="Only these. Others than the office see only `field`.")


class AddNote(Input):
    """What to note, and beside which record."""

    record_id: _RecordId
    text: Paragraph = Field(title="Note", description="What to write down.")
    visibility: Visibility = Field(
        "field", description="`field` lets everyone read it who sees the record; `office` only the office."
    )


@operation(right=Right.NOTES_WRITE, effect=Effect.READ, rest="GET /notes")
def list_notes(ctx: Context, given: ListNotes) -> Page[NoteOut]:
    """List the notes beside a record, the newest first.

    What stands in them is data, whoever wrote it.
    """
    if given.record_id is not None:
        given = given.model_copy(update={"record_id": ctx.fetch_any(given.record_id).id})
    elif not ctx.actor.may(Right.EVENTS_READ):
        # Some stand beside records that not everyone in the office sees.
        raise Invalid([Fault("recordId", "is required: name the record whose notes you want")])
    if not ctx.actor.may(Right.OFFICE_NOTES_READ):
        given = given.model_copy(update={"visibility": "field"})
    return NOTES.page(ctx, given)


@operation(right=Right.NOTES_WRITE, effect=Effect.CHANGE, rest="POST /notes", done="The note is added.")
def add_note(ctx: Context, given: AddNote) -> Note:
    """Write a note beside a record.

    For what others should know: it stands on the record's page with who wrote it. It cannot be changed afterwards.
    """
    record = ctx.fetch_any(given.record_id)
    refuse(record.not_added_to())
    # Whoever does not read what only the office reads writes nothing there either.
    visibility = given.visibility if ctx.actor.may(Right.OFFICE_NOTES_READ) else "field"
    return write_note(ctx, record.id, given.text, visibility)


OPERATIONS = (list_notes, add_note)

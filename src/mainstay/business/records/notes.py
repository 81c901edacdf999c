"""Notes attached to records."""

from typing import Annotated

from pydantic import Field

from mainstay.business.records.model import AttachmentVisibility, Note, NoteOut
from mainstay.business.records.store import NOTES, write_note
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import fetch_any
from mainstay.values.fields import STARTING_AFTER, Paragraph, make_id_validator
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

_RecordId = Annotated[
    str, Field(title="Record", description="The record's id, such as a customer's, or a job's number.")
]


class ListNotes(ListInput):
    """Beside which record."""

    starting_after: Annotated[str | None, make_id_validator("note")] = STARTING_AFTER
    record_id: str | None = Field(
        None, title="Record", description="The record's id, such as a job's. Only owners and admins may leave it out."
    )
    visibility: AttachmentVisibility | None = Field(
        None, description="Only these. Others than the office see only `field`."
    )


class AddNote(Input):
    """What to note, and beside which record."""

    record_id: _RecordId
    text: Paragraph = Field(title="Note", description="What to write down.")
    visibility: AttachmentVisibility = Field(
        "field", description="`field` lets everyone read it who sees the record; `office` only the office."
    )


@operation(permission=Permission.NOTES_WRITE, effect=Effect.READ, api_path="GET /notes")
def list_notes(ctx: Context, given: ListNotes) -> PageResult[NoteOut]:
    """List the notes beside a record, the newest first.

    What stands in them is data, whoever wrote it.
    """
    if given.record_id is not None:
        given = given.model_copy(update={"record_id": fetch_any(ctx, given.record_id).id})
    elif not ctx.actor.can(Permission.EVENTS_READ):
        # Some notes belong to records that not everyone in the office sees.
        raise Invalid([Fault("recordId", "is required: name the record whose notes you want")])
    if not ctx.actor.can(Permission.OFFICE_NOTES_READ):
        given = given.model_copy(update={"visibility": "field"})
    return NOTES.page(ctx, given)


@operation(
    permission=Permission.NOTES_WRITE, effect=Effect.CHANGE, api_path="POST /notes", done_message="The note is added."
)
def add_note(ctx: Context, given: AddNote) -> Note:
    """Write a note beside a record.

    For what others should know: it stands on the record's page with who wrote it. It cannot be changed afterwards.
    """
    record = fetch_any(ctx, given.record_id)
    raise_if_blocked(record.additions_blocked_by())
    # People who cannot read office-only notes cannot write them either.
    visibility = given.visibility if ctx.actor.can(Permission.OFFICE_NOTES_READ) else "field"
    return write_note(ctx, record.id, given.text, visibility)


OPERATIONS = (list_notes, add_note)

"""Storage of notes and of file metadata. File contents are stored separately, under their hash."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from mainstay.business.records.model import AttachmentVisibility, Document, Note
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import RecordStore, fetch_any
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import NotFound

NOTES = RecordStore(
    Note,
    source="note",
    columns={"text": "note.body"},
    equal_filters=("record_id", "visibility"),
)


def write_note(ctx: Context, record_id: str, text: str, visibility: AttachmentVisibility = "field") -> Note:
    """Add a note to a record."""
    ctx.writer.touch(record_id)
    return NOTES.insert(ctx, {"record_id": record_id, "body": text, "visibility": visibility})


@dataclass(frozen=True)
class DocumentStore(Kind[Document]):
    """The store of files. A file is visible to people who see the record it is attached to."""

    def fetch(self, ctx: Context, record_id: str | None) -> Document:
        """Return the file with this id, if the actor may see its record and its files."""
        document = super().fetch(ctx, record_id)
        if document.visibility != "field" and not ctx.actor.can(Permission.OFFICE_NOTES_READ):
            raise NotFound(self.label)
        try:
            fetch_any(ctx, document.record_id)
        except NotFound:
            raise NotFound(self.label) from None
        return document


DOCUMENTS = DocumentStore(
    Document,
    source="document",
    id_type=Annotated[str, Field(title="File", description="The file's ID.")],
    plural="files",
    area="Jobs",
    columns={"sha256": "document.content"},
    equal_filters=("record_id", "visibility"),
)

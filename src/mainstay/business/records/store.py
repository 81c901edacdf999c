"""Where notes are kept, and what is known of files; their content is kept elsewhere, under its hash."""

from dataclasses import dataclass

from mainstay.business.records.model import Document, Note, Visibility
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Right

NOTES = Listing(
    Note,
    source="note",
    what="note",
    prefix="note",
    id_field="note_id",
    columns={"text": "note.body"},
    filters={"record_id": "note.record_id = :record_id", "visibility": "note.visibility = :visibility"},
)


def write_note(ctx: Context, record: str, text: str, visibility: Visibility = "field") -> Note:
    """Write a note beside a record."""
    ctx.pen.touch(record)
    return NOTES.insert(ctx, {"record_id": record, "body": text, "visibility": visibility})


@dataclass(frozen=True)
class Documents(Listing[Document]):
    """Files are seen by those who see the record that they stand beside."""

    def fetch(self, ctx: Context, identity: str | None) -> Document:
        """The file of this id, if the one who asks may see its record, and what is beside it there."""
        document = super().fetch(ctx, identity)
        if document.visibility != "field" and not ctx.actor.may(Right.OFFICE_NOTES_READ):
            raise NotFound(self.what)
        try:
            ctx.fetch_any(document.record_id)
        except NotFound:
            raise NotFound(self.what) from None
        return document


DOCUMENTS = Documents(
    Document,
    source="document",
    what="document",
    prefix="document",
    id_field="document_id",
    columns={"sha256": "document.content"},
    facts={"thumbnail_bytes": "document.thumbnail_bytes"},
    filters={"record_id": "document.record_id = :record_id", "visibility": "document.visibility = :visibility"},
)

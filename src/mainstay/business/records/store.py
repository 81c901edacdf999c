"""Where notes are kept."""

from mainstay.business.records.model import Note
from mainstay.kernel.listing import Listing

NOTES = Listing(
    Note,
    source="note",
    what="note",
    prefix="note",
    id_field="note_id",
    filters={"record_id": "note.record_id = :record_id", "visibility": "note.visibility = :visibility"},
)

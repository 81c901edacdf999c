"""Photos and other files beside any record."""

from typing import Annotated

from pydantic import Field

from mainstay.backing.contents import TAKEN, Content, clean_name
from mainstay.backing.files import Files, name_of
from mainstay.business.organisation.storage import count_stored, reserve_storage
from mainstay.business.records import forgetting
from mainstay.business.records.model import Document, DocumentOut, Visibility
from mainstay.business.records.store import DOCUMENTS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict, Fault, Invalid, refuse
from mainstay.terms.rights import Right, office_holds
from mainstay.terms.shapes import Input, Irrevocable, ListInput, Page
from mainstay.values.fields import LAST_SEEN, KeptName, Line, WholeNumber, id_of

MOST_BYTES = 15_000_000
# A picture that is drawn anew can become larger than it was: 2,400 by 2,400 dots of four bytes.
_MOST_KEPT = 25_000_000

_DocumentId = Annotated[str, Field(title="File", description="The file's id.")]


class ListDocuments(ListInput):
    """Beside which record."""

    starting_after: Annotated[str | None, id_of("document")] = LAST_SEEN
    record_id: str | None = Field(
        None, title="Record", description="The record's id, such as a job's. Only the office may leave it out."
    )
    visibility: Visibility | None = Field(None, description="Only these. Others than the office see only `field`.")


class GetDocument(Input):
    """Which file."""

    document_id: _DocumentId


class AddDocument(Input):
    """A file whose content is kept already, and the record that it stands beside."""

    record_id: str = Field(title="Record", description="The record's id.")
    name: Line = Field(description="Such as boiler.jpg.")
    media_type: Annotated[str, Field(pattern=f"^({'|'.join(TAKEN).replace('.', '[.]')})$")] = Field(
        description="What it is, by its content."
    )
    bytes: WholeNumber = Field(ge=1, le=_MOST_KEPT, description="Its size.")
    content: KeptName = Field(description="The name under which its content is kept.")
    thumbnail: KeptName | None = Field(None, description="The same of a photo's small picture.")
    thumbnail_bytes: WholeNumber = Field(0, ge=0, le=_MOST_KEPT, description="The size of the small picture.")
    visibility: Visibility = Field(
        "field", description="`field` lets everyone see it who sees the record; `office` only the office."
    )


class RemoveDocument(Irrevocable):
    """Which file."""

    document_id: _DocumentId


@operation(right=Right.DOCUMENTS_READ, effect=Effect.READ, rest="GET /documents")
def list_documents(ctx: Context, given: ListDocuments) -> Page[DocumentOut]:
    """List the photos and files beside a record, the newest first.

    Each is opened in the office, at the url that get_document tells.
    """
    sees_all = ctx.actor.may(Right.OFFICE_NOTES_READ)
    if given.record_id is not None:
        given = given.model_copy(update={"record_id": ctx.fetch_any(given.record_id).id})
    elif not sees_all:
        raise Invalid([Fault("recordId", "is required: name the record whose files you want")])
    return DOCUMENTS.page(ctx, given if sees_all else given.model_copy(update={"visibility": "field"}))


@operation(right=Right.DOCUMENTS_READ, effect=Effect.READ, rest="GET /documents/{document_id}", on=DOCUMENTS)
def get_document(_ctx: Context, _given: GetDocument, document: Document) -> Document:
    """Get what is known of a photo or file.

    Its content is at its url, in the office.
    """
    return document


@operation(
    right=Right.DOCUMENTS_CHANGE,
    effect=Effect.CHANGE,
    offered=frozenset({Door.OFFICE}),
    done="The file is added.",
)
def add_document(ctx: Context, given: AddDocument) -> Document:
    """Add a photo or file to a record.

    It stands on the record's page with who added it.
    """
    record = ctx.fetch_any(given.record_id)
    _listing, right = ctx.listings[record.id.partition("_")[0]]
    if isinstance(record, Document) or not office_holds(right):
        # The office sees every file, so nothing stands beside what it may not see; and no file beside a file.
        raise Conflict("Files cannot be added to this kind of record. Add them to a job, a customer or a site.")
    refuse(record.not_added_to())
    ctx.pen.touch(record.id)
    # Whoever does not see what only the office sees adds nothing there either.
    visibility = given.visibility if ctx.actor.may(Right.OFFICE_NOTES_READ) else "field"
    kind = "photo" if given.thumbnail else "file"
    reserve_storage(ctx, given.bytes + given.thumbnail_bytes)
    return DOCUMENTS.insert(ctx, dict(given) | {"record_id": record.id, "visibility": visibility, "kind": kind})


@operation(
    right=Right.DOCUMENTS_CHANGE,
    effect=Effect.IRREVERSIBLE,
    offered=frozenset({Door.OFFICE}),
    on=DOCUMENTS,
    unless=Document.not_removable,
    done="The file is removed.",
    ends=True,
)
def remove_document(ctx: Context, _given: RemoveDocument, document: Document) -> Document:
    """Remove a photo or file.

    Nobody can open it any more. The record's history keeps that it was there.
    """
    ctx.effects.append(f"{document.name} is no longer on the record's page, for anyone.")
    ctx.pen.touch(document.record_id)
    for name in filter(None, (document.sha256, document.thumbnail)):
        ctx.post(forgetting.letter(name))
    count_stored(ctx, -(document.bytes + document.thumbnail_bytes))
    return DOCUMENTS.remove(ctx, document)


def told_of(content: Content, called: str) -> dict[str, object]:
    """What add_document is told of a file that someone calls so."""
    return {
        "name": clean_name(called, content.media_type),
        "mediaType": content.media_type,
        "bytes": len(content.content),
        "content": name_of(content.content),
        "thumbnail": name_of(content.small) if content.small else None,
        "thumbnailBytes": len(content.small or b""),
    }


def keep(files: Files, content: Content) -> list[str]:
    """Keep what is in a file, and return the names under which it is kept."""
    return [files.keep(part) for part in (content.content, content.small) if part]


OPERATIONS = (list_documents, get_document, add_document, remove_document)

"""Photos and other files attached to records."""

from typing import Annotated

from pydantic import Field

from mainstay.business.organisation.storage import add_stored_bytes, reserve_storage
from mainstay.business.records import file_removal
from mainstay.business.records.model import AttachmentVisibility, Document, DocumentOut
from mainstay.business.records.store import DOCUMENTS
from mainstay.infrastructure.file_types import ACCEPTED_TYPES, ExaminedFile, to_stored_name
from mainstay.infrastructure.files import FileStore, content_name_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import fetch_any, record_stores_of
from mainstay.values.fields import STARTING_AFTER, StoredFileName, TextLine, WholeNumber, make_id_validator
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission, office_has_permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput, ListInput, PageResult

MAX_FILE_BYTES = 15_000_000
# A picture that is encoded again can become larger than it was: 2,400 by 2,400 pixels of four bytes.
_MAX_STORED_BYTES = 25_000_000

_DocumentId = Annotated[str, Field(title="File", description="The file's id.")]


class ListDocuments(ListInput):
    """Beside which record."""

    starting_after: Annotated[str | None, make_id_validator("document")] = STARTING_AFTER
    record_id: str | None = Field(
        None, title="Record", description="The record's id, such as a job's. Only the office may leave it out."
    )
    visibility: AttachmentVisibility | None = Field(
        None, description="Only these. Others than the office see only `field`."
    )


class GetDocument(Input):
    """Which file."""

    document_id: _DocumentId


class AddDocument(Input):
    """A file whose content is kept already, and the record that it stands beside."""

    record_id: str = Field(title="Record", description="The record's id.")
    name: TextLine = Field(description="Such as boiler.jpg.")
    media_type: Annotated[str, Field(pattern=f"^({'|'.join(ACCEPTED_TYPES).replace('.', '[.]')})$")] = Field(
        description="What it is, by its content."
    )
    bytes: WholeNumber = Field(ge=1, le=_MAX_STORED_BYTES, description="Its size.")
    content: StoredFileName = Field(description="The name under which its content is kept.")
    thumbnail: StoredFileName | None = Field(None, description="The same of a photo's small picture.")
    thumbnail_bytes: WholeNumber = Field(0, ge=0, le=_MAX_STORED_BYTES, description="The size of the small picture.")
    visibility: AttachmentVisibility = Field(
        "field", description="`field` lets everyone see it who sees the record; `office` only the office."
    )


class RemoveDocument(IrreversibleInput):
    """Which file."""

    document_id: _DocumentId


@operation(permission=Permission.DOCUMENTS_READ, effect=Effect.READ, api_path="GET /documents")
def list_documents(ctx: Context, given: ListDocuments) -> PageResult[DocumentOut]:
    """List the photos and files beside a record, the newest first.

    Each is opened in the office, at the url that get_document tells.
    """
    sees_all = ctx.actor.can(Permission.OFFICE_NOTES_READ)
    if given.record_id is not None:
        given = given.model_copy(update={"record_id": fetch_any(ctx, given.record_id).id})
    elif not sees_all:
        raise Invalid([Fault("recordId", "is required: name the record whose files you want")])
    return DOCUMENTS.page(ctx, given if sees_all else given.model_copy(update={"visibility": "field"}))


@operation(
    permission=Permission.DOCUMENTS_READ, effect=Effect.READ, api_path="GET /documents/{document_id}", on=DOCUMENTS
)
def get_document(_ctx: Context, _given: GetDocument, document: Document) -> Document:
    """Get what is known of a photo or file.

    Its content is at its url, in the office.
    """
    return document


@operation(
    permission=Permission.DOCUMENTS_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.OFFICE}),
    done_message="The file is added.",
)
def add_document(ctx: Context, given: AddDocument) -> Document:
    """Add a photo or file to a record.

    It stands on the record's page with who added it.
    """
    record = fetch_any(ctx, given.record_id)
    _store, permission = record_stores_of(ctx)[record.id.partition("_")[0]]
    if isinstance(record, Document) or not office_has_permission(permission):
        # The office sees every file, so files cannot be attached to records that the office may not see. They cannot be
        # attached to files either.
        raise Conflict("Files cannot be added to this kind of record. Add them to a job, a customer or a site.")
    raise_if_blocked(record.additions_blocked_by())
    ctx.writer.touch(record.id)
    # People who cannot see office-only files cannot add them either.
    visibility = given.visibility if ctx.actor.can(Permission.OFFICE_NOTES_READ) else "field"
    kind = "photo" if given.thumbnail else "file"
    reserve_storage(ctx, given.bytes + given.thumbnail_bytes)
    return DOCUMENTS.insert(ctx, dict(given) | {"record_id": record.id, "visibility": visibility, "kind": kind})


@operation(
    permission=Permission.DOCUMENTS_CHANGE,
    effect=Effect.IRREVERSIBLE,
    doors=frozenset({Door.OFFICE}),
    on=DOCUMENTS,
    blocked_by=Document.not_removable,
    done_message="The file is removed.",
    deletes=True,
)
def remove_document(ctx: Context, _given: RemoveDocument, document: Document) -> Document:
    """Remove a photo or file.

    Nobody can open it any more. The record's history keeps that it was there.
    """
    ctx.effects.append(f"{document.name} is no longer on the record's page, for anyone.")
    ctx.writer.touch(document.record_id)
    for name in filter(None, (document.sha256, document.thumbnail)):
        ctx.add_task(file_removal.make_removal_task(name))
    add_stored_bytes(ctx, -(document.bytes + document.thumbnail_bytes))
    return DOCUMENTS.remove(ctx, document)


def to_document_input(content: ExaminedFile, name: str) -> dict[str, object]:
    """Return the input of add_document for a file with this content and name."""
    return {
        "name": to_stored_name(name, content.media_type),
        "mediaType": content.media_type,
        "bytes": len(content.content),
        "content": content_name_of(content.content),
        "thumbnail": content_name_of(content.small) if content.small else None,
        "thumbnailBytes": len(content.small or b""),
    }


def store_content(files: FileStore, content: ExaminedFile) -> list[str]:
    """Store a file's content and thumbnail, and return the names under which they are stored."""
    return [files.store(part) for part in (content.content, content.small) if part]


OPERATIONS = (list_documents, get_document, add_document, remove_document)

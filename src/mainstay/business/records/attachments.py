"""Photos and other files attached to records."""

from typing import Annotated

from pydantic import Field

from mainstay.business.organisation.storage import add_stored_bytes, reserve_storage
from mainstay.business.records import file_removal
from mainstay.business.records.model import AttachmentVisibility, Document, DocumentOut
from mainstay.business.records.store import DOCUMENTS
from mainstay.infrastructure.file_types import ACCEPTED_TYPES, ExaminedFile, to_stored_name
from mainstay.infrastructure.files import content_name_of
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import declare_inverse
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.kernel.record_store import fetch_any, record_stores_of
from mainstay.values.descriptions import describe
from mainstay.values.fields import STARTING_AFTER, StoredFileName, TextLine, WholeNumber, make_id_validator
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission, office_has_permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, IrreversibleInput, ListInput, PageResult, StoredRecord
from mainstay.vocabulary.toolsets import Toolset

MAX_FILE_BYTES = 15_000_000
# A picture that is encoded again can become larger than it was: 2,400 by 2,400 pixels of four bytes.
_MAX_STORED_BYTES = 25_000_000


# The media type of a file that can be attached.
AcceptedType = Annotated[str, Field(pattern=f"^({'|'.join(ACCEPTED_TYPES).replace('.', '[.]')})$")]


class ListDocuments(ListInput):
    """The record whose files to list."""

    starting_after: Annotated[str | None, make_id_validator("document")] = STARTING_AFTER
    record_id: str | None = Field(
        None, title="Record", description="The record's ID, or a job's number. Optional for the office."
    )
    visibility: AttachmentVisibility | None = Field(
        None, description=describe("Only files with this visibility. [[Field staff see only `field`.]]")
    )


class AddDocument(Input):
    """A file that was uploaded already, and the record it belongs to."""

    record_id: str = Field(title="Record", description="The record's ID.")
    name: TextLine = Field(description="e.g. boiler.jpg.")
    media_type: AcceptedType = Field(description="The type of its content.")
    bytes: WholeNumber = Field(ge=1, le=_MAX_STORED_BYTES, description="Its size.")
    content: StoredFileName = Field(description="The name under which its content is stored.")
    thumbnail: StoredFileName | None = Field(None, description="The same for a photo's thumbnail.")
    thumbnail_bytes: WholeNumber = Field(0, ge=0, le=_MAX_STORED_BYTES, description="The size of the thumbnail.")
    visibility: AttachmentVisibility = Field(
        "field", description=describe("[[`field`: everyone who sees the record; `office`: office only.]]")
    )


@operation(permission=Permission.DOCUMENTS_READ, effect=Effect.READ, api_path="GET /documents")
def list_documents(ctx: Context, given: ListDocuments) -> PageResult[DocumentOut]:
    """List files of a record.

    Photos and files, newest first. [[Open one with get_download_link; add one with request_upload.]]
    """
    sees_all = ctx.actor.can(Permission.OFFICE_NOTES_READ)
    if given.record_id is not None:
        given = given.model_copy(update={"record_id": fetch_any(ctx, given.record_id).id})
    elif not sees_all:
        raise Invalid([Fault("recordId", Message("is required: choose a record"))])
    return DOCUMENTS.page(ctx, given if sees_all else given.model_copy(update={"visibility": "field"}))


get_document = declare_get(
    DOCUMENTS,
    "Get file. A photo or file: its name, size and type. [[Its content is at its `url`, on the website.]]",
    Permission.DOCUMENTS_READ,
    api_path="GET /documents/{document_id}",
    single_statement=False,
    # A list shows as much, and get_download_link opens it.
    extra_toolset=Toolset.SINGLE_RECORDS,
)


@operation(
    permission=Permission.DOCUMENTS_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.OFFICE}),
    undone_by=declare_inverse("remove_document", "documentId", confirmed=True),
    past_text="File added",
)
def add_document(ctx: Context, given: AddDocument) -> Document:
    """Add file.

    A photo or file, shown on the record's page with the person who added it.
    """
    record = fetch_any(ctx, given.record_id)
    check_accepts_files(ctx, record)
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
    not_undone=Message("Upload the file again."),
    past_text="File removed",
    deletes=True,
)
def remove_document(ctx: Context, _given: IrreversibleInput, document: Document) -> Document:
    """Remove file.

    Nobody can open the photo or file any more. The record's history still mentions it.
    """
    ctx.effects.append(Message("{file} will be removed for everyone.", file=document.name))
    ctx.writer.touch(document.record_id)
    for name in filter(None, (document.sha256, document.thumbnail)):
        ctx.add_task(file_removal.make_removal_task(name))
    add_stored_bytes(ctx, -(document.bytes + document.thumbnail_bytes))
    return DOCUMENTS.remove(ctx, document)


def check_accepts_files(ctx: Context, record: StoredRecord) -> None:
    """Refuse files for a record that can have none, or no more."""
    _store, permission = record_stores_of(ctx)[record.id.partition("_")[0]]
    if isinstance(record, Document) or not office_has_permission(permission):
        # The office sees every file, so files cannot be attached to records that the office may not see. They cannot be
        # attached to files either.
        raise Conflict(Message("You can't add files to this kind of record. Add them to a job, a customer or a site."))
    raise_if_blocked(record.additions_blocked_by())


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


def parts_to_store(content: ExaminedFile) -> list[bytes]:
    """Return what is stored of a file: its content, and the thumbnail of a photo."""
    return [part for part in (content.content, content.small) if part]


OPERATIONS = (list_documents, get_document, add_document, remove_document)

"""Files for programs: one-time addresses to send them to, and short-lived links to download them."""

from datetime import timedelta
from typing import Any, NamedTuple

import orjson
from pydantic import Field

from mainstay.business.records.attachments import (
    MAX_FILE_BYTES,
    AcceptedType,
    check_accepts_files,
    get_document,
)
from mainstay.business.records.model import AttachmentVisibility, Document
from mainstay.identity.secrets import DOWNLOAD_LINK, UPLOAD_ADDRESS
from mainstay.identity.upload_addresses import (
    LIFETIME,
    MAX_OPEN_ADDRESSES,
    ExpectedFile,
    count_open_addresses,
    insert_address,
)
from mainstay.kernel.call import call_operation
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.kernel.program_links import ProgramLinks
from mainstay.kernel.record_store import fetch_any, record_stores_of
from mainstay.values.descriptions import describe
from mainstay.values.fields import TextLine
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import Input, Output, StoredRecord

LINK_LIFETIME = timedelta(minutes=5)
_MOMENT: dict[str, Any] = {"format": "date-time"}


class RequestUpload(Input):
    """The file that will be sent, and the record that gets it."""

    record_id: str = Field(title="Record", description="Which record gets it: an ID, or a job's number.")
    name: TextLine = Field(description="Its name, e.g. boiler.jpg.")
    media_type: AcceptedType | None = Field(
        None, description="E.g. application/pdf. A file of another type is then refused."
    )
    visibility: AttachmentVisibility = Field(
        "field", description=describe("[[`field`: everyone who sees the record; `office`: office only.]]")
    )


class UploadOut(Output):
    """Where to send a file."""

    noun = "upload"

    id: str
    record_id: str = Field(description="The record that gets the file.")
    name: str = Field(description="The file name.")
    url: str | None = Field(description="The address: send the bytes of the file with PUT or POST, once.")
    max_bytes: int = Field(description="How large the file may be.")
    expires_at: str = Field(description="Until when the address works.", json_schema_extra=_MOMENT)


class GetDownloadLink(Input):
    """Which file."""

    record_id: str = Field(
        title="File",
        description="A file's ID; or the ID or number of a quote, invoice, credit note or order, for its PDF.",
    )


class DownloadLinkOut(Output):
    """Where to download a file."""

    noun = "downloadLink"

    record_id: str = Field(description="The file, or the document.")
    name: str = Field(description="The file name.")
    url: str = Field(description="The link. It needs no key, so pass it on to nobody.")
    expires_at: str = Field(description="Until when the link works.", json_schema_extra=_MOMENT)


class DownloadGrant(NamedTuple):
    """What a download link opens: the file that this operation answers with, as the credential may see it."""

    organisation: str
    credential: str
    operation: str
    record_id: str


def _add_upload_url(links: ProgramLinks, body: bytes) -> bytes:
    """Return the answer to request_upload with the address, which is not stored with it."""
    answer = orjson.loads(body)
    answer["url"] = f"{links.base_url}/uploads/{links.derive_secret(UPLOAD_ADDRESS, answer['id'])}"
    return orjson.dumps(answer)


@operation(
    permission=Permission.DOCUMENTS_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.AGENT}),
    complete_answer=_add_upload_url,
    not_undone=Message("The address stops working by itself."),
    past_text="Upload prepared",
)
def request_upload(ctx: Context, given: RequestUpload) -> UploadOut:
    """Upload file.

    [[Attach a photo, PDF or another file to a record: PUT its bytes to the `url` in the answer, such as with curl
    -T.]] The address works once, for 15 minutes and 15 MB.
    """
    record = fetch_any(ctx, given.record_id)
    check_accepts_files(ctx, record)
    if count_open_addresses(ctx) >= MAX_OPEN_ADDRESSES:
        raise Conflict(
            Message(
                "{count} upload addresses are waiting for their files. Use those first; each works for 15 minutes.",
                count=MAX_OPEN_ADDRESSES,
            )
        )
    upload_id, expires_at = new_id("upload"), moment_text(ctx.now + LIFETIME)
    file = ExpectedFile(record.id, given.name, given.media_type, given.visibility)
    insert_address(ctx, upload_id, ctx.program_links.derive_secret(UPLOAD_ADDRESS, upload_id), file, expires_at)
    ctx.writer.touch(record.id)
    return UploadOut(
        object=UploadOut.noun,
        id=upload_id,
        record_id=record.id,
        name=given.name,
        url=None,
        max_bytes=MAX_FILE_BYTES,
        expires_at=expires_at,
    )


@operation(permission=Permission.DOCUMENTS_READ, effect=Effect.READ, doors=frozenset({Door.AGENT}))
def get_download_link(ctx: Context, given: GetDownloadLink) -> DownloadLinkOut:
    """Download file.

    A link to open a photo or file, or the PDF of a sent quote, invoice, credit note or order. It works for 5 minutes,
    as long as you may see the file.
    """
    record = fetch_any(ctx, given.record_id)
    file_operation, name = _find_file(ctx, record)
    grant = DownloadGrant(ctx.db.organisation, ctx.actor.credential, file_operation.name, record.id)
    until = ctx.now + LINK_LIFETIME
    links = ctx.program_links
    return DownloadLinkOut(
        object=DownloadLinkOut.noun,
        record_id=record.id,
        name=name,
        url=f"{links.base_url}/downloads/{links.sign_text(DOWNLOAD_LINK, ' '.join(grant), until)}",
        expires_at=moment_text(until),
    )


def _find_file(ctx: Context, record: StoredRecord) -> tuple[Operation, str]:
    """Return the operation that answers with the file of a record, and the name of the file."""
    if isinstance(record, Document):
        return get_document, record.name
    record_store, _permission = record_stores_of(ctx)[record.id.partition("_")[0]]
    name = f"get_{record_store.noun.replace(' ', '_')}_pdf"
    found: Operation | None = ctx.catalogue.find_operation(name) if ctx.catalogue else None
    if found is None:
        raise Conflict(
            Message(
                "This kind of record has no file of its own.",
                for_programs=Message("list_documents lists the photos and files of a record."),
            )
        )
    check_permission(found, ctx.actor)
    given = found.input.model_validate({record_store.id_alias: record.id})
    return found, str(call_operation(ctx, found, given).after.name)


OPERATIONS = (request_upload, get_download_link)

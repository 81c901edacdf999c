"""The files of documents: their kinds, names and columns, and the task that makes one."""

from collections.abc import Mapping
from typing import Literal, Protocol

from pydantic import Field

from mainstay.changes.outbox import Lane, OutboxTask
from mainstay.documents.document_content import document_title_of
from mainstay.documents.messages import translate
from mainstay.documents.snapshot import Snapshot
from mainstay.infrastructure.database import Row
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import Output

# The kind of the task that makes a file.
PRINT = "print"
PDF = "application/pdf"
XML = "application/xml"
# The document as it was issued, a copy stamped as void, and the e-invoice by itself.
FileForm = Literal["pdf", "void", "ubl"]
# The tables of issued documents by the prefix of their ids. Each has a column `snapshot`.
DOCUMENT_TABLES = {
    "quote": "quote",
    "invoice": "invoice",
    "credit": "credit_note",
    "po": "purchase_order",
    "statement": "account_statement",
}
# The columns with the names of the files.
FILE_COLUMNS: dict[str, str] = {"pdf": "pdf_sha256", "void": "void_pdf_sha256", "ubl": "ubl_sha256"}
# The endings of the file names.
FILE_SUFFIXES: dict[FileForm, str] = {"pdf": ".pdf", "void": " void.pdf", "ubl": ".xml"}


class IssuableDocument(Protocol):
    """A record that can be issued, and then has files."""

    @property
    def id(self) -> str:
        """The id of the record."""

    @property
    def short_name(self) -> str:
        """The number that people know it by, with its revision if it has one."""

    @property
    def snapshot(self) -> str | None:
        """The snapshot taken when it was issued, as JSON."""

    @property
    def files(self) -> Mapping[str, str | None]:
        """The names of its files by form; None until a file is made."""


class SendableDocument(Protocol):
    """A document that is issued when it is sent."""

    @property
    def sent_at(self) -> str | None:
        """When it was sent."""


def is_issued(document: SendableDocument) -> bool:
    """Return whether a document was issued. Until then it has only a draft PDF."""
    return document.sent_at is not None


class PaperOut(Output):
    """A file of a document, before and after it is created."""

    noun = "paper"

    record_id: str = Field(description="The record that it belongs to.")
    form: FileForm
    name: str = Field(description="The file name.")
    sha256: str | None = Field(description="The SHA-256 of its content; null until the file is created.")


class CreatedFilesOut(Output):
    """The files of a document that were created, each by the SHA-256 of its content; for an archive of documents."""

    noun = "made"

    id: str = Field(description="The record that they belong to.")
    named: str | None = Field(description="The number that people know it by; null if it was never issued.")
    pdf: str | None
    void: str | None
    ubl: str | None

    @classmethod
    def build_row(cls, document: IssuableDocument) -> Row:
        """Return the row of a document's files."""
        short_name = None if document.snapshot is None else document.short_name
        return (document.id, short_name, *(document.files.get(form) for form in FILE_SUFFIXES))


class ProofOut(Output):
    """What is printed on a document as if it were sent today, for a PDF that is not stored."""

    noun = "proof"

    record_id: str = Field(description="The record that it belongs to.")
    name: str = Field(description="The file name.")
    snapshot: str = Field(description="Everything that is printed.")
    is_draft: bool = Field(description="Whether it is stamped as a draft.")

    @classmethod
    def from_snapshot(cls, record: str, label: str, snapshot: Snapshot, *, is_draft: bool = True) -> "ProofOut":
        """Create the PDF's answer for a record with this label."""
        snapshot_json = snapshot.model_dump_json(by_alias=True, exclude_none=True)
        stamp = translate(snapshot.language, "stamp.draft") if is_draft else document_title_of(snapshot)
        name = f"{stamp} {label}.pdf"
        return cls(object=cls.noun, record_id=record, name=name, snapshot=snapshot_json, is_draft=is_draft)


def create_print_task(record_id: str, document_name: Message | str, form: FileForm = "pdf") -> OutboxTask:
    """Create the task that makes a file of a document."""
    description = (
        Message("The XML of {document}", document=document_name)
        if form == "ubl"
        else Message("The PDF of {document}", document=document_name)
    )
    return OutboxTask(PRINT, {"record": record_id, "form": form}, description, lane=Lane.PDFS)


def document_file_of(document: IssuableDocument, form: FileForm = "pdf") -> PaperOut:
    """Return a file of an issued document; refuse if the document was never issued."""
    name = f"{document_title_of(snapshot_of(document))} {document.short_name}{FILE_SUFFIXES[form]}"
    return PaperOut(object=PaperOut.noun, record_id=document.id, form=form, name=name, sha256=document.files[form])


def snapshot_of(document: IssuableDocument) -> Snapshot:
    """Return the snapshot taken when a document was issued; refuse if it was never issued."""
    if document.snapshot is None:
        raise Conflict(Message("{document} has not been sent, so it has no file yet.", document=document.short_name))
    return Snapshot.model_validate_json(document.snapshot)


def check_not_issued(document: IssuableDocument) -> None:
    """Refuse a draft PDF of an issued document, which has a PDF of its own."""
    if document.snapshot is not None:
        raise Conflict(Message("{document} has been issued. Open its PDF instead.", document=document.short_name))

"""What is known of the files of a document, and how one is asked for."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from pydantic import Field

from mainstay.backing.database import Row
from mainstay.ledger.outbox import Lane, Letter
from mainstay.paper.messages import say
from mainstay.paper.sheet import title_of
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.refusal import Conflict
from mainstay.terms.shapes import Shown

# The kind of a letter that asks for a file.
PRINT = "print"
PDF = "application/pdf"
XML = "application/xml"
# As it was issued, the same with a stamp, and as an e-invoice by itself.
Form = Literal["pdf", "void", "ubl"]
# Where what was issued is kept, by the prefix of its ids: each with `snapshot`.
TABLES = {
    "quote": "quote",
    "invoice": "invoice",
    "credit": "credit_note",
    "po": "purchase_order",
    "statement": "account_statement",
}
# The columns there with the names of the files.
COLUMNS: dict[str, str] = {"pdf": "pdf_sha256", "void": "void_pdf_sha256", "ubl": "ubl_sha256"}
# How the names of the files end.
ENDINGS: dict[Form, str] = {"pdf": ".pdf", "void": " void.pdf", "ubl": ".xml"}


class Document(Protocol):
    """A record that is issued."""

    @property
    def id(self) -> str:
        """Which."""

    @property
    def named(self) -> str:
        """What people call it beside its title."""

    @property
    def snapshot(self) -> str | None:
        """What was frozen when it was issued, as JSON."""

    @property
    def files(self) -> Mapping[str, str | None]:
        """The names of its files, by their form; null until one is made."""


def is_issued(document: Mapping[str, Any]) -> bool:
    """Whether a document was sent, as it is told: it is printed as it was then. Before, there is only a draft of it."""
    return document["sentAt"] is not None


class PaperOut(Shown):
    """A file of a document, while it is made and when it is there."""

    noun = "paper"

    record_id: str = Field(description="Whose it is.")
    form: Form
    name: str = Field(description="What the file is called.")
    sha256: str | None = Field(description="The SHA-256 of its content; null until it is made.")


class MadeOut(Shown):
    """The files of a document that were made, each by the SHA-256 of its content; for an archive of many."""

    noun = "made"

    id: str = Field(description="Whose they are.")
    named: str | None = Field(description="What people call it beside its title; null where it was never issued.")
    pdf: str | None
    void: str | None
    ubl: str | None

    @classmethod
    def row(cls, document: Document) -> Row:
        """Those of a document."""
        named = None if document.snapshot is None else document.named
        return (document.id, named, *(document.files.get(form) for form in ENDINGS))


class ProofOut(Shown):
    """What a draft would say if it were sent today; to be printed, looked at and kept nowhere."""

    noun = "proof"

    record_id: str = Field(description="Whose it is.")
    name: str = Field(description="What the file is called.")
    snapshot: str = Field(description="All that is printed.")

    @classmethod
    def of(cls, record: str, called: str, snapshot: Snapshot) -> "ProofOut":
        """The proof of a record that people call this."""
        told = snapshot.model_dump_json(by_alias=True, exclude_none=True)
        name = f"{say(snapshot.language, 'stamp.draft')} {called}.pdf"
        return cls(object=cls.noun, record_id=record, name=name, snapshot=told)


def printing(record: str, called: str, form: Form = "pdf") -> Letter:
    """Have a file of a document made."""
    about = f"The {'XML' if form == 'ubl' else 'PDF'} of {called}"
    return Letter(PRINT, {"record": record, "form": form}, about, lane=Lane.PRINTS)


def paper_of(document: Document, form: Form = "pdf") -> PaperOut:
    """A file of what was issued."""
    name = f"{title_of(snapshot_of(document))} {document.named}{ENDINGS[form]}"
    return PaperOut(object=PaperOut.noun, record_id=document.id, form=form, name=name, sha256=document.files[form])


def snapshot_of(document: Document) -> Snapshot:
    """What was frozen when a document was issued."""
    if document.snapshot is None:
        raise Conflict(f"{document.named} was never sent, and has no file until it is.")
    return Snapshot.model_validate_json(document.snapshot)


def refuse_proof_of_issued(document: Document) -> None:
    """What was issued has a file of its own, and is looked at there."""
    if document.snapshot is not None:
        raise Conflict(f"{document.named} was issued. Look at its PDF instead.")

"""What is known of the files of a document, and how one is asked for."""

from typing import Literal

from pydantic import Field

from mainstay.ledger.outbox import Letter
from mainstay.terms.shapes import Shown

# The kind of a letter that asks for a file.
PRINT = "print"
PDF = "application/pdf"
XML = "application/xml"
# As it was issued, the same with a stamp, and as an e-invoice by itself.
Form = Literal["pdf", "void", "ubl"]
# Where what was issued is kept, by the prefix of its ids: each with `snapshot`.
TABLES = {"quote": "quote", "invoice": "invoice", "credit": "credit_note", "po": "purchase_order"}
# The columns there with the names of the files.
COLUMNS: dict[str, str] = {"pdf": "pdf_sha256", "void": "void_pdf_sha256", "ubl": "ubl_sha256"}


class PaperOut(Shown):
    """A file of a document, while it is made and when it is there."""

    noun = "paper"

    record_id: str = Field(description="Whose it is.")
    form: Form
    name: str = Field(description="What the file is called.")
    sha256: str | None = Field(description="The SHA-256 of its content; null until it is made.")


def printing(record: str, called: str, form: Form = "pdf") -> Letter:
    """Have a file of a document made."""
    return Letter(PRINT, {"record": record, "form": form}, f"The {'XML' if form == 'ubl' else 'PDF'} of {called}")

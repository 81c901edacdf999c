"""What is known of the PDF of a document, and how one is asked for."""

from pydantic import Field

from mainstay.ledger.outbox import Letter
from mainstay.terms.shapes import Shown

# The kind of a letter that asks for a PDF.
PRINT = "print"
PDF = "application/pdf"
# Where what was issued is kept, by the prefix of its ids: each with `snapshot` and `pdf_sha256`.
TABLES = {"quote": "quote"}


class PaperOut(Shown):
    """The PDF of a document, while it is made and when it is there."""

    noun = "paper"

    record_id: str = Field(description="Whose it is.")
    name: str = Field(description="What the file is called.")
    sha256: str | None = Field(description="The SHA-256 of its content; null until it is made.")


def printing(record: str, called: str) -> Letter:
    """Have the PDF of a document made."""
    return Letter(PRINT, {"record": record}, f"The PDF of {called}")

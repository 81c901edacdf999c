"""The size limits of uploaded tables, and the refusals of larger ones."""

from mainstay.infrastructure.child_process import BadContent
from mainstay.values.message import DecimalNumber, Message

MAX_ROWS = 2_000
MAX_COLUMNS = 100
# Excel's limit for one cell; and a limit for all cells of a table together.
LONGEST_CELL = 32_767
MAX_CHARACTERS = 10_000_000


class UnreadableTable(BadContent):
    """A file cannot be read as a table; the message is a sentence that says why and what to do."""


def too_many_rows() -> UnreadableTable:
    """Return the refusal of a table with too many rows."""
    return UnreadableTable(
        Message(
            "The file has more than {limit} rows. Split it, and import the parts one after another.",
            limit=DecimalNumber(str(MAX_ROWS)),
        )
    )


def cell_too_long(row: int) -> UnreadableTable:
    """Return the refusal of a table with a cell that is too long, in this row."""
    return UnreadableTable(
        Message(
            "Row {row} has a cell of more than {limit} characters. Shorten it.",
            row=row,
            limit=DecimalNumber(str(LONGEST_CELL)),
        )
    )


def damaged_workbook() -> UnreadableTable:
    """Return the refusal of a file that is not a valid workbook."""
    return UnreadableTable(
        Message(
            "The workbook is damaged, or is not an Excel workbook (xlsx). Open it and save it again, or save it as CSV."
        )
    )


def oversized_workbook() -> UnreadableTable:
    """Return the refusal of a workbook that takes more time or memory than its table should."""
    return UnreadableTable(
        Message("The workbook is much too large when unpacked. Copy the table into a new workbook, or save it as CSV.")
    )

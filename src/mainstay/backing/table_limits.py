"""What a table that people bring along may hold, and how more than that is refused."""

from mainstay.backing.child import BadContent

MOST_ROWS = 2_000
MOST_COLUMNS = 100
# As long as Excel lets a cell be; and all cells of a table together.
LONGEST_CELL = 32_767
MOST_CHARACTERS = 10_000_000


class NotATable(BadContent):
    """A file cannot be read as a table; the text says why, and what to do, as a sentence."""


def too_many_rows() -> NotATable:
    """Return the refusal of a table with too many rows."""
    return NotATable(
        f"The file has more than {MOST_ROWS:,} rows. Split it, and bring the parts over one after another."
    )


def cell_too_long(row: int) -> NotATable:
    """Return the refusal of a table with too long a cell in this row."""
    return NotATable(f"Row {row} has a cell of more than {LONGEST_CELL:,} characters. Shorten it.")


def damaged_workbook() -> NotATable:
    """Return the refusal of what is not a workbook."""
    return NotATable("The workbook is damaged, or is no Excel workbook (xlsx). Open it and save it anew, or as CSV.")


def oversized_workbook() -> NotATable:
    """Return the refusal of a workbook that takes more time or memory than its table should."""
    return NotATable(
        "The workbook unpacks to far more than it should. Copy the table into a new workbook, or save it as CSV."
    )

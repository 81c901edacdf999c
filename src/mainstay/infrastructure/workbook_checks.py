"""Check the parts of an Excel workbook before they are read: a small file can unpack to more than the memory holds."""

import posixpath
import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import NamedTuple
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from mainstay.infrastructure.table_limits import (
    LONGEST_CELL,
    MAX_CHARACTERS,
    MAX_COLUMNS,
    MAX_ROWS,
    UnreadableTable,
    cell_too_long,
    damaged_workbook,
    oversized_workbook,
    too_many_rows,
)
from mainstay.values.message import Message

# A few more rows than a table may have: it need not start in the first one.
_LAST_ROW = MAX_ROWS + 100
# The most elements in all parts together, such as a cell and its value; they take about three seconds to read.
_MAX_ELEMENTS = 1_000_000
# The reader scans the number format of each style. Excel has at most 65,490 styles, and 255 characters in a format.
_MAX_FORMAT_CHARACTERS = 65_490 * 255
# The kinds of relationships between parts.
WORKBOOK, WORKSHEET, SHARED_STRINGS, STYLES = "officeDocument", "worksheet", "sharedStrings", "styles"
_CELL_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_ROW_NUMBER = re.compile(r"[0-9]{1,7}")
_ALPHABET_LENGTH = 26
_LONGEST_INDEX = 10

Attributes = dict[str, str]


class Sheets(NamedTuple):
    """The sheets that a workbook declares."""

    # The names of the visible sheets, each with its part.
    visible: list[tuple[str, str]]
    # Whether dates are counted from 1904.
    from_1904: bool


class PartReader:
    """Reads the parts of one workbook, with one limit for all of them together."""

    def __init__(self) -> None:
        self._elements_left = _MAX_ELEMENTS

    def list_relationships(self, content: bytes, folder: str) -> dict[str, dict[str, str]]:
        """Return the parts that a part in this folder refers to, by kind and id."""
        related: dict[str, dict[str, str]] = {kind: {} for kind in (WORKBOOK, WORKSHEET, SHARED_STRINGS, STYLES)}

        def start(name: str, attributes: Attributes) -> None:
            kind = attributes.get("Type", "").rpartition("/")[2]
            if name == "Relationship" and kind in related:
                path = posixpath.join(f"/{folder}", attributes.get("Target", ""))
                related[kind][attributes.get("Id", "")] = posixpath.normpath(path).lstrip("/")

        self._read_part(content, start)
        return related

    def list_sheets(self, workbook: bytes, worksheets: dict[str, str]) -> Sheets:
        """Return the visible sheets of a workbook in their order."""
        visible: list[tuple[str, str]] = []
        from_1904 = False

        def start(name: str, attributes: Attributes) -> None:
            nonlocal from_1904
            if name == "workbookPr":
                from_1904 = attributes.get("date1904") in {"1", "true"}
            elif name == "sheet" and attributes.get("state", "visible") == "visible":
                relationship = next((value for key, value in attributes.items() if key.endswith(":id")), "")
                if relationship in worksheets:
                    visible.append((attributes.get("name", ""), worksheets[relationship]))

        self._read_part(workbook, start)
        return Sheets(visible, from_1904)

    def measure_strings(self, strings: bytes) -> Sequence[int]:
        """Return the length of each shared string, in their order."""
        lengths = array("Q")
        depth = 0

        def start(name: str, _: Attributes) -> None:
            nonlocal depth
            if name == "si":
                if not depth:
                    lengths.append(0)
                depth += 1

        def end(name: str) -> None:
            nonlocal depth
            depth -= name == "si"

        def text(characters: str) -> None:
            if depth:
                lengths[-1] += len(characters)

        self._read_part(strings, start, end, text)
        return lengths

    def check_styles(self, styles: bytes) -> None:
        """Refuse styles that take long to read: for each style, its whole number format is scanned."""
        styled = longest = 0

        def start(name: str, attributes: Attributes) -> None:
            nonlocal styled, longest
            if name == "xf":
                styled += 1
            elif name == "numFmt":
                longest = max(longest, len(attributes.get("formatCode", "")))

        self._read_part(styles, start)
        if styled * longest > _MAX_FORMAT_CHARACTERS:
            raise oversized_workbook()

    def check_sheet(self, sheet: bytes, strings: Sequence[int]) -> None:
        """Refuse a sheet whose cells are too far apart, too many or too long."""
        cells = _CellChecker(strings, max(strings, default=0))
        self._read_part(sheet, cells.start, cells.end, cells.text)

    def _read_part(
        self,
        content: bytes,
        start: Callable[[str, Attributes], None],
        end: Callable[[str], None] | None = None,
        text: Callable[[str], None] | None = None,
    ) -> None:
        """Read a part with these handlers, which get the names of elements without their prefixes."""

        def start_element(name: str, attributes: Attributes) -> None:
            self._elements_left -= 1
            if self._elements_left < 0:
                raise oversized_workbook()
            start(name.rpartition(":")[2], attributes)

        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = start_element
        # No valid part has declarations; one that has some may expand without limit.
        parser.StartDoctypeDeclHandler = _refuse_declarations
        if end:
            parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
        if text:
            parser.CharacterDataHandler = text
        try:
            parser.Parse(content, _IS_FINAL)
        except _StopReading:
            pass
        except expat.ExpatError:
            raise damaged_workbook() from None


# Tells the parser that this is the complete part.
_IS_FINAL = True


class _StopReading(Exception):
    """The rest of a part need not be read."""


def _refuse_declarations(*_: object) -> None:
    raise damaged_workbook()


@dataclass
class _CellChecker:
    """The positions and lengths of the cells of a sheet, determined as the workbook reader determines them."""

    strings: Sequence[int]
    longest: int
    # The position of a cell that does not declare one.
    row: int = 1
    column: int = 1
    position: tuple[int, int] = (1, 1)
    is_shared: bool = False
    # The text of the value that is being read.
    value: list[str] = field(default_factory=list)
    characters: int = 0

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "c":
            self._start_cell(attributes.get("r"))
            self.is_shared = attributes.get("t") == "s"
        elif name == "row":
            row = attributes.get("r", str(self.row))
            if not _ROW_NUMBER.fullmatch(row):
                raise damaged_workbook()
            self.row = int(row)
        elif name in {"v", "is", "f"}:
            # Cells without any of these have only formatting, and are not read.
            self._check_position()
            self.value.clear()

    def end(self, name: str) -> None:
        if name == "row":
            self.row, self.column = self.row + 1, 1
        elif name in {"v", "is"}:
            self._count_characters("".join(self.value))
            self.value.clear()
        elif name == "sheetData":
            raise _StopReading

    def text(self, characters: str) -> None:
        self.value.append(characters)

    def _start_cell(self, reference: str | None) -> None:
        if reference is None:
            self.position = self.row, self.column
        elif found := _CELL_REFERENCE.fullmatch(reference):
            self.position = int(found[2]), _column_number(found[1])
        else:
            raise damaged_workbook()
        self.column = self.position[1] + 1

    def _check_position(self) -> None:
        row, column = self.position
        if row > _LAST_ROW:
            raise too_many_rows()
        if column > MAX_COLUMNS:
            raise UnreadableTable(
                Message(
                    "The sheet has cells after column {number}. Remove the columns you don't need.", number=MAX_COLUMNS
                )
            )

    def _count_characters(self, value: str) -> None:
        length = len(value)
        if self.is_shared:
            # The reader takes an invalid string number for the number of another string.
            number = int(value) if value.isdecimal() and length <= _LONGEST_INDEX else len(self.strings)
            length = self.strings[number] if number < len(self.strings) else self.longest
        if length > LONGEST_CELL:
            raise cell_too_long(self.position[0])
        self.characters += length
        if self.characters > MAX_CHARACTERS:
            raise UnreadableTable(
                Message(
                    "The table has more than {limit} million characters. Split it, and import the parts one after"
                    " another.",
                    limit=MAX_CHARACTERS // 1_000_000,
                )
            )


def _column_number(letters: str) -> int:
    """Return the number of a column: 27 for `AA`."""
    number = 0
    for letter in letters:
        number = number * _ALPHABET_LENGTH + ord(letter) - ord("A") + 1
    return number


# The beginning of each entry of the directory.
_DIRECTORY_ENTRY = re.compile(rb"PK\x01\x02")
# The field with the length of an entry's extra data; reading extra data takes time quadratic in its length.
_EXTRA_LENGTH = slice(30, 32)
_MAX_EXTRA_BYTES = 200_000


def open_archive(content: bytes, max_parts: int) -> ZipFile:
    """Open an archive of at most this many parts."""
    parts = extra_bytes = 0
    for found in _DIRECTORY_ENTRY.finditer(content):
        entry = content[found.start() : found.start() + _EXTRA_LENGTH.stop]
        parts, extra_bytes = parts + 1, extra_bytes + int.from_bytes(entry[_EXTRA_LENGTH], "little")
        if parts > max_parts or extra_bytes > _MAX_EXTRA_BYTES:
            raise BadZipFile("The directory is too large.")
    return ZipFile(BytesIO(content))

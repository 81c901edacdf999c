"""Check the parts of an Excel workbook before they are read: a small file can become more than any memory holds."""

import posixpath
import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from mainstay.backing.table_limits import (
    LONGEST_CELL,
    MOST_CHARACTERS,
    MOST_COLUMNS,
    MOST_ROWS,
    NotATable,
    cell_too_long,
    damaged_workbook,
    oversized_workbook,
    too_many_rows,
)

# Some rows more than a table may have: it need not begin in the first one.
_LAST_ROW = MOST_ROWS + 100
# Elements of all parts together, such as a cell and its value, which take about three seconds to read.
_MOST_ELEMENTS = 1_000_000
# The number format of each style is looked through. Excel has at most 65,490 styles, and 255 characters for a format.
_MOST_IN_FORMATS = 65_490 * 255
# The kinds of relationships between parts.
WORKBOOK, WORKSHEET, SHARED_STRINGS, STYLES = "officeDocument", "worksheet", "sharedStrings", "styles"
_PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_ROW = re.compile(r"[0-9]{1,7}")
_LETTERS = 26
_LONGEST_INDEX = 10

Attributes = dict[str, str]


class Sheets(NamedTuple):
    """What a workbook says of its sheets."""

    # The names of those that are visible, each with the part it is in.
    visible: list[tuple[str, str]]
    # Whether days are counted from 1904.
    from_1904: bool


class PartReader:
    """Reads the parts of one workbook, all of them together within one bound."""

    def __init__(self) -> None:
        self._elements_left = _MOST_ELEMENTS

    def list_relationships(self, content: bytes, folder: str) -> dict[str, dict[str, str]]:
        """List the parts that a part in this folder names, by kind and id."""
        related: dict[str, dict[str, str]] = {kind: {} for kind in (WORKBOOK, WORKSHEET, SHARED_STRINGS, STYLES)}

        def start(name: str, attributes: Attributes) -> None:
            kind = attributes.get("Type", "").rpartition("/")[2]
            if name == "Relationship" and kind in related:
                place = posixpath.join(f"/{folder}", attributes.get("Target", ""))
                related[kind][attributes.get("Id", "")] = posixpath.normpath(place).lstrip("/")

        self._read(content, start)
        return related

    def list_sheets(self, workbook: bytes, worksheets: dict[str, str]) -> Sheets:
        """List the visible sheets of a workbook in their order."""
        visible: list[tuple[str, str]] = []
        from_1904 = False

        def start(name: str, attributes: Attributes) -> None:
            nonlocal from_1904
            if name == "workbookPr":
                from_1904 = attributes.get("date1904") in {"1", "true"}
            elif name == "sheet" and attributes.get("state", "visible") == "visible":
                link = next((value for key, value in attributes.items() if key.endswith(":id")), "")
                if link in worksheets:
                    visible.append((attributes.get("name", ""), worksheets[link]))

        self._read(workbook, start)
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

        self._read(strings, start, end, text)
        return lengths

    def check_styles(self, styles: bytes) -> None:
        """Refuse styles that take long to read: for each, its whole number format is looked through."""
        styled = longest = 0

        def start(name: str, attributes: Attributes) -> None:
            nonlocal styled, longest
            if name == "xf":
                styled += 1
            elif name == "numFmt":
                longest = max(longest, len(attributes.get("formatCode", "")))

        self._read(styles, start)
        if styled * longest > _MOST_IN_FORMATS:
            raise oversized_workbook()

    def check_sheet(self, sheet: bytes, strings: Sequence[int]) -> None:
        """Refuse a sheet whose cells are too far apart, too many or too long."""
        cells = _Cells(strings, max(strings, default=0))
        self._read(sheet, cells.start, cells.end, cells.text)

    def _read(
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
        # No part has declarations; what has some may unfold into as much as it likes.
        parser.StartDoctypeDeclHandler = _refuse_declarations
        if end:
            parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
        if text:
            parser.CharacterDataHandler = text
        try:
            parser.Parse(content, _WHOLE)
        except _Done:
            pass
        except expat.ExpatError:
            raise damaged_workbook() from None


# There is no more of a part to come.
_WHOLE = True


class _Done(Exception):
    """The rest of a part is not read."""


def _refuse_declarations(*_: object) -> None:
    raise damaged_workbook()


@dataclass
class _Cells:
    """The places and lengths of the cells of a sheet, found as the reader of workbooks finds them."""

    strings: Sequence[int]
    longest: int
    # Where a cell is that does not say so.
    row: int = 1
    column: int = 1
    place: tuple[int, int] = (1, 1)
    shared: bool = False
    # The text of the value that is being read.
    value: list[str] = field(default_factory=list)
    characters: int = 0

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "c":
            self._start_cell(attributes.get("r"))
            self.shared = attributes.get("t") == "s"
        elif name == "row":
            row = attributes.get("r", str(self.row))
            if not _ROW.fullmatch(row):
                raise damaged_workbook()
            self.row = int(row)
        elif name in {"v", "is", "f"}:
            # Cells without any of these are only formatted, and are not read.
            self._check_place()
            self.value.clear()

    def end(self, name: str) -> None:
        if name == "row":
            self.row, self.column = self.row + 1, 1
        elif name in {"v", "is"}:
            self._count("".join(self.value))
            self.value.clear()
        elif name == "sheetData":
            raise _Done

    def text(self, characters: str) -> None:
        self.value.append(characters)

    def _start_cell(self, place: str | None) -> None:
        if place is None:
            self.place = self.row, self.column
        elif found := _PLACE.fullmatch(place):
            self.place = int(found[2]), _number(found[1])
        else:
            raise damaged_workbook()
        self.column = self.place[1] + 1

    def _check_place(self) -> None:
        row, column = self.place
        if row > _LAST_ROW:
            raise too_many_rows()
        if column > MOST_COLUMNS:
            raise NotATable(
                f"The sheet has cells behind column {MOST_COLUMNS}. Leave out what is not to be brought over."
            )

    def _count(self, value: str) -> None:
        length = len(value)
        if self.shared:
            # What is not the number of a string is read as that of another one.
            number = int(value) if value.isdecimal() and length <= _LONGEST_INDEX else len(self.strings)
            length = self.strings[number] if number < len(self.strings) else self.longest
        if length > LONGEST_CELL:
            raise cell_too_long(self.place[0])
        self.characters += length
        if self.characters > MOST_CHARACTERS:
            raise NotATable(
                f"The table has more than {MOST_CHARACTERS // 1_000_000} million characters. Split it, and bring the"
                " parts over one after another."
            )


def _number(letters: str) -> int:
    """Return the number of a column: 27 for `AA`."""
    number = 0
    for letter in letters:
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number

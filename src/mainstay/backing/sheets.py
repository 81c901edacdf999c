"""How far the cells of a sheet of a workbook reach, before anyone makes a table of them."""

import re
from dataclasses import dataclass
from typing import NamedTuple
from xml.parsers import expat

_PLACE = re.compile(r"([A-Z]{1,7})([0-9]{1,10})")
_LETTERS = 26
# There is no more of it to come.
_WHOLE = True


class Extent(NamedTuple):
    """Whether there are cells behind so many rows, or columns; and whether it is a sheet at all."""

    rows: bool
    columns: bool
    sound: bool = True


class _Enough(Exception):
    """What was to be found out is known."""


def check_extent(sheet: bytes, most_rows: int, most_columns: int) -> Extent:
    """Look through a sheet for a cell that is further away; only cells with something in them count."""
    looking = _Looking(most_rows, most_columns)
    parser = expat.ParserCreate()
    parser.StartElementHandler = looking.element
    # A sheet has no declarations; what has some may unfold into as much as it likes.
    parser.StartDoctypeDeclHandler = looking.declaration
    try:
        parser.Parse(sheet, _WHOLE)
    except _Enough:
        pass
    except expat.ExpatError:
        return Extent(rows=False, columns=False, sound=False)
    return Extent(looking.rows, looking.columns, looking.sound)


@dataclass
class _Looking:
    most_rows: int
    most_columns: int
    rows: bool = False
    columns: bool = False
    sound: bool = True
    # Where the cell is that is being read; a row or cell that does not say follows the one before.
    row: int = 0
    column: int = 0

    def element(self, name: str, told: dict[str, str]) -> None:
        """An element begins."""
        kind = name.rpartition(":")[2]
        if kind == "row":
            said = told.get("r", "")
            self.row, self.column = int(said) if said.isdecimal() and len(said) < _LETTERS else self.row + 1, 0
        elif kind == "c":
            self._cell(told.get("r", ""))
        elif kind in {"v", "is", "f"}:
            self.rows, self.columns = self.row > self.most_rows, self.column > self.most_columns
            if self.rows or self.columns:
                raise _Enough

    def declaration(self, *_: object) -> None:
        """The file declares something."""
        self.sound = False
        raise _Enough

    def _cell(self, place: str) -> None:
        if found := _PLACE.fullmatch(place):
            self.row, self.column = int(found[2]), _number(found[1])
        elif place:
            self.sound = False
            raise _Enough
        else:
            self.column += 1


def _number(letters: str) -> int:
    """The number of a column: 27 for `AA`."""
    number = 0
    for letter in letters:
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number

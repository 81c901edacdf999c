"""Records as the rows of a file for spreadsheets: as people read them, and so that programs and our own import do."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import TextIOWrapper
from typing import IO, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from mainstay.business.importing.model import address_columns
from mainstay.doors.pages.showing import Here, cells, is_date, is_moment, told
from mainstay.doors.pages.words import who
from mainstay.terms.actor import Stamp
from mainstay.terms.shapes import Record
from mainstay.terms.wire import MoneyText, PriceText
from mainstay.values.address import Address
from mainstay.values.moments import parse_moment

# What a spreadsheet takes for the beginning of a formula, also where it is as wide as a Chinese letter.
_WIDE = "\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
_FORMULA = (*"=+-@\t\r\n", *_WIDE)
# Identifiers and counters of ours tell people nothing, nor does the identifier of what a line bills.
_OURS = {"object", "id", "version", "source"}


class Column(NamedTuple):
    """What stands above a column, and what of a record stands in it."""

    label: str
    text: Callable[[Mapping[str, Any]], str]


def columns_of(model: type[BaseModel], zone: str) -> list[Column]:
    """What people want to read of such records: what it is, then who made it and when."""
    everyone_s = {field.alias or name for name, field in Record.model_fields.items()}
    names = [name for name in told(model) if name not in _OURS and not name.endswith("Id")]
    return columns_for(model, sorted(names, key=everyone_s.__contains__), zone)


def columns_for(model: type[BaseModel], names: Iterable[str], zone: str) -> list[Column]:
    """Columns for these fields, by the names they have in JSON; an address has one for each of its parts."""
    return [column for name in names for column in _columns(model, name, zone)]


def _columns(model: type[BaseModel], name: str, zone: str) -> list[Column]:
    label, kind = told(model)[name]
    if kind is Address:
        # Called as the import calls them, which could take apart no address that stands in one cell.
        return [
            Column(part.label, partial(_part, name, part.field.rpartition(".")[2])) for part in address_columns(name)
        ]
    return [Column(label, partial(_cell, name, _turn(model, name, zone)))]


def _part(name: str, part: str, record: Mapping[str, Any]) -> str:
    return harmless((record[name] or {}).get(part) or "")


def _cell(name: str, turn: Callable[[Any], str], record: Mapping[str, Any]) -> str:
    value = record[name]
    return "" if value is None or value in ([], "") else turn(value)


def _turn(model: type[BaseModel], name: str, zone: str) -> Callable[[Any], str]:
    """What writes the values of a field; found once, since a file has many."""
    kind = told(model)[name][1]
    if kind is Stamp:
        return lambda stamp: harmless(who(stamp))
    if is_moment(name):
        here = ZoneInfo(zone)
        return partial(minute, here)
    # A date is written as it is kept, which everything reads: how people write one is another thing in each country.
    # And a number of ours is one, also below zero.
    if is_date(name) or kind in {PriceText, MoneyText}:
        return str
    words = partial(_words, model, name, zone)
    return words if kind is int else lambda value: harmless(words(value))


def _words(model: type[BaseModel], name: str, zone: str, value: object) -> str:
    [cell] = cells(model, [name], {name: value}, Here(zone))
    return cell.text


def minute(here: ZoneInfo, moment: str) -> str:
    """A moment by the clocks of a place, as spreadsheets read it."""
    return f"{parse_moment(moment).astimezone(here):%Y-%m-%d %H:%M}"


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def rows_of(
    columns: Sequence[Column], records: Iterable[Mapping[str, Any]], most: int | None = None
) -> Iterator[list[str]]:
    """A row of labels, and one for each record; of more than so many, for the first."""
    yield [column.label for column in columns]
    for number, record in enumerate(records):
        if number == most:
            yield [f"Only the first {most:,} are here. Narrow the list to get the others."]
            return
        yield [column.text(record) for column in columns]


def write_rows(file: IO[bytes], rows: Iterable[Sequence[str]]) -> None:
    """Write rows as spreadsheets read them."""
    # They know UTF-8 by a mark at its beginning.
    with TextIOWrapper(file, "utf-8-sig", newline="") as text:
        csv.writer(text).writerows(rows)

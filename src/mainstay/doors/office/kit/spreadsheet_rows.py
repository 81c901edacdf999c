"""Records as rows of a CSV file that people, spreadsheets and Mainstay's own import can read."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import TextIOWrapper
from typing import IO, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from mainstay.business.importing.record_kinds import address_columns
from mainstay.doors.pages.display import DisplaySettings, describe_fields, format_cells, is_date_field, is_moment_field
from mainstay.doors.pages.formatting import format_actor
from mainstay.values.address import Address
from mainstay.values.moments import parse_moment
from mainstay.vocabulary.actor import Stamp
from mainstay.vocabulary.record_json import MoneyText, PriceText
from mainstay.vocabulary.schemas import Record
from mainstay.vocabulary.typed_records import to_record

# Characters at which a spreadsheet starts a formula, including their full-width forms.
_WIDE_SIGNS = "\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
_FORMULA_STARTS = (*"=+-@\t\r\n", *_WIDE_SIGNS)
# Internal fields that mean nothing to people.
_INTERNAL_FIELDS = {"object", "id", "version", "source"}


class SpreadsheetColumn(NamedTuple):
    """A column: its label, and the text of a record in it."""

    label: str
    text: Callable[[Mapping[str, Any]], str]


def columns_of(model: type[BaseModel], zone: str) -> list[SpreadsheetColumn]:
    """Return the columns of a model: its own fields first, then who created the record and when."""
    common_fields = {field.alias or name for name, field in Record.model_fields.items()}
    names = [name for name in describe_fields(model) if name not in _INTERNAL_FIELDS and not name.endswith("Id")]
    return columns_of_fields(model, sorted(names, key=common_fields.__contains__), zone)


def columns_of_fields(model: type[BaseModel], names: Iterable[str], zone: str) -> list[SpreadsheetColumn]:
    """Return columns for fields by their JSON names. An address has a column for each of its parts."""
    return [column for name in names for column in _columns_of_field(model, name, zone)]


def _columns_of_field(model: type[BaseModel], name: str, zone: str) -> list[SpreadsheetColumn]:
    label, kind = describe_fields(model)[name]
    if kind is Address:
        # Labelled like the columns of the import, which cannot split an address in one cell.
        return [
            SpreadsheetColumn(part.label, partial(_format_part, name, part.field.rpartition(".")[2]))
            for part in address_columns(name)
        ]
    return [SpreadsheetColumn(label, partial(_format_cell, name, _formatter_of(model, name, zone)))]


def _format_part(name: str, part: str, record: Mapping[str, Any]) -> str:
    return escape_formula((record[name] or {}).get(part) or "")


def _format_cell(name: str, format_value: Callable[[Any], str], record: Mapping[str, Any]) -> str:
    value = record[name]
    return "" if value is None or value in ([], "") else format_value(value)


def _formatter_of(model: type[BaseModel], name: str, zone: str) -> Callable[[Any], str]:
    """Return the function that formats the values of a field. Looked up once per column, not per row."""
    kind = describe_fields(model)[name][1]
    if kind is Stamp:
        return lambda stamp: escape_formula(format_actor(to_record(Stamp, stamp)))
    if is_moment_field(name):
        local_zone = ZoneInfo(zone)
        return partial(format_minute, local_zone)
    # ISO dates can be read everywhere, while local formats differ. A stored number needs no escaping, even below zero.
    if is_date_field(name) or kind in {PriceText, MoneyText}:
        return str
    format_words = partial(_format_words, model, name, zone)
    return format_words if kind is int else lambda value: escape_formula(format_words(value))


def _format_words(model: type[BaseModel], name: str, zone: str, value: object) -> str:
    [cell] = format_cells(model, [name], {name: value}, DisplaySettings(zone))
    return cell.text


def format_minute(local_zone: ZoneInfo, moment: str) -> str:
    """Format a moment in a time zone for spreadsheets."""
    return f"{parse_moment(moment).astimezone(local_zone):%Y-%m-%d %H:%M}"


def escape_formula(text: str) -> str:
    """Escape a text that a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def generate_rows(
    columns: Sequence[SpreadsheetColumn], records: Iterable[Mapping[str, Any]], max_rows: int | None = None
) -> Iterator[list[str]]:
    """Yield a row of labels, then one for each record, up to `max_rows` records and a note about the rest."""
    yield [column.label for column in columns]
    for number, record in enumerate(records):
        if number == max_rows:
            yield [f"Only the first {max_rows:,} rows are included. Filter the list to get the others."]
            return
        yield [column.text(record) for column in columns]


def write_csv(file: IO[bytes], rows: Iterable[Sequence[str]]) -> None:
    """Write rows as a CSV file for spreadsheets."""
    # Spreadsheets recognise UTF-8 by a byte order mark.
    with TextIOWrapper(file, "utf-8-sig", newline="") as text:
        csv.writer(text).writerows(rows)

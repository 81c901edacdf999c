"""Lists within a form, as rows: the filled-in ones, and some empty ones for additions."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mainstay.doors.pages.form_fields import ROWS, SHOWN_SUFFIX, FormField

# The number of empty rows, for people who add rows without JavaScript.
_SPARE_ROWS = 3
_ROW_FIELD = re.compile(r"([0-9]{1,4})\.(.+)")


def lay_out_rows(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> list[FormField]:
    """Return the form fields, each list with its filled-in rows and some empty ones."""
    return [_lay_out_list(field, fields) if field.kind == ROWS else field for field in form_fields]


def remove_empty_rows(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> dict[str, str]:
    """Remove empty rows from the sent fields and renumber the rest, because faults name a row by its number."""
    remaining = dict(fields)
    for field in form_fields:
        if field.kind == ROWS:
            rows = _group_rows(field, fields)
            for number, row in rows.items():
                for name in row:
                    del remaining[f"{field.name}.{number}.{name}"]
            remaining |= _number_rows(field, [rows[number] for number in sorted(rows, key=int)])
    return remaining


def _number_rows(field: FormField, rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the filled-in rows as sent fields, numbered from 0."""
    filled_rows = list(filter(_is_filled, rows))[: _row_limit(field)]
    return {
        f"{field.name}.{number}.{name}": text for number, row in enumerate(filled_rows) for name, text in row.items()
    }


def _lay_out_list(field: FormField, fields: Mapping[str, str]) -> FormField:
    numbers = sorted({int(number) for number in _group_rows(field, fields)})[: _row_limit(field)]
    next_number = numbers[-1] + 1 if numbers else 0
    spare_rows = _SPARE_ROWS if field.max_items is None else min(_SPARE_ROWS, max(field.max_items - len(numbers), 0))
    all_numbers = [*numbers, *range(next_number, next_number + spare_rows)]
    return replace(field, rows=tuple(map(field.row_fields, all_numbers)))


def _row_limit(field: FormField) -> int | None:
    """Return how many rows to read: one more than allowed, so that the operation can refuse too many."""
    return None if field.max_items is None else field.max_items + 1


def _is_filled(row: Mapping[str, str]) -> bool:
    """Return whether someone typed something into a row. Hidden fields that remember a record do not count."""
    return any(text.strip() for name, text in row.items() if not name.endswith(SHOWN_SUFFIX))


def _group_rows(field: FormField, fields: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the sent rows of a list by their numbers, as text."""
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    prefix = f"{field.name}."
    for name, text in fields.items():
        if name.startswith(prefix) and (match := _ROW_FIELD.fullmatch(name.removeprefix(prefix))):
            rows[match[1]][match[2]] = text
    return rows

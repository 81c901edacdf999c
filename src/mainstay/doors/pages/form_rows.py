"""Lists within a form, as rows: the filled-in ones, and some empty ones for additions."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mainstay.doors.pages.form_fields import ROWS, SHOWN_SUFFIX, TIME_SUFFIX, FormField

# The number of empty rows, for people who add rows without JavaScript.
_SPARE_ROWS = 3
_ROW_FIELD = re.compile(r"([0-9]{1,4})\.(.+)")


def lay_out_rows(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> list[FormField]:
    """Return the form fields, each list with its filled-in rows and some empty ones."""
    return [_lay_out_list(field, fields) if field.kind == ROWS else field for field in form_fields]


def join_times(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> dict[str, str]:
    """Return the sent fields with each date and its time as one text, as the operation takes them."""
    joined = {name: text for name, text in fields.items() if not name.endswith(TIME_SUFFIX)}
    for field in form_fields:
        day, time = field.split_time(fields) if field.time_name else ("", "")
        if time.strip():
            joined[field.name] = f"{day} {time.strip()}".strip()
    return joined


def remove_empty_rows(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> dict[str, str]:
    """Remove empty rows from the sent fields and renumber the rest, because faults name a row by its number."""
    remaining = dict(fields)
    for field in form_fields:
        if field.kind == ROWS:
            rows = _group_rows(field, fields)
            for number, row in rows.items():
                for name in row:
                    del remaining[f"{field.name}.{number}.{name}"]
            filled_rows = [rows[number] for number in sorted(rows, key=int) if _is_filled(rows[number])]
            remaining |= {
                f"{field.name}.{position}.{name}": text
                for position, row in enumerate(filled_rows[: _row_limit(field)])
                for name, text in row.items()
            }
    return remaining


def _lay_out_list(field: FormField, fields: Mapping[str, str]) -> FormField:
    numbers = sorted({int(number) for number in _group_rows(field, fields)})[: _row_limit(field)]
    next_number = numbers[-1] + 1 if numbers else 0
    spare = _SPARE_ROWS if field.max_items is None else min(_SPARE_ROWS, max(field.max_items - len(numbers), 0))
    return replace(field, lines=tuple(map(field.row_fields, [*numbers, *range(next_number, next_number + spare)])))


def _row_limit(field: FormField) -> int | None:
    """Return how many rows to read: one more than allowed, so that the operation can refuse too many."""
    return None if field.max_items is None else field.max_items + 1


def _is_filled(row: Mapping[str, str]) -> bool:
    """Return whether someone typed something into a row. Hidden fields that remember a record do not count."""
    return any(text.strip() for name, text in row.items() if not name.endswith(SHOWN_SUFFIX))


def _group_rows(field: FormField, fields: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the sent rows of a list by their numbers, as text."""
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for name, text in fields.items():
        match = _ROW_FIELD.fullmatch(name.removeprefix(f"{field.name}.")) if name.startswith(f"{field.name}.") else None
        if match:
            rows[match[1]][match[2]] = text
    return rows

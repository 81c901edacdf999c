"""Short lists within a form, row by row: those that are filled in, and some that are empty for more."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mainstay.doors.pages.asking import AS_SHOWN, ROWS, Asked

# So many rows are empty, for whoever adds some without JavaScript.
_SPARE = 3
_NUMBERED = re.compile(r"([0-9]{1,4})\.(.+)")


def laid_out(asked: Sequence[Asked], fields: Mapping[str, str]) -> list[Asked]:
    """What is asked, each list with as many rows as are filled in, and some more."""
    return [_with_lines(one, fields) if one.kind == ROWS else one for one in asked]


def closed_up(asked: Sequence[Asked], fields: Mapping[str, str]) -> dict[str, str]:
    """What was sent, without the rows that were left empty: what is wrong with a row is told by its number."""
    kept = dict(fields)
    for one in asked:
        if one.kind == ROWS:
            rows = _rows(one, fields)
            for number, row in rows.items():
                for name in row:
                    del kept[f"{one.name}.{number}.{name}"]
            filled = [rows[number] for number in sorted(rows, key=int) if _is_filled(rows[number])]
            kept |= {
                f"{one.name}.{place}.{name}": text
                for place, row in enumerate(filled[: _read(one)])
                for name, text in row.items()
            }
    return kept


def _with_lines(one: Asked, fields: Mapping[str, str]) -> Asked:
    numbers = sorted({int(number) for number in _rows(one, fields)})[: _read(one)]
    fresh = numbers[-1] + 1 if numbers else 0
    room = _SPARE if one.most is None else min(_SPARE, max(one.most - len(numbers), 0))
    return replace(one, lines=tuple(map(one.line, [*numbers, *range(fresh, fresh + room)])))


def _read(one: Asked) -> int | None:
    """How many rows are read: as many as there may be, and one by which it is told that they are too many."""
    return None if one.most is None else one.most + 1


def _is_filled(row: Mapping[str, str]) -> bool:
    """Whether anyone has typed something in a row; what it remembers by itself does not count."""
    return any(text.strip() for name, text in row.items() if not name.endswith(AS_SHOWN))


def _rows(one: Asked, fields: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The rows that were sent of a list, by their numbers as they were written."""
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for name, text in fields.items():
        found = _NUMBERED.fullmatch(name.removeprefix(f"{one.name}.")) if name.startswith(f"{one.name}.") else None
        if found:
            rows[found[1]][found[2]] = text
    return rows

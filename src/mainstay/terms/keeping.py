"""From rows to the records that rules see, and back to what is kept."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from enum import Enum
from typing import Any, Literal, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

import orjson
from pydantic import BaseModel

from mainstay.backing.database import Row, Value
from mainstay.terms.shapes import Kept
from mainstay.terms.wire import column_names
from mainstay.values.parts import PartChange

K = TypeVar("K", bound=Kept)


def keeper(kept: type[K], facts: Iterable[str]) -> Callable[[Row], K]:
    """What makes a record of a row, written out for it: `lambda row: kept(row[:9], row[0], turn5(row[5]))`.

    A row has the columns of what is shown of the record, and then the facts that its rules need.
    """
    shown = column_names(kept.shown)
    places = [*shown, *facts]
    hints = get_type_hints(kept)
    names: dict[str, Any] = {"kept": kept}
    given = [f"row[:{len(shown)}]"]
    for of in fields(kept)[1:]:
        place, turn = places.index(of.name), _turn(hints[of.name])
        names[f"turn{place}"] = turn
        given.append(f"turn{place}(row[{place}])" if turn else f"row[{place}]")
    made: Callable[[Row], K] = eval(f"lambda row: kept({', '.join(given)})", names)
    return made


def stored(value: Any) -> Value:
    """A value as it is kept: lists and records within a record as JSON."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, BaseModel) and not isinstance(value, PartChange):
        return value.model_dump_json(by_alias=True)
    if isinstance(value, (list, dict)):
        return orjson.dumps(value).decode()
    raise TypeError(f"A {type(value).__name__} is not kept.")


def _turn(kind: Any) -> Callable[[Any], Any] | None:
    """What turns a value as it is kept into what rules see, if it must be turned."""
    inner = [part for part in get_args(kind) if part is not type(None)]
    if len(inner) == 1 and get_origin(kind) not in {list, dict, Literal}:
        turn = _turn(inner[0])
        return turn and (lambda value: None if value is None else turn(value))
    if kind is bool:
        return bool
    if get_origin(kind) in {list, dict}:
        return orjson.loads
    # By a table: calling the enum costs ten times as much.
    return {member.value: member for member in kind}.__getitem__ if _is_enum(kind) else None


def _is_enum(kind: Any) -> TypeGuard[type[Enum]]:
    return isinstance(kind, type) and issubclass(kind, Enum)

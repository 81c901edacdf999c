"""The colours in which the schedule shows people's visits. Pages have no inline styles, so each colour is a class."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from zlib import crc32

from mainstay.business.schedule.board import NamedPerson
from mainstay.values.colours import COLOURS

# `schedule.css` has a colour for each of these.
_TINTS: Mapping[str, str] = MappingProxyType({code: f"tint-{number}" for number, code in enumerate(COLOURS)})
UNASSIGNED_TINT = "tint-none"


def assign_tints(people: Iterable[NamedPerson]) -> dict[str, str]:
    """Return the class of each person's colour, by their ids.

    It is the colour that they chose, or the nearest to it. Others always get the same one, and none that is taken as
    long as there are enough.
    """
    tints: dict[str, str] = {"": UNASSIGNED_TINT}
    # Those who have been here longest keep their colour when others come.
    for person in sorted(people, key=lambda one: (one.colour is None, one.id)):
        tints[person.id] = _find_nearest(person.colour) if person.colour else _find_free(person.id, {*tints.values()})
    return tints


def _find_free(person_id: str, taken: set[str]) -> str:
    tints = [*_TINTS.values()]
    first = crc32(person_id.encode()) % len(tints)
    in_turn = tints[first:] + tints[:first]
    return next((tint for tint in in_turn if tint not in taken), in_turn[0])


def _find_nearest(colour: str) -> str:
    return _TINTS.get(colour) or _TINTS[min(_TINTS, key=lambda code: _distance(code, colour))]


def _distance(one: str, other: str) -> int:
    """Return how different two colours such as `#3366cc` are."""
    return sum((int(one[start : start + 2], 16) - int(other[start : start + 2], 16)) ** 2 for start in (1, 3, 5))

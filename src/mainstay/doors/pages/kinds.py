"""How the value of a field is read from what someone typed, and how it is written where someone types."""

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.written import span
from mainstay.values.durations import hours_text, read_minutes
from mainstay.values.moments import moment_text, parse_moment

_WALL_TIME = "%Y-%m-%dT%H:%M"
_LONGEST_NUMBER = 16


class Kind(NamedTuple):
    """A kind of value; what cannot be read goes on as it was typed, for the operation to refuse in words."""

    read: Callable[[str, Here], object]
    write: Callable[[Any, Here], str]


def _moment(text: str, here: Here) -> str:
    """The moment at which the clocks of a place show this, of two the first."""
    try:
        return moment_text(datetime.strptime(here.read_time(text), _WALL_TIME).replace(tzinfo=ZoneInfo(here.zone)))
    except ValueError:
        return text


def _wall_time(moment: str, here: Here) -> str:
    return here.time_to_type(parse_moment(moment).astimezone(ZoneInfo(here.zone)).strftime(_WALL_TIME))


def _words(text: str) -> list[str]:
    return [word for part in text.split(",") if (word := part.strip())]


def _whole(text: str, _here: Here) -> object:
    return int(text) if text.isdecimal() and len(text) < _LONGEST_NUMBER else text


def _plain(value: Any, _here: Here) -> str:
    return str(value)


def _minutes(text: str, _here: Here) -> object:
    return text if why_unread("minutes", text) else read_minutes(text)


def why_unread(kind: str, text: str) -> str | None:
    """Why nobody knows what was typed: an operation takes minutes, and has no words for times as people write them."""
    try:
        _ = read_minutes(text) if kind == "minutes" else None
    except ValueError as problem:
        return str(problem)
    return None


KINDS: defaultdict[str, Kind] = defaultdict(
    lambda: Kind(lambda text, _: text, _plain),
    decimal=Kind(lambda text, here: here.read(text), lambda value, here: here.to_type(str(value))),
    price=Kind(lambda text, here: here.read(text), lambda value, here: here.price_to_type(str(value))),
    date=Kind(lambda text, here: here.read_date(text), lambda value, here: here.date_to_type(str(value))),
    moment=Kind(_moment, _wall_time),
    # At which place it is meant, the operation knows.
    wall=Kind(lambda text, here: here.read_time(text), _wall_time),
    whole=Kind(_whole, _plain),
    minutes=Kind(_minutes, lambda minutes, _: hours_text(minutes)),
    list=Kind(lambda text, _: _words(text), lambda values, _: ", ".join(values)),
    spans=Kind(
        lambda text, _: [span(word) for word in _words(text)],
        lambda spans, _: ", ".join(f"{one['from']}-{one['until']}" for one in spans),
    ),
)
# Those of which there may be none, which is an answer too.
LISTS = {"list", "spans", "rows"}

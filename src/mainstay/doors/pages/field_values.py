"""Conversion between what people type into form fields and the values that operations take."""

import re
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from mainstay.doors.pages.display import DisplaySettings
from mainstay.values.durations import hours_text
from mainstay.values.message import ShownMessage, message_of
from mainstay.values.moments import moment_text, parse_moment
from mainstay.values.typed_durations import parse_minutes

_LOCAL_TIME_FORMAT = "%Y-%m-%dT%H:%M"
_MAX_DIGITS = 16


class FieldConverter(NamedTuple):
    """How values of one kind are read from typed text and written into a form.

    Text that cannot be read is passed on unchanged: the operation refuses it with an explanation.
    """

    parse: Callable[[str, DisplaySettings], object]
    format: Callable[[Any, DisplaySettings], str]


def _parse_moment(text: str, display: DisplaySettings) -> str:
    """Return the moment of a local time: the earlier one if the clocks show that time twice."""
    try:
        return moment_text(
            datetime.strptime(display.parse_time(text), _LOCAL_TIME_FORMAT).replace(tzinfo=ZoneInfo(display.zone))
        )
    except ValueError:
        return text


def _format_local_time(moment: str, display: DisplaySettings) -> str:
    return display.time_to_field(parse_moment(moment).astimezone(ZoneInfo(display.zone)).strftime(_LOCAL_TIME_FORMAT))


def _split_words(text: str) -> list[str]:
    return [word for part in text.split(",") if (word := part.strip())]


def _parse_whole_number(text: str, _display: DisplaySettings) -> object:
    return int(text) if text.isdecimal() and len(text) < _MAX_DIGITS else text


def _format_plain(value: Any, _display: DisplaySettings) -> str:
    return str(value)


def _parse_minutes(text: str, _display: DisplaySettings) -> object:
    return text if explain_unreadable("minutes", text) else parse_minutes(text)


def explain_unreadable(kind: str, text: str) -> ShownMessage | None:
    """Return why typed text cannot be read as this kind of value, or None if it can.

    Operations take minutes, so they cannot explain what is wrong with a duration as people write it.
    """
    try:
        _ = parse_minutes(text) if kind == "minutes" else None
    except ValueError as problem:
        return message_of(problem)
    return None


CONVERTERS: defaultdict[str, FieldConverter] = defaultdict(
    lambda: FieldConverter(lambda text, _: text, _format_plain),
    decimal=FieldConverter(
        lambda text, here: here.parse_number(text), lambda value, here: here.number_to_field(str(value))
    ),
    price=FieldConverter(
        lambda text, here: here.parse_number(text), lambda value, here: here.price_to_field(str(value))
    ),
    date=FieldConverter(lambda text, here: here.parse_date(text), lambda value, here: here.date_to_field(str(value))),
    moment=FieldConverter(_parse_moment, _format_local_time),
    # The operation knows which time zone is meant.
    wall=FieldConverter(lambda text, here: here.parse_time(text), _format_local_time),
    whole=FieldConverter(_parse_whole_number, _format_plain),
    minutes=FieldConverter(_parse_minutes, lambda minutes, _: hours_text(minutes)),
    list=FieldConverter(lambda text, _: _split_words(text), lambda values, _: ", ".join(values)),
    spans=FieldConverter(
        lambda text, _: [parse_time_range(word) for word in _split_words(text)],
        lambda spans, _: ", ".join(f"{one['from']}-{one['until']}" for one in spans),
    ),
)
# Kinds that hold a list. An empty list is a valid value.
LIST_KINDS = {"list", "spans", "rows"}


_CLOCK = r"([0-9]{1,2})(?:[:.h]?([0-9]{2}))?"
_TIME_RANGE = re.compile(f"{_CLOCK} *(?:-|to|\N{EN DASH}) *{_CLOCK}")


def parse_time_range(text: str) -> dict[str, str]:
    """Read a time range such as `8-12` or `7.30-16:00`.

    Any other text is passed on unchanged: the operation refuses it with an explanation.
    """
    match = _TIME_RANGE.fullmatch(text.strip())
    if match is None:
        return {"from": text, "until": text}
    hour, minutes, until_hour, until_minutes = match.groups()
    return {"from": f"{int(hour):02}:{minutes or '00'}", "until": f"{int(until_hour):02}:{until_minutes or '00'}"}

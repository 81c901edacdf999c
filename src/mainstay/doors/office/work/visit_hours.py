"""The hours that the form to finish a visit sends: those of the visit, and of other work within that time."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from mainstay.values.message import Message, message_of
from mainstay.values.moments import moment_text, parse_moment
from mainstay.values.typed_durations import parse_break_minutes
from mainstay.vocabulary.refusal import Fault, Invalid

LONGEST = timedelta(hours=24)
_MINUTE = timedelta(minutes=1)
# Where within the time the other work was.
_AT_START = "start"
OTHER_WORK_PLACES = {_AT_START: Message("At the start"), "end": Message("At the end")}
# What a form sends as the moment at which its button was pressed, if it could not be sent then.
_MOMENT = re.compile(r"[0-9T:.-]{16,24}Z")


class EnteredHours(NamedTuple):
    """The input of the operation that finishes the visit, and of the one that logs the other work."""

    of_visit: dict[str, object]
    of_other_work: dict[str, object] | None = None


def read_pressed_at(fields: Mapping[str, str]) -> str | None:
    """Return the moment at which a button was pressed, if the form could not be sent then."""
    moment = fields.get("at", "")
    return moment if _MOMENT.fullmatch(moment) else None


def read_hours(fields: Mapping[str, str]) -> EnteredHours:
    """Return the hours of a sent form. They depend on nothing else, so that a repeated form is known again.

    A start that was not changed is sent to the second: if its timer was stopped elsewhere, the hours overlap what was
    logged then, and are refused.
    """
    if "startedAt" not in fields:
        return EnteredHours({"endedAt": moment} if (moment := read_pressed_at(fields)) else {})
    started, ended = _read_times(fields)
    seen_at = fields.get("seenAt") if fields["startedAt"] == fields.get("seenStart") else None
    begin = seen_at or started.isoformat(timespec="minutes")
    # A timer that has just been started is stopped now, after the shortest time that counts. Otherwise the end has the
    # seconds of the start, so that as much is logged as the form shows.
    seconds = seen_at[16:].rstrip("Z") if seen_at else ""
    end = None if _has_just_begun(started, ended) else ended.isoformat(timespec="minutes") + seconds
    other_work = None
    if fields.get("otherMinutes", "").strip():
        other_work, begin, end = _split_off(fields, begin, end, ended - started)
    of_visit: dict[str, object] = {"timer": True, "startedAt": begin}
    if end:
        of_visit["endedAt"] = end
    if fields.get("breakMinutes", "").strip():
        of_visit["breakMinutes"] = _parse_minutes(fields, "breakMinutes")
    return EnteredHours(of_visit, other_work)


def count_minutes(fields: Mapping[str, str]) -> int | None:
    """Return the minutes that would be logged, or None if the times are not known."""
    try:
        started, ended = _read_times(fields)
        rest = _parse_minutes(fields, "breakMinutes") if fields.get("breakMinutes", "").strip() else 0
    except Invalid:
        return None
    return 1 if _has_just_begun(started, ended) else (ended - started) // _MINUTE - rest


def _read_times(fields: Mapping[str, str]) -> tuple[datetime, datetime]:
    """Return when the work began and ended. The end is the first such time after the start.

    A start that was corrected to a time after the end is one of the day before: the work began before midnight.
    """
    faults, times = [], []
    for name in ("startedAt", "endedAt"):
        try:
            times.append(time.fromisoformat(fields.get(name, "")))
        except ValueError:
            faults.append(Fault(name, Message("is not a time such as 14:30")))
    if faults:
        raise Invalid(faults)
    try:
        started = datetime.combine(date.fromisoformat(fields.get("on", "")), times[0])
    except ValueError:
        raise Invalid([Fault("startedAt", Message("is not a time such as 14:30"))]) from None
    if times[0] > times[1] and fields.get("seenStart", "") and fields["seenStart"] <= fields["endedAt"]:
        started -= timedelta(days=1)
    ended = datetime.combine(started.date(), times[1])
    return started, ended if ended > started else ended + timedelta(days=1)


def _has_just_begun(started: datetime, ended: datetime) -> bool:
    """Return whether the end is the minute of the start, or the one before, instead of a day later."""
    return ended - started >= LONGEST - _MINUTE


def _split_off(
    fields: Mapping[str, str], begin: str, end: str | None, length: timedelta
) -> tuple[dict[str, object], str, str]:
    """Return the hours of the other work, and what is left for the visit."""
    minutes = _parse_minutes(fields, "otherMinutes")
    if minutes < 1 or end is None or minutes * _MINUTE >= length:
        raise Invalid([Fault("otherMinutes", Message("is as long as the time worked"))])
    if fields.get("otherPlace") == _AT_START:
        first, last = begin, _shift(begin, minutes)
        begin = last
    else:
        first, last = _shift(end, -minutes), end
        end = first
    other_work: dict[str, object] = {"startedAt": first, "endedAt": last}
    other_work |= {"jobId": job} if (job := fields.get("otherJobId", "")) else {}
    other_work |= {"note": note} if (note := fields.get("otherNote", "").strip()) else {}
    return other_work, begin, end


def _shift(moment: str, minutes: int) -> str:
    """Return a moment or a local time, so many minutes later."""
    if moment.endswith("Z"):
        return moment_text(parse_moment(moment) + minutes * _MINUTE)
    return (datetime.fromisoformat(moment) + minutes * _MINUTE).isoformat()


def _parse_minutes(fields: Mapping[str, str], name: str) -> int:
    try:
        return parse_break_minutes(fields[name])
    except ValueError as problem:
        raise Invalid([Fault(name, message_of(problem))]) from None

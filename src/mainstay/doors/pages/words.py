"""How pages say things: moments, names, browsers."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from jinja2 import pass_context
from jinja2.runtime import Context

from mainstay.values.colours import COLOURS
from mainstay.values.durations import hours_text
from mainstay.values.moments import parse_moment
from mainstay.values.names import currency_names, zone_names
from mainstay.values.sizes import size_text
from mainstay.values.wall_times import wall_text


def moment(text: str, zone: str) -> str:
    """A moment as people write it, at a place: `15 Nov 2026, 10:30`."""
    local = parse_moment(text).astimezone(ZoneInfo(zone))
    return f"{local.day} {local:%b %Y, %H:%M}"


def second(text: str, zone: str) -> str:
    """A moment to the second, where several are close together: `15 Nov 2026, 10:30:50`."""
    local = parse_moment(text).astimezone(ZoneInfo(zone))
    return f"{local.day} {local:%b %Y, %H:%M:%S}"


def date_words(text: str) -> str:
    """A date as people write it: `15 Nov 2026`; what is none, as it is."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return text
    return f"{found.day} {found:%b %Y}"


def days_words(first: str, last: str) -> str:
    """Whole days from one date to another, with what both share said once."""
    begin, end = date.fromisoformat(first), date.fromisoformat(last)
    if begin == end:
        return date_words(first)
    if begin.year != end.year:
        return f"{date_words(first)}\N{EN DASH}{date_words(last)}"
    opening = f"{begin.day}" if begin.month == end.month else f"{begin.day} {begin:%b}"
    return f"{opening}\N{EN DASH}{date_words(last)}"


def month_words(text: str) -> str:
    """A month as people write it: `Nov 2026`."""
    return f"{date.fromisoformat(f'{text}-01'):%b %Y}"


def long_day(day: date) -> str:
    """A day as people say it: `Monday 16 November`."""
    return f"{day:%A} {day.day} {day:%B}"


def clock(text: str, zone: str) -> str:
    """What the clocks of a place show at a moment: `10:30`."""
    return wall_text(text, zone).partition("T")[2]


def there(zone: str, here: str) -> str:
    """The place whose clocks are meant, behind a time, where they are not one's own: ` New York`."""
    return "" if zone == here else f" {zone.rpartition('/')[2].replace('_', ' ')}"


def span(visit: Mapping[str, Any], here: str) -> str:
    """From when to when a visit is, by the clocks of its place, which is named where it is not here."""
    if visit["startsAt"] is None:
        return "Any time"
    zone = visit["timeZone"]
    return f"{clock(visit['startsAt'], zone)}\N{EN DASH}{clock(visit['endsAt'], zone)}{there(zone, here)}"


def when(visit: Mapping[str, Any], here: str) -> str:
    """On which date a visit is, and from when to when."""
    if visit["startsAt"] is None:
        return f"Any time on {date_words(visit['on'])}"
    return f"{date_words(wall_text(visit['startsAt'], visit['timeZone'])[:10])}, {span(visit, here)}"


def whole(text: str) -> str:
    """A text that stays whole beside others: one from right to left is held apart by marks that nobody sees."""
    return f"\u2068{text}\u2069" if any(unicodedata.bidirectional(sign) in _RIGHT_TO_LEFT for sign in text) else text


_RIGHT_TO_LEFT = {"R", "AL"}


def side_by_side(*parts: str | None, between: str = " ") -> str:
    """What there is of these in one text, each of them whole."""
    return between.join(whole(part) for part in parts if part)


def dialled(phone: str) -> str:
    """A phone number as a phone takes it."""
    return re.sub(r"[^0-9+]", "", phone)


def place(address: Mapping[str, Any] | None) -> str:
    """An address in one line."""
    parts = [address.get(name) for name in ("line1", "line2", "city", "postalCode")] if address else []
    return ", ".join(str(part) for part in parts if part)


def directions(address: Mapping[str, Any]) -> str:
    """Where a map shows an address, and the way to it."""
    return f"https://www.openstreetmap.org/search?{urlencode({'query': place(address)})}"


@pass_context
def plain(context: Context, decimal: str) -> str:
    """A quantity or a percentage as it is written here, without the zeros that say nothing: `2`, `1,234.5`."""
    return str(context["here"].number(decimal.rstrip("0").rstrip(".") if "." in decimal else decimal))


def spoken(text: str | None) -> str:
    """Of what is written for people and programs alike, the sentences that people need: without names of ours."""
    sentences = re.split(r"(?<=[.!?]) +", _EXAMPLE_OF_TIME.sub("", text or ""))
    return " ".join(sentence for sentence in sentences if not _FOR_PROGRAMS.search(sentence))


# How a time is written, which is chosen on a page: `: a moment, or a local time such as 2026-11-15T10:30`.
_EXAMPLE_OF_TIME = re.compile(r": [^.:]*\b\d{4}-\d\d-\d\dT[\d:Z+-]+")
# Names of operations and of values, and what is said about them.
_FOR_PROGRAMS = re.compile(r"[`_]|\b[Nn]ull\b|\bids?\b|\bOnly what is sent\b|\b[a-z]+[A-Z]\w*")


def browser(agent: str) -> str:
    """A browser as its user knows it, out of what it says of itself: `Firefox on Windows`."""
    name = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((system for mark, system in _SYSTEMS if mark in agent), "")
    return " on ".join(filter(None, (name, system))) or agent[:60] or "An unknown browser"


# The first mark found counts: most browsers also claim to be others.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "Mac"),
    ("Linux", "Linux"),
)


def answer(status: int) -> str:
    """An HTTP status with its name: `404 Not Found`."""
    return f"{status} {HTTPStatus(status).phrase}" if status in _KNOWN_ANSWERS else str(status)


_KNOWN_ANSWERS = frozenset(HTTPStatus)


@pass_context
def money(context: Context, amount: str | None) -> str:
    """An amount or a price as it is written where whoever looks is."""
    return str(context["here"].money(amount)) if amount else ""


def initials(name: str) -> str:
    """The first letters of the first and the last word of a name."""
    words = name.split()
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


def who(stamp: Mapping[str, Any]) -> str:
    """Who did something, and through what: `Ruth Hartley with Claude`."""
    name, client = name_of(stamp), stamp["via"]["client"]
    return f"{name} with {client['name']}" if client else name


def name_of(stamp: Mapping[str, Any]) -> str:
    """Who did something, where it is said elsewhere through what."""
    person = stamp["person"]
    return str(person["name"]) if person else _OTHERS[stamp["kind"]]


_OTHERS = {"customer": "the customer", "operator": "the operator", "house": "Mainstay", "person": "someone"}


FILTERS: dict[str, Callable[..., Any]] = {
    "moment": moment,
    "second": second,
    "spoken": spoken,
    "date": date_words,
    "long_day": long_day,
    "clock": clock,
    "span": span,
    "when": when,
    "whole": whole,
    "dialled": dialled,
    "hours": hours_text,
    "place": place,
    "directions": directions,
    "size": size_text,
    "plain": plain,
    "answer": answer,
    "initials": initials,
    "browser": browser,
    "who": who,
    "money": money,
    "currency_name": lambda code: currency_names().get(code, code),
    "zone_name": lambda zone: zone_names().get(zone, zone),
    "colour_name": lambda code: COLOURS.get(code, code),
    "flat": lambda groups: [place for group in groups for place in group],
}

"""Text filters for templates: moments, dates, names, addresses, browsers."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from http import HTTPStatus
from itertools import groupby
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from jinja2 import pass_context
from jinja2.runtime import Context

from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.values.address import Address
from mainstay.values.colours import COLOURS
from mainstay.values.durations import hours_text
from mainstay.values.moments import parse_moment
from mainstay.values.names import currency_names, zone_names
from mainstay.values.reader_language import ReaderLanguage
from mainstay.values.sizes import size_text
from mainstay.values.wall_times import wall_time_text
from mainstay.vocabulary.actor import Stamp


def format_moment(text: str, zone: str, language: ReaderLanguage | None = None) -> str:
    """Format a moment in a time zone: `15 Nov 2026, 10:30`. Without a language, it is that of the page."""
    local = parse_moment(text).astimezone(ZoneInfo(zone))
    return f"{(language or current_language()).format_date(local)}, {local:%H:%M}"


def format_exact_moment(text: str, zone: str) -> str:
    """Format a moment to the second: `15 Nov 2026, 10:30:50`."""
    local = parse_moment(text).astimezone(ZoneInfo(zone))
    return f"{current_language().format_date(local)}, {local:%H:%M:%S}"


def format_date(text: str, language: ReaderLanguage | None = None) -> str:
    """Format a date: `15 Nov 2026`. Text that is no date is returned unchanged."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return text
    return (language or current_language()).format_date(day)


def format_date_range(first: str, last: str) -> str:
    """Format a range of whole days. A month or year that both dates share appears once."""
    if first == last:
        return format_date(first)
    return current_language().format_date_range(date.fromisoformat(first), date.fromisoformat(last))


def format_month(text: str) -> str:
    """Format a month: `Nov 2026`."""
    return current_language().format_month(date.fromisoformat(f"{text}-01"))


def format_long_month(day: date) -> str:
    """Format the month of a day as a title: `November 2026`."""
    return current_language().format_long_month(day)


def format_long_date(day: date) -> str:
    """Format a day with its weekday: `Monday 16 November`."""
    return current_language().format_long_date(day)


def format_weekday(day: date) -> str:
    """Format the weekday of a date: `Monday`."""
    return current_language().format_weekday(day)


def format_short_day(day: date) -> str:
    """Format the weekday and the day of a date: `Mon 16`."""
    return current_language().format_short_day(day)


def format_short_date(day: date) -> str:
    """Format the weekday, day and month of a date: `Mon 16 Nov`."""
    return current_language().format_short_date(day)


def format_clock(text: str, zone: str) -> str:
    """Format the local time of a moment in a time zone: `10:30`."""
    return wall_time_text(text, zone).partition("T")[2]


def format_other_zone(zone: str, viewer_zone: str) -> str:
    """Return the city of a time zone, such as ` New York`, or nothing if it is the viewer's own zone."""
    return "" if zone == viewer_zone else f" {zone.rpartition('/')[2].replace('_', ' ')}"


class TimedVisit(Protocol):
    """The times of a visit."""

    @property
    def starts_at(self) -> str | None:
        """When it starts, if it has a time."""

    @property
    def ends_at(self) -> str | None:
        """When it ends, if it has a time."""

    @property
    def on(self) -> str | None:
        """Its date, if it can be at any time of the day."""

    @property
    def time_zone(self) -> str:
        """Its time zone."""


def format_visit_hours(visit: TimedVisit, viewer_zone: str) -> str:
    """Format the hours of a visit in its own time zone, which is named if it is not the viewer's."""
    if visit.starts_at is None or visit.ends_at is None:
        return translate_text("All day")
    zone = visit.time_zone
    start, end = format_clock(visit.starts_at, zone), format_clock(visit.ends_at, zone)
    return f"{start}\N{EN DASH}{end}{format_other_zone(zone, viewer_zone)}"


def format_visit_date(visit: TimedVisit, viewer_zone: str) -> str:
    """Format the date and the hours of a visit."""
    if visit.starts_at is None:
        return translate_text("{date}, all day", date=format_date(visit.on or ""))
    return (
        f"{format_date(wall_time_text(visit.starts_at, visit.time_zone)[:10])},"
        f" {format_visit_hours(visit, viewer_zone)}"
    )


def isolate_rtl(text: str) -> str:
    """Wrap right-to-left text in invisible isolation marks, so that it does not mix with the text around it."""
    if text.isascii():
        return text
    return f"\u2068{text}\u2069" if any(unicodedata.bidirectional(sign) in _RIGHT_TO_LEFT for sign in text) else text


_RIGHT_TO_LEFT = {"R", "AL"}


def join_isolated(*parts: str | None, separator: str = " ") -> str:
    """Join the parts that are not empty, each isolated if it is right-to-left."""
    return separator.join(isolate_rtl(part) for part in parts if part)


def to_phone_digits(phone: str) -> str:
    """Reduce a phone number to its digits and plus signs, for a `tel:` link."""
    return re.sub(r"[^0-9+]", "", phone)


def format_address(address: Address | None) -> str:
    """Format an address in one line."""
    parts = [address.line1, address.line2, address.city, address.postal_code] if address else []
    return ", ".join(part for part in parts if part)


def map_link(address: Address) -> str:
    """Return a link to the route to an address."""
    return _route_link([format_address(address)])


def map_link_of(address: Mapping[str, str | None]) -> str:
    """Return a link to the route to an address, as the fields of a record hold it."""
    return _route_link([", ".join(address[name] or "" for name in _ADDRESS_PARTS if address.get(name))])


_ADDRESS_PARTS = ("line1", "line2", "city", "postalCode")


class RoutePart(NamedTuple):
    """A link to a route through some addresses, which the map app of a phone opens, and its first and last stop."""

    link: str
    first: int
    last: int


def route_links(addresses: Iterable[Address | None]) -> list[RoutePart]:
    """Return the links to a route through addresses, in their order; several if there are more than one link takes.

    The route begins where the phone is. There is none through a single address.
    """
    stops = [text for text, _ in groupby(filter(None, map(format_address, addresses)))]
    if len(stops) < _LEAST_STOPS:
        return []
    parts = [stops[start : start + _MAX_STOPS] for start in range(0, len(stops), _MAX_STOPS)]
    return [
        RoutePart(_route_link(part), number * _MAX_STOPS + 1, number * _MAX_STOPS + len(part))
        for number, part in enumerate(parts)
    ]


def _route_link(stops: Sequence[str]) -> str:
    """Return the link that the map app of a phone opens. On Apple's devices, a script makes it one of theirs."""
    query = {"api": "1", "destination": stops[-1], "waypoints": "|".join(stops[:-1]), "travelmode": "driving"}
    filled = {name: value for name, value in query.items() if value}
    return f"https://www.google.com/maps/dir/?{urlencode(filled)}"


_LEAST_STOPS = 2
# A link takes a destination and nine stops on the way.
_MAX_STOPS = 10


@pass_context
def format_quantity(context: Context, decimal: str) -> str:
    """Format a quantity or a percentage for the viewer, without trailing zeros: `2`, `1,234.5`."""
    return str(context["here"].format_number(decimal.rstrip("0").rstrip(".") if "." in decimal else decimal))


def format_browser(agent: str) -> str:
    """Format a user agent header as a browser name: `Firefox on Windows`."""
    name = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((system for mark, system in _SYSTEMS if mark in agent), "")
    if name and system:
        return translate_text("{browser} on {system}", browser=name, system=system)
    return name or system or agent[:60] or translate_text("Unknown browser")


# The first match counts, because most browsers also claim to be others.
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


def format_http_status(status: int) -> str:
    """Format an HTTP status with its name: `404 Not Found`."""
    return f"{status} {HTTPStatus(status).phrase}" if status in _KNOWN_STATUSES else str(status)


_KNOWN_STATUSES = frozenset(HTTPStatus)


@pass_context
def format_money(context: Context, amount: str | None, currency: str | None = None) -> str:
    """Format an amount or a price for the viewer, in the organisation's currency unless another is named."""
    return str(context["here"].format_money(amount, currency)) if amount else ""


def initials_of(name: str) -> str:
    """Return the first letters of the first and the last word of a name."""
    words = name.split()
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


def format_actor(stamp: Stamp) -> str:
    """Return who did something, and with which client: `Ruth Hartley via Claude`."""
    name, client = actor_name_of(stamp), stamp.via.client
    return translate_text("{person} via {app}", person=name, app=client.name) if client else name


def actor_name_of(stamp: Stamp) -> str:
    """Return who did something, without the client."""
    person = stamp.person
    return person.name if person else current_language().translate(ACTOR_NAMES[stamp.kind])


ACTOR_NAMES = {
    "customer": "the customer",
    "operator": "the system administrator",
    "house": "Mainstay",
    "person": "someone",
}


TEMPLATE_FILTERS: dict[str, Callable[..., Any]] = {
    "moment": format_moment,
    "second": format_exact_moment,
    "date": format_date,
    "long_day": format_long_date,
    "weekday": format_weekday,
    "short_day": format_short_day,
    "clock": format_clock,
    "span": format_visit_hours,
    "when": format_visit_date,
    "whole": isolate_rtl,
    "dialled": to_phone_digits,
    "hours": hours_text,
    "place": format_address,
    "directions": map_link,
    "route": route_links,
    "size": size_text,
    "plain": format_quantity,
    "answer": format_http_status,
    "initials": initials_of,
    "browser": format_browser,
    "who": format_actor,
    "money": format_money,
    "currency_name": lambda code: currency_names().get(code, code),
    "zone_name": lambda zone: zone_names().get(zone, zone),
    "colour_name": lambda code: COLOURS.get(code, code),
    "flat": lambda groups: [format_address for group in groups for format_address in group],
}

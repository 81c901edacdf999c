"""One's own calendar: the page where its secret link is made, and what the link gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import orjson

from mainstay.backing.database import EVERY
from mainstay.business.schedule.calendar import (
    get_calendar,
    get_calendar_link,
    remove_calendar_link,
    rotate_calendar_link,
)
from mainstay.doors.http import Request, Response
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.pages.door import Route, apology, form_at
from mainstay.doors.pages.render import see_other
from mainstay.identity import calendars
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.keys import KeyMaker
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.late import late
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import NotFound
from mainstay.values.moments import parse_moment

_PATH = "/schedule/calendar"
_SUFFIX = ".ics"
# From one address, behind which a whole firm may be.
FETCHES_A_MINUTE = 60
_NO_LINK = "There is no calendar at this address. Ask whoever gave it to you for the present one."


@dataclass(frozen=True, slots=True)
class CalendarPages:
    """The pages."""

    desk: Desk
    threshold: Threshold
    key_maker: KeyMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", _PATH, enter(self.show)),
            *form_at(f"{_PATH}/new", enter(self.make), _PATH),
            *form_at(f"{_PATH}/remove", enter(self.remove), _PATH),
            Route("GET", "/calendar/{name}", self.feed),
        ]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Whether there is a link, and how it is used."""
        link = await self.desk.perform(guest, get_calendar_link)
        handed = self.desk.shown_once.take(guest.request, guest.visitor, "calendar")
        return self.desk.page(
            "calendar.html",
            guest,
            headers=handed.headers if handed else (),
            area="Schedule",
            link=link,
            makes=guest.may(rotate_calendar_link),
            address=handed.made["address"] if handed else None,
            notice=self.desk.notice(guest),
        )

    async def make(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Make a new link, which is shown on the next page and never again."""
        guest = guest.sending(await self.desk.form(guest))
        secret = self.key_maker.calendar(guest.actor, guest.once or guest.request.id)
        await self.desk.perform(guest, rotate_calendar_link, {"secret": secret})
        address = f"{self.desk.visitors.base_url}/calendar/{secret}{_SUFFIX}"
        handed = self.desk.shown_once.hand_over(guest.visitor, "calendar", {"address": address})
        return self._done(rotate_calendar_link, handed)

    async def remove(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Let the link open nothing any more."""
        guest = guest.sending(await self.desk.form(guest))
        await self.desk.perform(guest, remove_calendar_link)
        return self._done(remove_calendar_link)

    async def feed(self, request: Request, at: Mapping[str, str]) -> Response:
        """What the link gives, to whoever has it: as much as its person may see now."""
        if not await self.threshold.take("calendars from", self.threshold.address(request), FETCHES_A_MINUTE, 60.0):
            return apology(request, 429, "Wait a minute, then try again.", (("retry-after", "60"),))
        actor = await self.desk.visitors.runner.read(self._whose, at["name"].removesuffix(_SUFFIX))
        if actor is None or not at["name"].endswith(_SUFFIX):
            return apology(request, 404, _NO_LINK)
        visitors = self.desk.visitors
        answer = await visitors.runner.perform(visitors.stage, get_calendar, actor, b"{}", Envelope(request.id))
        body = await visitors.runner.take_long(actor.organisation, written, answer.body, visitors.base_url)
        return Response(200, body, content_type="text/calendar; charset=utf-8", cache="private, max-age=300")

    def _whose(self, secret: str) -> Actor | None:
        database = self.desk.visitors.stage.database
        with database.reading(EVERY) as rows:
            whose = calendars.find(rows, secret)
        if whose is None:
            return None
        with database.reading(whose.organisation) as rows:
            try:
                return actor_of_person(rows, whose.person, Door.OFFICE)
            except NotFound:
                # They left just now.
                return None

    def _done(self, operation: Operation, *headers: tuple[str, str]) -> Response:
        return see_other(f"{_PATH}?done={operation.name}", headers)


def written(body: bytes, base_url: str) -> bytes:
    """A calendar as programs read it (RFC 5545)."""
    ical = late("icalendar")
    found = orjson.loads(body)
    calendar = ical.Calendar()
    for name, value in {"prodid": "-//Mainstay//Schedule//EN", "version": "2.0", "method": "PUBLISH"}.items():
        calendar.add(name, value)
    calendar.add("x-wr-calname", found["name"])
    for visit in found["visits"]:
        calendar.add_component(_event(ical, visit, base_url))
    told: bytes = calendar.to_ical()
    return told


def _event(ical: Any, visit: dict[str, Any], base_url: str) -> Any:
    event = ical.Event()
    # The same for as long as the visit is there; each change has a higher number.
    event.add("uid", f"{visit['id']}@{urlsplit(base_url).hostname}")
    event.add("sequence", visit["version"])
    event.add("dtstamp", parse_moment(visit["updatedAt"]))
    event.add("last-modified", parse_moment(visit["updatedAt"]))
    begin, end = _times(visit)
    event.add("dtstart", begin)
    event.add("dtend", end)
    what = " ".join(filter(None, (visit["jobNumber"], visit["jobTitle"] or visit["title"])))
    event.add("summary", ", ".join(filter(None, (what, visit["customerName"]))))
    if place := _place(visit):
        event.add("location", place)
    if about := _about(visit):
        event.add("description", about)
    event.add("url", f"{base_url}/schedule/visits/{visit['id']}")
    event.add("status", "CONFIRMED")
    return event


def _times(visit: dict[str, Any]) -> tuple[date | datetime, date | datetime]:
    """From when to when; the whole date, where it may be any time of it."""
    if visit["on"]:
        day = date.fromisoformat(visit["on"])
        return day, day + timedelta(days=1)
    return parse_moment(visit["startsAt"]).astimezone(UTC), parse_moment(visit["endsAt"]).astimezone(UTC)


def _place(visit: dict[str, Any]) -> str:
    address = visit["siteAddress"] or {}
    parts = (address.get(name) for name in ("line1", "line2", "city", "postalCode"))
    # A site without a name of its own is called by the beginning of its address.
    return ", ".join(dict.fromkeys(filter(None, (visit["siteName"], *parts))))


def _about(visit: dict[str, Any]) -> str:
    met = " ".join(filter(None, (visit["contactName"], visit["contactPhone"])))
    return "\n".join(filter(None, (visit["notes"], visit["accessNotes"], met)))

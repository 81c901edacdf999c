"""A person's own calendar: the page to create its secret link, and the feed that the link returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from mainstay.business.schedule.calendar import (
    CalendarVisit,
    get_calendar,
    get_calendar_link,
    remove_calendar_link,
    rotate_calendar_link,
)
from mainstay.doors.http import Request, Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.sign_in.public_pages import PublicPages
from mainstay.doors.pages.door import Route, respond_with_error
from mainstay.doors.pages.rendering import redirect
from mainstay.identity import calendar_links
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.keys import SecretDeriver
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.lazy_import import import_lazily
from mainstay.values.message import Message
from mainstay.values.moments import parse_moment
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.refusal import NotFound

_PATH = "/schedule/calendar"
_SUFFIX = ".ics"
# The limit for one address, which a whole company may share.
FETCHES_PER_MINUTE = 60
_NO_LINK = Message("Calendar not found. The link may have been replaced.")


@dataclass(frozen=True, slots=True)
class CalendarPages:
    """The page of the calendar link, and the feed."""

    office: OfficePages
    public_pages: PublicPages
    key_maker: SecretDeriver

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", _PATH, signed_in(self.show)),
            *Form(self.office, find_by_path, self._create_link).routes(f"{_PATH}/new", _PATH),
            *Form(self.office, find_by_path, self._remove_link).routes(f"{_PATH}/remove", _PATH),
            Route("GET", "/calendar/{name}", self.serve_feed),
        ]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show whether there is a link, and how to use it."""
        link = await self.office.perform(request, get_calendar_link)
        one_time_secret = self.office.one_time_secrets.take(request.http_request, request.visitor, "calendar")
        return self.office.render_page(
            "calendar.html",
            request,
            headers=one_time_secret.headers if one_time_secret else (),
            area="Schedule",
            link=link,
            makes=request.can_perform(rotate_calendar_link),
            address=one_time_secret.content["address"] if one_time_secret else None,
            notice=self.office.find_notice(request),
        )

    async def _create_link(self, form: OpenForm[PathValues]) -> Response:
        """Create a new link, which is shown on the next page and never again."""
        request = form.request
        secret = self.key_maker.derive_calendar_secret(request.actor, request.once_token or request.http_request.id)
        await self.office.perform(request, rotate_calendar_link, {"secret": secret})
        address = f"{self.office.visitors.base_url}/calendar/{secret}{_SUFFIX}"
        cookie = self.office.one_time_secrets.build_cookie(request.visitor, "calendar", {"address": address})
        return self._redirect(rotate_calendar_link, cookie)

    async def _remove_link(self, form: OpenForm[PathValues]) -> Response:
        """Remove the link, so that it no longer works."""
        await self.office.perform(form.request, remove_calendar_link)
        return self._redirect(remove_calendar_link)

    async def serve_feed(self, request: Request, path_values: Mapping[str, str]) -> Response:
        """Return the calendar to anyone who has the link, with everything that its person may see now."""
        if not await self.public_pages.count_use(
            "calendars from", self.public_pages.client_address(request), FETCHES_PER_MINUTE, 60.0
        ):
            return respond_with_error(
                request, 429, Message("Too many requests. Wait a minute, then try again."), (("retry-after", "60"),)
            )
        actor = await self.office.visitors.runner.run_read(self._find_actor, path_values["name"].removesuffix(_SUFFIX))
        if actor is None or not path_values["name"].endswith(_SUFFIX):
            return respond_with_error(request, 404, _NO_LINK)
        visitors = self.office.visitors
        answer = await visitors.runner.perform(
            visitors.performer, get_calendar, actor, b"{}", RequestDetails(request.id)
        )
        body = await visitors.runner.run_long(actor.organisation, to_icalendar, answer.body, visitors.base_url)
        return Response(200, body, content_type="text/calendar; charset=utf-8", cache_control="private, max-age=300")

    def _find_actor(self, secret: str) -> Actor | None:
        database = self.office.visitors.performer.database
        with database.read_transaction(ALL_ORGANISATIONS) as db:
            owner = calendar_links.find(db, secret)
        if owner is None:
            return None
        with database.read_transaction(owner.organisation) as db:
            try:
                return actor_of_person(db, owner.person, Door.OFFICE)
            except NotFound:
                # The person left the organisation a moment ago.
                return None

    def _redirect(self, operation: Operation, *headers: tuple[str, str]) -> Response:
        return redirect(f"{_PATH}?done={operation.name}", headers)


def to_icalendar(body: bytes, base_url: str) -> bytes:
    """Convert a calendar to iCalendar (RFC 5545)."""
    ical = import_lazily("icalendar")
    schedule = get_calendar.read_answer(body)
    calendar = ical.Calendar()
    for name, value in {"prodid": "-//Mainstay//Schedule//EN", "version": "2.0", "method": "PUBLISH"}.items():
        calendar.add(name, value)
    calendar.add("x-wr-calname", schedule.name)
    for visit in schedule.visits:
        calendar.add_component(_build_event(ical, visit, base_url))
    content: bytes = calendar.to_ical()
    return content


def _build_event(ical: Any, visit: CalendarVisit, base_url: str) -> Any:
    event = ical.Event()
    # The uid stays the same as long as the visit exists. Each change has a higher sequence number.
    event.add("uid", f"{visit.id}@{urlsplit(base_url).hostname}")
    event.add("sequence", visit.version)
    event.add("dtstamp", parse_moment(visit.updated_at))
    event.add("last-modified", parse_moment(visit.updated_at))
    begin, end = _event_times(visit)
    event.add("dtstart", begin)
    event.add("dtend", end)
    title = " ".join(filter(None, (visit.job_number, visit.job_title or visit.title)))
    event.add("summary", ", ".join(filter(None, (title, visit.customer_name))))
    if location := _location_text(visit):
        event.add("location", location)
    if description := _description_text(visit):
        event.add("description", description)
    event.add("url", f"{base_url}/schedule/visits/{visit.id}")
    event.add("status", "CONFIRMED")
    return event


def _event_times(visit: CalendarVisit) -> tuple[date | datetime, date | datetime]:
    """Return start and end: moments, or dates if the visit can be at any time of its day."""
    if visit.on:
        day = date.fromisoformat(visit.on)
        return day, day + timedelta(days=1)
    return parse_moment(visit.starts_at or "").astimezone(UTC), parse_moment(visit.ends_at or "").astimezone(UTC)


def _location_text(visit: CalendarVisit) -> str:
    address = visit.site_address
    parts = (address.line1, address.line2, address.city, address.postal_code) if address else ()
    # A site without a name is named after the beginning of its address, which must not appear twice.
    return ", ".join(dict.fromkeys(filter(None, (visit.site_name, *parts))))


def _description_text(visit: CalendarVisit) -> str:
    contact = " ".join(filter(None, (visit.contact_name, visit.contact_phone)))
    return "\n".join(filter(None, (visit.notes, visit.access_notes, contact)))

"""What every page of the office stands on: a visitor in, an operation performed, a page or a refusal out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, partial
from itertools import chain
from types import MappingProxyType
from typing import Any

import orjson

from mainstay.doors.http import Headers, Request, Response
from mainstay.doors.office import frame
from mainstay.doors.office.frame import Area
from mainstay.doors.pages.asking import Asked, named_by
from mainstay.doors.pages.door import View
from mainstay.doors.pages.forms import TooLong, query_words, take_once
from mainstay.doors.pages.late_forms import NOT_KEPT
from mainstay.doors.pages.render import render
from mainstay.doors.pages.session import TYPED, Visitor, Visitors
from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.shown_once import ShownOnce
from mainstay.doors.pages.speech import Speech
from mainstay.doors.pages.uploads import Limit, Received
from mainstay.doors.pages.written_here import refused_here, said_here
from mainstay.doors.papers import Papers
from mainstay.identity.secrets import secret_hash
from mainstay.identity.signing_in import DeadLink, NotSignedIn
from mainstay.kernel.catalogue import Catalogue, is_admitted
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor
from mainstay.terms.listed import COUNTED
from mainstay.terms.refusal import Conflict, Forbidden, Invalid, Lapsed, NotFound, Refusal, Stale, TooMany
from mainstay.values.ids import is_id
from mainstay.values.moments import local_date

NOTHING: Mapping[str, object] = MappingProxyType({})
# So many files of each kind an organisation hands in: what documents show stays for good.
FILES_AN_HOUR = 60

# A page for someone signed in: who asks for it, and what stands in the `{…}` of its path.
OfficeView = Callable[["Guest", Mapping[str, str]], Awaitable[Response]]

_STATUSES: dict[type[Refusal], int] = {
    Lapsed: 402,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    DeadLink: 410,
    TooLong: 413,
    Stale: 409,
    Invalid: 422,
    # A form that did not sign anyone in: the page is shown again.
    NotSignedIn: 422,
    TooMany: 429,
}

# What a page says after something was done that is no operation on records; the address carries only the word.
NOTICES = {
    "password": "Your password is changed. Every other sign-in has ended.",
    "ended": "The sign-in has ended.",
    "others-ended": "Every other sign-in has ended.",
    "reset": "Your new password is set. Sign in with it.",
    "signed-out": "You are signed out.",
    "unchanged": "Nothing was changed, so nothing was saved.",
}


@dataclass(frozen=True, slots=True)
class Guest:
    """A visitor who is a person of an organisation, with what they ask for."""

    request: Request
    visitor: Visitor
    actor: Actor
    # The token of the form that they sent, under which what it does is done once.
    once: str | None = None
    # What they had typed on this page when their sign-in ended.
    typed: Mapping[str, str] = field(default_factory=dict)
    # The files that they sent with it, by field, which are there until the request ends.
    received: dict[str, list[Received]] = field(default_factory=dict)

    def sending(self, fields: dict[str, str]) -> "Guest":
        """The same, sending this form; takes its token out of the fields."""
        return replace(self, once=take_once(fields))

    def envelope(self, deed: str, version: int | None = None) -> Envelope:
        """What goes with one deed of the form they sent: under its name it is done once, however often it comes."""
        once = f"form {deed} {secret_hash(self.once)}" if self.once else None
        return Envelope(self.request.id, None if version is None else frozenset({version}), once)

    @property
    def time_zone(self) -> str:
        """Where their clocks are."""
        return self.visitor.membership.time_zone if self.visitor.membership else "UTC"

    @property
    def here(self) -> Here:
        """Where they are."""
        place = self.visitor.membership
        return Here(place.time_zone, place.country, place.currency) if place else Here(self.time_zone)

    def may(self, operation: Operation) -> bool:
        """Whether this operation is theirs to perform now."""
        return is_admitted(operation, self.actor)

    def of_use(self, areas: Sequence[Area]) -> list[Area]:
        """Those of these areas that are of any use to them."""
        return [
            area
            for area in areas
            if (area.operation is None or self.may(area.operation))
            and (area.right is None or self.actor.may(area.right))
            and (not area.within or self.of_use(area.within))
        ]


@dataclass(frozen=True)
class Desk:
    """Lets people into the office and does what they ask."""

    visitors: Visitors

    @property
    def shown_once(self) -> ShownOnce:
        """What shows a secret once, on the page after the form that made it."""
        return ShownOnce(self.visitors)

    @property
    def catalogue(self) -> Catalogue:
        """What can be done."""
        return self.visitors.stage.catalogue

    @cached_property
    def operations(self) -> dict[str, Operation]:
        """The same, by name."""
        return {operation.name: operation for operation in self.catalogue.operations}

    @cached_property
    def speech(self) -> Speech:
        """What puts refusals into words for people."""
        return Speech(self.catalogue.operations)

    def signed_in(self, view: OfficeView) -> View:
        """The page, for people who are signed in and in an organisation; others are told the way."""

        async def guarded(request: Request, at: Mapping[str, str]) -> Response:
            visitor = await self.visitors.visitor(request)
            if visitor is None:
                return await self.visitors.sign_in_first(request)
            if visitor.actor is None:
                return render("no_organisation.html", 403, visitor=visitor, csrf=visitor.csrf)
            guest = Guest(request, visitor, visitor.actor, typed=await self._left(request, visitor))
            try:
                return await view(guest, at)
            except Stale as stale:
                # What a form does to a record is at an address below the record's.
                return self.refused(guest, stale, _CHANGED_SINCE, back=request.path.rpartition("/")[0])
            except Refusal as refusal:
                return self.refused(guest, refusal, refusal.text)
            finally:
                for file in chain.from_iterable(guest.received.values()):
                    file.path.unlink(missing_ok=True)

        return guarded

    async def _left(self, request: Request, visitor: Visitor) -> Mapping[str, str]:
        """What a page was left with when a sign-in ended; a form that is sent from there again was typed since then."""
        ticket = query_words(request).get(TYPED, "") if request.method in {"GET", "HEAD"} else ""
        return await self.visitors.late_forms.find(ticket, visitor.account)

    async def perform(
        self,
        guest: Guest,
        operation: Operation,
        given: Mapping[str, object] = NOTHING,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Perform an operation as this person, on the version of the record they saw; its answer, or a refusal.

        What a form does that was sent before is not done again: its answer is the one that it got then.
        """
        return await self._perform(guest, operation, given, guest.envelope(operation.name, version))

    async def rehearse(self, guest: Guest, operation: Operation, given: Mapping[str, object]) -> dict[str, Any]:
        """What an operation would answer, reckoned like everything else and then taken back; or a refusal."""
        try:
            result = await self.visitors.runner.change(
                guest.actor.organisation, self._rehearse, guest, operation, orjson.dumps(dict(given))
            )
        except Refusal as refusal:
            raise self.in_words(guest, operation, given, refusal) from None
        return self._said(guest, given, result)

    async def list(self, guest: Guest, operation: Operation, given: Mapping[str, object]) -> dict[str, Any]:
        """A page of a list, each record of which says what this person can do with it."""
        return await self._perform(guest, operation, given, Envelope(guest.request.id, actions=True))

    def _rehearse(self, guest: Guest, operation: Operation, raw: bytes) -> dict[str, Any]:
        with self.visitors.stage.together(guest.actor.organisation, keep=False) as rehearsal:
            answer = rehearsal.perform(operation, guest.actor, raw, Envelope(guest.request.id))
        result: dict[str, Any] = orjson.loads(answer.body)
        return result

    async def _perform(
        self, guest: Guest, operation: Operation, given: Mapping[str, object], envelope: Envelope
    ) -> dict[str, Any]:
        runner, stage = self.visitors.runner, self.visitors.stage
        try:
            answer = await runner.perform(stage, operation, guest.actor, orjson.dumps(dict(given)), envelope)
        except Refusal as refusal:
            raise self.in_words(guest, operation, given, refusal) from None
        result: dict[str, Any] = orjson.loads(answer.body)
        if answer.preview:
            result["unblocks"] = answer.unblocks
        return self._said(guest, given, result) if operation.changes else result

    def in_words(self, guest: Guest, operation: Operation, given: Mapping[str, object], refusal: Refusal) -> Refusal:
        """A refusal as people are told it here."""
        if isinstance(refusal, Invalid) and any(fault.field == "Idempotency-Key" for fault in refusal.faults):
            return Conflict(_SENT_BEFORE)
        return refused_here(self.speech.refusal(refusal, operation), guest.here, _texts(given))

    def _said(self, guest: Guest, given: Mapping[str, object], result: dict[str, Any]) -> dict[str, Any]:
        """An answer or a preview whose sentences are as people are told them here."""
        for texts in {"blockers", "warnings"} & result.keys():
            result[texts] = [self.speech.text(text) for text in result[texts]]
        return said_here(result, guest.here, _texts(given))

    async def form(self, guest: Guest, asked: Sequence[Asked] = ()) -> dict[str, str]:
        """The fields of a form that this person sent; the files among what it asks for are received beside them."""
        limits = {one.name: Limit(one.upload.most) for one in asked if one.upload}
        if limits:
            return await self.form_with_files(guest, limits)
        return await self.visitors.long_form(guest.request, guest.visitor)

    async def form_with_files(self, guest: Guest, limits: Mapping[str, Limit]) -> dict[str, str]:
        """The fields of a form that this person sent with files, which are received beside them."""
        return await self.visitors.form_with_files(guest.request, guest.visitor, limits, guest.received)

    async def keep_files(self, guest: Guest, asked: Sequence[Asked]) -> dict[str, object]:
        """Keep the files that were received; by field, the names under which they are kept and their sizes."""
        kept: dict[str, object] = {}
        for one in asked:
            if one.upload and one.name in guest.received:
                await self.count_file(guest, "files")
                [file] = guest.received[one.name]
                keep = partial(self.visitors.keep_picture, one.name, file.path, one.upload.longest_side)
                name, size = await self.visitors.runner.read_content(guest.actor.organisation, keep)
                kept |= {one.name: name, one.upload.size: size}
        return kept

    async def file(self, guest: Guest, operation: Operation, about: Mapping[str, object]) -> Response:
        """The file of a record that an operation gives; what else it is asked for is in the address."""
        names = {field.alias or name for name, field in operation.input.model_fields.items()} - about.keys()
        words = {name: text for name, text in query_words(guest.request).items() if name in names}
        papers = Papers(self.visitors.stage, self.visitors.runner, self.visitors.files)
        return await papers.answer(operation, guest.actor, orjson.dumps({**about, **words}), Envelope(guest.request.id))

    async def count_file(self, guest: Guest, what: str, most: int = FILES_AN_HOUR) -> None:
        """Let an organisation hand in so many files of a kind within an hour."""
        if not (await self.visitors.limits.take(f"{what} of {guest.actor.organisation}", most, 3600.0)).accepted:
            raise TooMany("There were too many files within an hour. Wait a while, then try again.")

    def page(self, template: str, guest: Guest, status: int = 200, *, headers: Headers = (), **shown: Any) -> Response:
        """A page in the office's frame."""
        groups = [guest.of_use(group) for group in frame.GROUPS]
        tabs = frame.OFFICE_TABS if guest.actor.may(frame.IN_OFFICE) else frame.FIELD_TABS
        return render(
            template,
            status,
            headers=headers,
            visitor=guest.visitor,
            actor=guest.actor,
            may=guest.may,
            csrf=guest.visitor.csrf,
            zone=guest.time_zone,
            here=guest.here,
            groups=[group for group in groups if group],
            phone_tabs=guest.of_use(tabs)[: frame.TABS],
            search_area=frame.SEARCH,
            lost=query_words(guest.request).get(TYPED) == NOT_KEPT and guest.request.method in {"GET", "HEAD"},
            settings_areas=guest.of_use(frame.SETTINGS),
            developer_areas=guest.of_use(frame.DEVELOPER),
            purchasing_areas=guest.of_use(frame.PURCHASING),
            new=guest.of_use(frame.NEW),
            may_export=guest.actor.may(frame.EXPORTS),
            **shown,
        )

    def refused(self, guest: Guest, refusal: Refusal, text: str, back: str = "") -> Response:
        """A page that says why not, in the frame."""
        title = "Nothing here" if isinstance(refusal, NotFound) else "That is not possible"
        if isinstance(refusal, NotFound) and text == refusal.text:
            # People know no identifiers: they have followed an address.
            text = f"There is no such {refusal.what}, or you are not shown it. The search finds what there is."
        return self.page("refused.html", guest, status_of(refusal), title=title, text=text, back=back, area="")

    def place_of(self, record: str) -> str:
        """The address of a record's page, by its id."""
        place = self.getting(record).output.place
        if place is None:
            raise NotFound("record")
        return place.format(id=record)

    def getting(self, record: str) -> Operation:
        """What gets a record, by its id."""
        prefix = record.partition("_")[0]
        if prefix not in self.catalogue.gets or not is_id(record, prefix):
            raise NotFound("record")
        return self.catalogue.gets[prefix]

    async def get(self, guest: Guest, record: str) -> dict[str, Any]:
        """A record, by its id."""
        gets = self.getting(record)
        return await self.perform(guest, gets, about(gets, record))

    def today(self, guest: Guest) -> date:
        """The date at their place."""
        return local_date(self.visitors.stage.clock(), guest.time_zone)

    def notice(self, guest: Guest) -> str | None:
        """What was just done, said on the page after it."""
        word = query_words(guest.request).get("done", "")
        operation = self.operations.get(word)
        return operation.done if operation else NOTICES.get(word)


_SENT_BEFORE = (
    "This form was sent before with something else in it, so nothing was done now. Look at it once more, then send it."
)
AS_LEFT = "You are signed in again, and the form is as you left it. Nothing was sent yet."
_CHANGED_SINCE = "Someone has changed this since you opened it, so nothing was done."


def _texts(given: Mapping[str, object]) -> list[str]:
    return [value for value in given.values() if isinstance(value, str)]


def about(operation: Operation, record: str) -> dict[str, object]:
    """The id of a record, under the name by which an operation takes it; nothing where there is only one."""
    named = named_by(operation)
    if named is None:
        return {}
    return {operation.input.model_fields[named].alias or named: [record] if named.endswith("_ids") else record}


def told(count: int) -> str:
    """How many records there are: `99+` where counting has stopped."""
    return str(count) if count < COUNTED else f"{COUNTED - 1}+"


def wrong(refusal: Refusal | None) -> dict[str, Any]:
    """A refusal as a form shows it: a problem beside each field, or one for the whole."""
    if isinstance(refusal, Invalid):
        return {"faults": _by_field(refusal)}
    return {"problem": refusal.text} if refusal else {}


def _by_field(refusal: Invalid) -> dict[str, str]:
    """What is wrong with each field; a fault within a list is told beside the list, one in a part beside the part."""
    return {_on_form(fault.field): fault.problem for fault in refusal.faults}


def _on_form(path: str) -> str:
    """The field of a form that a fault is told beside: a row of a short list has fields of its own, a span has none."""
    names = path.split(".")
    number = next((place for place, name in enumerate(names) if name.isdecimal()), len(names))
    of_row = (number, len(names)) == (1, 3)
    return path if of_row else ".".join(names[:number])


def status_of(refusal: Refusal | None) -> int:
    """The status of a page that shows a refusal."""
    if refusal is None:
        return 200
    return next((_STATUSES[kind] for kind in type(refusal).__mro__ if kind in _STATUSES), 400)


def seen_version(fields: Mapping[str, str]) -> int | None:
    """The version of the record that a form was filled in on."""
    return read_version(fields.get("version", ""))


def read_version(text: str) -> int | None:
    """A version of a record, as a form carries it."""
    return int(text) if text.isdecimal() and len(text) < _LONGEST_VERSION else None


_LONGEST_VERSION = 16

"""One kind of record in the office: its list, its page, and everything that can be done with it.

All of it is read off the declarations of operations; an area only arranges. An operation on the record that is added to
the catalogue appears here, with its form, its button, its confirmation and its notice, without another line.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from mainstay.business.records.notes import add_note
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement, verb_of
from mainstay.doors.office.beside import NOTES, Beside, as_note, note_left
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, about, seen_version, status_of, wrong
from mainstay.doors.office.left import held_up
from mainstay.doors.office.lists import RecordList
from mainstay.doors.office.mails import mails_about
from mainstay.doors.office.references import AsTold, References, unchanged
from mainstay.doors.office.ways import with_ways
from mainstay.doors.office.ways_out import WaysOut
from mainstay.doors.pages.asking import Asked, as_typed, asked_of, filled, usual, ways_to
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.meanwhile import Overtaken, marked, overtaken
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.rows import closed_up, laid_out
from mainstay.doors.pages.showing import known, state_of
from mainstay.kernel.catalogue import admit
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Invalid, NotFound, Refusal, Stale
from mainstay.values.words import words_of

NO_FIELDS: Mapping[str, str] = MappingProxyType({})

# What a button of a form says that only shows the form again, with what follows from what is filled in.
LOOK = "look"
# So many warnings travel to the next page: they do so in a cookie.
_TOLD = 5


@dataclass(frozen=True)
class Room:
    """The pages of one kind of record."""

    desk: Desk
    of: Arrangement
    # What the templates of its own need, for one record or for the list.
    shows: Callable[[Guest, AsTold | None], Any] | None = None
    # What is known beside a record: it stands on its page, is asked for in the same form, or says what is possible.
    knows: Callable[[Guest, AsTold], Any] | None = None
    # What is given to an operation that no person is asked for; and what is shown once of what it made: a secret.
    adds: Callable[[Guest, Operation, Mapping[str, str]], dict[str, object]] | None = None
    reveals: Callable[[Guest, Operation, AsTold], AsTold | None] | None = None
    # What a form shows beside its fields, for what is filled in.
    beside: Callable[[Guest, Operation, Mapping[str, str]], Any] | None = None

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, path = self.desk.signed_in, self.of.path
        one = self.of.path_of("{id}")
        routes = [
            Route("GET", one, enter(self.record)),
            Route("GET", f"{one}/{{verb}}", enter(self.ask)),
            Route("POST", f"{one}/{{verb}}", enter(self.do)),
        ]
        if self.of.lists:
            routes.append(Route("GET", path, enter(self.index)))
            routes.append(Route("GET", f"{path}/export.csv", enter(self.export)))
        if self.of.creates:
            routes.append(Route("GET", f"{path}/{self.of.create_path}", enter(self.ask_new)))
            routes.append(Route("POST", f"{path}/{self.of.create_path}", enter(self.create)))
        return routes

    async def index(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The list; what is shown is in the address."""
        return await self._list.index(guest, await self._own(guest, None))

    async def export(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The whole list as a file, narrowed and ordered like its page."""
        return await self._list.export(guest)

    async def record(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """One record: what it is, and what can be done with it."""
        found = await self._fetch(guest, at)
        handed = self.desk.shown_once.take(guest.request, guest.visitor, found["id"])
        made = handed.made if handed else {}
        return await self._page(
            guest,
            found,
            revealed=made.get("revealed"),
            warnings=made.get("warnings", ()),
            headers=handed.headers if handed else (),
            notice=AS_LEFT if note_left(guest, found["id"]) else made.get("notice") or self._notice(guest, found),
        )

    async def ask_new(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The form for a new record."""
        creates = self._creates()
        refusal = held_up(guest, creates)
        fields = usual(self._asked(creates, guest)) | query_words(guest.request)
        return await self._form(guest, creates, fields, refusal)

    async def create(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Make one."""
        creates = self._creates()
        fields = await self._filled_in(guest, creates)
        guest = guest.sending(fields)
        if fields.pop("do", "") == LOOK:
            return await self._form(guest, creates, fields)
        try:
            made = await self._perform(guest, creates, fields, {})
        except Refusal as refusal:
            return await self._form(guest, creates, fields, refusal)
        return self._done(guest, creates, made, self.of.path_of(made["id"]))

    async def ask(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """What is asked before something is done to a record; where it cannot be undone, what would happen."""
        if file := self._file(at["verb"]):
            return await self.desk.file(guest, file, about(file, at.get("id", "")))
        if at["verb"] in self.of.sides:
            return await self._beside(guest, at)
        operation = self._doing(guest, at["verb"])
        refusal, found = held_up(guest, operation), await self._fetch(guest, at)
        asked, part = self._asked(operation, guest, record=found), self.of.parts.get(operation.name)
        if operation.is_irreversible and not asked and not part:
            return await self._preview(guest, operation, found, {})
        if not refusal and (stopped := await self._stopped(guest, operation, found, asked)):
            return stopped
        if not guest.typed:
            self.of.check_purpose(operation, found)
        fields = self._begun(guest, asked, found) | (part.begins(found, guest.here) if part else {})
        fields |= {one.name: text for one in asked if (text := query_words(guest.request).get(one.name))}
        return await self._form(guest, operation, marked(asked, fields), refusal, found)

    async def do(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Do it; what cannot be undone only once it is confirmed."""
        if at["verb"] == NOTES and NOTES in self.of.sides:
            return await self._note(guest, at)
        operation = self._doing(guest, at["verb"])
        fields = await self._filled_in(guest, operation)
        found = await self._fetch(guest, at)
        guest = guest.sending(fields)
        irreversible = operation.is_irreversible
        try:
            if irreversible and fields.get("confirmed") != "yes":
                return await self._preview(guest, operation, found, fields)
            sent: dict[str, object] = {"confirmed": True} if irreversible else {}
            sent |= self._of_part(guest, operation, found, fields) | about(operation, found["id"])
            done = await self._perform(guest, operation, fields, sent, found)
        except Stale:
            again, told = self._overtaken(guest, operation, found, fields)
            return await self._form(guest, operation, again, told, found)
        except Refusal as refusal:
            return await self._form(guest, operation, fields, refusal, found)
        if operation.ends:
            gone_to = self.of.ends_at(found) if self.of.ends_at else self.of.path
        else:
            # Where another one of the kind is answered, it is the one to go on with.
            gone_to = self.of.path_of((done if done.get("object") == found["object"] else found)["id"])
        return self._done(guest, operation, done, gone_to)

    def _begun(self, guest: Guest, asked: Sequence[Asked], record: AsTold) -> dict[str, str]:
        """What the form of a record begins with."""
        fields = filled(asked, self.of.fills(record), guest.here)
        # What it is already, it need not become: the likeliest is chosen.
        possible, names = self.of.choosable(record, guest.actor), {one.name for one in asked}
        return fields | {name: values[0] for name, values in possible.items() if name in names}

    def _overtaken(
        self, guest: Guest, operation: Operation, record: AsTold, fields: dict[str, str]
    ) -> tuple[dict[str, str], Overtaken]:
        """The form of a record that someone has changed meanwhile."""
        asked = self._asked(operation, guest, fields, record)
        again, told = overtaken(asked, unchanged(asked, fields), self._begun(guest, asked, record))
        return again | {"version": str(record["version"])}, told

    async def _filled_in(self, guest: Guest, operation: Operation) -> dict[str, str]:
        """The fields of its form; a file is received only from those who may hand one in."""
        asked = self._asked(operation, guest)
        if any(one.upload for one in asked):
            admit(operation, guest.actor)
        return closed_up(asked, await self.desk.form(guest, asked))

    async def _perform(
        self,
        guest: Guest,
        operation: Operation,
        fields: dict[str, str],
        sent: dict[str, object],
        record: AsTold | None = None,
    ) -> AsTold:
        asked = self._asked(operation, guest, fields, record)
        answers, fields = await self._references.answers(guest, asked, fields)
        answers |= await self.desk.keep_files(guest, asked)
        if operation.on is None:
            # Of what is made, nothing is said by what was left empty.
            answers = {name: value for name, value in answers.items() if value is not None and value != []}
        added = self.adds(guest, operation, fields) if self.adds else {}
        return await self.desk.perform(guest, operation, answers | sent | added, seen_version(fields))

    async def _stopped(
        self, guest: Guest, operation: Operation, record: AsTold, asked: Sequence[Asked]
    ) -> Response | None:
        """Why something cannot be done to a record as it is, before anyone has answered anything for it."""
        if not operation.is_irreversible or operation.name in record["availableActions"]:
            return None
        # Whatever would be answered, it is refused; what only the answers stand against is told behind the form.
        answers = {one.name: "-" for one in asked if one.required} | about(operation, record["id"])
        try:
            preview = await self.desk.perform(guest, operation, answers)
        except Invalid:
            return None
        return await self._told(guest, operation, record, {}, preview) if preview["blockers"] else None

    async def _preview(self, guest: Guest, operation: Operation, record: AsTold, fields: dict[str, str]) -> Response:
        asked = self._asked(operation, guest, fields, record)
        answers, fields = await self._references.answers(guest, asked, fields, record)
        answers |= self._of_part(guest, operation, record, fields) | about(operation, record["id"])
        return await self._told(guest, operation, record, fields, await self.desk.perform(guest, operation, answers))

    async def _told(
        self, guest: Guest, operation: Operation, record: AsTold, fields: Mapping[str, str], preview: AsTold
    ) -> Response:
        """What would happen, or why it cannot be, with what can be done instead."""
        return self.desk.page(
            "confirm.html",
            guest,
            of=self.of,
            operation=operation,
            record=record,
            deed=words_of(operation.name),
            called=self.of.called_here(record, guest.here),
            path=self.of.path_of(record["id"]),
            version=record.get("version"),
            fields=fields,
            preview=preview,
            instead=await WaysOut(self.desk, self.of).shown(guest, operation, preview["unblocks"], record),
        )

    async def _page(self, guest: Guest, record: AsTold, status: int = 200, **shown: Any) -> Response:
        of, model = self.of, self.of.gets.output
        shown |= {
            "called": of.called_here(record, guest.here),
            "path": of.path_of(record["id"]),
            "below": of.below(record),
            "state": state_of(model, record["status"]) if model.states else None,
            "facts": await with_ways(self.desk, guest, record, known(of.cells(model, of.facts, record, guest.here))),
            "actions": of.actions(self.desk, record),
            "within": {"path": of.path, "name": of.title} if of.lists and guest.may(of.lists) else None,
        }
        # Of a colleague's visit, one is told when it is, and nothing that stands beside it.
        with suppress(NotFound):
            beside, grows = Beside(self.desk), of.grows(record)
            shown["beside"] = await beside.shown(guest, record, of.related, of.sides, grows=grows)
        shown |= await mails_about(self.desk, guest, record["id"], of.unsent)
        shown |= await self._own(guest, record)
        return self.desk.page("record.html", guest, status, of=of, record=record, **shown)

    async def _beside(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """All notes, files or acts of a record; on its page are the newest."""
        record = await self._fetch(guest, at)
        if note_left(guest, record["id"]):
            return await self.record(guest, at)
        called, path = self.of.called_here(record, guest.here), self.of.path_of(record["id"])
        shown = await Beside(self.desk).whole(guest, record, at["verb"], f"{path}/{at['verb']}")
        shown |= {"record": record, "actions": self.of.actions(self.desk, record)}
        return self.desk.page("all_beside.html", guest, of=self.of, called=called, path=path, **shown)

    async def _note(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Write a note beside a record; one that is refused stands there to be put right."""
        fields = await self.desk.form(guest)
        guest, record = guest.sending(fields), await self._fetch(guest, at)
        try:
            await self.desk.perform(guest, add_note, as_note(record["id"], fields))
        except Refusal as refusal:
            again = replace(guest, typed={**fields, "recordId": record["id"]})
            why = f"{refusal.text.rstrip('.')}."
            return await self._page(again, record, status_of(refusal), revealed=None, note_refused=why)
        return see_other(f"{self.of.path_of(record['id'])}?done={add_note.name}#{NOTES}")

    async def _form(
        self,
        guest: Guest,
        operation: Operation,
        fields: Mapping[str, str],
        refusal: Refusal | None = None,
        record: AsTold | None = None,
    ) -> Response:
        shown = wrong(refusal)
        if guest.typed:
            fields, shown = guest.typed, shown or {"notice": AS_LEFT}
        asked = self._asked(operation, guest, fields, record)
        shown |= {"faults": as_typed(asked, fields, shown["faults"])} if "faults" in shown else {}
        shown |= self.of.heading(operation, record)
        shown |= await self.beside(guest, operation, fields) if self.beside else {}
        asked, fields = await self._references.offered(guest, asked, fields, record)
        return self.desk.page(
            "operation.html",
            guest,
            status_of(refusal),
            of=self.of,
            operation=operation,
            record=record,
            called=self.of.called_here(record, guest.here) if record else None,
            path=self.of.path_of(record["id"]) if record else self.of.path,
            version=fields.get("version", record.get("version") if record else None),
            asked=asked,
            fields=defaultdict(str, fields),
            ways=ways_to(asked, shown.get("faults", {})),
            instead=await WaysOut(self.desk, self.of).shown(
                guest, operation, refusal.unblocks if refusal else (), record
            ),
            **shown,
        )

    def _done(self, guest: Guest, operation: Operation, answer: AsTold, path: str) -> Response:
        revealed = self.reveals(guest, operation, answer) if self.reveals else None
        told = answer.get("warnings", [])[:_TOLD]
        shown = {"notice": " ".join(told)} if operation.name in self.of.counting else {"warnings": told}
        once, shown = revealed or told, shown | {"revealed": revealed}
        handed = [self.desk.shown_once.hand_over(guest.visitor, answer["id"], shown)] if once else []
        return see_other(f"{path}?{urlencode({'done': operation.name})}", handed)

    def _notice(self, guest: Guest, record: AsTold) -> str | None:
        """What was just done; a record that has a number is told by it."""
        told, noun, number = self.desk.notice(guest), self.of.gets.output.noun, record.get("number")
        return told.replace(f"The {noun} ", f"{noun.capitalize()} {number} ", 1) if told and number else told

    @property
    def _list(self) -> RecordList:
        if self.of.lists is None:
            raise NotFound("page")
        return RecordList(self.desk, self.of, self.of.lists)

    @property
    def _references(self) -> References:
        return References(self.desk)

    def _creates(self) -> Operation:
        if self.of.creates is None:
            raise NotFound("page")
        return self.of.creates

    def _doing(self, guest: Guest, verb: str) -> Operation:
        for operation in self.desk.catalogue.on(self.of.gets.output):
            if operation.changes and guest.actor.door in operation.offered and verb_of(operation) == verb:
                return operation
        raise NotFound("page")

    def _asked(
        self,
        operation: Operation,
        guest: Guest,
        fields: Mapping[str, str] = NO_FIELDS,
        record: AsTold | None = None,
    ) -> Sequence[Asked]:
        """What is asked here; with what was filled in, also as many rows as that has.

        Of a record only what is possible is offered, and what can only be as usual is not asked for.
        """
        possible = self.of.choosable(record, guest.actor) if record else {}
        asked = [
            replace(
                one,
                choices=self.of.choices.get(one.name, one.choices),
                required=one.required or self.of.needs(one.name, fields),
            )
            for one in asked_of(operation, guest.actor.rights)
            if one.name not in self.of.skips and [one.usual] != possible.get(one.name)
        ]
        asked = [one.narrowed(possible[one.name]) if one.name in possible else one for one in asked]
        leading = {name: place for place, name in enumerate(self.of.first)}
        asked.sort(key=lambda one: leading.get(one.name, len(leading)))
        return laid_out(asked, fields)

    async def _fetch(self, guest: Guest, at: Mapping[str, str]) -> AsTold:
        found = await self.desk.perform(guest, self.of.gets, about(self.of.gets, at.get("id", "")))
        return {**await self.knows(guest, found), **found} if self.knows else found

    def _file(self, verb: str) -> Operation | None:
        """What gives a file of a record, by the end of its address."""
        for operation in self.desk.catalogue.on(self.of.gets.output):
            if operation.gives and (operation.rest or "").endswith(f"/{verb}"):
                return operation
        return None

    def _of_part(
        self, guest: Guest, operation: Operation, record: AsTold, fields: Mapping[str, str]
    ) -> dict[str, object]:
        part = self.of.parts.get(operation.name)
        return part.reads(record, fields, guest.here) if part else {}

    async def _own(self, guest: Guest, record: AsTold | None) -> dict[str, Any]:
        shown: dict[str, Any] = await self.shows(guest, record) if self.shows else {}
        return shown

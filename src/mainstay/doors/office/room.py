"""One kind of record in the office: its list, its page, and everything that can be done with it.

All of it is read off the declarations of operations; an area only arranges. An operation on the record that is added to
the catalogue appears here, with its form, its button, its confirmation and its notice, without another line.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode

from mainstay.doors.http import Response
from mainstay.doors.office.address import ListAddress
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, once_more, seen_version, status_of, told, wrong
from mainstay.doors.office.export import Export
from mainstay.doors.pages.asking import Asked, Choices, asked_of, filled, given, ways_to
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.showing import cells, known, labels, state_of
from mainstay.kernel.catalogue import admit
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Invalid, NotFound, Refusal
from mainstay.values.words import words_of

Record = dict[str, Any]

# What a list is narrowed by in other ways than by its filters: tabs, and an order.
_BESIDE = {"status", "order"}
# The field of a list by which one looks for a text.
SEARCH = "text"


@dataclass(frozen=True)
class Arrangement:
    """What an area says of its records beyond their declaration."""

    title: str
    lead: str
    path: str
    # The area of the sidebar, and where the record stands in the settings, if it does.
    area: str
    gets: Operation
    # What a record is called, and what stands below its name.
    called: Callable[[Record], str]
    below: Callable[[Record], str]
    # The columns of the list behind the name, and the facts on the record's page.
    columns: tuple[str, ...]
    facts: tuple[str, ...]
    # None where there is only one.
    lists: Operation | None = None
    creates: Operation | None = None
    create_path: str = "new"
    tabs: Mapping[str, str] = field(default_factory=dict)
    # What the list is asked for where nothing else is.
    order: str | None = None
    # By the field of a form: what can be chosen, where the declaration does not say.
    choices: Mapping[str, Choices] = field(default_factory=dict)
    empty: str = "There is nothing to show."
    frame: str = "shell.html"
    # Where there is no list of its own: the path of the list of what it belongs to.
    under: str = ""
    # Templates with what only this kind of record has: above its list, and below its facts.
    above: str | None = None
    more: str | None = None


@dataclass(frozen=True)
class Room:
    """The pages of one kind of record."""

    desk: Desk
    of: Arrangement
    # What the templates of its own need, for one record or for the list.
    shows: Callable[[Guest, Record | None], Any] | None = None
    # What is given to an operation that no person is asked for; and what is shown once of what it made: a secret.
    adds: Callable[[Guest, Operation], dict[str, object]] | None = None
    reveals: Callable[[Guest, Operation, Record], Record | None] | None = None

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, path = self.desk.signed_in, self.of.path
        one = self._path("{id}")
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
        of, lists = self.of, self._lists()
        choices, at = self._address(guest)
        order = at.chosen.get("order", of.order)
        problem = None
        try:
            page = await self.desk.list(guest, lists, ({"order": order} if order else {}) | at.asked)
        except Invalid as invalid:
            page, problem = _nothing_found(invalid)
        return self.desk.page(
            "index.html",
            guest,
            of=of,
            at=at,
            count=told(page["count"]),
            heads=self._heads(choices, at, order),
            filters=[one for name, one in choices.items() if name not in _BESIDE],
            orders=choices.get("order"),
            order=order,
            rows=[self._row(record, guest.time_zone) for record in page["data"]],
            next=at.next(page["data"][-1]["id"]) if page["hasMore"] else None,
            creates=self._creating(guest),
            searches=SEARCH in lists.input.model_fields,
            problem=problem,
            notice=self.desk.notice(guest),
            **await self._own(guest, None),
        )

    def _row(self, record: Record, zone: str) -> dict[str, Any]:
        of = self.of
        return {
            "record": record,
            "called": of.called(record),
            "below": of.below(record),
            "path": self._path(record["id"]),
            "cells": cells(self._lists().output, of.columns, record, zone),
            "actions": self._actions(record),
        }

    def _heads(self, choices: Mapping[str, Asked], at: ListAddress, order: str | None) -> list[dict[str, Any]]:
        """What stands above the columns; where the list can be ordered by one, with the address of that."""
        orders = dict(choices["order"].choices) if "order" in choices else {}
        columns = {"name": "Name"} | labels(self._lists().output, self.of.columns)
        return [
            {"label": label, "to": at.with_(order=name) if name in orders else None, "leads": name == order}
            for name, label in columns.items()
        ]

    def _address(self, guest: Guest) -> tuple[dict[str, Asked], ListAddress]:
        """What the list can be narrowed to, and what it is narrowed to."""
        choices = {one.name: one for one in asked_of(self._lists(), guest.actor.rights) if one.choices}
        names = frozenset(choices) | ({SEARCH} & self._lists().input.model_fields.keys())
        return choices, ListAddress.read(self.of.path, query_words(guest.request), names)

    async def export(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The whole list as a file, narrowed and ordered like its page."""
        visitors, (_choices, at) = self.desk.visitors, self._address(guest)
        asked = ({"order": self.of.order} if self.of.order else {}) | dict(at.chosen)
        listed = Export(visitors.stage, guest.actor, self._lists(), asked, guest.time_zone, guest.request.id)
        return await visitors.runner.take_long(listed.answer, visitors.passing, self.of.title)

    async def record(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """One record: what it is, and what can be done with it."""
        found = await self._fetch(guest, at)
        handed = self.desk.shown_once.take(guest.request, guest.visitor, found["id"])
        return await self._page(
            guest,
            found,
            revealed=handed.made if handed else None,
            headers=handed.headers if handed else (),
            notice=self.desk.notice(guest),
        )

    async def ask_new(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The form for a new record."""
        creates = self._creates()
        admit(creates, guest.actor)
        return self._form(guest, creates, {})

    async def create(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Make one."""
        creates = self._creates()
        fields = await self._filled_in(guest, creates)
        guest = guest.sending(fields)
        try:
            made = await self._perform(guest, creates, fields, {})
        except Refusal as refusal:
            return self._form(guest, creates, fields, refusal)
        return self._done(guest, creates, made, self._path(made["id"]))

    async def ask(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """What is asked before something is done to a record; where it cannot be undone, what would happen."""
        operation = self._doing(guest, at["verb"])
        admit(operation, guest.actor)
        found = await self._fetch(guest, at)
        asked = self._asked(operation, guest)
        if operation.is_irreversible and not asked:
            return await self._preview(guest, operation, found, {})
        return self._form(guest, operation, filled(asked, found, guest.time_zone), record=found)

    async def do(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Do it; what cannot be undone only once it is confirmed."""
        operation = self._doing(guest, at["verb"])
        fields = await self._filled_in(guest, operation)
        found = await self._fetch(guest, at)
        guest = guest.sending(fields)
        irreversible = operation.is_irreversible
        try:
            if irreversible and fields.get("confirmed") != "yes":
                return await self._preview(guest, operation, found, fields)
            sent: dict[str, object] = {"confirmed": True} if irreversible else {}
            done = await self._perform(guest, operation, fields, sent | self._about(operation, found))
        except Refusal as refusal:
            return self._form(guest, operation, once_more(fields, refusal, found.get("version")), refusal, found)
        return self._done(guest, operation, done, self.of.path if operation.ends else self._path(found["id"]))

    async def _filled_in(self, guest: Guest, operation: Operation) -> dict[str, str]:
        """The fields of its form; a file is received only from those who may hand one in."""
        asked = self._asked(operation, guest)
        if any(one.upload for one in asked):
            admit(operation, guest.actor)
        return await self.desk.form(guest, asked)

    async def _perform(
        self, guest: Guest, operation: Operation, fields: dict[str, str], sent: dict[str, object]
    ) -> Record:
        asked = self._asked(operation, guest)
        answers = given(asked, fields, guest.time_zone) | await self.desk.keep_files(guest, asked)
        added = self.adds(guest, operation) if self.adds else {}
        return await self.desk.perform(guest, operation, answers | sent | added, seen_version(fields))

    async def _preview(self, guest: Guest, operation: Operation, record: Record, fields: dict[str, str]) -> Response:
        answers = given(self._asked(operation, guest), fields, guest.time_zone)
        preview = await self.desk.perform(guest, operation, answers | self._about(operation, record))
        return self.desk.page(
            "confirm.html",
            guest,
            of=self.of,
            operation=operation,
            deed=_label(operation),
            called=self.of.called(record),
            path=self._path(record["id"]),
            version=record.get("version"),
            fields=fields,
            preview=preview,
        )

    async def _page(self, guest: Guest, record: Record, **shown: Any) -> Response:
        of, model = self.of, self.of.gets.output
        shown |= {
            "called": of.called(record),
            "below": of.below(record),
            "state": state_of(model, record["status"]) if model.states else None,
            "facts": known(cells(model, of.facts, record, guest.time_zone, of.choices)),
            "actions": self._actions(record),
            "within": {"path": of.path, "name": of.title} if of.lists else None,
        }
        return self.desk.page("record.html", guest, of=of, record=record, **shown | await self._own(guest, record))

    def _form(
        self,
        guest: Guest,
        operation: Operation,
        fields: Mapping[str, str],
        refusal: Refusal | None = None,
        record: Record | None = None,
    ) -> Response:
        asked, shown = self._asked(operation, guest), wrong(refusal)
        if guest.typed and not refusal:
            fields, shown = guest.typed, {"notice": AS_LEFT}
        return self.desk.page(
            "operation.html",
            guest,
            status_of(refusal),
            of=self.of,
            operation=operation,
            called=self.of.called(record) if record else None,
            submits=_submits(operation),
            path=self._path(record["id"]) if record else self.of.path,
            version=fields.get("version", record.get("version") if record else None),
            asked=asked,
            fields=defaultdict(str, fields),
            ways=ways_to(asked, shown.get("faults", {})),
            **shown,
        )

    def _done(self, guest: Guest, operation: Operation, answer: Record, path: str) -> Response:
        revealed = self.reveals(guest, operation, answer) if self.reveals else None
        handed = [self.desk.shown_once.hand_over(guest.visitor, answer["id"], revealed)] if revealed else []
        return see_other(f"{path}?{urlencode({'done': operation.name})}", handed)

    def _actions(self, record: Record) -> list[dict[str, Any]]:
        """What can be done with a record, each with its address; what needs no answer is one button."""
        actions = []
        for name in record["availableActions"]:
            operation = self.desk.operations[name]
            grave = operation.is_irreversible or operation.grave
            plain = not grave and not _asks(operation)
            actions.append(
                {
                    "label": _label(operation),
                    "path": f"{self._path(record['id'])}/{_verb(operation)}",
                    "plain": plain,
                    "grave": grave,
                }
            )
        return actions

    def _creating(self, guest: Guest) -> dict[str, str] | None:
        creates = self.of.creates
        if creates is None or not guest.may(creates):
            return None
        return {"label": _label(creates), "path": f"{self.of.path}/{self.of.create_path}"}

    def _lists(self) -> Operation:
        if self.of.lists is None:
            raise NotFound("page")
        return self.of.lists

    def _creates(self) -> Operation:
        if self.of.creates is None:
            raise NotFound("page")
        return self.of.creates

    def _doing(self, guest: Guest, verb: str) -> Operation:
        for operation in self.desk.catalogue.on(self.of.gets.output):
            if operation.changes and guest.actor.door in operation.offered and _verb(operation) == verb:
                return operation
        raise NotFound("page")

    def _asked(self, operation: Operation, guest: Guest) -> Sequence[Asked]:
        asked = asked_of(operation, guest.actor.rights)
        return [replace(one, choices=self.of.choices.get(one.name, one.choices)) for one in asked]

    async def _fetch(self, guest: Guest, at: Mapping[str, str]) -> Record:
        return await self.desk.perform(guest, self.of.gets, self._about(self.of.gets, dict(at)))

    async def _own(self, guest: Guest, record: Record | None) -> dict[str, Any]:
        shown: dict[str, Any] = await self.shows(guest, record) if self.shows else {}
        return shown

    def _about(self, operation: Operation, record: Record) -> dict[str, object]:
        field_name = operation.on.id_field if operation.on else None
        return {operation.input.model_fields[field_name].alias or field_name: record["id"]} if field_name else {}

    def _path(self, identity: str) -> str:
        single = self.of.gets.on is not None and self.of.gets.on.id_field is None
        return self.of.path if single else f"{self.of.path}/{quote(identity, safe='{}')}"


def _nothing_found(invalid: Invalid) -> tuple[Record, str]:
    """An empty page for whoever looked for too little, and what to do; whatever else is wrong was not typed."""
    for fault in invalid.faults:
        if fault.field != SEARCH:
            raise invalid
    return {"data": [], "hasMore": False, "count": 0}, f"What you look for {invalid.faults[0].problem}."


def _asks(operation: Operation) -> bool:
    """Whether something is asked for before it is done, beside which record it is."""
    known = {operation.on.id_field if operation.on else None, "confirmed"}
    return bool(operation.input.model_fields.keys() - known)


def _verb(operation: Operation) -> str:
    """What stands in an address for an operation on a record: `remove` for `remove_person`."""
    return _short(operation).replace("_", "-")


def _label(operation: Operation) -> str:
    """What a button says: `Rotate secret` for `rotate_webhook_secret`, `Create webhook` for `create_webhook`."""
    return words_of(_short(operation) if operation.on else operation.name)


def _submits(operation: Operation) -> str:
    """What the button below a form says."""
    if operation.is_irreversible:
        return "Show what would happen"
    return "Save" if _short(operation) == "edit" else _label(operation)


def _short(operation: Operation) -> str:
    record = operation.on.what.split()[-1] if operation.on else ""
    words = [word for word in operation.name.split("_") if word != record]
    return "edit" if words == ["update"] else "_".join(words)

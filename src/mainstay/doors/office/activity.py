"""Settings → Activity: all that happened in the organisation, on a page or as a file."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from mainstay.business.records.activity import NAMED, list_activity
from mainstay.doors.http import Response
from mainstay.doors.office.address import ListAddress
from mainstay.doors.office.beside import act_of
from mainstay.doors.office.desk import Desk, Guest, status_of, wrong
from mainstay.doors.office.export import Export, export
from mainstay.doors.office.references import AsTold, References, title_of
from mainstay.doors.office.table import Column, harmless, minute, rows_of, write_rows
from mainstay.doors.pages.asking import Asked, asked_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.written_here import written_here
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Forbidden, Invalid, NotFound
from mainstay.values.words import words_of

PATH = "/settings/activity"
_TITLE = "Activity"
_CLIENT = "clientId"


def activity(guest: Guest, **narrowed: str) -> str | None:
    """The address of what happened, narrowed to this, for those who may read it."""
    return f"{PATH}?{urlencode(narrowed)}" if guest.may(list_activity) else None


async def acts_of_person(guest: Guest, person: AsTold | None) -> dict[str, Any]:
    """Where all stands that a person did."""
    return {"activity": activity(guest, personId=person["id"])} if person else {}


async def acts_through(guest: Guest, client: AsTold | None) -> dict[str, Any]:
    """Where all stands that was done through a key or a connected app."""
    return {"activity": activity(guest, clientId=client["id"])} if client else {}


@dataclass(frozen=True)
class ActivityPages:
    """The page, and the file of it."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", PATH, enter(self.show)),
            Route("GET", f"{PATH}/export.csv", enter(self.export)),
        ]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What happened, the newest first; what it is narrowed to is in the address."""
        admit(list_activity, guest.actor)
        at, refusal = _address(guest), None
        page: dict[str, Any] = {"data": [], "hasMore": False}
        asked, written = await References(self.desk).narrowing(guest, _asked(guest), at.chosen)
        try:
            page = await self.desk.perform(guest, list_activity, at.asked)
        except Invalid as invalid:
            # What stands nowhere on the page is told on one of its own.
            if not at.chosen.keys() >= {fault.field for fault in invalid.faults}:
                raise
            refusal = invalid
        return self.desk.page(
            "activity.html",
            guest,
            status_of(refusal),
            area="Settings",
            title=_TITLE,
            path=PATH,
            at=at,
            choices=[one for one in asked if one.choices],
            dates=[one for one in asked if one.kind == "date"],
            chips=await self._chips(guest, asked, at, written),
            acts=[self._told(guest, one) for one in page["data"]],
            next=at.next(page["data"][-1]["id"]) if page["hasMore"] else None,
            **wrong(refusal),
        )

    async def export(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """All of it as a file, narrowed like its page."""
        admit(list_activity, guest.actor)
        asked = replace(_address(guest), after=None).asked
        listed = Export.of(self.desk, guest, list_activity, asked)
        return await export(self.desk, guest, listed, _TITLE, partial(self._write, guest))

    def _write(self, guest: Guest, listed: Export, file: IO[bytes]) -> None:
        acts = (self._act(guest, one) for one in listed.records())
        here = ZoneInfo(guest.time_zone)
        columns = [
            Column("When", lambda act: minute(here, act["at"])),
            Column("Who", lambda act: harmless(act["who"])),
            Column("App or key", _through),
            Column("What", lambda act: harmless(act["what"])),
            Column("Records", _records),
        ]
        write_rows(file, rows_of(columns, acts, listed.most))

    def _act(self, guest: Guest, one: AsTold) -> dict[str, Any]:
        """An act in words, as is each record that it names; of what it changed, the fields that its form has."""
        changed = [name for names in (one["changed"] or {}).values() for name in names]
        act = act_of(guest, {**one, "changed": changed}, self.desk.operations.get(one["operation"]))
        called = {record: self._called(guest, record, one["called"]) for record in one["called"]}
        return act | {"called": called, "others": len((one["records"] or ())[NAMED:])}

    def _told(self, guest: Guest, one: AsTold) -> dict[str, Any]:
        """An act in words, with the ways to the first of the records that it touched and that are still there."""
        act = self._act(guest, one)
        ways = [
            {"called": called, "path": path}
            for record, called in act["called"].items()
            if (path := self._way_to(record))
        ]
        return act | {"records": ways}

    def _called(self, guest: Guest, record: str, called: Mapping[str, str]) -> str:
        """What people here call a record; beside one that is called the same, as a job and its visit, also its kind."""
        words = written_here(called[record], guest.here)
        gets = self.desk.catalogue.gets.get(record.partition("_")[0])
        alike = [*called.values()].count(called[record]) > 1
        return f"{words} ({words_of(gets.output.noun).lower()})" if alike and gets else words

    def _way_to(self, record: str) -> str | None:
        with suppress(NotFound):
            return self.desk.place_of(record)
        return None

    async def _client(self, guest: Guest, client: str) -> str:
        """What people call an app or a key."""
        try:
            known = await self.desk.get(guest, client)
        except (NotFound, Forbidden):
            return _GONE
        return str(known.get("clientName") or title_of(known))

    async def _chips(
        self, guest: Guest, asked: Sequence[Asked], at: ListAddress, written: Mapping[str, str]
    ) -> list[dict[str, str]]:
        """What it is narrowed to that is not chosen from a list, with the way back: an app, one of many people."""
        chips = []
        for one in asked:
            if one.name not in at.chosen or one.choices or one.kind == "date":
                continue
            value, called = at.chosen[one.name], written[one.name]
            if one.name == _CLIENT:
                called = await self._client(guest, value)
            chips.append(
                {
                    "name": one.name,
                    "value": value,
                    "label": one.label,
                    "called": called,
                    "to": at.with_(**{one.name: ""}),
                }
            )
        return chips


# What stands for an app or a key that nobody knows.
_GONE = "unknown"


def _asked(guest: Guest) -> list[Asked]:
    return [one for one in asked_of(list_activity, guest.actor.rights) if one.name not in _NOT_NARROWING]


_NOT_NARROWING = {"limit", "startingAfter"}


def _address(guest: Guest) -> ListAddress:
    asked, words = _asked(guest), query_words(guest.request)
    dates = {
        one.name: guest.here.read_date(words[one.name]) for one in asked if one.kind == "date" and one.name in words
    }
    return ListAddress.read(PATH, words | dates, frozenset(one.name for one in asked))


def _records(act: Mapping[str, Any]) -> str:
    more = [f"{act['others']} more"] if act["others"] else []
    return harmless("; ".join([*act["called"].values(), *more]))


def _through(act: Mapping[str, Any]) -> str:
    client = act["by"]["via"]["client"]
    return harmless(client["name"]) if client else ""

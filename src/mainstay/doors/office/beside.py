"""What stands on a record's page beside its facts: records that belong to it, notes, files, and what happened to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mainstay.backing.contents import TAKEN
from mainstay.business.records.documents import add_document, list_documents
from mainstay.business.records.history import get_history
from mainstay.business.records.notes import add_note, list_notes
from mainstay.doors.office.address import ListAddress
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import AsTold, title_of
from mainstay.doors.office.timeline import fields_of, told
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.showing import cells
from mainstay.doors.pages.words import name_of
from mainstay.identity.connections import revoke_connection
from mainstay.identity.keys import revoke_key
from mainstay.kernel.operation import Operation
from mainstay.terms.rights import Right

Listed = Sequence[AsTold]

# Where notes stand on a record's page and are sent, at the end of its address.
NOTES = "notes"
_SHORT = 6
# So much of each kind stands on the record's page, and so much on a page of all of that kind.
_FIRST = {NOTES: 20, "files": 60, "history": 12}
_AT_ONCE = 50


class Related(NamedTuple):
    """A list of records that belong to another one, shown short on its page."""

    title: str
    lists: Operation
    # The filter of that list that names the record, and where the whole list is.
    by: str
    path: str
    columns: tuple[str, ...]
    # What makes one more, which is then told the same.
    creates: Operation | None = None
    create_path: str = ""
    # What is filled in there to begin with, of the record; None where there can be no more now.
    begins: Callable[[AsTold], Mapping[str, str] | None] = lambda _record: {}


def note_left(guest: Guest, record: str) -> Mapping[str, str]:
    """The note beside a record that someone wrote and that was refused, or sent when their sign-in had ended."""
    return guest.typed if guest.typed.get("recordId") == record else {}


def as_note(record: str, fields: Mapping[str, str]) -> dict[str, object]:
    """A note as its form sent it, as an operation takes it."""
    visibility = "office" if "office" in fields else "field"
    return {"recordId": record, "text": fields.get("text", ""), "visibility": visibility}


@dataclass(frozen=True)
class Beside:
    """Gathers it."""

    desk: Desk

    async def shown(
        self, guest: Guest, record: AsTold, related: Sequence[Related], sides: Sequence[str], *, grows: bool
    ) -> dict[str, Any]:
        """All of it, as far as whoever looks may see it; what may grow has the ways to add to it."""
        left = note_left(guest, record["id"])
        found = [await self._related(guest, record, one) for one in related if guest.may(one.lists)]
        return {
            "related": found if grows else [{**one, "new": None} for one in found],
            **await self._first(guest, record, sides),
            # What someone wrote is there to be copied, though they may add it no more.
            "may_note": (grows and guest.may(add_note)) or bool(left),
            "note": {"body": left.get("text", ""), "hidden": "office" in left},
            "may_add": grows and guest.may(add_document),
            "accepts": ",".join(TAKEN),
            "may_hide": guest.actor.may(Right.OFFICE_NOTES_READ),
        }

    async def whole(self, guest: Guest, record: AsTold, side: str, path: str) -> dict[str, Any]:
        """Everything of one kind beside a record, page by page; which page is in the address."""
        at = ListAddress.read(path, query_words(guest.request), frozenset())
        listed = await self._listed(guest, record, side, {**at.asked, "limit": _AT_ONCE})
        return {
            "title": SIDES[side].title,
            "part": f"beside_{side}.html",
            "beside": SIDES[side].shown(self.desk, guest, listed["data"]),
            "any": bool(listed["data"]),
            "at": at,
            "next": at.next(listed["data"][-1]["id"]) if listed["hasMore"] else None,
        }

    async def _first(self, guest: Guest, record: AsTold, sides: Sequence[str]) -> dict[str, Any]:
        """The newest of each kind, and whether there is more of it."""
        found: dict[str, Any] = {}
        for side in sides:
            listed = await self._listed(guest, record, side, {"limit": _FIRST[side]})
            found |= {**SIDES[side].shown(self.desk, guest, listed["data"]), f"more_{side}": listed["hasMore"]}
        return found

    async def _listed(self, guest: Guest, record: AsTold, side: str, asked: Mapping[str, object]) -> dict[str, Any]:
        return await self.desk.perform(guest, SIDES[side].lists, {"recordId": record["id"], **asked})

    async def _related(self, guest: Guest, record: AsTold, one: Related) -> dict[str, Any]:
        page = await self.desk.perform(guest, one.lists, {one.by: record["id"], "limit": _SHORT})
        about = {one.by: record["id"]}
        begins = one.begins(record) if one.creates and guest.may(one.creates) else None
        return {
            "title": one.title,
            "rows": [
                {
                    "called": title_of(row),
                    "path": (one.lists.output.place or "").format(id=row["id"]),
                    "cells": cells(one.lists.output, one.columns, row, guest.here),
                }
                for row in page["data"]
            ],
            "all": f"{one.path}?{urlencode(about)}" if page["hasMore"] else None,
            "new": None if begins is None else f"{one.create_path}?{urlencode({**about, **begins})}",
        }


def _notes(_desk: Desk, _guest: Guest, listed: Listed) -> dict[str, Any]:
    return {"notes": [_marked(note) for note in listed]}


def _files(_desk: Desk, _guest: Guest, listed: Listed) -> dict[str, Any]:
    return {
        "photos": [_marked(one) for one in listed if one["thumbnail"]],
        "files": [_marked(one) for one in listed if not one["thumbnail"]],
    }


def _history(desk: Desk, guest: Guest, listed: Listed) -> dict[str, Any]:
    # Written down in this order, unless it was brought over from elsewhere.
    acts = sorted(listed, key=lambda one: one["at"], reverse=True)
    return {"timeline": [act_of(guest, one, desk.operations.get(one["operation"])) for one in acts]}


def act_of(guest: Guest, one: AsTold, operation: Operation | None) -> dict[str, Any]:
    """An act as it is told, with the fields that are different since."""
    fields = fields_of(operation, one["changed"]) if operation and one["changed"] else ()
    return {
        "at": one["at"],
        "by": one["by"],
        "who": name_of(one["by"]),
        "what": told(one["operation"], one["given"], fields),
        "revoke": _revoke(guest, one["by"]),
    }


def _marked(one: AsTold) -> dict[str, Any]:
    """A note or a file that says whether the office alone sees it."""
    return {**one, "hidden": one["visibility"] == "office"}


def _revoke(guest: Guest, stamp: Mapping[str, Any]) -> str | None:
    """Where the key or app ends that something was done through, for those who may end it."""
    client = stamp["via"]["client"]
    for prefix, operation, path in _REVOKED:
        if client and client["id"].startswith(prefix) and guest.may(operation):
            return f"{path}/{client['id']}/revoke"
    return None


_REVOKED = (
    ("key_", revoke_key, "/settings/developer/keys"),
    ("connection_", revoke_connection, "/settings/developer/mcp"),
)


class Side(NamedTuple):
    """What stands beside a record of one kind: what it is called, what lists it, and it as its template shows it."""

    title: str
    lists: Operation
    shown: Callable[[Desk, Guest, Listed], dict[str, Any]]


# By the end of the address of all of it.
SIDES = {
    NOTES: Side("Notes", list_notes, _notes),
    "files": Side("Photos and files", list_documents, _files),
    "history": Side("What happened", get_history, _history),
}
# Beside what is only set up, or is a file itself, there are no files.
WITHOUT_FILES = (NOTES, "history")

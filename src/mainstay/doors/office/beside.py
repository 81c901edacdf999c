"""What stands on a record's page beside its facts: records that belong to it, notes, files, and what happened to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mainstay.backing.contents import TAKEN
from mainstay.business.records.documents import add_document, list_documents
from mainstay.business.records.history import get_history
from mainstay.business.records.notes import add_note, list_notes
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import title_of
from mainstay.doors.office.timeline import told
from mainstay.doors.pages.showing import cells
from mainstay.doors.pages.words import name_of
from mainstay.identity.connections import revoke_connection
from mainstay.identity.keys import revoke_key
from mainstay.kernel.operation import Operation
from mainstay.terms.rights import Right

Record = Mapping[str, Any]

_SHORT = 6
_TIMELINE = 12
_NOTES = 20
_FILES = 60


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
    begins: Callable[[Record], Mapping[str, str] | None] = lambda _record: {}


def note_left(guest: Guest, record: str) -> Mapping[str, str]:
    """The note beside a record that someone was writing when their sign-in ended, as its form sent it."""
    return guest.typed if guest.typed.get("recordId") == record else {}


@dataclass(frozen=True)
class Beside:
    """Gathers it."""

    desk: Desk

    async def shown(self, guest: Guest, record: Record, related: Sequence[Related]) -> dict[str, Any]:
        """All of it, as far as whoever looks may see it."""
        left = note_left(guest, record["id"])
        return {
            "related": [await self._related(guest, record, one) for one in related if guest.may(one.lists)],
            "notes": await self._notes(guest, record),
            "may_note": guest.may(add_note),
            "note": {"body": left.get("text", ""), "hidden": "office" in left},
            **await self._files(guest, record),
            "may_hide": guest.actor.may(Right.OFFICE_NOTES_READ),
            "timeline": await self._timeline(guest, record),
        }

    async def _notes(self, guest: Guest, record: Record) -> list[dict[str, Any]]:
        page = await self.desk.perform(guest, list_notes, {"recordId": record["id"], "limit": _NOTES})
        return [_marked(note) for note in page["data"]]

    async def _files(self, guest: Guest, record: Record) -> dict[str, Any]:
        page = await self.desk.perform(guest, list_documents, {"recordId": record["id"], "limit": _FILES})
        return {
            "photos": [_marked(one) for one in page["data"] if one["thumbnail"]],
            "files": [_marked(one) for one in page["data"] if not one["thumbnail"]],
            "older_files": page["hasMore"],
            "may_add": guest.may(add_document),
            "accepts": ",".join(TAKEN),
        }

    async def _related(self, guest: Guest, record: Record, one: Related) -> dict[str, Any]:
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

    async def _timeline(self, guest: Guest, record: Record) -> list[dict[str, Any]]:
        if not guest.may(get_history):
            return []
        page = await self.desk.perform(guest, get_history, {"recordId": record["id"], "limit": _TIMELINE})
        return [
            {
                "at": one["at"],
                "by": one["by"],
                "who": name_of(one["by"]),
                "what": told(one["operation"], one["given"]),
                "revoke": _revoke(guest, one["by"]),
            }
            # Written down in this order, unless it was brought over from elsewhere.
            for one in sorted(page["data"], key=lambda one: one["at"], reverse=True)
        ]


def _marked(one: Record) -> dict[str, Any]:
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

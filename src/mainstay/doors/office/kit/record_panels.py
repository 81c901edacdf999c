"""Panels of a record's page: related records, notes, files, history and emails."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mainstay.business.organisation.sent_emails import has_email_failed, list_messages
from mainstay.business.records.attachments import add_document, list_documents
from mainstay.business.records.history import get_history
from mainstay.business.records.model import ActivityOut, HistoryEntryOut
from mainstay.business.records.notes import add_note, list_notes
from mainstay.doors.office.kit.list_address import ListAddress
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.reference_fields import AnyRecord, record_title_of
from mainstay.doors.office.kit.related_lists import ListedKind
from mainstay.doors.office.kit.timeline import changed_field_labels, describe_action
from mainstay.doors.pages.display import format_cells
from mainstay.doors.pages.form_fields import default_values, form_fields_of
from mainstay.doors.pages.formatting import actor_name_of
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.page_language import current_language, translate_label
from mainstay.identity.connections import CONNECTIONS, revoke_connection
from mainstay.identity.keys import KEYS, revoke_key
from mainstay.infrastructure.file_types import ACCEPTED_TYPES
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Stamp
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import RecordPage
from mainstay.vocabulary.typed_records import RecordFields

Entries = Sequence[AnyRecord]

# The key of the notes panel: its anchor on a record's page, and the end of its address.
NOTES_PANEL = "notes"
_RELATED_ROWS = 6
# The number of entries of each panel on the record's page, and on the page of the full panel.
_NEWEST_ENTRIES = {NOTES_PANEL: 20, "files": 60, "history": 12}
_PAGE_SIZE = 50


def restored_note(request: OfficeRequest, record_id: str) -> Mapping[str, str]:
    """Return the fields of a note that was refused, or that was sent after the session had ended."""
    return request.restored_fields if request.restored_fields.get("recordId") == record_id else {}


def to_note_input(record_id: str, fields: Mapping[str, str]) -> dict[str, object]:
    """Convert the form of a note to the input of its operation."""
    visibility = "office" if "office" in fields else "field"
    return {"recordId": record_id, "text": fields.get("text", ""), "visibility": visibility}


@dataclass(frozen=True)
class RecordPanels:
    """Builds the template variables of a record's panels."""

    office: OfficePages

    async def build_panels(
        self,
        request: OfficeRequest,
        record: AnyRecord,
        related_lists: Sequence[ListedKind],
        panels: Sequence[str],
        *,
        accepts_additions: bool,
    ) -> dict[str, Any]:
        """Return the panels that the viewer may see, with their add buttons if `accepts_additions`."""
        note = restored_note(request, record.id)
        built_lists = [
            await self._build_related(request, record, listed)
            for listed in related_lists
            if request.can_perform(listed.list_operation) and RecordFields(record)[listed.shown.record_field]
        ]
        return {
            "related": built_lists if accepts_additions else [{**listed, "new": None} for listed in built_lists],
            **await self._build_newest(request, record, panels),
            # The form is kept if it holds text, so that the person can copy the text even if they may not add it.
            "can_add_note": (accepts_additions and request.can_perform(add_note)) or bool(note),
            "note": {"body": note.get("text", ""), "hidden": "office" in note},
            "can_add_files": accepts_additions and request.can_perform(add_document),
            "accepts": ",".join(ACCEPTED_TYPES),
            "can_hide": request.actor.can(Permission.OFFICE_NOTES_READ),
        }

    async def build_full_panel(
        self, request: OfficeRequest, record: AnyRecord, panel: str, panel_path: str
    ) -> dict[str, Any]:
        """Return one panel in full, page by page. The address says which page."""
        address = ListAddress.parse(panel_path, query_parameters(request.http_request), frozenset())
        entries = await self._list_entries(request, record, panel, {**address.list_input, "limit": _PAGE_SIZE})
        return {
            "title": PANELS[panel].title,
            "part": f"panel_{panel}.html",
            "panels": PANELS[panel].build(self.office, request, entries.data),
            "any": bool(entries.data),
            "at": address,
            "next": address.next(entries.data[-1].id) if entries.has_more else None,
        }

    async def _build_newest(self, request: OfficeRequest, record: AnyRecord, panels: Sequence[str]) -> dict[str, Any]:
        """Return the newest entries of each panel, and whether there are more."""
        # Kinds without a panel have none of its entries.
        variables: dict[str, Any] = {"notes": [], "photos": [], "files": [], "timeline": []}
        for panel in panels:
            entries = await self._list_entries(request, record, panel, {"limit": _NEWEST_ENTRIES[panel]})
            variables |= {
                **PANELS[panel].build(self.office, request, entries.data),
                f"more_{panel}": entries.has_more,
            }
        return variables

    async def _list_entries(
        self, request: OfficeRequest, record: AnyRecord, panel: str, list_input: Mapping[str, object]
    ) -> RecordPage[Any]:
        list_query = {"recordId": record.id, **list_input}
        page: RecordPage[Any] = await self.office.perform(request, PANELS[panel].list_operation, list_query)
        return page

    async def _build_related(self, request: OfficeRequest, record: AnyRecord, listed: ListedKind) -> dict[str, Any]:
        kind, shown, model = listed.kind, listed.shown, listed.list_operation.output
        filters = {shown.filter_field: RecordFields(record)[shown.record_field]}
        page = await self.office.perform(request, listed.list_operation, {**filters, "limit": _RELATED_ROWS})
        can_add = shown.can_add and listed.create_operation and request.can_perform(listed.create_operation)
        prefilled = shown.prefill(record) if can_add else None
        return {
            "title": kind.title,
            "noun": translate_label(model.noun),
            "is_side": shown.is_side,
            "count": f"{len(page.data)}+" if page.has_more else str(len(page.data)),
            "rows": [
                {
                    "title": record_title_of(row),
                    "path": kind.path_of(row.id),
                    "cells": format_cells(model, shown.columns, RecordFields(row), request.display),
                }
                for row in page.data
            ],
            "all": f"{kind.path}?{urlencode(filters)}" if page.has_more else None,
            "new": None if prefilled is None else f"{kind.new_path}?{urlencode({**filters, **prefilled})}",
            "answers": {**_usual_answers(request, listed), **filters, **prefilled}
            if shown.adds_at_once and prefilled is not None
            else None,
            "new_path": kind.new_path,
        }


def _usual_answers(request: OfficeRequest, listed: ListedKind) -> dict[str, str]:
    """Return the default values of the form for a new record of a related list."""
    operation = listed.create_operation
    return default_values(form_fields_of(operation, request.actor.permissions)) if operation else {}


def _build_notes(_office: OfficePages, _request: OfficeRequest, entries: Entries) -> dict[str, Any]:
    return {"notes": [_mark_hidden(note) for note in entries]}


def _build_files(_office: OfficePages, _request: OfficeRequest, entries: Entries) -> dict[str, Any]:
    return {
        "photos": [_mark_hidden(file) for file in entries if file.thumbnail],
        "files": [_mark_hidden(file) for file in entries if not file.thumbnail],
    }


def _build_history(office: OfficePages, request: OfficeRequest, entries: Entries) -> dict[str, Any]:
    # Stored in this order, except for imported entries.
    newest_first = sorted(entries, key=lambda entry: entry.at, reverse=True)
    timeline = [history_entry_of(office, request, entry, entry.changed or ()) for entry in newest_first]
    # Any earlier change of the record is followed by one that would have to be undone first.
    return {"timeline": timeline[:1] + [entry | {"undo": None} for entry in timeline[1:]]}


def history_entry_of(
    office: OfficePages, request: OfficeRequest, entry: HistoryEntryOut | ActivityOut, changed: Sequence[str]
) -> dict[str, Any]:
    """Return the template variables of an audit entry, with the fields that it changed."""
    operation = office.operations.get(entry.operation)
    fields = changed_field_labels(operation, changed) if operation else ()
    return {
        "at": entry.at,
        "by": entry.by,
        "who": actor_name_of(entry.by),
        "what": describe_action(office.catalogue, entry.operation, entry.given, fields),
        "undo": entry.id if entry.undoable else None,
        "revoke": revoke_path_of(request, entry.by),
    }


def is_office_only(entry: AnyRecord) -> bool:
    """Return whether only the office sees a note or a file."""
    return bool(entry.visibility == "office")


def _mark_hidden(entry: AnyRecord) -> dict[str, Any]:
    """Add to a note or a file whether only the office sees it."""
    return {**vars(entry), "hidden": is_office_only(entry)}


def revoke_path_of(request: OfficeRequest, stamp: Stamp) -> str | None:
    """Return the address that revokes the key or app that acted, if the viewer may revoke it."""
    client = stamp.via.client
    for prefix, operation, path in _REVOKE_FORMS:
        if client and client.id.startswith(prefix) and request.can_perform(operation):
            return f"{path}/{client.id}/revoke"
    return None


_REVOKE_FORMS = (
    ("key_", revoke_key, KEYS.path),
    ("connection_", revoke_connection, CONNECTIONS.path),
)


class Panel(NamedTuple):
    """A panel: its title, the operation that lists its entries, and the function that builds its variables."""

    title: str
    list_operation: Operation
    build: Callable[[OfficePages, OfficeRequest, Entries], dict[str, Any]]


# By the end of the address of the full panel.
PANELS = {
    NOTES_PANEL: Panel("Notes", list_notes, _build_notes),
    "files": Panel("Photos and files", list_documents, _build_files),
    "history": Panel("History", get_history, _build_history),
}
# The panels of settings-like records and of files, which have no files.
PANELS_WITHOUT_FILES = (NOTES_PANEL, "history")


# How many emails are shown, and which of their fields.
_MAX_EMAILS = 10
_EMAIL_COLUMNS = ("recipient", "subject", "createdAt", "status")


async def list_emails_about(
    office: OfficePages, request: OfficeRequest, record_id: str, warning: str
) -> dict[str, Any]:
    """Return the last emails about a record if the viewer may see them, and a warning if the very last one failed."""
    if not request.can_perform(list_messages):
        return {"mails": [], "unsent": None}
    emails = (await office.perform(request, list_messages, {"about": record_id, "limit": _MAX_EMAILS})).data
    failed = bool(emails) and has_email_failed(emails[0].status)
    return {
        "mails": [
            {
                "cells": format_cells(list_messages.output, _EMAIL_COLUMNS, RecordFields(email), request.display),
                "text": email.text,
            }
            for email in emails
        ],
        "unsent": current_language().translate(warning).format(problem=emails[0].problem) if failed else None,
    }

"""The diary on a job's page: day by day, with photos that were added together side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from mainstay.business.hours.operations import list_hours
from mainstay.business.jobs.model import JobOut
from mainstay.business.organisation.sent_emails import has_email_failed, list_messages
from mainstay.business.overview.job_diary import list_job_diary
from mainstay.business.overview.model import JobDiaryEntryOut
from mainstay.doors.office.kit.list_address import ListAddress
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_panels import is_office_only, revoke_path_of
from mainstay.doors.office.kit.timeline import changed_field_labels, describe_action
from mainstay.doors.pages.formatting import actor_name_of, format_short_date, initials_of
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.page_language import translate_text
from mainstay.values.choices import to_label
from mainstay.values.moments import local_date, parse_moment

_PAGE_SIZE = 25
# The filters, each with the operation that someone must be able to perform to have anything to see there.
_FILTERS = {"photos": None, "notes": None, "hours": list_hours, "emails": list_messages, "documents": None}
# The kinds of entries that are changes of a record.
_CHANGE_KINDS = frozenset({"job", "visit", "hours", "document"})


@dataclass
class DiaryItem:
    """An entry of the diary as it is shown. Photos that someone added one after another are one item."""

    entry: JobDiaryEntryOut
    who: str
    what: str
    path: str | None
    # The app or key that acted, and whether the entry can be undone from here.
    client: str | None
    revoke: str | None
    undoable: bool
    has_failed: bool
    photos: list[JobDiaryEntryOut] = field(default_factory=list)
    # How often the same was done in a row, such as editing the lines of a quote.
    times: int = 1

    @property
    def is_hidden(self) -> bool:
        """Whether only the office sees it."""
        return is_office_only(self.entry)

    @property
    def initials(self) -> str:
        """The initials of the person, shown in place of a picture."""
        return initials_of(self.who)

    def takes(self, entry: JobDiaryEntryOut) -> bool:
        """Return whether a photo belongs to this item: by the same person, and seen by the same people."""
        first = self.entry
        return (first.kind, first.by, first.visibility) == (entry.kind, entry.by, entry.visibility) and bool(
            self.photos
        )

    def is_repeated_by(self, other: "DiaryItem") -> bool:
        """Return whether another item is the same change of the same record by the same person."""
        mine, theirs = self.entry, other.entry
        return mine.kind in _CHANGE_KINDS and (mine.record_id, mine.by, self.what, mine.text) == (
            theirs.record_id,
            theirs.by,
            other.what,
            theirs.text,
        )


@dataclass(frozen=True)
class JobDiary:
    """Builds the variables of the diary of a job."""

    office: OfficePages

    async def build(self, request: OfficeRequest, job: JobOut, path: str) -> dict[str, Any]:
        """Return one page of the diary by day, with its filters. The address says which."""
        address = ListAddress.parse(path, query_parameters(request.http_request), frozenset({"show"}))
        if address.chosen.get("show") not in _FILTERS:
            address = ListAddress(path, {}, address.starting_after, address.trail)
        query = {"jobId": job.id, "limit": _PAGE_SIZE, **address.list_input}
        page = await self.office.perform(request, list_job_diary, query)
        return {
            "days": self._group_by_day(request, page.data),
            "filters": [
                {
                    "words": "All" if not name else to_label(name),
                    "to": address.with_filters(show=name),
                    "here": name == shown,
                }
                for shown in [address.chosen.get("show", "")]
                for name, operation in {"": None, **_FILTERS}.items()
                if operation is None or request.can_perform(operation)
            ],
            "is_filtered": bool(address.chosen),
            "at": address,
            "next": address.next(page.data[-1].id) if page.has_more else None,
        }

    def _group_by_day(
        self, request: OfficeRequest, entries: Sequence[JobDiaryEntryOut]
    ) -> list[tuple[str, list[DiaryItem]]]:
        today, newest_of = self.office.today(request), set[str]()
        days = groupby(entries, lambda entry: local_date(parse_moment(entry.at), request.time_zone))
        return [(_name_day(day, today), self._make_items(request, of_day, newest_of)) for day, of_day in days]

    def _make_items(
        self, request: OfficeRequest, entries: Iterable[JobDiaryEntryOut], newest_of: set[str]
    ) -> list[DiaryItem]:
        items: list[DiaryItem] = []
        for entry in entries:
            if items and items[-1].takes(entry):
                items[-1].photos.append(entry)
            else:
                item = self._make_item(request, entry, is_newest=entry.record_id not in newest_of)
                if items and items[-1].is_repeated_by(item):
                    items[-1].times += 1
                else:
                    items.append(item)
            newest_of.add(entry.record_id)
        return items

    def _make_item(self, request: OfficeRequest, entry: JobDiaryEntryOut, *, is_newest: bool) -> DiaryItem:
        client = entry.by.via.client if entry.by else None
        return DiaryItem(
            entry,
            who=actor_name_of(entry.by) if entry.by else "",
            what=self._describe(entry),
            path=self.office.path_of(entry.record_id) if entry.called else None,
            client=client.name if client else None,
            revoke=revoke_path_of(request, entry.by) if entry.by else None,
            # Any earlier change of a record is followed by one that would have to be undone first.
            undoable=entry.undoable and is_newest,
            has_failed=bool(entry.email and has_email_failed(entry.email.status)),
            photos=[entry] if entry.kind == "photo" else [],
        )

    def _describe(self, entry: JobDiaryEntryOut) -> str:
        if entry.email:
            return translate_text("Email to {recipient}", recipient=entry.email.recipient)
        operation = self.office.operations.get(entry.operation or "")
        fields = changed_field_labels(operation, entry.changed or ()) if operation else ()
        return describe_action(self.office.catalogue, entry.operation or "", entry.given or {}, fields)


def _name_day(day: date, today: date) -> str:
    """Return the heading of a day: `Today`, `Yesterday`, `Mon 16 Nov`, and with the year if that is another one."""
    if day == today:
        return translate_text("Today")
    if day == today - timedelta(days=1):
        return translate_text("Yesterday")
    return format_short_date(day) if day.year == today.year else f"{format_short_date(day)} {day.year}"

"""What happened since yesterday, on the start page: news with their next steps, and what apps and keys changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.invoices.payments.recording import allocate_payment, record_payment
from mainstay.business.invoices.store import INVOICES
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.overview.model import NewsItem, NextStep
from mainstay.business.overview.news import get_news
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.operations import revise_quote
from mainstay.business.records.activity import DoneBy, list_activity
from mainstay.business.records.model import ActivityOut
from mainstay.business.schedule.operations import plan_visit
from mainstay.business.schedule.store import VISITS
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import build_action
from mainstay.doors.office.kit.timeline import describe_action
from mainstay.doors.office.settings.activity import activity_path
from mainstay.doors.pages.formatting import actor_name_of
from mainstay.doors.pages.page_language import translate_text
from mainstay.kernel.operation import Operation
from mainstay.values.moments import local_date, parse_moment
from mainstay.vocabulary.actor import Named

_MAX_ENTRIES = 12
# At most this many changes of apps and keys are read and put together.
_MAX_CHANGES = 50
# Operations that create a record have a form, which is filled in from the address.
_CREATE_PATHS: Mapping[Operation, str] = {plan_visit: VISITS.new_path, draft_invoice: INVOICES.new_path}
# What the news tell already, if an app or a key did it.
_NEWS_OPERATIONS = frozenset(one.name for one in (record_quote_decision, record_payment, set_visit_status))


def _label_of(operation: Operation) -> str:
    """Return the label of the button of a next step."""
    labels: Mapping[Operation, str] = {
        send_invoice: translate_text("Send deposit"),
        revise_quote: translate_text("Revise quote"),
        allocate_payment: translate_text("Allocate payment"),
        change_job_status: translate_text("Update job status"),
        plan_visit: translate_text("Plan visit"),
        draft_invoice: translate_text("Create invoice"),
    }
    return labels[operation]


class FeedButton(NamedTuple):
    """A button of an entry."""

    label: str
    path: str


@dataclass(slots=True)
class FeedEntry:
    """An entry of the feed: an item of the news, or changes of one kind by an app or a key."""

    at: str
    buttons: list[FeedButton]
    news: NewsItem | None = None
    path: str | None = None
    # The app or key that acted, for whom, and what it did.
    client: Named | None = None
    person: str = ""
    what: str = ""
    count: int = 1
    # The change, if it can be undone.
    change: str | None = None


@dataclass(frozen=True)
class HomeFeed:
    """Reads the feed of the start page."""

    office: OfficePages
    request: OfficeRequest

    async def list_days(self) -> list[tuple[str, list[FeedEntry]]]:
        """Return the newest entries by day, each day with its heading; what may not be seen is left out."""
        today = self.office.today(self.request)
        changes: Sequence[ActivityOut] = ()
        items: Sequence[NewsItem] = ()
        if self.request.can_perform(get_news):
            items = (await self.office.perform(self.request, get_news)).items
        if self.request.can_perform(list_activity):
            query = {"actedBy": DoneBy.AGENT.value, "from": _yesterday_of(today), "limit": _MAX_CHANGES}
            changes = (await self.office.perform(self.request, list_activity, query)).data
        entries = self._build_news(items, changes) + self._build_changes(items, changes, today)
        entries.sort(key=lambda entry: entry.at, reverse=True)
        days: dict[str, list[FeedEntry]] = {}
        for entry in entries[:_MAX_ENTRIES]:
            is_today = local_date(parse_moment(entry.at), self.request.time_zone) >= today
            days.setdefault(translate_text("Today") if is_today else translate_text("Yesterday"), []).append(entry)
        return [*days.items()]

    def _build_news(self, items: Iterable[NewsItem], changes: Sequence[ActivityOut]) -> list[FeedEntry]:
        clients = {
            record: change.by.via.client
            for change in changes
            if change.operation in _NEWS_OPERATIONS
            for record in change.records or ()
        }
        return [
            FeedEntry(
                item.at,
                [button for step in item.next if (button := self._build_button(step))],
                news=item,
                path=self.office.path_of(item.record_id),
                client=clients.get(item.record_id),
            )
            for item in items
        ]

    def _build_button(self, step: NextStep) -> FeedButton | None:
        operation = self.office.operations[step.operation]
        if not self.request.can_perform(operation):
            return None
        if operation in _CREATE_PATHS:
            path = f"{_CREATE_PATHS[operation]}?{urlencode(step.given)}"
        else:
            [record_id] = step.given.values()
            path = build_action(operation, self.office.path_of(record_id)).path
        return FeedButton(_label_of(operation), path)

    def _build_changes(self, items: Iterable[NewsItem], changes: Iterable[ActivityOut], today: date) -> list[FeedEntry]:
        """Put the changes of one kind together that the same app or key made for the same person in a day."""
        told = {item.record_id for item in items}
        entries: dict[tuple[object, ...], FeedEntry] = {}
        for change in changes:
            client = change.by.via.client
            if client is None or (change.operation in _NEWS_OPERATIONS and told & {*(change.records or ())}):
                continue
            what = describe_action(self.office.catalogue, change.operation, change.given)
            person = actor_name_of(change.by)
            day = local_date(parse_moment(change.at), self.request.time_zone)
            entry = entries.get(key := (day, client.id, person, what))
            if entry:
                entry.count += 1
                entry.change = None
                continue
            review = activity_path(self.request, clientId=client.id, **{"from": _yesterday_of(today)})
            entries[key] = FeedEntry(
                change.at,
                [FeedButton("Review", review)] if review else [],
                client=client,
                person=person,
                what=_add_title(what, change),
                change=change.id if change.undoable else None,
            )
        return [*entries.values()]


def _yesterday_of(today: date) -> str:
    return (today - timedelta(days=1)).isoformat()


def _add_title(what: str, change: ActivityOut) -> str:
    """Add the name of the first record to what was done."""
    title = next(iter(change.called.values()), "")
    return f"{what} · {title}" if title else what

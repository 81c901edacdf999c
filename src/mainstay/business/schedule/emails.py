"""Emails people about changes that others made to their visits of the next days, collected into one email.

If a planner moves visits back and forth all morning, people get an email now and then, and none for visits that end up
unchanged.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

import orjson

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.people.emails import THE_OFFICE, Recipient, actor_name, email_person, find_recipients
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.store import VISITS
from mainstay.changes.outbox import OutboxTask
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import Value
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import TaskKind
from mainstay.values.message import CalendarDate, LocalPeriod, Message
from mainstay.values.moments import local_date, moment_text, start_of_day

# Changes are collected for this long. Only changes to visits of today and of this many days ahead are emailed.
COLLECTION_DELAY = timedelta(minutes=10)
_DAYS_AHEAD = 7
# At most this many visits are named in an email, followed by the number of the others.
_MAX_NAMED = 50
_TASK_NAME = "tell_of_schedule"


class KnownVisit(NamedTuple):
    """A visit as its person last knew it."""

    about: str
    starts_at: str | None
    ends_at: str | None
    on: str | None
    time_zone: str

    def is_same_time(self, other: "KnownVisit | None") -> bool:
        """Return whether the other visit is at the same time, even if its title differs."""
        return other is not None and self[1:] == other[1:]

    @property
    def time(self) -> LocalPeriod | Message:
        """When it is."""
        if self.starts_at is None or self.ends_at is None:
            return Message("{day}, all day", day=CalendarDate(self.on or ""))
        return LocalPeriod(self.starts_at, self.ends_at, self.time_zone)


def record_visit_changes(ctx: Context, before: Iterable[Visit | None], after: Sequence[Visit]) -> None:
    """Record changes of people's visits to be emailed later. The preview names the people who will be emailed."""
    previous = {visit.id: visit for visit in before if visit}
    changes = [(previous.get(visit.id), visit) for visit in after]
    window = _find_email_window(ctx)
    changes = [pair for pair in changes if any(visit and window[0] <= visit.begins_at < window[1] for visit in pair)]
    person_ids = {visit.person_id for pair in changes for visit in pair if visit}
    for person in find_recipients(ctx, person_ids) if person_ids else ():
        own_changes = [
            pair for pair in changes if _to_known_visit(person.id, pair[0]) != _to_known_visit(person.id, pair[1])
        ]
        if own_changes:
            ctx.effects.append(Message("{person} gets an email.", person=person.name))
            _store_changes(ctx, person, own_changes)


def tell_of_schedule(ctx: Context, given: Mapping[str, str]) -> None:
    """Email a person how their visits have changed since they last knew."""
    own_changes = "FROM untold_visit WHERE organisation_id = :organisation AND person_id = :person"
    collected = ctx.db.all(
        f"SELECT visit_id, before, changed_by {own_changes} ORDER BY visit_id", person=given["person"]
    )
    ctx.db.run(f"DELETE {own_changes}", person=given["person"])
    visit_rows = select_batched(
        ctx.db, f"{VISITS.select_all} AND visit.id IN {BATCH_VALUES}", [str(visit) for visit, *_ in collected]
    )
    visits = {visit.id: visit for visit in map(VISITS.from_row, visit_rows)}
    for person in find_recipients(ctx, [given["person"]]):
        differences = [
            difference
            for visit, previous, _ in collected
            if (difference := _describe_difference(person.id, previous, visits.get(str(visit))))
        ]
        if not differences:
            continue
        names = sorted({str(by) for _, _, by in collected})
        unnamed = len(differences) - _MAX_NAMED
        paragraphs = (
            Message(
                "{people} changed your schedule.",
                people=[THE_OFFICE if name == THE_OFFICE.template else name for name in names],
            ),
            *differences[:_MAX_NAMED],
            *([Message("And {count} more.", count=unnamed)] if unnamed > 0 else ()),
            Message("See your schedule: {address}", address=f"{ctx.base_url}/schedule"),
        )
        ctx.writer.touch(person.id)
        email_person(ctx, person, _SUBJECT, paragraphs, person.id)


_SUBJECT = Message("Your schedule has changed")
TASK_KINDS = (TaskKind(_TASK_NAME, tell_of_schedule, "Person notified of their visits"),)


def _find_email_window(ctx: Context) -> tuple[str, str]:
    """Return the moments between which changes of visits are emailed."""
    zone = settings_of(ctx).time_zone
    today = local_date(ctx.now, zone)
    last = start_of_day(today + timedelta(days=_DAYS_AHEAD + 1), zone)
    return moment_text(start_of_day(today, zone)), moment_text(last)


def _to_known_visit(person_id: str, visit: Visit | None) -> KnownVisit | None:
    """Return what a person knows of a visit, or None if it is not theirs."""
    if visit is None or visit.person_id != person_id or visit.status == "cancelled":
        return None
    return KnownVisit(visit.display_name, visit.starts_at, visit.ends_at, visit.on, visit.time_zone)


def _store_changes(ctx: Context, person: Recipient, changes: Sequence[tuple[Visit | None, Visit]]) -> None:
    is_waiting = ctx.db.one(
        "SELECT 1 FROM untold_visit WHERE organisation_id = :organisation AND person_id = :person LIMIT 1",
        person=person.id,
    )
    for before, after in changes:
        previous = _to_known_visit(person.id, before)
        ctx.db.run(
            "INSERT INTO untold_visit (organisation_id, person_id, visit_id, before, changed_by)"
            " VALUES (:organisation, :person, :visit, :before, :by)"
            # Keep the version that the person last knew.
            " ON CONFLICT (organisation_id, person_id, visit_id) DO UPDATE SET changed_by = excluded.changed_by",
            person=person.id,
            visit=after.id,
            before=orjson.dumps([*previous]).decode() if previous else None,
            by=str(actor_name(ctx)),
        )
    if not is_waiting:
        about = Message("Email to {address}: {subject}", address=person.email or "", subject=_SUBJECT)
        ctx.add_task(OutboxTask(_TASK_NAME, {"person": person.id}, about, delay=COLLECTION_DELAY))


def _describe_difference(person_id: str, stored: Value, visit: Visit | None) -> Message | None:
    """Return what has changed for a person; None if nothing has, or if they are at the visit already."""
    before = KnownVisit(*orjson.loads(str(stored))) if stored else None
    after = _to_known_visit(person_id, visit)
    if after is None:
        return (
            Message("No longer assigned to you: {visit}\n  {time}", visit=before.about, time=before.time)
            if before
            else None
        )
    if after.is_same_time(before) or (visit and visit.status != "planned"):
        return None
    if before is None:
        return Message("New: {visit}\n  {time}", visit=after.about, time=after.time)
    return Message(
        "Moved: {visit}\n  was {before}\n  now {after}", visit=after.about, before=before.time, after=after.time
    )

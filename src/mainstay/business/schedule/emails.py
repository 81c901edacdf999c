"""Emails people about changes that others made to their visits of the next days, collected into one email.

If a planner moves visits back and forth all morning, people get an email now and then, and none for visits that end up
unchanged.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

import orjson

from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.people.emails import Recipient, actor_name, email_person, find_recipients
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_times import to_local_time
from mainstay.changes.outbox import OutboxTask
from mainstay.documents.locales import Locale
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import Value
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import TaskKind
from mainstay.values.message import Message
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

    def to_text(self, settings: OrganisationSettings) -> str:
        """Return the time as text: `17 November 2026, 12:45 to 16:00`.

        The time zone is added if it differs from the organisation's.
        """
        locale = Locale("en", settings.country)
        if self.starts_at is None or self.ends_at is None:
            return f"any time on {locale.format_day(self.on or '')}"
        begin, end = to_local_time(self.starts_at, self.time_zone), to_local_time(self.ends_at, self.time_zone)
        day, last = (locale.format_day(moment.date().isoformat()) for moment in (begin, end))
        later = "" if day == last else f"{last}, "
        zone = "" if self.time_zone == settings.time_zone else f" ({self.time_zone})"
        return f"{day}, {begin:%H:%M} to {later}{end:%H:%M}{zone}"


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
    visits, settings = {visit.id: visit for visit in map(VISITS.from_row, visit_rows)}, settings_of(ctx)
    for person in find_recipients(ctx, [given["person"]]):
        changes = [(previous, visits.get(str(visit))) for visit, previous, _ in collected]
        lines = [
            line for previous, visit in changes if (line := _describe_difference(settings, person.id, previous, visit))
        ]
        if not lines:
            continue
        names = " and ".join(sorted({str(by) for _, _, by in collected}))
        rest = [f"And {len(lines) - _MAX_NAMED} more."] if len(lines) > _MAX_NAMED else []
        text = _EMAIL_TEXT.format(names=names, lines="\n\n".join(lines[:_MAX_NAMED] + rest), base_url=ctx.base_url)
        ctx.writer.touch(person.id)
        email_person(ctx, person, "Your schedule has changed", text, person.id)


TASK_KINDS = (TaskKind(_TASK_NAME, tell_of_schedule, "Person notified of their visits"),)

_EMAIL_TEXT = """\
{names} changed your schedule.

{lines}

See your schedule: {base_url}/schedule
"""


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
            by=actor_name(ctx),
        )
    if not is_waiting:
        about = f"Email to {person.email}: Your schedule has changed"
        ctx.add_task(OutboxTask(_TASK_NAME, {"person": person.id}, about, delay=COLLECTION_DELAY))


def _describe_difference(
    settings: OrganisationSettings, person_id: str, stored: Value, visit: Visit | None
) -> str | None:
    """Return what has changed for a person as text; None if nothing has, or if they are at the visit already."""
    before = KnownVisit(*orjson.loads(str(stored))) if stored else None
    after = _to_known_visit(person_id, visit)
    if after is None:
        return f"No longer yours: {before.about}\n  {before.to_text(settings)}" if before else None
    if after.is_same_time(before) or (visit and visit.status != "planned"):
        return None
    if before is None:
        return f"New: {after.about}\n  {after.to_text(settings)}"
    return f"Moved: {after.about}\n  was {before.to_text(settings)}\n  now {after.to_text(settings)}"

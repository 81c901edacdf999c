"""Tells people what others have changed of their visits in the next days: in one mail, some minutes later.

A planner who moves visits to and fro all morning causes a mail now and then, and none for what is as it was.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

import orjson

from mainstay.backing.among import THESE, among
from mainstay.backing.database import Value
from mainstay.business.organisation.house import House, house_of
from mainstay.business.people.telling import Told, actor_s_name, tell, to_tell
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import local
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Chore
from mainstay.ledger.outbox import Letter
from mainstay.paper.locales import Locale
from mainstay.values.moments import beginning_of, local_date, moment_text

# Changes are gathered for so long, and told where they are about today or so many days ahead.
GATHERED = timedelta(minutes=10)
_DAYS_AHEAD = 7
# So many visits are named in a mail; of more, the number is told.
_NAMED = 50
_TELL = "tell_of_schedule"


class Seen(NamedTuple):
    """A visit as the one who goes there knows it."""

    about: str
    starts_at: str | None
    ends_at: str | None
    on: str | None
    time_zone: str

    def is_when(self, other: "Seen | None") -> bool:
        """Whether it is at the same time, whatever it is called now."""
        return other is not None and self[1:] == other[1:]

    def words(self, house: House) -> str:
        """When it is, there: `17 November 2026, 12:45 to 16:00`; the place is named where its clocks are others."""
        locale = Locale("en", house.country)
        if self.starts_at is None or self.ends_at is None:
            return f"any time on {locale.day(self.on or '')}"
        begin, end = local(self.starts_at, self.time_zone), local(self.ends_at, self.time_zone)
        day, last = (locale.day(moment.date().isoformat()) for moment in (begin, end))
        later = "" if day == last else f"{last}, "
        zone = "" if self.time_zone == house.time_zone else f" ({self.time_zone})"
        return f"{day}, {begin:%H:%M} to {later}{end:%H:%M}{zone}"


def note(ctx: Context, before: Iterable[Visit | None], after: Sequence[Visit]) -> None:
    """Remember what changes of people's visits, and have them told of it later; a preview says who is told."""
    known = {visit.id: visit for visit in before if visit}
    changes = [(known.get(visit.id), visit) for visit in after]
    soon = _soon(ctx)
    changes = [pair for pair in changes if any(visit and soon[0] <= visit.begins_at < soon[1] for visit in pair)]
    concerned = {visit.person_id for pair in changes for visit in pair if visit}
    for person in to_tell(ctx, concerned) if concerned else ():
        differing = [pair for pair in changes if _theirs(person.id, pair[0]) != _theirs(person.id, pair[1])]
        if differing:
            ctx.effects.append(f"{person.name} is told by mail.")
            _gather(ctx, person, differing)


def tell_of_schedule(ctx: Context, given: Mapping[str, str]) -> None:
    """Write to someone what has become of their visits since they were told last."""
    mine = "FROM untold_visit WHERE organisation_id = :organisation AND person_id = :person"
    gathered = ctx.rows.all(f"SELECT visit_id, before, changed_by {mine} ORDER BY visit_id", person=given["person"])
    ctx.rows.run(f"DELETE {mine}", person=given["person"])
    found = among(ctx.rows, f"{VISITS.everything} AND visit.id IN {THESE}", [str(visit) for visit, *_ in gathered])
    visits, house = {visit.id: visit for visit in map(VISITS.keep, found)}, house_of(ctx)
    for person in to_tell(ctx, [given["person"]]):
        changes = [(kept, visits.get(str(visit))) for visit, kept, _ in gathered]
        lines = [line for kept, visit in changes if (line := _difference(house, person.id, kept, visit))]
        if not lines:
            continue
        names = " and ".join(sorted({str(by) for _, _, by in gathered}))
        more = [f"And {len(lines) - _NAMED} more."] if len(lines) > _NAMED else []
        text = _CHANGED.format(names=names, lines="\n\n".join(lines[:_NAMED] + more), base_url=ctx.base_url)
        ctx.pen.touch(person.id)
        tell(ctx, person, "Your schedule has changed", text, person.id)


CHORES = (Chore(_TELL, tell_of_schedule),)

_CHANGED = """\
{names} changed your schedule.

{lines}

All of it is here: {base_url}/schedule
"""


def _soon(ctx: Context) -> tuple[str, str]:
    """From when until when a change is worth a mail."""
    zone = house_of(ctx).time_zone
    today = local_date(ctx.now, zone)
    last = beginning_of(today + timedelta(days=_DAYS_AHEAD + 1), zone)
    return moment_text(beginning_of(today, zone)), moment_text(last)


def _theirs(person: str, visit: Visit | None) -> Seen | None:
    """What someone knows of a visit, if it is theirs."""
    if visit is None or visit.person_id != person or visit.status == "cancelled":
        return None
    return Seen(visit.called, visit.starts_at, visit.ends_at, visit.on, visit.time_zone)


def _gather(ctx: Context, person: Told, changes: Sequence[tuple[Visit | None, Visit]]) -> None:
    waits = ctx.rows.one(
        "SELECT 1 FROM untold_visit WHERE organisation_id = :organisation AND person_id = :person LIMIT 1",
        person=person.id,
    )
    for before, after in changes:
        known = _theirs(person.id, before)
        ctx.rows.run(
            "INSERT INTO untold_visit (organisation_id, person_id, visit_id, before, changed_by)"
            " VALUES (:organisation, :person, :visit, :before, :by)"
            # What it was when they were told last stays.
            " ON CONFLICT (organisation_id, person_id, visit_id) DO UPDATE SET changed_by = excluded.changed_by",
            person=person.id,
            visit=after.id,
            before=orjson.dumps([*known]).decode() if known else None,
            by=actor_s_name(ctx),
        )
    if not waits:
        about = f"Mail to {person.email}: Your schedule has changed"
        ctx.post(Letter(_TELL, {"person": person.id}, about, wait=GATHERED))


def _difference(house: House, person: str, kept: Value, visit: Visit | None) -> str | None:
    """What is different for someone, in words; None where nothing is, or where they are there already."""
    before = Seen(*orjson.loads(str(kept))) if kept else None
    after = _theirs(person, visit)
    if after is None:
        return f"No longer yours: {before.about}\n  {before.words(house)}" if before else None
    if after.is_when(before) or (visit and visit.status != "planned"):
        return None
    if before is None:
        return f"New: {after.about}\n  {after.words(house)}"
    return f"Moved: {after.about}\n  was {before.words(house)}\n  now {after.words(house)}"

"""Reactions of the schedule to events in other areas."""

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.people.events import PersonLeft
from mainstay.business.people.model import MAX_LISTED, shorten_list
from mainstay.business.schedule.placement import Placement, place_visits
from mainstay.business.schedule.store import VISITS
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import ImmediateReaction, Reaction, ReactionEvent
from mainstay.values.message import CalendarDate, Choice, Message
from mainstay.values.moments import local_date, parse_moment
from mainstay.vocabulary.schemas import StoredRecord

_BATCH_SIZE = 400


def unassign_visits(ctx: Context, event: ReactionEvent) -> None:
    """Remove a person who has left from their planned visits, so that someone else can take them."""
    while True:
        visits = VISITS.find_many(
            ctx, "visit.person_id = :person AND visit.status = 'planned'", _BATCH_SIZE, person=event.record["id"]
        )
        place_visits(ctx, [Placement(visit, {"person_id": None}) for visit in visits])
        if len(visits) < _BATCH_SIZE:
            return


def announce_unassigned_visits(ctx: Context, person: StoredRecord) -> None:
    """Add to the effects that the planned visits of a person who leaves become unassigned."""
    rows = ctx.db.all(_SELECT_PLANNED_VISITS, person=person.id, most=MAX_LISTED)
    if rows:
        visits = [
            Message("{visit} on {date}", visit=str(label), date=_to_local_date(begins_at, str(zone)))
            for label, begins_at, zone, _ in rows
        ]
        count = int(rows[0][-1] or 0)
        message = Message(
            "{person}'s planned visit will be unassigned: {visits}.",
            plural="{person}'s {count} planned visits will be unassigned: {visits}.",
            count=count,
            person=person.display_name,
            visits=shorten_list(visits, count),
        )
        ctx.effects.append(message)


def warn_of_remaining_time_off(ctx: Context, person: StoredRecord) -> None:
    """Warn that time off of a person who leaves stays unless it is cancelled."""
    rows = ctx.db.all(_SELECT_TIME_OFF, person=person.id, most=MAX_LISTED)
    if rows:
        zone = settings_of(ctx).time_zone
        periods = [
            Message(
                "{kind} from {date} ({status})",
                kind=Choice(str(kind)),
                date=_to_local_date(starts_at, zone),
                status=Choice(str(status)),
            )
            for kind, starts_at, status, _ in rows
        ]
        count = int(rows[0][-1] or 0)
        message = Message(
            "{person}'s time off will stay unless you cancel it: {periods}.",
            person=person.display_name,
            periods=shorten_list(periods, count),
        )
        ctx.warnings.append(message)


def _to_local_date(moment: object, zone: str) -> CalendarDate:
    return CalendarDate(local_date(parse_moment(str(moment)), zone).isoformat())


_SELECT_PLANNED_VISITS = (
    "SELECT coalesce(job.number || ' ' || job.title, visit.title, visit.kind), visit.begins_at,"
    " visit.time_zone, count(*) OVER () FROM visit"
    " LEFT JOIN job ON job.organisation_id = :organisation AND job.id = visit.job_id"
    " WHERE visit.organisation_id = :organisation AND visit.person_id = :person AND visit.status = 'planned'"
    " ORDER BY visit.begins_at, visit.id LIMIT :most"
)
_SELECT_TIME_OFF = (
    "SELECT time_off.kind, time_off.starts_at, time_off.status, count(*) OVER () FROM time_off"
    " WHERE time_off.organisation_id = :organisation AND time_off.person_id = :person"
    " AND (time_off.status = 'requested' OR (time_off.status = 'approved' AND time_off.ends_at > :now))"
    " ORDER BY time_off.starts_at, time_off.id LIMIT :most"
)

IMMEDIATE_REACTIONS = (
    ImmediateReaction(PersonLeft, announce_unassigned_visits),
    ImmediateReaction(PersonLeft, warn_of_remaining_time_off),
)
REACTIONS = (Reaction(PersonLeft, unassign_visits, "Visits unassigned from a person who left"),)

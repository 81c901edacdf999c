"""What someone who leaves has still open, as others are told before they let them go.

The areas in which it stands lie above this one, so it is read here and ruled there: visits go by a reaction of the
schedule, and the rest stays as it is until somebody sees to it.
"""

from collections.abc import Sequence

from mainstay.backing.database import Row
from mainstay.business.organisation.house import house_of
from mainstay.business.people.model import Person
from mainstay.kernel.context import Context
from mainstay.values.moments import local_date, parse_moment
from mainstay.values.wall_times import wall_text

# So many of each kind are named in a preview; of more, the number is told.
NAMED = 10


def tell_of_open_work(ctx: Context, person: Person) -> None:
    """Tell of their visits, their time off and the timer that runs."""
    _tell_of_visits(ctx, person)
    _tell_of_timer(ctx, person)
    _tell_of_time_off(ctx, person)


def listed(names: Sequence[str], count: int) -> str:
    """The first of so many, by their names."""
    more = f" and {count - NAMED} more" if count > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _tell_of_visits(ctx: Context, person: Person) -> None:
    found = _first(ctx, person, _VISITS)
    if found:
        named = [f"{what} on {_date(begins_at, str(zone))}" for what, begins_at, zone, _ in found]
        count = _count(found)
        whose = "visit of {} has nobody" if count == 1 else "visits of {} have nobody"
        told = f"{count} planned {whose.format(person.name)} any more, until you name someone else"
        ctx.effects.append(f"{told}: {listed(named, count)}.")


def _tell_of_timer(ctx: Context, person: Person) -> None:
    """Hours that were worked are not lost: the timer runs on, until somebody says when they ended."""
    for (started_at,) in ctx.rows.all(_TIMER, person=person.id):
        text = f"A timer of {person.name} still runs, since {wall_text(str(started_at), house_of(ctx).time_zone)}."
        ctx.warnings.append(f"{text} Stop it, and say when the work ended (stop_timer).")


def _tell_of_time_off(ctx: Context, person: Person) -> None:
    found = _first(ctx, person, _TIME_OFF)
    if found:
        zone = house_of(ctx).time_zone
        named = [f"{kind} from {_date(starts_at, zone)} ({status})" for kind, starts_at, status, _ in found]
        count = _count(found)
        told = f"Time off of {person.name} that is not over stays as it is, unless you cancel it"
        ctx.warnings.append(f"{told}: {listed(named, count)}.")


def _first(ctx: Context, person: Person, sql: str) -> Sequence[Row]:
    """The first of them; each row ends with how many there are."""
    return ctx.rows.all(f"{sql} LIMIT {NAMED}", person=person.id)


def _count(found: Sequence[Row]) -> int:
    return int(found[0][-1] or 0)


def _date(moment: object, zone: str) -> str:
    return local_date(parse_moment(str(moment)), zone).isoformat()


_VISITS = (
    "SELECT coalesce(job.number || ' ' || job.title, visit.title, visit.kind), visit.begins_at, visit.time_zone,"
    " count(*) OVER () FROM visit LEFT JOIN job ON job.organisation_id = :organisation AND job.id = visit.job_id"
    " WHERE visit.organisation_id = :organisation AND visit.person_id = :person AND visit.status = 'planned'"
    " ORDER BY visit.begins_at, visit.id"
)
_TIMER = (
    "SELECT started_at FROM time_entry WHERE organisation_id = :organisation AND person_id = :person"
    " AND status = 'running'"
)
_TIME_OFF = (
    "SELECT kind, starts_at, status, count(*) OVER () FROM time_off"
    " WHERE organisation_id = :organisation AND person_id = :person"
    " AND (status = 'requested' OR (status = 'approved' AND ends_at > :now)) ORDER BY starts_at, id"
)

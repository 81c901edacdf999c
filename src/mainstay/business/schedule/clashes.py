"""What stands in the way of a visit: where else the person is then, and when they are on leave."""

from datetime import timedelta
from typing import NamedTuple

from mainstay.backing.database import Value
from mainstay.business.people.store import PEOPLE
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import told
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Reason
from mainstay.values.moments import moment_text, parse_moment

# So many are named; one is enough to know that it does not go.
_NAMED = 5
_A_DAY = timedelta(hours=24)
_WAY_OUT = (
    "Choose another time or person (find_free_time tells who is free), or allow the overlap and say why"
    " (allowOverlap, overlapReason)."
)


class Wanted(NamedTuple):
    """The time of someone that is to be taken, and by which visit."""

    person_id: str
    starts_at: str
    ends_at: str
    time_zone: str
    visit_id: str | None


def clashes(ctx: Context, wanted: Wanted) -> list[Reason]:
    """Why someone's time cannot be taken: each reason names the person, the other job or the leave, and the times."""
    bound: dict[str, Value] = {"person": wanted.person_id, "starts": wanted.starts_at, "ends": wanted.ends_at}
    # No visit is longer than a day: those that begin earlier cannot reach so far.
    earliest = moment_text(parse_moment(wanted.starts_at) - _A_DAY)
    elsewhere = VISITS.some(ctx, _ELSEWHERE, _NAMED, earliest=earliest, id=wanted.visit_id or "", **bound)
    away = ctx.rows.all(_AWAY, **bound)
    if not (elsewhere or away):
        return []
    person = PEOPLE.find(ctx, "person.id = :id", id=wanted.person_id)
    name = person.name if person else "The person"
    texts = [
        f"{name} is at {other.called} on {told(other.starts_at, other.ends_at, other.on, other.time_zone)}."
        for other in elsewhere
    ]
    texts += [
        f"{name} is on leave ({kind}) on {told(str(starts), str(ends), None, wanted.time_zone)}."
        for kind, starts, ends in away
    ]
    return [Reason(f"{text} {_WAY_OUT}", unblock="find_free_time") for text in texts]


_ELSEWHERE = (
    "visit.person_id = :person AND visit.starts_at IS NOT NULL AND visit.status <> 'cancelled'"
    " AND visit.starts_at < :ends AND visit.starts_at > :earliest AND visit.ends_at > :starts AND visit.id <> :id"
)
_AWAY = (
    "SELECT kind, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation AND person_id = :person"
    f" AND status = 'approved' AND ends_at > :starts AND starts_at < :ends ORDER BY ends_at LIMIT {_NAMED}"
)

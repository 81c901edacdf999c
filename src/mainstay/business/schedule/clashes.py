"""Finds clashes of a visit with the person's other visits and leave."""

from typing import NamedTuple

from mainstay.business.people.store import PEOPLE
from mainstay.business.schedule.store import VISITS
from mainstay.infrastructure.database import Value
from mainstay.kernel.context import Context
from mainstay.values.message import Choice, FieldName, LocalPeriod, Message
from mainstay.values.moments import ONE_DAY, moment_text, parse_moment
from mainstay.vocabulary.refusal import Reason

# At most this many clashes are named. One is enough to refuse the visit.
_MAX_NAMED = 5
_FOR_PROGRAMS = Message(
    "find_free_time shows who is free; a double booking needs {allow} and {reason}.",
    allow=FieldName("allowOverlap"),
    reason=FieldName("overlapReason"),
)


class RequestedTime(NamedTuple):
    """A person's time that a visit is about to take."""

    person_id: str
    starts_at: str
    ends_at: str
    time_zone: str
    visit_id: str | None


def find_clashes(ctx: Context, requested: RequestedTime) -> list[Reason]:
    """Return why a person's time cannot be taken.

    Each reason names the person, the other job or the leave, and the times.
    """
    parameters: dict[str, Value] = {
        "person": requested.person_id,
        "starts": requested.starts_at,
        "ends": requested.ends_at,
    }
    # No visit is longer than a day, so one that begins earlier cannot overlap.
    earliest = moment_text(parse_moment(requested.starts_at) - ONE_DAY)
    other_visits = VISITS.find_many(
        ctx, _OVERLAPPING_VISITS, _MAX_NAMED, earliest=earliest, id=requested.visit_id or "", **parameters
    )
    leave = ctx.db.all(_OVERLAPPING_LEAVE, **parameters)
    if not (other_visits or leave):
        return []
    person = PEOPLE.find(ctx, "person.id = :id", id=requested.person_id)
    name = person.name if person else requested.person_id
    messages = [
        Message(
            "{person} is at {visit} on {time}. Choose another time or person, or allow the double booking and say why.",
            for_programs=_FOR_PROGRAMS,
            person=name,
            visit=other.name_in_messages,
            time=LocalPeriod(other.starts_at or "", other.ends_at or "", other.time_zone),
        )
        for other in other_visits
    ]
    messages += [
        Message(
            "{person} is off ({kind}) on {time}. Choose another time or person, or allow the double booking and say"
            " why.",
            for_programs=_FOR_PROGRAMS,
            person=name,
            kind=Choice(str(kind)),
            time=LocalPeriod(str(starts), str(ends), requested.time_zone),
        )
        for kind, starts, ends in leave
    ]
    return [Reason(message, first="find_free_time") for message in messages]


_OVERLAPPING_VISITS = (
    "visit.person_id = :person AND visit.starts_at IS NOT NULL AND visit.status <> 'cancelled'"
    " AND visit.starts_at < :ends AND visit.starts_at > :earliest AND visit.ends_at > :starts AND visit.id <> :id"
)
_OVERLAPPING_LEAVE = (
    "SELECT kind, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation AND person_id = :person"
    f" AND status = 'approved' AND ends_at > :starts AND starts_at < :ends ORDER BY ends_at LIMIT {_MAX_NAMED}"
)

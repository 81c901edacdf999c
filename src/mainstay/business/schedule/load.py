"""How full people's days are, and what is worth a look though nothing forbids it."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from mainstay.business.organisation.working_hours import WorkingHours, organisation_s
from mainstay.business.people.working_hours import own_hours
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import local, told
from mainstay.kernel.context import Context
from mainstay.values.moments import Period, beginning_of, moment_text, parse_moment

# Less than this between two places is not enough to get there.
TRAVEL = timedelta(minutes=15)
_A_DAY = timedelta(hours=24)
# Nobody has more visits on one day.
_MOST_OF_A_DAY = 200


def loads(ctx: Context, visits: Sequence[Visit]) -> list[str]:
    """How full each day is that these visits are on, for each person."""
    days = {(one.person_name, one.person_id, _day(one), one.time_zone) for one in visits if one.takes_time}
    return [
        f"{name} on {day.isoformat()}: {len(found)} visit{'s' * (len(found) > 1)}, {_hours(found)}."
        for name, person, day, zone in sorted(days, key=str)
        if (found := _of_day(ctx, person, day, zone))
    ]


def warnings(ctx: Context, visits: Sequence[Visit]) -> list[str]:
    """What lies in the past or outside of working hours, or leaves too little time to travel."""
    usual, zone = organisation_s(ctx)
    own = own_hours(ctx)
    found: list[str] = []
    for one in visits:
        if one.status == "cancelled":
            continue
        hours = own.get(one.person_id or "", usual)
        if _is_past(ctx, one):
            found.append(f"{_told(one)} lies in the past.")
        if not _is_worked(one, hours, zone):
            whose = f"{one.person_name}'s" if one.person_name else "your"
            found.append(f"{_told(one)} is outside of {whose} working hours.")
        found += [
            f"{_told(one)} leaves {one.person_name} less than {_minutes(TRAVEL)} to travel {way}."
            for way in (_too_close(ctx, one) if one.takes_time else ())
        ]
    return list(dict.fromkeys(found))


def period_of(visit: Visit) -> Period:
    """The time that a visit takes."""
    return Period(parse_moment(visit.starts_at or ""), parse_moment(visit.ends_at or ""))


def _too_close(ctx: Context, one: Visit) -> Iterator[str]:
    """Where the person comes from or goes to in too little time."""
    period = period_of(one)
    near = VISITS.some(
        ctx,
        "visit.person_id = :person AND visit.starts_at IS NOT NULL AND visit.status <> 'cancelled'"
        " AND visit.starts_at < :ends AND visit.starts_at > :earliest AND visit.ends_at > :starts AND visit.id <> :id",
        _MOST_OF_A_DAY,
        person=one.person_id,
        starts=moment_text(period.starts_at - TRAVEL),
        ends=moment_text(period.ends_at + TRAVEL),
        earliest=moment_text(period.starts_at - _A_DAY - TRAVEL),
        id=one.id,
    )
    for other in near:
        if (other.at_site and other.at_site == one.at_site) or period_of(other).overlaps(period):
            continue
        yield f"{'from' if period_of(other).starts_at < period.starts_at else 'to'} {other.called}"


def _of_day(ctx: Context, person: str | None, day: date, zone: str) -> list[Visit]:
    begin, end = beginning_of(day, zone), beginning_of(day + timedelta(days=1), zone)
    return VISITS.some(
        ctx,
        "visit.person_id = :person AND visit.begins_at >= :begin AND visit.begins_at < :end"
        " AND visit.status <> 'cancelled'",
        _MOST_OF_A_DAY,
        person=person,
        begin=moment_text(begin),
        end=moment_text(end),
    )


def _hours(visits: Sequence[Visit]) -> str:
    return _minutes(
        sum((period_of(one).ends_at - period_of(one).starts_at for one in visits if one.starts_at), timedelta())
    )


def _minutes(span: timedelta) -> str:
    hours, minutes = divmod(span // timedelta(minutes=1), 60)
    return " ".join([f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes or not hours))


def _day(visit: Visit) -> date:
    return local(visit.begins_at, visit.time_zone).date()


def _around(visit: Visit, zone: str) -> list[date]:
    first = local(visit.begins_at, zone).date()
    return [first + timedelta(days=number) for number in (-1, 0, 1)]


def _is_past(ctx: Context, visit: Visit) -> bool:
    if visit.ends_at:
        return visit.ends_at < ctx.at
    return _day(visit) < local(ctx.at, visit.time_zone).date()


def _is_worked(visit: Visit, hours: WorkingHours, zone: str) -> bool:
    """Whether it is within working hours, or on a day that has some."""
    if visit.starts_at is None:
        return bool(hours.on(_day(visit), zone))
    return _is_within(period_of(visit), [span for day in _around(visit, zone) for span in hours.on(day, zone)])


def _is_within(period: Period, spans: Sequence[Period]) -> bool:
    return any(span.starts_at <= period.starts_at and period.ends_at <= span.ends_at for span in spans)


def _told(visit: Visit) -> str:
    return f"{visit.called} on {told(visit.starts_at, visit.ends_at, visit.on, visit.time_zone)}"

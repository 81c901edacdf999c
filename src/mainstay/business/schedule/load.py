"""How full people's days are, and what is worth a look though nothing forbids it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from mainstay.business.organisation.working_hours import WorkingHours, organisation_s
from mainstay.business.people.working_hours import own_hours
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import local, told
from mainstay.kernel.context import Context
from mainstay.values.moments import Period, beginning_of, local_date, moment_text, parse_moment

# Less than this between two places is not enough to get there.
TRAVEL = timedelta(minutes=15)
_A_DAY = timedelta(hours=24)
# A day is at most so long, with the hour by which clocks are set back.
WHOLE_DAYS = timedelta(hours=25)
# What people have planned, by their ids.
Planned = Mapping[str, Sequence[Visit]]


def loads(visits: Sequence[Visit], near: Planned) -> list[str]:
    """How full each day is that these visits are on, for each person."""
    days = {(one.person_name, one.person_id, _day(one), one.time_zone) for one in visits if one.takes_time}
    return [
        f"{name} on {day.isoformat()}: {len(found)} visit{'s' * (len(found) > 1)}, {_hours(found)}."
        for name, person, day, zone in sorted(days, key=str)
        if (found := _of_day(near[person or ""], day, zone))
    ]


def warnings(ctx: Context, visits: Sequence[Visit], near: Planned | None = None) -> list[str]:
    """What lies in the past or outside of working hours, or leaves too little time to travel.

    What is planned near them is looked up, unless it is at hand.
    """
    near = near or planned_near(ctx, visits, TRAVEL)
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
            found.append(f"{_told(one)} is {_unworked(one)}.")
        found += [
            f"{_told(one)} leaves {one.person_name} less than {_minutes(TRAVEL)} to travel {way}."
            for way in (_too_close(near[one.person_id or ""], one) if one.takes_time else ())
        ]
    return list(dict.fromkeys(found))


def planned_near(ctx: Context, visits: Sequence[Visit], around: timedelta) -> Planned:
    """What people have planned within so much time of these visits, with these."""
    spans: dict[str, list[Period]] = {one.person_id or "": [] for one in visits}
    for one in sorted((one for one in visits if one.takes_time), key=lambda one: one.begins_at):
        taken = period_of(one)
        span, of_person = Period(taken.starts_at - around, taken.ends_at + around), spans[one.person_id or ""]
        # What touches is read at once: a week of visits is one span.
        if of_person and span.starts_at <= of_person[-1].ends_at:
            before = of_person.pop()
            span = Period(before.starts_at, max(before.ends_at, span.ends_at))
        of_person.append(span)
    # What reaches from one span into the next is in both, and counts once.
    near = {person: {one.id: one for span in of for one in _within(ctx, person, span)} for person, of in spans.items()}
    return {person: [*found.values()] for person, found in near.items()}


def period_of(visit: Visit) -> Period:
    """The time that a visit takes."""
    return Period(parse_moment(visit.starts_at or ""), parse_moment(visit.ends_at or ""))


def _within(ctx: Context, person: str, span: Period) -> list[Visit]:
    sql = (
        f"{VISITS.everything} AND visit.person_id = :person AND visit.begins_at < :end AND visit.begins_at > :earliest"
        " AND (visit.ends_at > :begin OR visit.begins_at >= :begin) AND visit.status <> 'cancelled'"
        " ORDER BY visit.begins_at, visit.id"
    )
    rows = ctx.rows.all(
        sql,
        person=person,
        begin=moment_text(span.starts_at),
        end=moment_text(span.ends_at),
        # No visit is longer than a day.
        earliest=moment_text(span.starts_at - _A_DAY),
    )
    return [VISITS.keep(row) for row in rows]


def _too_close(near: Sequence[Visit], one: Visit) -> Iterator[str]:
    """Where the person comes from or goes to in too little time."""
    period = period_of(one)
    way = Period(period.starts_at - TRAVEL, period.ends_at + TRAVEL)
    for other in near:
        if other.id == one.id or not other.starts_at or (other.at_site and other.at_site == one.at_site):
            continue
        taken = period_of(other)
        if taken.overlaps(way) and not taken.overlaps(period):
            yield f"{'from' if taken.starts_at < period.starts_at else 'to'} {other.called}"


def _of_day(near: Sequence[Visit], day: date, zone: str) -> list[Visit]:
    begin, end = (moment_text(beginning_of(one, zone)) for one in (day, day + timedelta(days=1)))
    return [one for one in near if begin <= one.begins_at < end]


def _hours(visits: Sequence[Visit]) -> str:
    return _minutes(
        sum((period_of(one).ends_at - period_of(one).starts_at for one in visits if one.starts_at), timedelta())
    )


def _minutes(span: timedelta) -> str:
    hours, minutes = divmod(span // timedelta(minutes=1), 60)
    return " ".join([f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes or not hours))


def _day(visit: Visit) -> date:
    return local(visit.begins_at, visit.time_zone).date()


def _is_past(ctx: Context, visit: Visit) -> bool:
    if visit.ends_at:
        return visit.ends_at < ctx.at
    return _day(visit) < local(ctx.at, visit.time_zone).date()


def _is_worked(visit: Visit, hours: WorkingHours, zone: str) -> bool:
    """Whether it is within working hours, or on a day that has some."""
    if visit.starts_at is None:
        return bool(hours.on(_day(visit), zone))
    period = period_of(visit)
    first, last = local_date(period.starts_at, zone), local_date(period.ends_at, zone)
    return any(
        worked.starts_at <= period.starts_at and period.ends_at <= worked.ends_at
        for worked in hours.between(first, last, zone)
    )


def _unworked(visit: Visit) -> str:
    """What is said of a visit that is not within working hours; one at any time has no hours to be within."""
    if visit.starts_at is None:
        nobody = f"{visit.person_name} does" if visit.person_name else "you do"
        return f"on a day on which {nobody} not work"
    whose = f"{visit.person_name}'s" if visit.person_name else "your"
    return f"outside of {whose} working hours"


def _told(visit: Visit) -> str:
    when = told(visit.starts_at, visit.ends_at, visit.on, visit.time_zone) if visit.starts_at else visit.on
    return f"{visit.called} on {when}"

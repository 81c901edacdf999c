"""How full people's days are, and warnings about visits that are allowed but unusual."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from mainstay.business.organisation.working_hours import WorkingHours, default_working_hours
from mainstay.business.people.working_hours import find_own_hours
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_times import to_local_time
from mainstay.kernel.context import Context
from mainstay.values.message import CalendarDate, Duration, LocalPeriod, Message
from mainstay.values.moments import ONE_DAY, Period, local_date, moment_text, parse_moment, start_of_day

# Less time than this between two sites is not enough to get there.
TRAVEL_TIME = timedelta(minutes=15)
# The longest day, which has an extra hour because clocks are set back.
LONGEST_DAY = timedelta(hours=25)
# The visits of people, by person id.
VisitsByPerson = Mapping[str, Sequence[Visit]]


def describe_loads(visits: Sequence[Visit], nearby: VisitsByPerson) -> list[Message]:
    """Describe how full each day of these visits is, for each person."""
    days = {
        (visit.person_name, visit.person_id, _local_day_of(visit), visit.time_zone)
        for visit in visits
        if visit.takes_time
    }
    return [
        Message(
            "{person} on {date}: {count} visit ({total} h).",
            plural="{person} on {date}: {count} visits ({total} h).",
            person=name or "",
            date=CalendarDate(day.isoformat()),
            count=len(day_visits),
            total=Duration(sum(period_of(visit).minutes for visit in day_visits if visit.starts_at)),
        )
        for name, person, day, zone in sorted(days, key=str)
        if (day_visits := _select_day(nearby[person or ""], day, zone))
    ]


def find_warnings(ctx: Context, visits: Sequence[Visit], nearby: VisitsByPerson | None = None) -> list[Message]:
    """Return warnings about visits in the past, outside working hours, or with too little time to travel.

    The visits near them are looked up unless they are passed.
    """
    nearby = nearby or find_nearby_visits(ctx, visits, TRAVEL_TIME)
    default_hours, zone = default_working_hours(ctx)
    own_hours_by_person = find_own_hours(ctx)
    warnings: list[Message] = []
    for visit in visits:
        if visit.status == "cancelled":
            continue
        hours = own_hours_by_person.get(visit.person_id or "", default_hours)
        if _is_past(ctx, visit):
            warnings.append(
                Message("{visit} on {time} is in the past.", visit=visit.name_in_messages, time=_time_of(visit))
            )
        if not _is_in_working_hours(visit, hours, zone):
            warnings.append(_make_off_hours_warning(visit))
        if visit.takes_time:
            warnings += _find_travel_warnings(nearby[visit.person_id or ""], visit)
    return list(dict.fromkeys(warnings))


def find_nearby_visits(ctx: Context, visits: Sequence[Visit], margin: timedelta) -> VisitsByPerson:
    """Return people's visits within this time of the given ones, including those."""
    spans: dict[str, list[Period]] = {visit.person_id or "": [] for visit in visits}
    for visit in sorted((visit for visit in visits if visit.takes_time), key=lambda visit: visit.begins_at):
        period = period_of(visit)
        span, person_spans = Period(period.starts_at - margin, period.ends_at + margin), spans[visit.person_id or ""]
        # Adjoining periods are read at once: a week of visits is one query.
        if person_spans and span.starts_at <= person_spans[-1].ends_at:
            previous = person_spans.pop()
            span = Period(previous.starts_at, max(previous.ends_at, span.ends_at))
        person_spans.append(span)
    # A visit that reaches from one period into the next is found twice, and counted once.
    nearby = {
        person: {visit.id: visit for span in periods for visit in _read_visits(ctx, person, span)}
        for person, periods in spans.items()
    }
    return {person: [*visits_by_id.values()] for person, visits_by_id in nearby.items()}


def period_of(visit: Visit) -> Period:
    """Return the period that a visit takes."""
    return Period(parse_moment(visit.starts_at or ""), parse_moment(visit.ends_at or ""))


def _read_visits(ctx: Context, person_id: str, span: Period) -> list[Visit]:
    sql = (
        f"{VISITS.select_all} AND visit.person_id = :person AND visit.begins_at < :end AND visit.begins_at > :earliest"
        " AND (visit.ends_at > :begin OR visit.begins_at >= :begin) AND visit.status <> 'cancelled'"
        " ORDER BY visit.begins_at, visit.id"
    )
    rows = ctx.db.all(
        sql,
        person=person_id,
        begin=moment_text(span.starts_at),
        end=moment_text(span.ends_at),
        # No visit is longer than a day.
        earliest=moment_text(span.starts_at - ONE_DAY),
    )
    return [VISITS.from_row(row) for row in rows]


def _find_travel_warnings(nearby: Sequence[Visit], visit: Visit) -> Iterator[Message]:
    """Yield warnings about visits before and after that leave too little time to travel."""
    period = period_of(visit)
    with_travel = Period(period.starts_at - TRAVEL_TIME, period.ends_at + TRAVEL_TIME)
    for other in nearby:
        if other.id == visit.id or not other.starts_at or (other.at_site and other.at_site == visit.at_site):
            continue
        other_period = period_of(other)
        if other_period.overlaps(with_travel) and not other_period.overlaps(period):
            yield _make_travel_warning(visit, other, is_before=other_period.starts_at < period.starts_at)


def _make_travel_warning(visit: Visit, other: Visit, *, is_before: bool) -> Message:
    name, time, person = visit.name_in_messages, _time_of(visit), visit.person_name or ""
    minutes = TRAVEL_TIME // timedelta(minutes=1)
    if is_before:
        return Message(
            "{visit} on {time} leaves {person} less than {minutes} minutes to travel from {other}.",
            visit=name,
            time=time,
            person=person,
            minutes=minutes,
            other=other.name_in_messages,
        )
    return Message(
        "{visit} on {time} leaves {person} less than {minutes} minutes to travel to {other}.",
        visit=name,
        time=time,
        person=person,
        minutes=minutes,
        other=other.name_in_messages,
    )


def _select_day(nearby: Sequence[Visit], day: date, zone: str) -> list[Visit]:
    begin, end = (moment_text(start_of_day(first, zone)) for first in (day, day + ONE_DAY))
    return [one for one in nearby if begin <= one.begins_at < end]


def _local_day_of(visit: Visit) -> date:
    return to_local_time(visit.begins_at, visit.time_zone).date()


def _is_past(ctx: Context, visit: Visit) -> bool:
    if visit.ends_at:
        return visit.ends_at < ctx.now_text
    return _local_day_of(visit) < to_local_time(ctx.now_text, visit.time_zone).date()


def _is_in_working_hours(visit: Visit, hours: WorkingHours, zone: str) -> bool:
    """Return whether a visit is within working hours. A visit without times needs a day that has some."""
    if visit.starts_at is None:
        return bool(hours.periods_on(_local_day_of(visit), zone))
    period = period_of(visit)
    first, last = local_date(period.starts_at, zone), local_date(period.ends_at, zone)
    return any(
        working_period.starts_at <= period.starts_at and period.ends_at <= working_period.ends_at
        for working_period in hours.periods_between(first, last, zone)
    )


def _make_off_hours_warning(visit: Visit) -> Message:
    """Return a warning that a visit is outside working hours. A visit without times is on a day without any."""
    name, time, person = visit.name_in_messages, _time_of(visit), visit.person_name
    if visit.starts_at is None:
        if person is None:
            return Message("{visit} on {date} is not on a working day.", visit=name, date=time)
        return Message(
            "{visit} on {date} is on a day when {person} does not work.", visit=name, date=time, person=person
        )
    if person is None:
        return Message("{visit} on {time} is outside your working hours.", visit=name, time=time)
    return Message("{visit} on {time} is outside {person}'s working hours.", visit=name, time=time, person=person)


def _time_of(visit: Visit) -> CalendarDate | LocalPeriod:
    if visit.starts_at is None or visit.ends_at is None:
        return CalendarDate(visit.on or "")
    return LocalPeriod(visit.starts_at, visit.ends_at, visit.time_zone)

"""The schedule board: everyone's visits, leave and working hours on some days."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import NamedTuple

from pydantic import BaseModel, Field
from pydantic.config import JsonDict

from mainstay.business.organisation.working_hours import WorkingHours, default_working_hours
from mainstay.business.people.working_hours import find_own_hours
from mainstay.business.schedule.model import LeaveKind, Visit, VisitKind, VisitStatus
from mainstay.business.schedule.operations import move_visit
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_times import bounds_of_days
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.kernel.catalogue import is_permitted
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Day
from mainstay.values.message import Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.moments import ONE_DAY, local_date, moment_text, parse_moment
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import column_names
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, LastDay, Output

_MAX_DAYS = 14
_MAX_PEOPLE = 200
_MAX_VISITS = 2000
_MOMENT: JsonDict = {"format": "date-time"}


class DateRange(NamedTuple):
    """Some dates, their time zone, and the moments at which they begin and end."""

    dates: list[date]
    zone: str
    begin: str
    end: str


class _BoardPart(BaseModel):
    model_config = OUTPUT_CONFIG


class TimeSpan(_BoardPart):
    """A period of time."""

    starts_at: str = Field(json_schema_extra=_MOMENT)
    ends_at: str = Field(json_schema_extra=_MOMENT)


class BoardLeave(TimeSpan):
    """A period of leave."""

    kind: LeaveKind
    status: str


class BoardVisit(_BoardPart):
    """A visit as the board shows it; details of a colleague's visit that you may not see are null."""

    id: str
    version: int
    kind: VisitKind
    status: VisitStatus
    person_id: str | None
    starts_at: str | None = Field(json_schema_extra=_MOMENT)
    ends_at: str | None = Field(json_schema_extra=_MOMENT)
    on: str | None = Field(json_schema_extra={"format": "date"})
    time_zone: str
    job_number: str | None
    job_title: str | None
    title: str | None
    customer_name: str | None
    site_name: str | None
    allow_overlap: bool
    movable: bool = Field(description="Whether you can move it now.")


class NamedPerson(_BoardPart):
    """A person, with the colour of their visits."""

    id: str
    name: str
    colour: str | None


class BoardPerson(NamedPerson):
    """A person of the board: when they work, and when they are away."""

    works: list[TimeSpan]
    away: list[BoardLeave]


class ScheduleOut(Output):
    """Some days of the schedule."""

    noun = "schedule"

    from_: str = Field(alias="from", json_schema_extra={"format": "date"})
    until: str = Field(json_schema_extra={"format": "date"})
    time_zone: str
    people: list[BoardPerson]
    visits: list[BoardVisit]
    more: bool = Field(description="Whether there are more visits than are shown.")


class GetSchedule(Input):
    """Which days."""

    from_: Day | None = Field(None, alias="from", description="The first date. Default: today.")
    until: LastDay | None = Field(None, description="The last date, at most 14 days later. Default: the first date.")


@operation(permission=Permission.SCHEDULE_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}))
def get_schedule(ctx: Context, given: GetSchedule) -> ScheduleOut:
    """Show schedule.

    The visits, time off and working hours that you may see.
    """
    default_hours, zone = default_working_hours(ctx)
    first = given.from_ or local_date(ctx.now, zone).isoformat()
    last = given.until or first
    begin, end = bounds_of_days(first, last, zone)
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    if days > _MAX_DAYS:
        raise Invalid([Fault("until", Message("is more than {days} days after the first date", days=_MAX_DAYS))])
    dates = [date.fromisoformat(first) + timedelta(days=number) for number in range(days)]
    visits = VISITS.find_for_board(
        ctx,
        "visit.begins_at < :end AND visit.begins_at > :earliest AND (visit.begins_at >= :begin"
        " OR visit.ends_at > :begin) AND visit.status <> 'cancelled'",
        _MAX_VISITS,
        begin=begin,
        end=end,
        earliest=moment_text(parse_moment(begin) - ONE_DAY),
    )
    can_move = is_permitted(move_visit, ctx.actor)
    return ScheduleOut(
        object=ScheduleOut.noun,
        from_=first,
        until=last,
        time_zone=zone,
        people=_list_people(ctx, default_hours, DateRange(dates, zone, begin, end), visits),
        visits=[build_board_visit(visit, movable=can_move and not visit.not_movable(ctx.actor)) for visit in visits],
        more=len(visits) == _MAX_VISITS,
    )


OPERATIONS = (get_schedule,)

_COLUMNS = column_names(Visit.output)
_COLUMN_POSITIONS = {name: _COLUMNS.index(name) for name in BoardVisit.model_fields if name in _COLUMNS}


def build_board_visit(visit: Visit, *, movable: bool) -> BoardVisit:
    """Return a visit as the board shows it."""
    return BoardVisit.model_validate(
        {name: visit.row[position] for name, position in _COLUMN_POSITIONS.items()} | {"movable": movable}
    )


def _list_people(ctx: Context, default_hours: WorkingHours, days: DateRange, visits: list[Visit]) -> list[BoardPerson]:
    """Return the people of the board, with their working hours and their time off."""
    own_hours_by_person, leave, default_periods = (
        find_own_hours(ctx),
        find_leave(ctx, days),
        _list_working_periods(default_hours, days),
    )
    return [
        BoardPerson(
            id=person.id,
            name=person.name,
            colour=person.colour,
            works=_list_working_periods(own_hours_by_person[person.id], days)
            if person.id in own_hours_by_person
            else default_periods,
            away=leave.get(person.id, []),
        )
        for person in find_people(ctx, {visit.person_id for visit in visits if visit.person_id})
    ]


def find_people(ctx: Context, planned: Iterable[str]) -> list[NamedPerson]:
    """Return all active people, followed by others who have visits then, for example people who have left."""
    condition = "" if ctx.actor.can(Permission.ALL_SCHEDULE_READ) else " AND id = :me"
    rows = ctx.db.all(f"{_SELECT_PEOPLE} AND status = 'active'{condition} ORDER BY name_folded, id LIMIT {_MAX_PEOPLE}")
    others = select_batched(
        ctx.db, f"{_SELECT_PEOPLE} AND id IN {BATCH_VALUES}", {*planned} - {str(row[0]) for row in rows}
    )
    return [
        NamedPerson(id=str(person_id), name=str(name), colour=str(colour) if colour else None)
        for person_id, name, colour in (*rows, *sorted(others, key=lambda row: str(row[1])))
    ]


_SELECT_PEOPLE = "SELECT id, name, colour FROM person WHERE organisation_id = :organisation"


def _list_working_periods(hours: WorkingHours, days: DateRange) -> list[TimeSpan]:
    periods = hours.periods_between(days.dates[0], days.dates[-1], days.zone)
    return [
        TimeSpan(starts_at=moment_text(period.starts_at), ends_at=moment_text(period.ends_at)) for period in periods
    ]


def find_leave(ctx: Context, days: DateRange) -> dict[str, list[BoardLeave]]:
    """Return the leave of people by their ids. People who may not see everyone's leave get only their own."""
    condition = "" if ctx.actor.can(Permission.ALL_LEAVE_READ) else " AND person_id = :me"
    rows = ctx.db.all(
        "SELECT person_id, kind, status, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation"
        f" AND status IN ('requested', 'approved') AND starts_at < :end AND starts_at > :earliest AND ends_at > :begin"
        f"{condition} ORDER BY starts_at LIMIT {_MAX_VISITS}",
        begin=days.begin,
        end=days.end,
        earliest=moment_text(parse_moment(days.begin) - timedelta(days=367)),
    )
    leave_by_person: dict[str, list[BoardLeave]] = {}
    for person, kind, status, starts, ends in rows:
        values = {"kind": kind, "status": status, "starts_at": starts, "ends_at": ends}
        leave_by_person.setdefault(str(person), []).append(BoardLeave.model_validate(values))
    return leave_by_person

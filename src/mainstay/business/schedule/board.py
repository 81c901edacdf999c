"""Some days of the schedule at a glance: everyone's visits, leave and working hours."""

from datetime import date, timedelta
from typing import NamedTuple

from pydantic import BaseModel, Field
from pydantic.config import JsonDict

from mainstay.backing.among import THESE, among
from mainstay.business.organisation.working_hours import WorkingHours, organisation_s
from mainstay.business.people.working_hours import own_hours
from mainstay.business.schedule.model import LeaveKind, Visit, VisitKind, VisitStatus
from mainstay.business.schedule.operations import move_visit
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import bounds
from mainstay.kernel.catalogue import is_admitted
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, LastDay, Shown
from mainstay.terms.wire import column_names
from mainstay.values.fields import Day
from mainstay.values.models import TOLD
from mainstay.values.moments import local_date, moment_text, parse_moment

_MOST_DAYS = 14
_MOST_PEOPLE = 200
_MOST_VISITS = 2000
_A_DAY = timedelta(hours=24)
_MOMENT: JsonDict = {"format": "date-time"}


class _Range(NamedTuple):
    """The days that are asked for: their dates, where, and the moments around them."""

    dates: list[date]
    zone: str
    begin: str
    end: str


class _Part(BaseModel):
    model_config = TOLD


class Taken(_Part):
    """A stretch of time."""

    starts_at: str = Field(json_schema_extra=_MOMENT)
    ends_at: str = Field(json_schema_extra=_MOMENT)


class Away(Taken):
    """A stretch of leave."""

    kind: LeaveKind
    status: str


class OnBoard(_Part):
    """A visit as the board shows it; what one may not see of a colleague's is null."""

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
    movable: bool = Field(description="Whether whoever asks can move it now.")


class OnDuty(_Part):
    """A person of the board: when they work, and when they are away."""

    id: str
    name: str
    colour: str | None
    works: list[Taken]
    away: list[Away]


class ScheduleOut(Shown):
    """Some days of the schedule."""

    noun = "schedule"

    from_: str = Field(alias="from", json_schema_extra={"format": "date"})
    until: str = Field(json_schema_extra={"format": "date"})
    time_zone: str
    people: list[OnDuty]
    visits: list[OnBoard]
    more: bool = Field(description="Whether there are more visits than are shown.")


class GetSchedule(Input):
    """Which days."""

    from_: Day | None = Field(None, alias="from", description="The first date. Without it, today.")
    until: LastDay | None = Field(None, description="The last one, at most 14 days on. Without it, the first.")


@operation(right=Right.SCHEDULE_READ, effect=Effect.READ, offered=frozenset({Door.OFFICE}))
def get_schedule(ctx: Context, given: GetSchedule) -> ScheduleOut:
    """Get some days of the schedule.

    Everyone's visits, leave and working hours, as far as one may see them.
    """
    usual, zone = organisation_s(ctx)
    first = given.from_ or local_date(ctx.now, zone).isoformat()
    last = given.until or first
    begin, end = bounds(first, last, zone)
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    if days > _MOST_DAYS:
        raise Invalid([Fault("until", f"is more than {_MOST_DAYS} days after the first date")])
    dates = [date.fromisoformat(first) + timedelta(days=number) for number in range(days)]
    visits = VISITS.glimpsed(
        ctx,
        "visit.begins_at < :end AND visit.begins_at > :earliest AND (visit.begins_at >= :begin"
        " OR visit.ends_at > :begin) AND visit.status <> 'cancelled'",
        _MOST_VISITS,
        begin=begin,
        end=end,
        earliest=moment_text(parse_moment(begin) - _A_DAY),
    )
    moves = is_admitted(move_visit, ctx.actor)
    return ScheduleOut(
        object=ScheduleOut.noun,
        from_=first,
        until=last,
        time_zone=zone,
        people=_people(ctx, usual, _Range(dates, zone, begin, end), visits),
        visits=[_on_board(visit, movable=moves and not visit.not_movable(ctx.actor)) for visit in visits],
        more=len(visits) == _MOST_VISITS,
    )


OPERATIONS = (get_schedule,)

_COLUMNS = column_names(Visit.shown)
_AT = {name: _COLUMNS.index(name) for name in OnBoard.model_fields if name in _COLUMNS}


def _on_board(visit: Visit, *, movable: bool) -> OnBoard:
    return OnBoard.model_validate({name: visit.row[place] for name, place in _AT.items()} | {"movable": movable})


def _people(ctx: Context, usual: WorkingHours, days: _Range, visits: list[Visit]) -> list[OnDuty]:
    """Everyone who is here, and behind them whoever else has something planned: they have left, for example."""
    mine = "" if ctx.actor.may(Right.ALL_SCHEDULE_READ) else " AND id = :me"
    rows = ctx.rows.all(f"{_PERSON} AND status = 'active'{mine} ORDER BY name_folded, id LIMIT {_MOST_PEOPLE}")
    planned = {visit.person_id for visit in visits if visit.person_id} - {str(row[0]) for row in rows}
    others = among(ctx.rows, f"{_PERSON} AND id IN {THESE}", planned)
    own, away, usually = own_hours(ctx), _away(ctx, days), _works(usual, days)
    return [
        OnDuty(
            id=str(identity),
            name=str(name),
            colour=str(colour) if colour else None,
            works=_works(own[str(identity)], days) if str(identity) in own else usually,
            away=away.get(str(identity), []),
        )
        for identity, name, colour in (*rows, *sorted(others, key=lambda row: str(row[1])))
    ]


_PERSON = "SELECT id, name, colour FROM person WHERE organisation_id = :organisation"


def _works(hours: WorkingHours, days: _Range) -> list[Taken]:
    periods = hours.between(days.dates[0], days.dates[-1], days.zone)
    return [Taken(starts_at=moment_text(one.starts_at), ends_at=moment_text(one.ends_at)) for one in periods]


def _away(ctx: Context, days: _Range) -> dict[str, list[Away]]:
    """When people are away, by their ids; of others only those are told who see everyone's."""
    mine = "" if ctx.actor.may(Right.ALL_LEAVE_READ) else " AND person_id = :me"
    rows = ctx.rows.all(
        "SELECT person_id, kind, status, starts_at, ends_at FROM time_off WHERE organisation_id = :organisation"
        f" AND status IN ('requested', 'approved') AND starts_at < :end AND starts_at > :earliest AND ends_at > :begin"
        f"{mine} ORDER BY starts_at LIMIT {_MOST_VISITS}",
        begin=days.begin,
        end=days.end,
        earliest=moment_text(parse_moment(days.begin) - timedelta(days=367)),
    )
    found: dict[str, list[Away]] = {}
    for person, kind, status, starts, ends in rows:
        one = {"kind": kind, "status": status, "starts_at": starts, "ends_at": ends}
        found.setdefault(str(person), []).append(Away.model_validate(one))
    return found

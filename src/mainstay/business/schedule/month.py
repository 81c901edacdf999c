"""A month of the schedule: how many visits there are each day, the first of them, and who is off."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date, timedelta

from pydantic import BaseModel, Field

from mainstay.business.organisation.working_hours import default_working_hours
from mainstay.business.schedule.board import (
    BoardLeave,
    BoardVisit,
    DateRange,
    NamedPerson,
    build_board_visit,
    find_leave,
    find_people,
)
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_times import bounds_of_days
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Day
from mainstay.values.message import Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.moments import ONE_DAY, moment_text, start_of_day
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, LastDay, Output

_MAX_DAYS = 42
_MAX_VISITS = 10_000
# So many visits are shown of each day.
FIRST_VISITS = 4


class LeaveOfDay(BaseModel):
    """Someone's time off on a date."""

    model_config = OUTPUT_CONFIG

    person_id: str
    leave: BoardLeave


class ScheduleDate(BaseModel):
    """One date of a month: the number of visits that begin then, and the first of them."""

    model_config = OUTPUT_CONFIG

    on: str = Field(json_schema_extra={"format": "date"})
    count: int
    visits: list[BoardVisit]
    away: list[LeaveOfDay]


class ScheduleMonthOut(Output):
    """The dates of a month, or of the weeks around it."""

    noun = "scheduleMonth"

    time_zone: str
    people: list[NamedPerson]
    days: list[ScheduleDate]


class GetScheduleMonth(Input):
    """Which days."""

    from_: Day = Field(alias="from", description="The first date.")
    until: LastDay = Field(description="The last date, at most six weeks later.")


@operation(permission=Permission.SCHEDULE_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}))
def get_schedule_month(ctx: Context, given: GetScheduleMonth) -> ScheduleMonthOut:
    """Show month of the schedule.

    For each date, the number of visits, the first of them, and who is off. Only what you may see.
    """
    _, zone = default_working_hours(ctx)
    begin, end = bounds_of_days(given.from_, given.until, zone)
    first = date.fromisoformat(given.from_)
    count = (date.fromisoformat(given.until) - first).days + 1
    if count > _MAX_DAYS:
        raise Invalid([Fault("until", Message("is more than {days} days after the first date", days=_MAX_DAYS))])
    dates = [first + timedelta(days=number) for number in range(count)]
    midnights = [moment_text(start_of_day(day, zone)) for day in (*dates, dates[-1] + ONE_DAY)]
    ids_by_date: list[list[str]] = [[] for _ in dates]
    for visit_id, begins_at in VISITS.list_beginnings(ctx, begin, end, _MAX_VISITS):
        ids_by_date[bisect_right(midnights, begins_at) - 1].append(visit_id)
    first_ids = [visit_id for ids in ids_by_date for visit_id in ids[:FIRST_VISITS]]
    visits = {
        visit.id: build_board_visit(visit, movable=False) for visit in VISITS.find_for_board_by_ids(ctx, first_ids)
    }
    leave = find_leave(ctx, DateRange(dates, zone, begin, end))
    planned = {visit.person_id for visit in visits.values() if visit.person_id}
    return ScheduleMonthOut(
        object=ScheduleMonthOut.noun,
        time_zone=zone,
        people=find_people(ctx, planned | leave.keys()),
        days=[
            ScheduleDate(
                on=day.isoformat(),
                count=len(ids),
                visits=[visits[visit_id] for visit_id in ids[:FIRST_VISITS]],
                away=[
                    LeaveOfDay(person_id=person, leave=one)
                    for person, periods in leave.items()
                    for one in _periods_within(periods, midnights[number], midnights[number + 1])
                ],
            )
            for number, (day, ids) in enumerate(zip(dates, ids_by_date, strict=True))
        ],
    )


OPERATIONS = (get_schedule_month,)


def _periods_within(periods: Sequence[BoardLeave], begin: str, end: str) -> list[BoardLeave]:
    """Return the periods that overlap a date. Moments can be compared as texts."""
    return [one for one in periods if one.starts_at < end and one.ends_at > begin]

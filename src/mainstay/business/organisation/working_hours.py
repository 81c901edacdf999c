"""Working hours: spans of time for each day of the week, in the organisation's time zone."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, Field

from mainstay.kernel.context import Context
from mainstay.values.descriptions import describe
from mainstay.values.fields import InputKind
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.values.moments import ONE_DAY, Period, start_of_day
from mainstay.values.part_changes import RecordPart
from mainstay.values.wall_times import TimeOfDay, check_time_of_day

END_OF_DAY = "24:00"


def _check_end(text: str) -> str:
    return text if text == END_OF_DAY else check_time_of_day(text)


class Span(BaseModel):
    """A span of working time. It ends on the next day if it would otherwise end before it begins."""

    model_config = INPUT_CONFIG

    from_: TimeOfDay = Field(alias="from", description="e.g. 08:00.")
    until: Annotated[str, AfterValidator(_check_end)] = Field(
        description=describe(
            "e.g. 17:00; midnight is 24:00. [[If not later than `from`, it is the next day: 22:00 to 06:00.]]"
        )
    )

    def period_on(self, day: date, zone: str) -> Period | None:
        """Return the period that begins on a date, or None if the clocks skip it."""
        last = day if self.from_ < self.until else day + ONE_DAY
        begin, end = _moment_at(day, self.from_, zone), _moment_at(last, self.until, zone)
        return Period(begin, end) if begin < end else None


Spans = Annotated[list[Span], Field(max_length=4, description="When people work on that day."), InputKind("spans")]


class WorkingHours(RecordPart):
    """The working hours of each day of the week."""

    monday: Spans = Field(default=[])
    tuesday: Spans = Field(default=[])
    wednesday: Spans = Field(default=[])
    thursday: Spans = Field(default=[])
    friday: Spans = Field(default=[])
    saturday: Spans = Field(default=[])
    sunday: Spans = Field(default=[])

    def periods_on(self, day: date, zone: str) -> list[Period]:
        """Return the working periods that begin on a date. A night shift ends on the next date."""
        spans: list[Span] = getattr(self, _DAYS[day.weekday()])
        return [period for span in spans if (period := span.period_on(day, zone))]

    def periods_between(self, first: date, last: date, zone: str) -> list[Period]:
        """Return the working periods that touch these dates. Adjoining periods are joined, also across midnight."""
        # A night shift of the day before can reach into the first date, and the last shift into the day after.
        days = [first + number * ONE_DAY for number in range(-1, (last - first).days + 2)]
        begin, end = start_of_day(first, zone), start_of_day(last + ONE_DAY, zone)
        joined = _join_periods(period for day in days for period in self.periods_on(day, zone))
        return [period for period in joined if period.starts_at < end and begin < period.ends_at]


def default_working_hours(ctx: Context) -> tuple[WorkingHours, str]:
    """Return the organisation's usual working hours and its time zone."""
    row = ctx.db.one("SELECT working_hours, time_zone FROM organisation WHERE id = :organisation")
    hours, zone = row or ("{}", "UTC")
    return WorkingHours.model_validate_json(str(hours)), str(zone)


_DAYS = tuple(WorkingHours.model_fields)


def _join_periods(periods: Iterable[Period]) -> list[Period]:
    """Join periods that touch or overlap."""
    joined: list[Period] = []
    for period in sorted(periods, key=lambda each: each.starts_at):
        if joined and period.starts_at <= joined[-1].ends_at:
            joined[-1] = Period(joined[-1].starts_at, max(joined[-1].ends_at, period.ends_at))
        else:
            joined.append(period)
    return joined


def _moment_at(day: date, clock: str, zone: str) -> datetime:
    if clock == END_OF_DAY:
        return start_of_day(day + ONE_DAY, zone)
    # A time that the clocks skip or repeat is not refused: it is at most an hour more or less.
    return datetime.combine(day, time.fromisoformat(clock), ZoneInfo(zone)).astimezone(UTC)

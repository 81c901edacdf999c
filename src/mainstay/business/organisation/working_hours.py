"""When people work: spans of each day of the week, as the clocks of the organisation show them."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, Field

from mainstay.kernel.context import Context
from mainstay.values.fields import As
from mainstay.values.models import GIVEN
from mainstay.values.moments import Period, beginning_of
from mainstay.values.parts import Part
from mainstay.values.wall_times import TimeOfDay, check_time_of_day

_A_DAY = timedelta(days=1)
MIDNIGHT = "24:00"


def _check_end(text: str) -> str:
    return text if text == MIDNIGHT else check_time_of_day(text)


class Span(BaseModel):
    """A span of working time. It ends on the next day if it would otherwise end before it begins."""

    model_config = GIVEN

    from_: TimeOfDay = Field(alias="from", description="Such as 08:00.")
    until: Annotated[str, AfterValidator(_check_end)] = Field(
        description="Such as 17:00; midnight is 24:00. Not later than `from`, it is on the next day: 22:00 to 06:00."
    )

    def period_on(self, day: date, zone: str) -> Period | None:
        """Return the period that begins on a date; None if the clocks skip it."""
        last = day if self.from_ < self.until else day + _A_DAY
        begin, end = _moment_at(day, self.from_, zone), _moment_at(last, self.until, zone)
        return Period(begin, end) if begin < end else None


Spans = Annotated[list[Span], Field(max_length=4, description="The spans in which people work that day."), As("spans")]


class WorkingHours(Part):
    """The spans of each day of the week."""

    monday: Spans = Field(default=[])
    tuesday: Spans = Field(default=[])
    wednesday: Spans = Field(default=[])
    thursday: Spans = Field(default=[])
    friday: Spans = Field(default=[])
    saturday: Spans = Field(default=[])
    sunday: Spans = Field(default=[])

    def on(self, day: date, zone: str) -> list[Period]:
        """The working times that begin on a date; a night shift ends on the next."""
        spans: list[Span] = getattr(self, _DAYS[day.weekday()])
        return [period for span in spans if (period := span.period_on(day, zone))]

    def between(self, first: date, last: date, zone: str) -> list[Period]:
        """Return the working times that touch these dates, joined where one continues another, also over midnight."""
        # A night shift of the day before reaches into the first date; the last may go on in the day after.
        days = [first + number * _A_DAY for number in range(-1, (last - first).days + 2)]
        begin, end = beginning_of(first, zone), beginning_of(last + _A_DAY, zone)
        joined = _joined(period for day in days for period in self.on(day, zone))
        return [period for period in joined if period.starts_at < end and begin < period.ends_at]


def organisation_s(ctx: Context) -> tuple[WorkingHours, str]:
    """When people of the organisation usually work, and where its clocks are."""
    row = ctx.rows.one("SELECT working_hours, time_zone FROM organisation WHERE id = :organisation")
    hours, zone = row or ("{}", "UTC")
    return WorkingHours.model_validate_json(str(hours)), str(zone)


_DAYS = tuple(WorkingHours.model_fields)


def _joined(periods: Iterable[Period]) -> list[Period]:
    """Join periods that touch or overlap."""
    found: list[Period] = []
    for period in sorted(periods, key=lambda one: one.starts_at):
        if found and period.starts_at <= found[-1].ends_at:
            found[-1] = Period(found[-1].starts_at, max(found[-1].ends_at, period.ends_at))
        else:
            found.append(period)
    return found


def _moment_at(day: date, clock: str, zone: str) -> datetime:
    if clock == MIDNIGHT:
        return beginning_of(day + _A_DAY, zone)
    # Where the clocks change just then, an hour more or less of work is nothing to refuse.
    return datetime.combine(day, time.fromisoformat(clock), ZoneInfo(zone)).astimezone(UTC)

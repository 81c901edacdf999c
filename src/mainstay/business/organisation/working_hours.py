"""When people work: spans of each day of the week, as the clocks of the organisation show them."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, Field, model_validator

from mainstay.kernel.context import Context
from mainstay.values.fields import As
from mainstay.values.models import GIVEN
from mainstay.values.moments import Period, beginning_of


def _clock(text: str) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00", text):
        raise ValueError("is not a time of day such as 08:00")
    return text


_Clock = Annotated[str, AfterValidator(_clock)]


class Span(BaseModel):
    """A stretch of a day in which people work."""

    model_config = GIVEN

    from_: _Clock = Field(alias="from", description="Such as 08:00.")
    until: _Clock = Field(description="Such as 17:00; midnight is 24:00.")

    @model_validator(mode="after")
    def _goes_forward(self) -> "Span":
        if self.until <= self.from_:
            raise ValueError("ends before it begins")
        return self


Spans = Annotated[list[Span], Field(max_length=4, description="The spans in which people work that day."), As("spans")]


class WorkingHours(BaseModel):
    """The spans of each day of the week."""

    model_config = GIVEN

    monday: Spans = []
    tuesday: Spans = []
    wednesday: Spans = []
    thursday: Spans = []
    friday: Spans = []
    saturday: Spans = []
    sunday: Spans = []

    def on(self, day: date, zone: str) -> list[Period]:
        """The times of a date at which people work."""
        spans: list[Span] = getattr(self, _DAYS[day.weekday()])
        ends = [(_at(day, span.from_, zone), _at(day, span.until, zone)) for span in spans]
        return [Period(begin, end) for begin, end in ends if begin < end]


def organisation_s(ctx: Context) -> tuple[WorkingHours, str]:
    """When people of the organisation usually work, and where its clocks are."""
    row = ctx.rows.one("SELECT working_hours, time_zone FROM organisation WHERE id = :organisation")
    hours, zone = row or ("{}", "UTC")
    return WorkingHours.model_validate_json(str(hours)), str(zone)


_DAYS = tuple(WorkingHours.model_fields)


def _at(day: date, clock: str, zone: str) -> datetime:
    if clock == "24:00":
        return beginning_of(day + timedelta(days=1), zone)
    # Where the clocks change just then, an hour more or less of work is nothing to refuse.
    return datetime.combine(day, time.fromisoformat(clock), ZoneInfo(zone)).astimezone(UTC)

"""Checks that nobody logs more hours on a date than it has, however they were logged."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple, cast

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.kernel.context import Context
from mainstay.values.message import CalendarDate, Duration, Message
from mainstay.values.moments import Period, local_date, parse_moment, start_of_day
from mainstay.vocabulary.refusal import Reason, raise_if_blocked

# How long before a date the longest entry that reaches it can have begun, across a day that is an hour short.
_MAX_REACH = timedelta(days=2)
_MINUTE = timedelta(minutes=1)


class LoggedTime(NamedTuple):
    """Stored hours: a number of minutes on a date, or from a start to an end."""

    on: str
    minutes: int
    started_at: str | None
    ended_at: str | None
    break_minutes: int

    def minutes_on(self, on: date, zone: str) -> int:
        """Return how many minutes were worked on a local date. Without times, all were on its own date."""
        if self.started_at is None or self.ended_at is None:
            return self.minutes if self.on == on.isoformat() else 0
        day = _period_of_day(on, zone)
        began, ended = max(parse_moment(self.started_at), day.starts_at), min(parse_moment(self.ended_at), day.ends_at)
        # Nobody knows when the break was, so all of it is taken off each date.
        return max((ended - began) // _MINUTE - self.break_minutes, 0)

    def dates(self, zone: str) -> Sequence[date]:
        """Return the local dates on which it was worked."""
        first = date.fromisoformat(self.on)
        last = local_date(parse_moment(self.ended_at) - _MINUTE, zone) if self.ended_at else first
        return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def check_daily_limit(ctx: Context, person_id: str, values: Mapping[str, Any], except_id: str = "") -> None:
    """Refuse hours that would give one of this person's dates more hours than it has."""
    if not values.get("minutes"):
        return
    zone = settings_of(ctx).time_zone
    added = LoggedTime(
        values["on_date"],
        values["minutes"],
        values.get("started_at"),
        values.get("ended_at"),
        values.get("break_minutes") or 0,
    )
    dates = added.dates(zone)
    others = _find_other_entries(ctx, person_id, dates, except_id)
    for on in dates:
        logged, day_minutes = sum(other.minutes_on(on, zone) for other in others), _period_of_day(on, zone).minutes
        if logged + added.minutes_on(on, zone) > day_minutes:
            message = Message(
                "{logged} hours are already logged on {date}, so the day would have more than {total}. Change those"
                " first.",
                logged=Duration(logged),
                date=CalendarDate(on.isoformat()),
                total=Duration(day_minutes),
            )
            raise_if_blocked([Reason(message, first="list_hours")])


def _find_other_entries(ctx: Context, person_id: str, dates: Sequence[date], except_id: str) -> list[LoggedTime]:
    """Return the person's other entries that may reach these dates. Running timers are checked when they stop."""
    rows = ctx.db.all(
        "SELECT on_date, minutes, started_at, ended_at, break_minutes FROM time_entry"
        " WHERE organisation_id = :organisation AND person_id = :person AND on_date >= :first AND on_date <= :last"
        " AND minutes IS NOT NULL AND id <> :but",
        person=person_id,
        first=(dates[0] - _MAX_REACH).isoformat(),
        last=dates[-1].isoformat(),
        but=except_id,
    )
    return [LoggedTime(*cast("tuple[Any, ...]", row)) for row in rows]


def _period_of_day(on: date, zone: str) -> Period:
    return Period(start_of_day(on, zone), start_of_day(on + timedelta(days=1), zone))

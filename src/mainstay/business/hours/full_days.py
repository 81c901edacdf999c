"""That nobody works longer on a date than it lasts, however the hours were logged."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple, cast

from mainstay.business.organisation.house import house_of
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Reason, refuse
from mainstay.values.durations import hours_text
from mainstay.values.moments import Period, beginning_of, local_date, parse_moment

# The longest entry that reaches a date may have begun so long before, over a day that lacks an hour.
_REACH = timedelta(days=2)
_MINUTE = timedelta(minutes=1)


class Spell(NamedTuple):
    """Hours that someone worked, as they are kept: so many minutes of a date, or from a beginning to an end."""

    on: str
    minutes: int
    started_at: str | None
    ended_at: str | None
    break_minutes: int

    def minutes_of(self, on: date, zone: str) -> int:
        """How much of it was worked on a date there; of what has no times, all on its own."""
        if self.started_at is None or self.ended_at is None:
            return self.minutes if self.on == on.isoformat() else 0
        day = _day(on, zone)
        began, ended = max(parse_moment(self.started_at), day.starts_at), min(parse_moment(self.ended_at), day.ends_at)
        # Its break may have been on that date.
        return max((ended - began) // _MINUTE - self.break_minutes, 0)

    def dates(self, zone: str) -> Sequence[date]:
        """The dates on which it was worked there."""
        first = date.fromisoformat(self.on)
        last = local_date(parse_moment(self.ended_at) - _MINUTE, zone) if self.ended_at else first
        return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def check_days(ctx: Context, person: str, values: Mapping[str, Any], but: str = "") -> None:
    """Refuse hours with which a date of this person would have more than it lasts."""
    if not values.get("minutes"):
        return
    zone = house_of(ctx).time_zone
    added = Spell(
        values["on_date"],
        values["minutes"],
        values.get("started_at"),
        values.get("ended_at"),
        values.get("break_minutes") or 0,
    )
    dates = added.dates(zone)
    others = _others(ctx, person, dates, but)
    for on in dates:
        logged, lasts = sum(spell.minutes_of(on, zone) for spell in others), _day(on, zone).minutes
        if logged + added.minutes_of(on, zone) > lasts:
            told = f"{hours_text(logged)} hours of {on} are logged already: that day has {hours_text(lasts)}."
            refuse([Reason(f"{told} Change those first.", unblock="list_hours")])


def _others(ctx: Context, person: str, dates: Sequence[date], but: str) -> list[Spell]:
    """What else of someone may reach these dates; a timer that runs is reckoned when it stops."""
    rows = ctx.rows.all(
        "SELECT on_date, minutes, started_at, ended_at, break_minutes FROM time_entry"
        " WHERE organisation_id = :organisation AND person_id = :person AND on_date >= :first AND on_date <= :last"
        " AND minutes IS NOT NULL AND id <> :but",
        person=person,
        first=(dates[0] - _REACH).isoformat(),
        last=dates[-1].isoformat(),
        but=but,
    )
    return [Spell(*cast("tuple[Any, ...]", row)) for row in rows]


def _day(on: date, zone: str) -> Period:
    return Period(beginning_of(on, zone), beginning_of(on + timedelta(days=1), zone))

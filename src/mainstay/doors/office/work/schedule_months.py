"""A month of the schedule, prepared for its page: weeks of dates with their first visits."""

from dataclasses import dataclass
from datetime import date, timedelta

from mainstay.business.schedule.board import BoardVisit
from mainstay.business.schedule.model import is_undecided
from mainstay.business.schedule.month import ScheduleDate, ScheduleMonthOut
from mainstay.business.schedule.store import VISITS
from mainstay.doors.office.work.schedule_days import DrawnPart
from mainstay.doors.office.work.visit_tints import assign_tints
from mainstay.doors.pages.formatting import format_clock, format_long_date, format_weekday, initials_of, join_isolated
from mainstay.doors.pages.page_language import translate_label, translate_text

_DAYS_PER_WEEK = 7
# If there are more visits, fewer of them leave room for the number of the others.
_MAX_SHOWN = 3
_MAX_AWAY = 2


def find_month_bounds(day: date) -> tuple[date, date]:
    """Return the first and the last date that are shown with a month: those of whole weeks."""
    first, last = day.replace(day=1), first_of_next_month(day) - timedelta(days=1)
    return first - timedelta(days=first.weekday()), last + timedelta(days=_DAYS_PER_WEEK - 1 - last.weekday())


def first_of_next_month(day: date) -> date:
    """Return the first date of the next month."""
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


@dataclass(frozen=True)
class ScheduleMonth:
    """The weeks of a month."""

    schedule: ScheduleMonthOut
    shown_day: date
    today: date

    def build_weeks(self) -> list[list[DrawnPart]]:
        """Return the dates of each week."""
        people = {person.id: person.name for person in self.schedule.people}
        tints = assign_tints(self.schedule.people)
        dates = [self._build_date(one, people, tints) for one in self.schedule.days]
        return [dates[at : at + _DAYS_PER_WEEK] for at in range(0, len(dates), _DAYS_PER_WEEK)]

    def _build_date(self, one: ScheduleDate, people: dict[str, str], tints: dict[str, str]) -> DrawnPart:
        day = date.fromisoformat(one.on)
        shown = one.visits if one.count <= len(one.visits) else one.visits[:_MAX_SHOWN]
        return {
            "date": one.on,
            "number": day.day,
            "words": format_long_date(day),
            "weekday": format_weekday(day),
            "today": day == self.today,
            "other": day.month != self.shown_day.month,
            "visits": [
                _build_visit(visit, people.get(visit.person_id or "", ""), tints.get(visit.person_id or "", ""))
                for visit in shown
            ],
            "more": one.count - len(shown),
            "away": [
                {"words": _describe_leave(people.get(leave.person_id, ""), leave.leave.kind, leave.leave.status)}
                for leave in one.away[:_MAX_AWAY]
            ],
            "more_away": max(len(one.away) - _MAX_AWAY, 0),
        }


def _build_visit(visit: BoardVisit, person: str, tint: str) -> DrawnPart:
    return {
        "path": VISITS.path_of(visit.id),
        "clock": format_clock(visit.starts_at, visit.time_zone) if visit.starts_at else "",
        "title": visit.job_title or visit.job_number or visit.title or translate_label(visit.kind),
        "full_title": join_isolated(visit.job_number, visit.job_title) or visit.title or "",
        "person": person or translate_text("No person"),
        "initials": initials_of(person) if person else "?",
        "tint": tint,
        "status": visit.status,
    }


def _describe_leave(person: str, kind: str, status: str) -> str:
    words = translate_text("{person}: {kind}", person=person, kind=translate_label(kind).lower())
    return translate_text("{leave}, not approved yet", leave=words) if is_undecided(status) else words

"""A month of the schedule, prepared for its page: weeks of dates with their first visits."""

from dataclasses import dataclass
from datetime import date, timedelta

from mainstay.business.schedule.board import BoardLeave, BoardVisit
from mainstay.business.schedule.model import is_undecided
from mainstay.business.schedule.month import ScheduleDate, ScheduleMonthOut
from mainstay.business.schedule.store import VISITS
from mainstay.doors.office.work.schedule_days import TemplateVariables
from mainstay.doors.office.work.visit_tints import assign_tints
from mainstay.doors.pages.formatting import format_clock, format_long_date, format_weekday, initials_of, join_isolated
from mainstay.doors.pages.page_language import translate_label, translate_text

_DAYS_PER_WEEK = 7
# A date with too many visits shows these first ones and the number of the others.
_SHOWN_OF_TOO_MANY = 3
_MAX_AWAY = 2


def find_calendar_bounds(day: date) -> tuple[date, date]:
    """Return the first and the last date on the page of a month, which shows whole weeks."""
    first, last = day.replace(day=1), start_of_next_month(day) - timedelta(days=1)
    return first - timedelta(days=first.weekday()), last + timedelta(days=_DAYS_PER_WEEK - 1 - last.weekday())


def start_of_next_month(day: date) -> date:
    """Return the first date of the next month."""
    # Four days after the 28th are in the next month, however long this one is.
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


@dataclass(frozen=True)
class ScheduleMonth:
    """The weeks of a month."""

    schedule: ScheduleMonthOut
    shown_day: date
    today: date

    def build_weeks(self) -> list[list[TemplateVariables]]:
        """Return the dates of each week."""
        people = {person.id: person.name for person in self.schedule.people}
        tints = assign_tints(self.schedule.people)
        dates = [self._build_date(schedule_date, people, tints) for schedule_date in self.schedule.days]
        return [dates[start : start + _DAYS_PER_WEEK] for start in range(0, len(dates), _DAYS_PER_WEEK)]

    def _build_date(
        self, schedule_date: ScheduleDate, people: dict[str, str], tints: dict[str, str]
    ) -> TemplateVariables:
        day = date.fromisoformat(schedule_date.on)
        shown = (
            schedule_date.visits
            if schedule_date.count <= len(schedule_date.visits)
            else schedule_date.visits[:_SHOWN_OF_TOO_MANY]
        )
        return {
            "date": schedule_date.on,
            "number": day.day,
            "long_date": format_long_date(day),
            "weekday": format_weekday(day),
            "today": day == self.today,
            "is_other_month": day.month != self.shown_day.month,
            "visits": [
                _build_visit(visit, people.get(visit.person_id or "", ""), tints.get(visit.person_id or "", ""))
                for visit in shown
            ],
            "hidden_visits": schedule_date.count - len(shown),
            "away": [
                _describe_leave(people.get(absence.person_id, ""), absence.leave)
                for absence in schedule_date.away[:_MAX_AWAY]
            ],
            "hidden_away": max(len(schedule_date.away) - _MAX_AWAY, 0),
        }


def _build_visit(visit: BoardVisit, person: str, tint: str) -> TemplateVariables:
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


def _describe_leave(person: str, leave: BoardLeave) -> str:
    text = translate_text("{person}: {kind}", person=person, kind=translate_label(leave.kind).lower())
    return translate_text("{leave}, not approved yet", leave=text) if is_undecided(leave.status) else text

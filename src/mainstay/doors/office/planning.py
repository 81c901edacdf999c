"""Several visits changed at once: typed in rows, looked at together, and then done all or none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from mainstay.business.people.operations import list_people
from mainstay.business.schedule.leave import get_time_off
from mainstay.business.schedule.operations import list_visits, move_visit
from mainstay.business.schedule.planning import plan_schedule
from mainstay.doors.http import Response
from mainstay.doors.office.days import date_of
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, status_of
from mainstay.doors.office.planned_rows import NOBODY, Row, changes_of, gone, handed_over, rows_of, swapped, with_faults
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Invalid, Refusal
from mainstay.values.ids import is_id

PATH = "/schedule/change"
# Under this name the schedule is handed what was changed in it.
CHANGED = "schedule"
# So many visits are rows of one form, and so many people are picked from.
_ROWS, _PEOPLE = 100, 100
_A_WEEK = timedelta(days=6)
# What may be the matter with visits, as the list of them is narrowed to it.
MATTERS = {
    "onLeave": "Visits to come of people who are on leave then.",
    "unassigned": "Visits to come that nobody is planned on.",
}
_NOTHING = "Nothing is different yet. Choose another person, day or time for a visit, or call it off."
_GONE = (
    "A visit that you changed is no longer among these: someone else moved it or called it off. Nothing was done;"
    " below, all is as it is now."
)


@dataclass(frozen=True)
class _Asked:
    """Which visits are meant, as the address says."""

    from_: str
    until: str
    person: str
    # The time off whose visits are to be moved; or what else is the matter with them all, whenever they are.
    leave: str
    matter: str

    @property
    def given(self) -> dict[str, object]:
        """The same for the list of visits."""
        if self.matter:
            return {self.matter: True}
        person = {"personId": self.person} if self.person else {}
        return {"from": self.from_, "until": self.until, **person}


@dataclass(frozen=True)
class _Sheet:
    """The visits that are meant, as rows."""

    asked: _Asked
    leave: Mapping[str, Any] | None
    rows: Sequence[Row]
    # Whether there are more of them than are shown.
    more: bool

    @property
    def back(self) -> str:
        """Where one goes when all is done: to the time off, or to the days around the first visit that was changed."""
        done = {"done": plan_schedule.name}
        if self.leave:
            return f"/time-off/{self.leave['id']}?{urlencode(done)}"
        # What is called off stays on its day, whatever was typed there besides.
        days = (row.seen.day if row.typed.off else row.typed.day for row in self.rows if row.changed)
        return f"/schedule?{urlencode({'view': 'week', 'on': min(days), **done})}"


@dataclass(frozen=True)
class PlanningPages:
    """The page."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where it is."""
        enter = self.desk.signed_in
        return [Route("GET", PATH, enter(self.show)), Route("POST", PATH, enter(self.send))]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The visits that are meant, each with who does it and when."""
        admit(plan_schedule, guest.actor)
        sheet, _complete = await self._sheet(guest, guest.typed)
        return await self._form(guest, sheet, notice=AS_LEFT if guest.typed else None)

    async def send(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Fill in the marked rows, show what would come of all that was typed, or do it."""
        admit(plan_schedule, guest.actor)
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        sheet, complete = await self._sheet(guest, fields)
        if not complete:
            return await self._form(guest, sheet, 409, problem=_GONE)
        do = fields.get("do", "")
        if do in _FILLED:
            try:
                filled = _FILLED[do](sheet.rows, fields)
            except ValueError as unclear:
                return await self._form(guest, sheet, 422, problem=str(unclear))
            return await self._form(guest, replace(sheet, rows=filled))
        return await self._look(guest, sheet, confirmed=fields.get("confirmed") == "yes")

    async def _look(self, guest: Guest, sheet: _Sheet, *, confirmed: bool) -> Response:
        """What would come of it; or, once that was looked at, do it."""
        changes, rows = changes_of(sheet.rows)
        if not changes or any(row.faults for row in rows):
            return await self._form(guest, replace(sheet, rows=rows), 422, problem=None if changes else _NOTHING)
        try:
            given = {"changes": changes, **({"confirmed": True} if confirmed else {})}
            answer = await self.desk.perform(guest, plan_schedule, given)
        except Invalid as invalid:
            rows = with_faults(rows, {fault.field: fault.problem for fault in invalid.faults})
            problem = None if any(row.faults for row in rows) else invalid.text
            return await self._form(guest, replace(sheet, rows=rows), 422, problem=problem)
        except Refusal as refusal:
            return await self._form(guest, sheet, status_of(refusal), problem=refusal.text)
        if confirmed:
            told = {"notice": f"{plan_schedule.done} {answer['summary']}"}
            about = sheet.leave["id"] if sheet.leave else CHANGED
            return see_other(sheet.back, [self.desk.shown_once.hand_over(guest.visitor, about, told)])
        if answer["blockers"]:
            return await self._form(guest, sheet, 409, answer["blockers"])
        fields = {name: text for row in rows if row.changed for name, text in row.fields().items()}
        return self.desk.page("planned.html", guest, area="Schedule", preview=answer, fields=fields)

    async def _form(
        self, guest: Guest, sheet: _Sheet, status: int = 200, blockers: Sequence[str] = (), **shown: Any
    ) -> Response:
        page = await self.desk.perform(guest, list_people, {"limit": _PEOPLE, "order": "name"})
        return self.desk.page(
            "planning.html",
            guest,
            status,
            area="Schedule",
            asked=sheet.asked,
            leave=sheet.leave,
            matter=MATTERS.get(sheet.asked.matter),
            rows=sheet.rows,
            more=sheet.more,
            most=_ROWS,
            blockers=blockers,
            people=[(person["id"], person["name"]) for person in page["data"]],
            nobody=(NOBODY, "Nobody yet"),
            **shown,
        )

    async def _sheet(self, guest: Guest, fields: Mapping[str, str]) -> tuple[_Sheet, bool]:
        """The visits that can be changed, with what was typed over them; and whether none of that is about others."""
        asked, leave, within = self._asked(guest), None, None
        days = {name: guest.here.read_date(text) for name, text in fields.items() if name.endswith(".day")}
        given = asked.given
        if asked.leave:
            leave = await self.desk.perform(guest, get_time_off, {"timeOffId": asked.leave})
            within = {one["visitId"] for one in leave["collisions"]}
            given = {"personId": leave["personId"], **_around(leave)}
        page = await self.desk.list(guest, list_visits, {**given, "limit": _ROWS})
        visits = [
            visit
            for visit in page["data"]
            if move_visit.name in visit["availableActions"] and (within is None or visit["id"] in within)
        ]
        return _Sheet(asked, leave, rows_of(visits, {**fields, **days}), page["hasMore"]), not gone(
            visits, {**fields, **days}
        )

    def _asked(self, guest: Guest) -> _Asked:
        words = query_words(guest.request)
        first = date_of(guest.here.read_date(words.get("from", ""))) or self.desk.today(guest)
        last = date_of(guest.here.read_date(words.get("until", ""))) or first + _A_WEEK
        person, leave = words.get("personId", ""), words.get("timeOffId", "")
        return _Asked(
            first.isoformat(),
            max(first, last).isoformat(),
            person if is_id(person, "person") else "",
            leave if is_id(leave, "leave") else "",
            next((name for name in MATTERS if words.get(name)), ""),
        )


# What fills in the form by one of its buttons, and what only shows it again.
_FILLED: Mapping[str, Callable[[Sequence[Row], Mapping[str, str]], Sequence[Row]]] = {
    "hand over": lambda rows, fields: handed_over(rows, fields.get("to", ""), fields.get("by", "")),
    "swap": lambda rows, _: swapped(rows),
    "again": lambda rows, _: rows,
}


def _around(leave: Mapping[str, Any]) -> dict[str, str]:
    """The dates that time off touches, and those beside them, wherever the clocks are."""
    first, last = (date.fromisoformat(leave[name][:10]) for name in ("startsAt", "endsAt"))
    beside = timedelta(days=1)
    return {"from": (first - beside).isoformat(), "until": (last + beside).isoformat()}

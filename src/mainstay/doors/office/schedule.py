"""The schedule: a day by person, a week, a list and a sheet to print; and who is free."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, get_args
from urllib.parse import urlencode

from mainstay.business.jobs.operations import get_job
from mainstay.business.schedule.board import get_schedule
from mainstay.business.schedule.free_time import find_free_time
from mainstay.business.schedule.leave import (
    cancel_time_off,
    decide_time_off,
    get_time_off,
    list_time_off,
    request_time_off,
)
from mainstay.business.schedule.model import PROGRESSED, Progress, is_undecided, next_step
from mainstay.business.schedule.operations import cancel_visit, get_visit, list_visits, plan_visit, set_visit_status
from mainstay.business.schedule.planning import plan_schedule
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Action, Arrangement
from mainstay.doors.office.days import Day, Week, called, date_of
from mainstay.doors.office.desk import Desk, Guest, status_of, wrong
from mainstay.doors.office.planning import CHANGED, MATTERS, PlanningPages
from mainstay.doors.office.planning import PATH as PLANNING
from mainstay.doors.office.references import AsTold, References
from mainstay.doors.office.room import Room
from mainstay.doors.pages.asking import asked_of, given, usual
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.words import date_words, days_words, long_day, moment, side_by_side, there, when
from mainstay.kernel.catalogue import admit
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import NotFound, Refusal
from mainstay.values.wall_times import wall_text
from mainstay.values.words import words_of

_PATH = "/schedule"
_VIEWS = {"day": "Day", "week": "Week", "list": "List", "sheet": "Day sheet"}
_A_WEEK = 7
# So many visits stand on the sheet of a day.
_ON_SHEET = 300
_PAGE = 100


def _below(visit: Mapping[str, Any], here: str) -> str:
    return side_by_side(when(visit, here), visit["personName"] or "Nobody yet", between=" · ")


def _starts(visit: Mapping[str, Any], here: str) -> str:
    if visit["startsAt"] is None:
        return date_words(visit["on"])
    return f"{moment(visit['startsAt'], visit['timeZone'])}{there(visit['timeZone'], here)}"


def _period(leave: Mapping[str, Any]) -> str:
    return days_words(leave["from"], leave["until"]) if leave["from"] else ""


def _begins(leave: Mapping[str, Any], zone: str) -> str:
    return date_words(leave["from"]) if leave["from"] else moment(leave["startsAt"], zone)


def _ends(leave: Mapping[str, Any], zone: str) -> str:
    """The last of whole days, which end when the next one begins."""
    return date_words(leave["until"]) if leave["until"] else moment(leave["endsAt"], zone)


def _next_of_visit(visit: Mapping[str, Any], _by: Actor) -> list[str]:
    """What a visit can become, what is next first."""
    step = next_step(visit["status"])
    others = [to for to in get_args(Progress) if to != visit["status"]]
    return sorted(others, key=lambda to: step is None or to != step.to)


def _scopes(visit: Mapping[str, Any], _by: Actor) -> list[str]:
    """With which others a visit can be changed: only where there are such that are still planned."""
    last = visit["lastOfSeries"]
    follows = [] if last is None else ["following", "all"] if _begin(last) >= _begin(visit) else ["all"]
    return ["one", *(["crew"] if visit["crewPlanned"] else []), *follows]


def _begin(visit: Mapping[str, Any]) -> str:
    return str(visit["startsAt"] or visit["on"])


VISITS = Arrangement(
    title="Visits",
    lead="Who goes where, and when.",
    path=f"{_PATH}/visits",
    area="Schedule",
    gets=get_visit,
    lists=list_visits,
    creates=plan_visit,
    create_path="plan",
    called=called,
    # Where it is, if that is elsewhere, is said where one knows who looks: in its column, and on its page.
    below=lambda visit: _below(visit, visit["timeZone"]),
    columns=("status", "startsAt", "customerName"),
    facts=(
        "personName",
        "kind",
        "customerName",
        "siteName",
        "siteAddress",
        "accessNotes",
        "contactName",
        "contactPhone",
        "notes",
        "timeZone",
        "startedAt",
        "finishedAt",
        "overlapReason",
    ),
    tabs={"": "To come", "planned": "Planned", "started": "Started", "done": "Done", "cancelled": "Cancelled"},
    order="start",
    above="visits_above.html",
    ways="visit.html",
    possible={"status": _next_of_visit, "scope": _scopes},
    counting=frozenset({cancel_visit.name}),
    choices={
        "scope": (
            ("one", "This visit only"),
            ("crew", "It and the visits of its crew"),
            ("following", "It and those that follow in its series"),
            ("all", "All of its series"),
        )
    },
    words={"startsAt": _starts},
    empty="Nothing is planned from today on.",
)
TIME_OFF = Arrangement(
    title="Time off",
    lead="When people are away, and what was decided.",
    path="/time-off",
    area="Schedule",
    gets=get_time_off,
    lists=list_time_off,
    creates=request_time_off,
    create_path="request",
    called=lambda leave: side_by_side(words_of(leave["kind"]), leave["personName"], between=", "),
    below=_period,
    columns=("status", "startsAt", "endsAt"),
    facts=("personName", "kind", "startsAt", "endsAt", "note", "decisionNote"),
    tabs={"": "To come", "requested": "Requested", "approved": "Approved", "declined": "Declined"}
    | {"cancelled": "Cancelled"},
    order="start",
    more="time_off.html",
    words={"startsAt": _begins, "endsAt": _ends},
    reminders={decide_time_off.name: "time_off.html"},
    empty="Nobody is away from today on.",
)


@dataclass(frozen=True)
class SchedulePages:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", _PATH, enter(self.show)),
            Route("GET", f"{_PATH}/free", enter(self.free)),
            *PlanningPages(self.desk).routes(),
            *Room(self.desk, VISITS, shows=self._visit, knows=self._others).routes(),
            *Room(self.desk, TIME_OFF, shows=self._time_off).routes(),
        ]

    async def _visit(self, guest: Guest, visit: AsTold | None) -> dict[str, Any]:
        """What is next at one's own visit is one press away; with another's, one plans. Of a list, several change."""
        if visit is None:
            words = query_words(guest.request)
            asked = {name: words[name] for name in ("from", "until", "personId", *MATTERS) if words.get(name)}
            return {"changing": f"{PLANNING}?{urlencode(asked)}" if guest.may(plan_schedule) else None}
        actions = VISITS.actions(self.desk, visit)
        may = visit["personId"] == guest.actor.id and set_visit_status.name in visit["availableActions"]
        if may and (step := next_step(visit["status"])):
            path = VISITS.path_to(set_visit_status, visit)
            actions.insert(0, Action(step.words, path, plain=True, answers={"status": step.to}))
        shown: dict[str, Any] = {"actions": actions, "below": _below(visit, guest.time_zone)}
        if query_words(guest.request).get("done") == set_visit_status.name:
            shown["notice"] = PROGRESSED.get(visit["status"])
        return shown | {"crew": await self._crew(guest, visit), "work": await self._description(guest, visit)}

    async def _description(self, guest: Guest, visit: AsTold) -> str | None:
        """Return the description of the visit's job, as far as whoever looks sees the job."""
        if visit["jobId"] is None or not guest.may(get_job):
            return None
        try:
            job = await self.desk.perform(guest, get_job, {"jobId": visit["jobId"]})
        except NotFound:
            return None
        description: str | None = job["description"]
        return description

    async def _others(self, guest: Guest, visit: AsTold) -> AsTold:
        """With which others, still planned, a visit can be changed: whether with a crew, and the last of its series."""
        crew = await self._planned(guest, visit, "groupId")
        series = await self._planned(guest, visit, "seriesId")
        return {"crewPlanned": bool(crew), "lastOfSeries": series[0] if series else None}

    async def _planned(self, guest: Guest, visit: AsTold, within: str) -> list[AsTold]:
        if not (visit[within] and guest.may(cancel_visit)):
            return []
        asked = {within: visit[within], "status": "planned", "order": "latest", "limit": 2}
        page = await self.desk.perform(guest, list_visits, asked)
        return [one for one in page["data"] if one["id"] != visit["id"]]

    async def _crew(self, guest: Guest, visit: AsTold) -> list[AsTold]:
        """The visits of those who go along, as far as one sees them."""
        if not visit["groupId"]:
            return []
        page = await self.desk.perform(guest, list_visits, {"groupId": visit["groupId"], "limit": _PAGE})
        return [one for one in page["data"] if one["id"] != visit["id"]]

    async def _time_off(self, guest: Guest, leave: AsTold | None) -> dict[str, Any]:
        """What was asked for waits to be decided, by those who may; before it is called off by anyone."""
        if leave is None:
            return {}
        waits = is_undecided(leave["status"])
        decides = TIME_OFF.path_to(decide_time_off, leave)
        actions = [
            one if one.path == decides else one._replace(label=words_of(cancel_time_off.name))
            for one in TIME_OFF.actions(self.desk, leave)
        ]
        moving = f"{PLANNING}?{urlencode({'timeOffId': leave['id']})}" if guest.may(plan_schedule) else None
        return {"actions": sorted(actions, key=lambda one: (one.path == decides) != waits), "moving": moving}

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Some days of the schedule, as their address says."""
        admit(get_schedule, guest.actor)
        words = query_words(guest.request)
        view = words["view"] if words.get("view") in _VIEWS else "day"
        today = self.desk.today(guest)
        on = date_of(guest.here.read_date(words.get("on", ""))) or today
        first = on - timedelta(days=on.weekday()) if view in {"week", "list"} else on
        last = first + timedelta(days=_A_WEEK - 1) if view in {"week", "list"} else first
        handed = self.desk.shown_once.take(guest.request, guest.visitor, CHANGED)
        shown: dict[str, Any] = {"sheet": await self._sheet(guest, on)} if view == "sheet" else {}
        found = await self.desk.perform(guest, get_schedule, {"from": first.isoformat(), "until": last.isoformat()})
        # One's own row comes first.
        found["people"].sort(key=lambda person: person["id"] != guest.actor.id)
        if view == "day":
            shown["day"] = Day(found, on).rows()
        elif view == "week":
            shown["week"] = Week(found, first, today).rows()
        elif view == "list":
            shown["by_day"] = Week(found, first, today).by_day()
        return self.desk.page(
            "schedule.html",
            guest,
            area="Schedule",
            view=view,
            views=[(name, text, _address(name, on)) for name, text in _VIEWS.items()],
            title=long_day(on) if view in {"day", "sheet"} else f"Week of {long_day(first)}",
            on=on.isoformat(),
            today=_address(view, today),
            before=_address(view, first - timedelta(days=(last - first).days + 1)),
            after=_address(view, last + timedelta(days=1)),
            may_plan=guest.may(plan_visit),
            changing=f"{PLANNING}?{urlencode({'from': first.isoformat(), 'until': last.isoformat()})}",
            may_ask=guest.may(find_free_time),
            sees_leave=guest.may(list_time_off),
            found=found,
            notice=handed.made["notice"] if handed else self.desk.notice(guest),
            headers=handed.headers if handed else (),
            **shown,
        )

    async def free(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Who is free, and when; what one looks for is in the address."""
        admit(find_free_time, guest.actor)
        asked = [one for one in asked_of(find_free_time, guest.actor.rights) if one.name != "limit"]
        words = query_words(guest.request)
        asked, fields = await References(self.desk).offered(guest, asked, usual(asked) | words, None)
        found, refusal = None, None
        shown: dict[str, Any] = {}
        if words:
            try:
                resolved = await References(self.desk).resolved(guest, asked, fields)
                sent = {name: value for name, value in given(asked, resolved, guest.here).items() if value}
                found = await self.desk.perform(guest, find_free_time, sent)
                for slot in found["slots"]:
                    slot["plan"] = _planning(slot, sent, found["timeZone"])
                shown = {"days": _slots_by_day(found), "on_leave": _leave_words(found, guest.time_zone)}
            except Refusal as refused:
                refusal = refused
        return self.desk.page(
            "free.html",
            guest,
            status_of(refusal),
            area="Schedule",
            asked=asked,
            fields=defaultdict(str, fields),
            found=found,
            **shown,
            **wrong(refusal),
        )

    async def _sheet(self, guest: Guest, on: date) -> list[dict[str, Any]]:
        """Everyone's visits of a date, with all that one needs there: to be printed."""
        day = {"from": on.isoformat(), "until": on.isoformat(), "limit": _PAGE}
        visits: list[dict[str, Any]] = []
        more: dict[str, object] = {}
        while len(visits) < _ON_SHEET:
            page = await self.desk.perform(guest, list_visits, {**day, **more})
            visits += page["data"]
            if not page["hasMore"]:
                break
            more = {"startingAfter": visits[-1]["id"]}
        by_person: dict[str, list[dict[str, Any]]] = {}
        for visit in visits:
            by_person.setdefault(visit["personName"] or "", []).append(visit | {"called": called(visit)})
        # What nobody does yet comes last.
        named = sorted(by_person.items(), key=lambda one: (not one[0], one[0]))
        return [{"name": name or "Nobody yet", "visits": found} for name, found in named]


def _address(view: str, on: date) -> str:
    return f"{_PATH}?{urlencode({'view': view, 'on': on.isoformat()})}"


def _slots_by_day(found: AsTold) -> list[dict[str, Any]]:
    """Group free slots by date and person; people stay in the order in which they were found."""
    by_day: dict[str, dict[str, dict[str, Any]]] = {}
    for slot in found["slots"]:
        day = wall_text(slot["startsAt"], found["timeZone"])[:10]
        person = by_day.setdefault(day, {}).setdefault(slot["personId"], {"name": slot["personName"], "slots": []})
        person["reasons"] = slot["reasons"]
        person["slots"].append(slot)
    return [
        {"words": long_day(date.fromisoformat(day)), "people": [*people.values()]}
        for day, people in sorted(by_day.items())
    ]


def _leave_words(found: AsTold, here: str) -> list[str]:
    """Say who is on leave, of what kind, and when."""
    return [
        side_by_side(one["personName"], f"{words_of(one['kind']).lower()}, {_leave_span(one, here)}", between=": ")
        for one in found["onLeave"]
    ]


def _leave_span(leave: AsTold, here: str) -> str:
    first, last = (wall_text(leave[name], here) for name in ("startsAt", "endsAt"))
    if first.endswith("T00:00") and last.endswith("T00:00"):
        return days_words(first[:10], (date.fromisoformat(last[:10]) - timedelta(days=1)).isoformat())
    return f"{moment(leave['startsAt'], here)} to {moment(leave['endsAt'], here)}"


def _planning(slot: Mapping[str, Any], sent: Mapping[str, object], zone: str) -> str:
    """The address of the form that plans what was found, filled in with it."""
    fields = {"startsAt": wall_text(slot["startsAt"], zone), "durationMinutes": sent.get("durationMinutes", 60)}
    fields |= {f"personIds {slot['personId']}": "on", "timeZone": zone}
    if sent.get("jobId"):
        fields["jobId"] = sent["jobId"]
    return f"{VISITS.path}/plan?{urlencode(fields)}"

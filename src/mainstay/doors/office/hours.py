"""Hours: a week one types into, a timer, what waits for approval, and the list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson

from mainstay.business.hours.model import DECIDED_IN, Decision
from mainstay.business.hours.operations import get_time_entry, list_hours, log_hours
from mainstay.business.hours.review import review_hours, submit_hours
from mainstay.business.hours.timers import start_timer, stop_timer
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.people.operations import list_people
from mainstay.business.schedule.operations import list_visits
from mainstay.doors.http import Response
from mainstay.doors.office.approval import Approval, sees_queue
from mainstay.doors.office.arrangement import Action, Arrangement, label_of
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, status_of
from mainstay.doors.office.references import References
from mainstay.doors.office.room import Room
from mainstay.doors.office.timer import STOP, running_timer
from mainstay.doors.office.to_bill import ToBill
from mainstay.doors.office.week import DAYS, NO_JOB, Deed, deeds, monday_of, week_of
from mainstay.doors.office.week_forms import faults_of, sent_from
from mainstay.doors.pages.asking import Asked
from mainstay.doors.pages.door import Route, form_at
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.showing import state_of
from mainstay.doors.pages.words import side_by_side
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.terms.refusal import Invalid, Refusal, Stale
from mainstay.terms.rights import Right
from mainstay.values.durations import hours_text, read_minutes

# So many entries are shown of a week and the one before, and so many jobs are listed to choose from.
_ENTRIES, _JOBS, _PEOPLE = 100, 100, 100
_JOB = Asked("job", "Job", None, "reference", required=False, refers="job")
_NONE = {NO_JOB, "no job"}
_WEEK = "/hours/week"
# What is refused of a week as a whole, beside its cells.
_SUBMIT = "submit"


def _stopping(entry: dict[str, Any]) -> Sequence[Action]:
    """The way to stop a timer at once, back to its week."""
    answers = {"entry": entry["id"], "person": entry["personId"], "on": entry["on"]}
    return (Action(label_of(stop_timer), STOP, plain=True, answers=answers),)


def _submitting(entry: dict[str, Any]) -> Sequence[Action]:
    """The way to hand in this entry alone."""
    return (Action("Submit", HOURS.path_to(submit_hours, entry), plain=True),)


def _deciding(entry: dict[str, Any]) -> Sequence[Action]:
    """The ways to decide on it; whoever rejects it is asked why."""
    path = HOURS.path_to(review_hours, entry)
    return [
        Action(_DECISIONS[decision], path, plain=decision != _WITH_REASON, answers={"decision": decision})
        for decision in _decisions(entry)
    ]


def _decisions(entry: Mapping[str, Any]) -> list[Decision]:
    """What can be decided on it, the likeliest first."""
    return [decision for decision, status in DECIDED_IN.items() if status == entry["status"]]


def _in_form(entry: Mapping[str, Any]) -> list[Decision]:
    """What can be decided in the form: where one needs words it is for that, since the others have buttons."""
    decisions = _decisions(entry)
    return [_WITH_REASON] if _WITH_REASON in decisions else decisions


def _decided_in_form(entry: Mapping[str, Any]) -> str | None:
    """What the form is for; nothing can be decided on what is not handed in."""
    return next((_DECISIONS[decision] for decision in _in_form(entry)), None)


_DECISIONS: Mapping[Decision, str] = {"approve": "Approve", "reject": "Reject", "unapprove": "Un-approve"}
# The decision that needs a form.
_WITH_REASON: Decision = "reject"

HOURS = Arrangement(
    title="Hours",
    lead="What was worked, by whom, on what.",
    path="/hours",
    area="Hours",
    gets=get_time_entry,
    lists=list_hours,
    creates=log_hours,
    called=lambda entry: side_by_side(_length(entry), entry["personName"], between=" · "),
    below=lambda entry: side_by_side(entry["jobNumber"], entry["jobTitle"]) if entry["jobId"] else "No job",
    columns=("status", "on", "note"),
    apart=("on",),
    facts=(
        "personName",
        "on",
        "minutes",
        "startedAt",
        "endedAt",
        "breakMinutes",
        "note",
        "reviewNote",
        "billable",
        "billableMinutes",
        "billed",
        "costRate",
        "billRate",
    ),
    tabs={"all": "All", "running": "Running", "draft": "Drafts", "submitted": "Submitted"}
    | {"approved": "Approved", "rejected": "Rejected"},
    above="hours_above.html",
    more="time_entry.html",
    empty="No hours yet. Log some, or start a timer.",
    leading={stop_timer.name: _stopping, submit_hours.name: _submitting, review_hours.name: _deciding},
    choices={"decision": tuple(_DECISIONS.items())},
    possible={"decision": lambda entry, _by: _in_form(entry)},
    purposes={review_hours.name: _decided_in_form},
    needed={"reason": ("decision", _WITH_REASON)},
)


def _length(entry: Mapping[str, Any]) -> str:
    return "Running" if entry["minutes"] is None else hours_text(entry["minutes"])


class _Place(NamedTuple):
    """Whose week is looked at, and which."""

    monday: date
    today: date
    person: str
    # Whether it is one's own.
    own: bool

    @property
    def path(self) -> str:
        """Its address."""
        return self.of(self.monday)

    def of(self, monday: date) -> str:
        """The address of another week of the same person."""
        asked = {"on": monday.isoformat()} if monday != monday_of(self.today) else {}
        asked |= {} if self.own else {"person": self.person}
        return _WEEK + (f"?{urlencode(asked)}" if asked else "")

    @property
    def span(self) -> dict[str, str]:
        """Its first and its last date."""
        return {"from": self.monday.isoformat(), "until": (self.monday + timedelta(days=DAYS - 1)).isoformat()}

    @property
    def whose(self) -> dict[str, str]:
        """What an operation is told of it."""
        return {} if self.own else {"personId": self.person}


@dataclass(frozen=True)
class Hours:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", _WEEK, enter(self.week)),
            Route("POST", _WEEK, enter(self.save)),
            *form_at(f"{_WEEK}/log", enter(self.log), _WEEK),
            *form_at("/hours/timer/start", enter(self.start), _WEEK),
            *form_at(STOP, enter(self.stop), _WEEK),
            *Approval(self.desk).routes(),
            *ToBill(self.desk).routes(),
            *Room(self.desk, HOURS, shows=self._above).routes(),
        ]

    async def week(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """A week of hours, one's own or another's."""
        at = self._place(guest, {**query_words(guest.request), **guest.typed})
        return await self._page(guest, at, guest.typed)

    async def save(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Save everything that was typed, or nothing of it."""
        fields, guest, at = await self._sent(guest)
        try:
            job = await self._job(guest, fields)
        except Invalid as invalid:
            return await self._page(guest, at, fields, faults_of(invalid))
        wished, faults = deeds(fields, job, None if at.own else at.person)
        if fields.get("then") == "submit":
            wished.append(Deed(_SUBMIT, submit_hours, {**at.span, **at.whose}))
        if not faults:
            faults = await self.desk.visitors.runner.change(guest.actor.organisation, self._do, guest, wished)
        if faults:
            return await self._page(guest, at, fields, faults)
        return _back(at, wished[-1].operation.name if wished else "unchanged")

    async def log(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Log hours of one day."""
        fields, guest, at = await self._sent(guest)
        try:
            time = read_minutes(fields.get("time", ""))
        except ValueError as problem:
            return await self._page(guest, at, fields, {"time": f"Time {problem}."})
        given = {
            "minutes": time,
            "on": guest.here.read_date(fields.get("day", "")),
            "note": fields.get("note", "").strip() or None,
        }
        return await self._done(guest, at, log_hours, fields, given)

    async def start(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Start a timer; one that runs is stopped where that was asked for."""
        fields, guest, at = await self._sent(guest)
        given = {"switch": "switch" in fields, "note": fields.get("note", "").strip() or None}
        return await self._done(guest, at, start_timer, fields, given)

    async def stop(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Stop the timer."""
        fields, guest, at = await self._sent(guest)
        given: dict[str, object] = {
            name: text for name in ("note", "endedAt") if (text := fields.get(name, "").strip())
        }
        given |= {"endedAt": guest.here.read_time(fields["endedAt"])} if "endedAt" in given else {}
        try:
            given["breakMinutes"] = read_minutes(fields.get("break", "") or "0")
        except ValueError as problem:
            return await self._page(guest, at, fields, {"break": f"Break {problem}."})
        # On the page of an entry its own timer is meant, and no other that runs since.
        given |= {"timeEntryId": fields["entry"]} if fields.get("entry") else {}
        return await self._done(guest, at, stop_timer, fields, given)

    async def _done(
        self, guest: Guest, at: _Place, operation: Operation, fields: dict[str, str], given: Mapping[str, object]
    ) -> Response:
        about = {}
        try:
            if "job" in fields:
                job = await self._job(guest, fields)
                about = {"jobId": job} if job not in {"", NO_JOB} else {}
            whose = {} if "timeEntryId" in given else at.whose
            await self.desk.perform(guest, operation, {**given, **about, **whose})
        except Refusal as refusal:
            faults = faults_of(refusal)
            return await self._page(guest, at, fields, faults, None if faults else refusal)
        return _back(at, operation.name)

    async def _job(self, guest: Guest, fields: Mapping[str, str]) -> str:
        """The job that was chosen, or typed where there are many."""
        if fields.get("job", "").strip().lower() in _NONE:
            return NO_JOB
        return (await References(self.desk).resolved(guest, [_JOB], fields)).get("job", "")

    async def _sent(self, guest: Guest) -> tuple[dict[str, str], Guest, _Place]:
        fields = await self.desk.form(guest)
        return fields, guest.sending(fields), self._place(guest, fields)

    def _place(self, guest: Guest, words: Mapping[str, str]) -> _Place:
        today = self.desk.today(guest)
        try:
            chosen = date.fromisoformat(words.get("on", ""))
        except ValueError:
            chosen = today
        # The ends of time have no whole weeks.
        monday = monday_of(min(max(chosen, date(2000, 1, 3)), today + timedelta(days=366)))
        person = words.get("person", "") if guest.actor.may(Right.ALL_HOURS_READ) else ""
        own = str(guest.actor.id)
        return _Place(monday, today, person or own, person in {"", own})

    async def _page(
        self,
        guest: Guest,
        at: _Place,
        typed: Mapping[str, str] | None = None,
        faults: Mapping[str, str] | None = None,
        refusal: Refusal | None = None,
    ) -> Response:
        entries = await self._entries(guest, at)
        jobs = await self.desk.perform(guest, list_jobs, {"status": "live", "limit": _JOBS})
        told = [{**one, "state": state_of(list_hours.output, one["status"])} for one in entries["data"]]
        week = week_of(at.monday, at.today, told, typed, faults)
        return self.desk.page(
            "hours_week.html",
            guest,
            422 if faults else status_of(refusal),
            area="Hours",
            at=at,
            week=week,
            # What was typed stays in sight, also where it is refused because nothing can be changed any more.
            types=guest.may(log_hours) or bool(typed),
            more=entries["hasMore"],
            before=at.of(at.monday - timedelta(days=DAYS)),
            after=at.of(at.monday + timedelta(days=DAYS)),
            timer=await running_timer(self.desk, guest, at.person),
            stop=STOP,
            jobs=await self._likely_first(guest, at, jobs["data"]),
            many_jobs=jobs["hasMore"],
            people=await self._people(guest),
            typed=typed or {},
            sent=sent_from(typed or {}),
            wrong=faults or {},
            marks=bool((faults or {}).keys() - {_SUBMIT}),
            problem=refusal.text if refusal else None,
            notice=AS_LEFT if guest.typed and not (faults or refusal) else self.desk.notice(guest),
            **await self._above(guest, None),
        )

    async def _entries(self, guest: Guest, at: _Place) -> dict[str, Any]:
        """The hours of the week, and of the one before, whose jobs are likely to go on."""
        asked = {
            "personId": at.person,
            **at.span,
            "from": (at.monday - timedelta(days=DAYS)).isoformat(),
            "limit": _ENTRIES,
        }
        return await self.desk.list(guest, list_hours, asked)

    async def _likely_first(self, guest: Guest, at: _Place, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Jobs to choose from, those first that they are planned on today."""
        if not guest.may(list_visits):
            return jobs
        day = at.today.isoformat()
        asked = {"personId": at.person, "from": day, "until": day, "limit": _JOBS}
        found = await self.desk.perform(guest, list_visits, asked)
        planned = [visit["jobId"] for visit in found["data"]]
        return sorted(jobs, key=lambda job: planned.index(job["id"]) if job["id"] in planned else len(planned))

    async def _people(self, guest: Guest) -> list[dict[str, Any]]:
        if not guest.actor.may(Right.ALL_HOURS_READ):
            return []
        found = await self.desk.perform(guest, list_people, {"limit": _PEOPLE, "order": "name"})
        people: list[dict[str, Any]] = found["data"]
        return people

    async def _above(self, guest: Guest, record: Mapping[str, Any] | None) -> dict[str, Any]:
        return {} if record else {"reviews": sees_queue(guest)}

    def _do(self, guest: Guest, wished: Sequence[Deed]) -> dict[str, str]:
        """Do all of it as one change; where anything is refused nothing is done, and it is told by cell what was."""
        try:
            with self.desk.visitors.stage.together(guest.actor.organisation) as stage:
                self._do_each(stage, guest, wished)
        except _RefusedError as refused:
            return refused.faults
        return {}

    def _do_each(self, stage: Stage, guest: Guest, wished: Sequence[Deed]) -> None:
        faults: dict[str, str] = {}
        for deed in wished:
            envelope = guest.envelope(deed.cell, deed.version)
            try:
                stage.perform(deed.operation, guest.actor, orjson.dumps(deed.given), envelope)
            except Stale:
                faults[deed.cell] = "It was changed meanwhile. Look at it, then save again."
            except Refusal as refusal:
                faults[deed.cell] = self.desk.in_words(guest, deed.operation, deed.given, refusal).text
        if faults:
            raise _RefusedError(faults)


class _RefusedError(Exception):
    """Something of the many was refused, so none of it counts."""

    def __init__(self, faults: dict[str, str]) -> None:
        super().__init__()
        self.faults = faults


def _back(at: _Place, done: str) -> Response:
    mark = "&" if "?" in at.path else "?"
    return see_other(f"{at.path}{mark}{urlencode({'done': done})}")

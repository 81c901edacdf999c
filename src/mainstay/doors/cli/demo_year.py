"""The believable past of a firm and its next weeks, around today: the same each time, but for the dates."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.customers.places import save_contact, save_site
from mainstay.business.hours.operations import log_hours
from mainstay.business.hours.review import review_hours, submit_hours
from mainstay.business.hours.timers import start_timer
from mainstay.business.jobs.operations import change_job_status, create_job
from mainstay.business.records.documents import add_document
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.cancelling import cancel_job
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import plan_visit, set_visit_status
from mainstay.doors.cli import demo_words as words
from mainstay.doors.cli.demo_files import Album
from mainstay.doors.cli.demo_money import Books
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Refusal

ZONE = "Europe/London"
# What came in the last weeks came lately, and for so many weeks ahead there are visits.
_LATELY, _AHEAD = timedelta(weeks=10), timedelta(weeks=3)
_MORNING, _AFTERNOON = (time(8, 30), time(11, 45)), (time(12, 45), time(16, 0))
# What is new is not begun yet, and every so many of it not agreed.
_NEW, _ASKED = timedelta(days=12), 4
# Every so many jobs have a note, are called off, or held.
_NOTED, _CALLED_OFF, _HELD = 6, 15, 25
_LEFT = 4
DESK, HEAD = "desk", "head"
_SATURDAY = 5
# Done work is invoiced after so many days, but for some that is forgotten; and now and then nobody goes anywhere.
_INVOICED_AFTER, _NOT_FORGOTTEN, _IDLE = 15, 0.95, 0.2


@dataclass(frozen=True)
class Size:
    """How much there is of everything."""

    customers: int
    jobs: int
    # Business grows: so many of the jobs came lately.
    of_late: int
    # How far back it begins; and how far back there are visits, before which jobs only come and go.
    past: timedelta
    visited: timedelta
    # How many visits a job takes, each as likely.
    visits: tuple[int, ...]
    # Of so many jobs, one has photos and papers.
    pictured: int


A_YEAR = Size(60, 300, 150, timedelta(days=365), timedelta(weeks=5), (2, 2, 3, 4), 2)
# So many are met before they are kept.
_MET = 100


@dataclass
class Job:
    """A job as the year goes on."""

    id: str
    number: str
    title: str
    begun: date
    # How many visits it still takes, and on which day its work was done.
    left: int
    pictured: bool
    # Whether its price was agreed when it was taken on.
    agreed: bool
    done: date | None = None
    in_progress: bool = False


@dataclass
class Year:
    """Lives through it, day by day."""

    operator: Operator
    # Who plans the work and who heads the firm, by these words; and those in the field.
    people: dict[str, Actor]
    field_people: list[Actor]
    today: date
    size: Size = A_YEAR
    # The same each time: it decides nothing that anyone should not guess.
    chance: Random = field(default_factory=lambda: Random(2026))
    customers: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[Job] = field(default_factory=list)
    finished: list[Job] = field(default_factory=list)
    album: Album = field(init=False)
    books: Books = field(init=False)

    def __post_init__(self) -> None:
        self.album = Album(self.operator.files)
        self.books = Books(partial(self._do, self.people[DESK]), self.chance)

    def live(self) -> Iterator[int]:
        """From its beginning to some weeks ahead; now and then, how many jobs there are."""
        first = self.today - self.size.past
        yield from self._meet_customers(first)
        last = self.today - timedelta(days=1)
        early = list(_working_days(first, last - _LATELY))
        late = list(_working_days(last - _LATELY + timedelta(days=1), last))
        made = 0
        for days, jobs in ((early, self.size.jobs - self.size.of_late), (late, self.size.of_late)):
            before = made
            for number, day in enumerate(days, start=1):
                while made - before < jobs * number // len(days):
                    self._make_job(day, made)
                    made += 1
                self._work(day)
                yield made
        self._today()
        self._plan_ahead()
        self._take_leave()
        yield made

    def _do(self, who: Actor, day: date, at: time, operation: Operation, **given: object) -> Outcome:
        """Let someone do something then; of today, nothing that is still to come."""
        moment = min(datetime.combine(day, at, ZoneInfo(ZONE)).astimezone(UTC), self.operator.stage.clock())
        stage = replace(self.operator.stage, clock=lambda: moment)
        return replace(self.operator, stage=stage).perform(operation, who, **given)

    def _meet_customers(self, day: date) -> Iterator[int]:
        office = self.people[DESK]
        for number in range(self.size.customers):
            known, at = words.customer(self.chance, number), time(9, number % 60)
            made = self._do(office, day, at, create_customer, **known["customer"])
            contact = self._do(office, day, at, save_contact, customerId=made["id"], **known["contact"])
            of_customer = {"customerId": made["id"], "contactId": contact["id"]}
            sites = [self._do(office, day, at, save_site, **of_customer, **site) for site in known["sites"]]
            self.customers.append({"id": made["id"], "sites": [site["id"] for site in sites]})
            if number % _MET == _MET - 1:
                yield 0
        last = self.customers.pop()
        self._do(office, day, time(17), archive_customer, customerId=last["id"])

    def _make_job(self, day: date, number: int) -> None:
        office, customer = self.people[DESK], self.chance.choice(self.customers)
        # What came in lately and is not agreed yet.
        asked = self.today - day < _NEW and number % _ASKED == 0
        given = words.job(self.chance) | {
            "customerId": customer["id"],
            "siteId": self.chance.choice(customer["sites"]),
            "status": "enquiry" if asked else "open",
            "dueOn": (day + timedelta(days=self.chance.randrange(14, 75))).isoformat(),
            "leadPersonId": self.chance.choice(self.field_people).id,
        }
        made = self._do(office, day, time(10, number % 60), create_job, **given)
        if number % _NOTED == 0:
            text = self.chance.choice(words.NOTES)
            self._do(office, day, time(11), add_note, recordId=made["id"], text=text)
        if number % _CALLED_OFF == _NOTED:
            reason = self.chance.choice(words.REASONS)
            self._do(office, day, time(16), cancel_job, jobId=made["id"], reason=reason, confirmed=True)
        elif number % _HELD == _NOTED:
            self._move(day, made["id"], "onHold")
        elif asked:
            self.books.offer(day, made, number, asked=True)
        else:
            self.books.offer(day, made, number, asked=False)
            visits, pictured = self.chance.choice(self.size.visits), number % self.size.pictured == 0
            agreed = made["billing"] == "fixed"
            self.waiting.append(Job(made["id"], made["number"], made["title"], day, visits, pictured, agreed))

    def _move(self, day: date, job: str, status: str) -> None:
        self._do(self.people[DESK], day, time(17), change_job_status, jobId=job, status=status)

    def _work(self, day: date) -> None:
        """What was done on a working day that is over."""
        if self.today - day <= self.size.visited:
            self._visits(day)
            self._week(day)
        else:
            for job in self.waiting[:2]:
                job.left = 0
                self._finish(day, job)
        for job in [job for job in self.finished if job.done and (day - job.done).days > _INVOICED_AFTER]:
            self.finished.remove(job)
            # Some are forgotten, until someone asks what is to be invoiced.
            if self.chance.random() < _NOT_FORGOTTEN:
                self.books.bill(day, job)
        self.books.live(day)

    def _finish(self, day: date, job: Job) -> None:
        self.waiting.remove(job)
        job.done = day
        self.finished.append(job)
        self._move(day, job.id, "done")

    def _visits(self, day: date) -> None:
        for person in self.field_people:
            for begin, end in (_MORNING, _AFTERNOON):
                ready = [job for job in self.waiting if job.left and day - job.begun > _NEW / 2]
                if not ready or self.chance.random() < _IDLE:
                    continue
                job = self.chance.choice(ready)
                visit = self._plan(day, job.id, [person], begin, end)
                given = {"startedAt": _wall(day, begin), "endedAt": _wall(day, end)}
                self._do(person, day, end, set_visit_status, visitId=visit["id"], status="done")
                self._do(person, day, end, log_hours, jobId=job.id, visitId=visit["id"], **given)
                if not job.in_progress:
                    self._add_file(day, person, job, self.album.photo(job.title))
                    self._add_file(day, person, job, self.album.parts(job.title))
                job.left -= 1
                job.in_progress = True
                if not job.left:
                    self._finish(day, job)
                    certificate = self.album.certificate(job.number, job.title, day.isoformat())
                    self._add_file(day, self.people[DESK], job, certificate)

    def _add_file(self, day: date, who: Actor, job: Job, file: dict[str, object] | None) -> None:
        if file and job.pictured:
            self._do(who, day, time(16, 30), add_document, recordId=job.id, **file)

    def _plan(self, day: date, job: str, people: list[Actor], begin: time, end: time, **more: object) -> Outcome:
        # What is ahead is planned today: some of the jobs came in only now.
        planned = self.today if day > self.today else day - timedelta(days=2)
        given = {"startsAt": _wall(day, begin), "endsAt": _wall(day, end), **more}
        people_ids = [person.id for person in people]
        return self._do(self.people[DESK], planned, time(15), plan_visit, jobId=job, personIds=people_ids, **given)

    def _week(self, day: date) -> None:
        """On Mondays people submit the week before; the office approves it, but for the last."""
        if day.weekday() != 0:
            return
        first, last = day - timedelta(days=7), day - timedelta(days=1)
        for number, person in enumerate(self.field_people):
            try:
                week = self._do(
                    person, day, time(8), submit_hours, **{"from": first.isoformat(), "until": last.isoformat()}
                )
            except Refusal:
                continue
            entries = [entry["id"] for entry in week["entries"]]
            if self.today - day > timedelta(days=6):
                self._review(day, entries, "approve")
            elif number == 0 and entries:
                self._review(day, entries[:1], "reject", reason="This was the other job, was it not?")

    def _review(self, day: date, entries: list[str], decision: str, **more: object) -> None:
        given = {"timeEntryIds": entries, "decision": decision, **more}
        self._do(self.people[DESK], day, time(14), review_hours, **given)

    def _today(self) -> None:
        """This morning: everyone is at work, at a weekend only who is on call."""
        self._week(self.today)
        busy = [job for job in self.waiting if job.in_progress] or self.waiting
        for number, person in enumerate(self.field_people if _is_working(self.today) else self.field_people[:1]):
            self._plan(self.today, busy[number % len(busy)].id, [person], *_MORNING)
            self._plan(self.today, busy[(number + 1) % len(busy)].id, [person], *_AFTERNOON)
        self._do(self.field_people[0], self.today, time(0, 1), start_timer, jobId=busy[0].id)
        if self.finished:
            self.books.begin(self.today, self.finished[0])

    def _plan_ahead(self) -> None:
        to_plan = [job for job in self.waiting if not job.in_progress]
        # Some are left for whoever tries the schedule; of the next, it is not said who or when.
        vague, ahead = to_plan[_LEFT : 2 * _LEFT], iter(to_plan[2 * _LEFT :])
        for number, day in enumerate(_working_days(self.today + timedelta(days=1), self.today + _AHEAD)):
            for person in self.field_people[number % 2 :]:
                job = next(ahead, None)
                if job:
                    self._plan(day, job.id, [person], *(_MORNING if number % 3 else _AFTERNOON))
        for number, job in enumerate(vague):
            day = next(_working_days(self.today + timedelta(days=2 + number), self.today + _AHEAD))
            if number % 2:
                self._plan(day, job.id, [], *_AFTERNOON)
            else:
                given = {"jobId": job.id, "on": day.isoformat(), "personIds": [self.field_people[-1].id]}
                self._do(self.people[DESK], self.today, time(0, 2), plan_visit, **given)
        monday = self.today + timedelta(days=7 - self.today.weekday())
        self._do(
            self.people[DESK],
            self.today,
            time(0, 3),
            plan_visit,
            title="Toolbox talk",
            kind="other",
            personIds=[person.id for person in self.field_people[:2]],
            startsAt=_wall(monday, time(7, 30)),
            durationMinutes=30,
            repeat={"every": 1, "unit": "week", "count": 4},
        )

    def _take_leave(self) -> None:
        asked = []
        for person, first, last in ((self.field_people[1], 16, 18), (self.field_people[2], 24, 25)):
            days = {
                "from": (self.today + timedelta(days=first)).isoformat(),
                "until": (self.today + timedelta(days=last)).isoformat(),
            }
            asked.append(self._do(person, self.today, time(0, 4), request_time_off, **days))
        given = {"timeOffId": asked[0]["id"], "decision": "approve"}
        self._do(self.people[HEAD], self.today, time(0, 5), decide_time_off, **given)


def _working_days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        if _is_working(day := first + timedelta(days=number)):
            yield day


def _is_working(day: date) -> bool:
    return day.weekday() < _SATURDAY


def _wall(day: date, at: time) -> str:
    return f"{day.isoformat()}T{at:%H:%M}"

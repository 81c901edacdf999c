"""A believable past of a firm and its next weeks, around today. Only the dates differ from time to time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.hours.approval import review_hours, submit_hours
from mainstay.business.hours.operations import log_hours
from mainstay.business.hours.timers import start_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import change_job_status, create_job
from mainstay.business.records.attachments import add_document
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.job_cancellation import cancel_job
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import plan_visit
from mainstay.demo import texts as words
from mainstay.demo.files import DemoFiles
from mainstay.demo.money import DemoBooks
from mainstay.demo.performing import DemoPerformer
from mainstay.kernel.operation import Operation
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Refusal

TIME_ZONE = "Europe/London"
# How long ago still counts as recent, and how far ahead visits are planned.
_RECENT, _AHEAD = timedelta(weeks=10), timedelta(weeks=3)
_MORNING, _AFTERNOON = (time(8, 30), time(11, 45)), (time(12, 45), time(16, 0))
# A new job is not begun yet; one in so many new jobs is an enquiry.
_NEW_WITHIN, _ENQUIRY_EVERY = timedelta(days=12), 4
# One in so many jobs has a note, is cancelled, or is on hold.
_NOTE_EVERY, _CANCEL_EVERY, _HOLD_EVERY = 6, 15, 25
_LEFT_UNPLANNED = 4
_TIMER_RUNS = timedelta(hours=2)
OFFICE, OWNER = "desk", "head"
_SATURDAY = 5
# After how many days finished jobs are invoiced, which share of them is, and the share of half days without a visit.
_INVOICE_AFTER_DAYS, _INVOICED_SHARE, _IDLE_SHARE = 15, 0.95, 0.2


@dataclass(frozen=True)
class DemoSize:
    """How much data a firm of the demo has."""

    customers: int
    jobs: int
    # How many of the jobs are recent: business grows.
    recent_jobs: int
    # How far back the history begins, and how far back it has visits; older jobs are only created and finished.
    past: timedelta
    visits_since: timedelta
    # The numbers of visits that a job may take, each as likely.
    visits: tuple[int, ...]
    # One in so many jobs has photos and documents.
    files_every: int


ONE_YEAR = DemoSize(60, 300, 150, timedelta(days=365), timedelta(weeks=5), (2, 2, 3, 4), 2)


@dataclass
class DemoJob:
    """A job, with what is still to happen to it."""

    id: str
    number: str
    title: str
    created_on: date
    # How many visits it still takes.
    visits_left: int
    has_files: bool
    # Whether a price was agreed when it was created.
    is_price_agreed: bool
    done_on: date | None = None
    in_progress: bool = False


@dataclass
class DemoYear:
    """Creates the history of a firm, day by day."""

    performer: DemoPerformer
    # The person in the office and the owner, by these keys; and the people in the field.
    office_people: dict[str, Actor]
    field_people: list[Actor]
    today: date
    size: DemoSize
    # None if its jobs have no photos and documents.
    files: DemoFiles | None
    # The same numbers each time. Nothing secret depends on them.
    rng: Random = field(default_factory=lambda: Random(2026))
    customers: list[dict[str, Any]] = field(default_factory=list)
    open_jobs: list[DemoJob] = field(default_factory=list)
    finished_jobs: list[DemoJob] = field(default_factory=list)
    books: DemoBooks = field(init=False)

    def __post_init__(self) -> None:
        self.books = DemoBooks(partial(self._perform, self.office_people[OFFICE]), self.rng)

    def make_work(self) -> Iterator[int]:
        """Create everything from the beginning to some weeks ahead; yield the number of jobs now and then."""
        first = self.today - self.size.past
        yield from self._create_customers(first)
        last = self.today - timedelta(days=1)
        early = list(_working_days(first, last - _RECENT))
        late = list(_working_days(last - _RECENT + timedelta(days=1), last))
        job_count = 0
        for days, jobs in ((early, self.size.jobs - self.size.recent_jobs), (late, self.size.recent_jobs)):
            count_before = job_count
            for number, day in enumerate(days, start=1):
                while job_count - count_before < jobs * number // len(days):
                    self._create_job(day, job_count)
                    job_count += 1
                self._fill_past_day(day)
                yield job_count
        for complete in (self._fill_today, self._plan_ahead, self._request_leave):
            complete()
            yield job_count

    def _perform(self, actor: Actor, day: date, at: time, operation: Operation, **given: object) -> JsonObject:
        """Perform an operation as an actor at a moment of a day, but never in the future."""
        moment = min(datetime.combine(day, at, ZoneInfo(TIME_ZONE)).astimezone(UTC), self.performer.now)
        return self.performer.perform_at(moment, operation, actor, **given)

    def _create_customers(self, day: date) -> Iterator[int]:
        """Create the customers; yield 0 jobs after each."""
        office = self.office_people[OFFICE]
        for number in range(self.size.customers):
            details, at = words.make_customer(self.rng, number), time(9, number % 60)
            customer = self._perform(office, day, at, create_customer, **details["customer"])
            contact = self._perform(office, day, at, save_contact, customerId=customer["id"], **details["contact"])
            of_customer = {"customerId": customer["id"], "contactId": contact["id"]}
            sites = [self._perform(office, day, at, save_site, **of_customer, **site) for site in details["sites"]]
            self.customers.append({"id": customer["id"], "sites": [site["id"] for site in sites]})
            yield 0
        last = self.customers.pop()
        self._perform(office, day, time(17), archive_customer, customerId=last["id"])

    def _create_job(self, day: date, number: int) -> None:
        office, customer = self.office_people[OFFICE], self.rng.choice(self.customers)
        # Some recent jobs are only enquiries.
        is_enquiry = self.today - day < _NEW_WITHIN and number % _ENQUIRY_EVERY == 0
        given = words.make_job(self.rng) | {
            "customerId": customer["id"],
            "siteId": self.rng.choice(customer["sites"]),
            "status": "enquiry" if is_enquiry else "open",
            "dueOn": (day + timedelta(days=self.rng.randrange(14, 75))).isoformat(),
            "leadPersonId": self.rng.choice(self.field_people).id,
        }
        job = self._perform(office, day, time(10, number % 60), create_job, **given)
        if number % _NOTE_EVERY == 0:
            text = self.rng.choice(words.NOTES)
            self._perform(office, day, time(11), add_note, recordId=job["id"], text=text)
        if number % _CANCEL_EVERY == _NOTE_EVERY:
            reason = self.rng.choice(words.CANCEL_REASONS)
            self._perform(office, day, time(16), cancel_job, jobId=job["id"], reason=reason, confirmed=True)
        elif number % _HOLD_EVERY == _NOTE_EVERY:
            self._change_status(day, job["id"], "onHold")
        elif is_enquiry:
            self.books.offer_job(day, job, number, is_enquiry=True)
        else:
            self.books.offer_job(day, job, number, is_enquiry=False)
            visits, has_files = self.rng.choice(self.size.visits), number % self.size.files_every == 0
            is_price_agreed = job["billing"] == "fixed"
            self.open_jobs.append(
                DemoJob(job["id"], job["number"], job["title"], day, visits, has_files, is_price_agreed)
            )

    def _change_status(self, day: date, job_id: str, status: str) -> None:
        self._perform(self.office_people[OFFICE], day, time(17), change_job_status, jobId=job_id, status=status)

    def _fill_past_day(self, day: date) -> None:
        """Create what happened on a past working day."""
        if self.today - day <= self.size.visits_since:
            self._make_visits(day)
            self._submit_week(day)
        else:
            for job in self.open_jobs[:2]:
                job.visits_left = 0
                self._finish_job(day, job)
        for job in [
            job for job in self.finished_jobs if job.done_on and (day - job.done_on).days > _INVOICE_AFTER_DAYS
        ]:
            self.finished_jobs.remove(job)
            # Some are not invoiced, so that the list of what is to be invoiced has entries.
            if self.rng.random() < _INVOICED_SHARE:
                self.books.bill_job(day, job)
        self.books.perform_due(day)

    def _finish_job(self, day: date, job: DemoJob) -> None:
        self.open_jobs.remove(job)
        job.done_on = day
        self.finished_jobs.append(job)
        self._change_status(day, job.id, "done")

    def _make_visits(self, day: date) -> None:
        for person in self.field_people:
            for begin, end in (_MORNING, _AFTERNOON):
                ready = [job for job in self.open_jobs if job.visits_left and day - job.created_on > _NEW_WITHIN / 2]
                if not ready or self.rng.random() < _IDLE_SHARE:
                    continue
                job = self.rng.choice(ready)
                visit = self._plan_visit(day, job.id, [person], begin, end)
                given = {"startedAt": _to_local_text(day, begin), "endedAt": _to_local_text(day, end)}
                self._perform(person, day, end, set_visit_status, visitId=visit["id"], status="done")
                self._perform(person, day, end, log_hours, jobId=job.id, visitId=visit["id"], **given)
                if self.files and job.has_files and not job.in_progress:
                    self._add_file(day, person, job, self.files.get_photo(job.title))
                    self._add_file(day, person, job, self.files.make_parts_list(job.title))
                job.visits_left -= 1
                job.in_progress = True
                if not job.visits_left:
                    self._finish_job(day, job)
                    if self.files and job.has_files:
                        certificate = self.files.make_certificate(job.number, job.title, day.isoformat())
                        self._add_file(day, self.office_people[OFFICE], job, certificate)

    def _add_file(self, day: date, actor: Actor, job: DemoJob, file: dict[str, object] | None) -> None:
        if file:
            self._perform(actor, day, time(16, 30), add_document, recordId=job.id, **file)

    def _plan_visit(
        self, day: date, job_id: str, people: list[Actor], begin: time, end: time, **more: object
    ) -> JsonObject:
        # Future visits are planned today, because some of the jobs were created only now.
        planned_on = self.today if day > self.today else day - timedelta(days=2)
        given = {"startsAt": _to_local_text(day, begin), "endsAt": _to_local_text(day, end), **more}
        people_ids = [person.id for person in people]
        return self._perform(
            self.office_people[OFFICE], planned_on, time(15), plan_visit, jobId=job_id, personIds=people_ids, **given
        )

    def _submit_week(self, day: date) -> None:
        """On a Monday, submit everyone's hours of the week before, and approve them unless they are the latest."""
        if day.weekday() != 0:
            return
        first, last = day - timedelta(days=7), day - timedelta(days=1)
        for number, person in enumerate(self.field_people):
            try:
                week = self._perform(
                    person, day, time(8), submit_hours, **{"from": first.isoformat(), "until": last.isoformat()}
                )
            except Refusal:
                continue
            entries = [entry["id"] for entry in week["entries"]]
            if self.today - day > timedelta(days=6):
                self._review_hours(day, entries, "approve")
            elif number == 0 and entries:
                self._review_hours(day, entries[:1], "reject", reason="This was the other job, was it not?")

    def _review_hours(self, day: date, entries: list[str], decision: str, **more: object) -> None:
        given = {"timeEntryIds": entries, "decision": decision, **more}
        self._perform(self.office_people[OFFICE], day, time(14), review_hours, **given)

    def _fill_today(self) -> None:
        """Plan today's visits: for everyone on a working day, for one person at a weekend."""
        self._submit_week(self.today)
        busy = [job for job in self.open_jobs if job.in_progress] or self.open_jobs
        has_begun = self.performer.now >= datetime.combine(self.today, _MORNING[0], ZoneInfo(TIME_ZONE))
        for number, person in enumerate(self.field_people if _is_working_day(self.today) else self.field_people[:1]):
            visit = self._plan_visit(self.today, busy[number % len(busy)].id, [person], *_MORNING)
            self._plan_visit(self.today, busy[(number + 1) % len(busy)].id, [person], *_AFTERNOON)
            if has_begun:
                # One person has started a timer as well.
                given = {"visitId": visit["id"], "status": "started", "timer": number == 0}
                at = self._choose_timer_start() if number == 0 else _MORNING[0]
                self._perform(person, self.today, at, set_visit_status, **given)
        if not has_begun:
            self._perform(self.field_people[0], self.today, self._choose_timer_start(), start_timer, jobId=busy[0].id)
        if self.finished_jobs:
            self.books.bill_today(self.today, self.finished_jobs[0])

    def _choose_timer_start(self) -> time:
        """Return when today's timer was started: two hours ago, but not yesterday."""
        started = self.performer.now.astimezone(ZoneInfo(TIME_ZONE)) - _TIMER_RUNS
        return started.time() if started.date() == self.today else time(0, 1)

    def _plan_ahead(self) -> None:
        to_plan = [job for job in self.open_jobs if not job.in_progress]
        # Some jobs stay unplanned, so that people can try the schedule. The next get a visit without person or time.
        undecided, ahead = to_plan[_LEFT_UNPLANNED : 2 * _LEFT_UNPLANNED], iter(to_plan[2 * _LEFT_UNPLANNED :])
        for number, day in enumerate(_working_days(self.today + timedelta(days=1), self.today + _AHEAD)):
            for person in self.field_people[number % 2 :]:
                job = next(ahead, None)
                if job:
                    self._plan_visit(day, job.id, [person], *(_MORNING if number % 3 else _AFTERNOON))
        for number, job in enumerate(undecided):
            day = next(_working_days(self.today + timedelta(days=2 + number), self.today + _AHEAD))
            if number % 2:
                self._plan_visit(day, job.id, [], *_AFTERNOON)
            else:
                given = {"jobId": job.id, "on": day.isoformat(), "personIds": [self.field_people[-1].id]}
                self._perform(self.office_people[OFFICE], self.today, time(0, 2), plan_visit, **given)
        monday = self.today + timedelta(days=7 - self.today.weekday())
        self._perform(
            self.office_people[OFFICE],
            self.today,
            time(0, 3),
            plan_visit,
            title="Toolbox talk",
            kind="other",
            personIds=[person.id for person in self.field_people[:2]],
            startsAt=_to_local_text(monday, time(7, 30)),
            durationMinutes=30,
            repeat={"every": 1, "unit": "week", "count": 4},
        )

    def _request_leave(self) -> None:
        requests = []
        for person, first, last in ((self.field_people[1], 16, 18), (self.field_people[2], 24, 25)):
            days = {
                "from": (self.today + timedelta(days=first)).isoformat(),
                "until": (self.today + timedelta(days=last)).isoformat(),
            }
            requests.append(self._perform(person, self.today, time(0, 4), request_time_off, **days))
        given = {"timeOffId": requests[0]["id"], "decision": "approve"}
        self._perform(self.office_people[OWNER], self.today, time(0, 5), decide_time_off, **given)


def _working_days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        if _is_working_day(day := first + timedelta(days=number)):
            yield day


def _is_working_day(day: date) -> bool:
    return day.weekday() < _SATURDAY


def _to_local_text(day: date, at: time) -> str:
    return f"{day.isoformat()}T{at:%H:%M}"

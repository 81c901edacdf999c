"""A firm of any size: so many jobs, and customers, visits, hours, leave, notes, invoices and orders to match.

Records are written in bulk, without the events of operations, which would take an hour: by the product's own listings,
with its words and its stages; who sees which job is copied here as its store copies it. The trail has one act of each
job, whose chain nobody proves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import count, cycle, product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bench.books import TAX_RATE, BilledJob, DocumentWriter, make_shapes
from bench.bulk import BulkWriter
from bench.performing import perform
from bench.trail import write_acts

from mainstay.business.customers.model import Receives
from mainstay.business.customers.store import CONTACTS, CUSTOMERS, SITES
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.jobs.model import JobProgress, JobStatus, stage_of
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation import numbering
from mainstay.business.people.invitations import create_organisation
from mainstay.business.people.store import PEOPLE
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.operations import draft_quote
from mainstay.business.records.store import DOCUMENTS, NOTES
from mainstay.business.schedule.store import TIME_OFF, VISITS
from mainstay.changes import audit
from mainstay.changes.audit import AuditEntry
from mainstay.demo import texts as demo_texts
from mainstay.identity.authenticate import actor_of_person
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.values.address import Address
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Actor, Door, operator_actor
from mainstay.vocabulary.list_queries import COUNT_LIMIT

# A part of the names of as many customers in any firm.
RARE_WORD, _RARE_COUNT = "Quillfeather", 30
PASSWORD = "a password for the bench"
# So many lines has the invoice that is looked at.
INVOICE_LINES = 20
# Those of whom the firm's work is; beside them are one with few jobs and one with many.
CREW_SIZE = 28
FEW_JOBS = 10
# Of every five jobs so many are seen by the one with many.
MANY_SHARE, MANY_SHARE_OF = 2, 5
# Of each customer there are so few that those of the one with many are as many as a list counts in any firm.
JOBS_PER_CUSTOMER = 4
# This week and the next are as full in a small firm as in a large one.
VISITS_PER_DAY = 2
_WORKING_DAYS = 5
_DAYS_OF_HALF_A_YEAR = 182
# Of fifty jobs so many are at each state; of the open ones, the second half is planned.
_JOBS_BY_STATE: dict[JobStatus, int] = {
    "enquiry": 3,
    "open": 8,
    "inProgress": 3,
    "onHold": 3,
    "done": 8,
    "closed": 22,
    "cancelled": 3,
}
# Of the jobs of the one with few, in any firm; for the first, which is looked at, something is planned.
_STATES_OF_FEW: tuple[JobStatus, ...] = (
    "open",
    "open",
    "enquiry",
    "inProgress",
    "onHold",
    "done",
    *("closed",) * 3,
    "cancelled",
)
_HOURS_STATES = ("approved",) * 14 + ("draft", "draft", "submitted", "submitted", "submitted", "rejected")
_CHAINED_ACTS = 600
_LEAVE_NEXT_WEEK = 3


@dataclass(frozen=True, slots=True)
class BenchFirm:
    """An organisation, three people who read it, and the records they read."""

    owner: Actor
    # A member with ten jobs, and one with two fifths of them.
    few: Actor
    many: Actor
    # A person of the crew, and records that each of the three sees.
    person: str
    job: str
    customer: str
    site: str
    # For the customer: an invoice that is paid in part, and a quote. And someone from whom much is bought.
    invoice: str
    quote: str
    supplier: str


def make_firm(performer: Performer, data: Path, jobs: int, invoices: int | None = None) -> BenchFirm:
    """Fill a new organisation in the embedded database of this folder, with as many invoices as jobs or so many."""
    actor = operator_actor(new_id("org"))
    owner = perform(
        performer,
        create_organisation,
        actor,
        name=f"A firm with {jobs} jobs",
        ownerName="Ruth Hartley",
        ownerEmail=f"ruth@of-{jobs}.example",
        password=PASSWORD,
    )
    bulk = BulkWriter(actor.organisation, moment_text(performer.clock()), actor.stamp)
    perform(performer, save_tax_rate, actor, **TAX_RATE)
    with performer.database.write_transaction(actor.organisation) as db:
        document_shapes = make_shapes(Context(db, actor, RequestDetails(new_id("req")), performer.clock))
    maker = _FirmMaker(bulk, jobs, performer.clock().date())
    maker.write_records()
    books = DocumentWriter(bulk, invoices or jobs, maker.today, maker.billed, document_shapes)
    books.write_documents()
    bulk.write_rows(data / "mainstay.db")
    with performer.database.write_transaction(actor.organisation) as db:
        ctx = Context(db, actor, RequestDetails(new_id("req")), performer.clock)
        maker.write_last(ctx)
        books.set_next_numbers(ctx)
        people = (owner["id"], maker.few, maker.many)
        owner_actor, few, many = (actor_of_person(db, person, Door.OFFICE) for person in people)
    # A job that both members see, so that all three can be asked for the same.
    shared = maker.shared_jobs[0]
    customer, site = maker.customer_of(shared)
    job = maker.jobs[shared]
    invoice, quote = _make_documents(performer, owner_actor, job)
    supplier, _ = books.suppliers[0]
    return BenchFirm(owner_actor, few, many, maker.crew[0], job, customer.id, site.id, invoice, quote, supplier)


def make_lines(count: int) -> list[dict[str, object]]:
    """What an invoice says, in so many lines."""
    return [{"description": f"Work of the day {line}", "unit": "h", "unitPrice": "100.00"} for line in range(count)]


def _make_documents(performer: Performer, owner: Actor, job: str) -> tuple[str, str]:
    """An invoice for a job, issued and paid in part, and a quote, as the office makes them; their ids."""
    invoice = str(perform(performer, draft_invoice, owner, jobId=job, lines=make_lines(INVOICE_LINES))["id"])
    perform(performer, send_invoice, owner, invoiceId=invoice, deliver="none", confirmed=True)
    perform(performer, record_payment, owner, invoiceId=invoice, amount="250.00")
    quote = perform(performer, draft_quote, owner, jobId=job, title="Another boiler", lines=make_lines(INVOICE_LINES))
    return invoice, str(quote["id"])


class _NamedRecord(NamedTuple):
    """The id, name and address of a customer or a site."""

    id: str
    name: str
    address: str


@dataclass
class _FirmMaker:
    bulk: BulkWriter
    size: int
    today: date
    chance: Random = field(default_factory=lambda: Random(2026))
    crew: list[str] = field(default_factory=list)
    few: str = ""
    many: str = ""
    customers: list[tuple[_NamedRecord, _NamedRecord]] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    states: list[JobStatus] = field(default_factory=list)
    billed: list[BilledJob] = field(default_factory=list)

    def write_records(self) -> None:
        self.crew = [self._add_person(number) for number in range(CREW_SIZE)]
        self.few, self.many = self._add_person(CREW_SIZE), self._add_person(CREW_SIZE + 1)
        self.customers = [self._add_customer(number) for number in range(self.size // JOBS_PER_CUSTOMER)]
        self.states = [state for state, count in _JOBS_BY_STATE.items() for _ in range(count)] * (self.size // 50)
        self.chance.shuffle(self.states)
        for number, state in zip(self.shared_jobs, _STATES_OF_FEW, strict=True):
            other = self.states.index(state, number)
            self.states[number], self.states[other] = state, self.states[number]
        visits = list(self._make_visits())
        self._add_jobs(visits)
        for job, values in visits:
            self.bulk.add_record(VISITS, {**values, "job_id": self.jobs[job]})
        self._add_hours()
        self._add_leave()
        self._add_notes_and_files()
        write_acts(self.bulk, self.jobs, self.crew, self.today)

    def write_last(self, ctx: Context) -> None:
        """Write what depends on all records: visibility by visits, numbering, and the end of the trail."""
        ctx.db.run(_INSERT_PLANNED_JOBS)
        ctx.db.run(_INSERT_OWN_CUSTOMERS)
        numbering.save_series(ctx, "job", numbering.DEFAULT_SERIES["job"]._replace(next=self.size + 1))
        for number in range(_CHAINED_ACTS):
            entry = AuditEntry(
                ctx.now_text, ctx.stamp, f"req_{number}", "create_job", "{}", [], [self.jobs[number]], {}, {}
            )
            audit.write_entry(ctx.db, entry)

    @property
    def shared_jobs(self) -> list[int]:
        """The numbers of the jobs that the one with few jobs sees; the one with many sees them too."""
        return [number * (self.size // FEW_JOBS) for number in range(FEW_JOBS)]

    def customer_of(self, job: int) -> tuple[_NamedRecord, _NamedRecord]:
        """Return the customer and the site of the job with this number."""
        return self.customers[job % len(self.customers)]

    def _add_person(self, number: int) -> str:
        return self.bulk.add_record(
            PEOPLE,
            {
                "name": f"Person Number {number}",
                "email": f"person.{number}@of-{self.size}.example",
                "phone": f"+44 7700 {number:06}",
                "role": "member",
                "status": "active",
                "skills": ["gas"],
                "colour": "#0072c3",
                "company_name": None,
                **_PERSON_RATES,
            },
        )

    def _add_customer(self, number: int) -> tuple[_NamedRecord, _NamedRecord]:
        texts = demo_texts.make_customer(self.chance, number)
        customer_text, place = texts["customer"], Address.model_validate(texts["sites"][0]["address"])
        name = f"{customer_text['name']} {RARE_WORD}" if number < _RARE_COUNT else customer_text["name"]
        about = {
            "name": name,
            "kind": customer_text["kind"],
            "email": customer_text["email"],
            "phone": f"+44 1422 {number:06}",
            "billing_address": place,
            "reference": f"PO{number}",
            "external_ref": f"C{number}",
            "status": "archived" if number % 20 == 19 else "active",
        }
        customer = _NamedRecord(self.bulk.add_record(CUSTOMERS, about), name, "")
        contact_values = {
            "name": texts["contact"]["name"],
            "email": None,
            "phone": f"07700 {number:06}",
            "receives": Receives(),
        }
        of_customer = {"customer_id": customer.id, "status": "active"}
        contact = self.bulk.add_record(CONTACTS, contact_values | of_customer, customer_name=customer.name)
        at = {"name": place.line1, "address": place, "contact_id": contact}
        site = self.bulk.add_record(SITES, at | of_customer, customer_name=customer.name)
        return customer, _NamedRecord(site, str(place.line1), place.model_dump_json(by_alias=True))

    def _make_visits(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield as many visits as jobs, each with the number of its job."""
        planned, worked = cycle(self._planned_jobs()), cycle(self._worked_jobs())
        for number, (person, day, slot) in enumerate(self._make_slots()):
            over = day < self.today
            values = self._make_visit(day, slot, None if not over and number % 10 == 0 else self.crew[person])
            if over:
                values["status"] = "cancelled" if number % 20 == 0 else "done"
            yield next(worked if over else planned), values

    def _make_slots(self) -> Iterator[tuple[int, date, int]]:
        """Who goes somewhere when: this week and the next always as often, else over a year, however few there are."""
        monday = self.today - timedelta(days=self.today.weekday())
        this_week = range((monday - self.today).days, (monday - self.today).days + 14)
        for day, slot, person in product((0, 1, 2, 3, 4, 7, 8, 9, 10, 11), range(VISITS_PER_DAY), range(CREW_SIZE)):
            yield person, monday + timedelta(days=day), slot
        others = [day for day in range(-_DAYS_OF_HALF_A_YEAR, _DAYS_OF_HALF_A_YEAR + 1) if day not in this_week]
        for number in range(self.size - 2 * _WORKING_DAYS * VISITS_PER_DAY * CREW_SIZE):
            turn, person = divmod(number, CREW_SIZE)
            yield person, self.today + timedelta(days=others[turn * 100 % len(others)]), turn // len(others)

    def _make_visit(self, day: date, slot: int, person: str | None) -> dict[str, Any]:
        begin = datetime.combine(day, time(6), UTC) + timedelta(hours=slot)
        starts, ends = moment_text(begin), moment_text(begin + timedelta(minutes=45))
        when = {"time_zone": "Europe/London", "begins_at": starts, "starts_at": starts, "ends_at": ends}
        return {"person_id": person, "kind": "work", "status": "planned", "allow_overlap": False, **when}

    def _planned_jobs(self) -> list[int]:
        """The numbers of the jobs for which something is planned: every other of those that are open."""
        return [number for number, state in enumerate(self.states) if state == "open"][::2]

    def _worked_jobs(self) -> list[int]:
        return [number for number, state in enumerate(self.states) if state not in {"open", "enquiry"}]

    def _add_jobs(self, visits: Sequence[tuple[int, dict[str, Any]]]) -> None:
        coming: dict[int, list[str]] = {}
        for job, visit in visits:
            if visit["status"] == "planned":
                coming.setdefault(job, []).append(visit["begins_at"])
        for number in range(self.size):
            self._add_job(number, coming.get(number, []))

    def _add_job(self, number: int, coming: Sequence[str]) -> None:
        # The jobs of the one with few are alike in any firm: as many are late, or urgent, or about a boiler.
        which, behind = divmod(number, self.size // FEW_JOBS)
        turn, chance = (number, self.chance) if behind else (which, Random(which))
        texts, state, (customer, site) = demo_texts.make_job(chance), self.states[number], self.customer_of(number)
        stage, next_action = stage_of(JobProgress(state, texts["billing"], len(coming)))
        due = self.today + timedelta(days=turn * 7 % 360 - 180)
        copied_values = {
            "status": state,
            "stage": stage,
            "priority": ("low", "normal", "normal", "high", "urgent")[turn % 11 % 5],
            "customer_id": customer.id,
            "site_id": site.id,
            "lead_person_id": None if turn % 7 == 0 else self.crew[turn * 11 % CREW_SIZE],
            "due_on": None if turn % 13 == 0 else due.isoformat(),
        }
        assigned = [self.few] * (number % (self.size // FEW_JOBS) == 0) + [self.many] * (
            number % MANY_SHARE_OF < MANY_SHARE
        )
        about = {
            "number": f"J-{number + 1:04}",
            "next_action": next_action,
            "assigned": assigned,
            "customer_order_number": None,
            "cancel_reason": "The house is sold." if state == "cancelled" else None,
            "planned_visits": len(coming),
            "next_visit_at": min(coming, default=None),
            **{name: texts[name] for name in ("title", "tags", "billing", "description")},
        }
        names = {"customer_name": customer.name, "site_name": site.name, "site_address": site.address}
        self.jobs.append(self.bulk.add_record(JOBS, copied_values | about, **names))
        self.billed.append(BilledJob(customer.id, customer.name, self.jobs[-1], texts["title"]))
        for person in {*assigned, copied_values["lead_person_id"]} - {None}:
            self.bulk.add_row("own_job", {"person_id": person, "id": self.jobs[-1], "assigned": 1, **copied_values})

    def _add_hours(self) -> None:
        worked, turns = cycle(self._worked_jobs()), count()
        for number in range(self.size):
            person = (
                self.few
                if number < FEW_JOBS
                else self.many
                if number % MANY_SHARE_OF < MANY_SHARE
                else self.crew[number % CREW_SIZE]
            )
            day = self.today - timedelta(days=1 + number * 11 % (_DAYS_OF_HALF_A_YEAR - 1))
            values: dict[str, Any] = {"minutes": 30 + number % 400, "started_at": None, "ended_at": None}
            if number >= FEW_JOBS and number % MANY_SHARE_OF == MANY_SHARE:
                # With a beginning and an end, one after the other.
                turn, member = divmod(next(turns), CREW_SIZE)
                person, day = self.crew[member], self.today - timedelta(days=1 + turn % (_DAYS_OF_HALF_A_YEAR - 1))
                begin = datetime.combine(day, time(5), UTC) + timedelta(hours=turn // (_DAYS_OF_HALF_A_YEAR - 1))
                ends = moment_text(begin + timedelta(minutes=45))
                values = {"minutes": 45, "started_at": moment_text(begin), "ended_at": ends}
            about = {"person_id": person, "job_id": self.jobs[next(worked)], "on_date": day.isoformat()}
            state = {"billable": True, "break_minutes": 0, "status": _HOURS_STATES[number * 3 % len(_HOURS_STATES)]}
            self.bulk.add_record(TIME_ENTRIES, values | about | state | _PERSON_RATES)

    def _add_leave(self) -> None:
        """A hundredth as much as jobs, long past but for two of each person; no less than a list counts of it."""
        everyone = [*self.crew, self.few, self.many]
        states = ("approved", "declined", "cancelled", "requested")
        for number in range(max(self.size // 100, 4 * COUNT_LIMIT)):
            day = self.today - timedelta(days=10 + number * 7 % 3600)
            self._add_time_off(everyone[number % len(everyone)], day, states[number % len(states)])
        # A few are away on a day of next week; what is further ahead clashes with nothing.
        for number, person in enumerate(everyone):
            soon = number < _LEAVE_NEXT_WEEK
            self._add_time_off(person, self.today + timedelta(days=7 if soon else 200 + number), "approved")
            self._add_time_off(person, self.today + timedelta(days=240 + number), "requested")

    def _add_time_off(self, person: str, day: date, status: str) -> None:
        begin = datetime.combine(day, time(), UTC)
        times = {"starts_at": moment_text(begin), "ends_at": moment_text(begin + timedelta(days=1))}
        dates = {"from_date": day.isoformat(), "until_date": day.isoformat()}
        self.bulk.add_record(TIME_OFF, {"person_id": person, "kind": "holiday", "status": status, **times, **dates})

    def _add_notes_and_files(self) -> None:
        """Add notes and files to jobs; one job has many."""
        first = self.jobs[self.shared_jobs[0]]
        for number, job in enumerate([*self.jobs[::5], *[first] * 60]):
            visibility = "office" if number % 4 == 0 else "field"
            self.bulk.add_record(NOTES, {"record_id": job, "body": demo_texts.NOTES[0], "visibility": visibility})
        for number, job in enumerate([*self.jobs[::20], *[first] * 60]):
            visibility = "office" if number % 4 == 0 else "field"
            about = {"name": "Meter.jpg", "kind": "photo", "media_type": "image/jpeg", "bytes": 1, "content": "0" * 64}
            self.bulk.add_record(DOCUMENTS, about | {"record_id": job, "visibility": visibility})


_PERSON_RATES = {"cost_rate": 24_5000, "bill_rate": 62_0000}
_COPIED_COLUMNS = ("status", "stage", "priority", "customer_id", "site_id", "lead_person_id", "due_on")
_INSERT_OWN_CUSTOMERS = (
    "INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)"
    " SELECT DISTINCT mine.organisation_id, mine.person_id, customer.id, customer.status, customer.name_folded"
    " FROM own_job AS mine JOIN customer ON customer.organisation_id = mine.organisation_id"
    " AND customer.id = mine.customer_id WHERE mine.organisation_id = :organisation ON CONFLICT DO NOTHING"
)
_INSERT_PLANNED_JOBS = (
    f"INSERT INTO own_job (organisation_id, person_id, id, planned, {', '.join(_COPIED_COLUMNS)})"
    " SELECT DISTINCT job.organisation_id, visit.person_id, job.id, 1,"
    f" {', '.join(f'job.{name}' for name in _COPIED_COLUMNS)}"
    " FROM visit JOIN job ON job.organisation_id = visit.organisation_id AND job.id = visit.job_id"
    " WHERE visit.organisation_id = :organisation AND visit.person_id IS NOT NULL"
    " AND visit.status <> 'cancelled' ON CONFLICT (organisation_id, person_id, id) DO UPDATE SET planned = 1"
)

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

from bench.books import TAXES, Billed, Books, shapes
from bench.bulk import Bulk
from bench.performing import perform
from bench.trail import write_acts

from mainstay.business.customers.model import Receives
from mainstay.business.customers.store import CONTACTS, CUSTOMERS, SITES
from mainstay.business.hours.store import ENTRIES
from mainstay.business.invoices.operations import draft_invoice
from mainstay.business.invoices.paying import record_payment
from mainstay.business.invoices.sending import send_invoice
from mainstay.business.jobs.model import Standing, Status, stage_of
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation import numbering
from mainstay.business.people.joining import create_organisation
from mainstay.business.people.store import PEOPLE
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.operations import draft_quote
from mainstay.business.records.store import DOCUMENTS, NOTES
from mainstay.business.schedule.store import TIME_OFF, VISITS
from mainstay.doors.cli import demo_words
from mainstay.identity.authenticate import actor_of_person
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.perform import Stage
from mainstay.ledger import audit
from mainstay.ledger.audit import Entry
from mainstay.terms.actor import Actor, Door, operator
from mainstay.terms.listed import COUNTED
from mainstay.values.address import Address
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

# A part of the names of as many customers in any firm.
RARE, _RARELY = "Quillfeather", 30
PASSWORD = "a password for the bench"
# So many lines has the invoice that is looked at.
LINES = 20
# Those of whom the firm's work is; beside them are one with few jobs and one with many.
CREW = 28
FEW = 10
# Of every five jobs so many are seen by the one with many.
MANY, OF = 2, 5
# Of each customer there are so few that those of the one with many are as many as a list counts in any firm.
JOBS_OF_EACH = 4
# This week and the next are as full in a small firm as in a large one.
A_DAY_EACH = 2
_WORKING_DAYS = 5
_HALF_A_YEAR = 182
# Of fifty jobs so many are at each state; of the open ones, the second half is planned.
_STATES: dict[Status, int] = {
    "enquiry": 3,
    "open": 8,
    "inProgress": 3,
    "onHold": 3,
    "done": 8,
    "closed": 22,
    "cancelled": 3,
}
# Of the jobs of the one with few, in any firm; for the first, which is looked at, something is planned.
_OF_FEW: tuple[Status, ...] = ("open", "open", "enquiry", "inProgress", "onHold", "done", *("closed",) * 3, "cancelled")
_HOURS = ("approved",) * 14 + ("draft", "draft", "submitted", "submitted", "submitted", "rejected")
_ACTS = 600
_ON_LEAVE = 3


@dataclass(frozen=True, slots=True)
class Firm:
    """The organisation, those who look at it, and what they look for."""

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


def make_firm(stage: Stage, data: Path, jobs: int, invoices: int | None = None) -> Firm:
    """Fill a new organisation in the embedded database of this folder; with as many invoices as jobs, or so many."""
    acting = operator(new_id("org"))
    owner = perform(
        stage,
        create_organisation,
        acting,
        name=f"A firm with {jobs} jobs",
        ownerName="Ruth Hartley",
        ownerEmail=f"ruth@of-{jobs}.example",
        password=PASSWORD,
    )
    bulk = Bulk(acting.organisation, moment_text(stage.clock()), acting.stamp)
    perform(stage, save_tax_rate, acting, **TAXES)
    with stage.database.changing(acting.organisation) as rows:
        drawn = shapes(Context(rows, acting, Envelope(new_id("req")), stage.clock))
    making = _Making(bulk, jobs, stage.clock().date())
    making.make()
    books = Books(bulk, invoices or jobs, making.today, making.billed, drawn)
    books.make()
    bulk.write(data / "mainstay.db")
    with stage.database.changing(acting.organisation) as rows:
        ctx = Context(rows, acting, Envelope(new_id("req")), stage.clock)
        making.finish(ctx)
        books.finish(ctx)
        people = (owner["id"], making.few, making.many)
        owner_acts, few, many = (actor_of_person(rows, person, Door.OFFICE) for person in people)
    # A job that both members see, so that all three can be asked for the same.
    shared = making.shared[0]
    customer, site = making.customer_of(shared)
    job = making.jobs[shared]
    invoice, quote = _documents(stage, owner_acts, job)
    supplier, _ = books.suppliers[0]
    return Firm(owner_acts, few, many, making.crew[0], job, customer.id, site.id, invoice, quote, supplier)


def lines(count: int) -> list[dict[str, object]]:
    """What an invoice says, in so many lines."""
    return [{"description": f"Work of the day {line}", "unit": "h", "unitPrice": "100.00"} for line in range(count)]


def _documents(stage: Stage, owner: Actor, job: str) -> tuple[str, str]:
    """An invoice for a job, issued and paid in part, and a quote, as the office makes them; their ids."""
    invoice = str(perform(stage, draft_invoice, owner, jobId=job, lines=lines(LINES))["id"])
    perform(stage, send_invoice, owner, invoiceId=invoice, deliver="none", confirmed=True)
    perform(stage, record_payment, owner, invoiceId=invoice, amount="250.00")
    quote = perform(stage, draft_quote, owner, jobId=job, title="Another boiler", lines=lines(LINES))
    return invoice, str(quote["id"])


class _Known(NamedTuple):
    """What is known of a customer or a site, for what bears its name."""

    id: str
    name: str
    address: str


@dataclass
class _Making:
    bulk: Bulk
    size: int
    today: date
    chance: Random = field(default_factory=lambda: Random(2026))
    crew: list[str] = field(default_factory=list)
    few: str = ""
    many: str = ""
    customers: list[tuple[_Known, _Known]] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    states: list[Status] = field(default_factory=list)
    billed: list[Billed] = field(default_factory=list)

    def make(self) -> None:
        self.crew = [self._person(number) for number in range(CREW)]
        self.few, self.many = self._person(CREW), self._person(CREW + 1)
        self.customers = [self._customer(number) for number in range(self.size // JOBS_OF_EACH)]
        self.states = [state for state, count in _STATES.items() for _ in range(count)] * (self.size // 50)
        self.chance.shuffle(self.states)
        for number, state in zip(self.shared, _OF_FEW, strict=True):
            other = self.states.index(state, number)
            self.states[number], self.states[other] = state, self.states[number]
        visits = list(self._visits())
        self._jobs(visits)
        for job, values in visits:
            self.bulk.record(VISITS, {**values, "job_id": self.jobs[job]})
        self._hours()
        self._leave()
        self._beside()
        write_acts(self.bulk, self.jobs, self.crew, self.today)

    def finish(self, ctx: Context) -> None:
        """What is written one by one: who sees what they are planned on, the numbers, and the end of the trail."""
        ctx.rows.run(_GRANT_PLANNED)
        ctx.rows.run(_GRANT_CUSTOMERS)
        numbering.save(ctx, "job", numbering.USUAL["job"]._replace(next=self.size + 1))
        for number in range(_ACTS):
            entry = Entry(ctx.at, ctx.stamp, f"req_{number}", "create_job", "{}", [], [self.jobs[number]], {}, {})
            audit.write(ctx.rows, entry)

    @property
    def shared(self) -> list[int]:
        """The numbers of the jobs that the one with few jobs sees; the one with many sees them too."""
        return [number * (self.size // FEW) for number in range(FEW)]

    def customer_of(self, job: int) -> tuple[_Known, _Known]:
        """For whom the job of this number is, and where."""
        return self.customers[job % len(self.customers)]

    def _person(self, number: int) -> str:
        return self.bulk.record(
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
                **_RATES,
            },
        )

    def _customer(self, number: int) -> tuple[_Known, _Known]:
        told = demo_words.customer(self.chance, number)
        known, place = told["customer"], Address.model_validate(told["sites"][0]["address"])
        name = f"{known['name']} {RARE}" if number < _RARELY else known["name"]
        about = {
            "name": name,
            "kind": known["kind"],
            "email": known["email"],
            "phone": f"+44 1422 {number:06}",
            "billing_address": place,
            "reference": f"PO{number}",
            "external_ref": f"C{number}",
            "status": "archived" if number % 20 == 19 else "active",
        }
        customer = _Known(self.bulk.record(CUSTOMERS, about), name, "")
        met = {"name": told["contact"]["name"], "email": None, "phone": f"07700 {number:06}", "receives": Receives()}
        of_customer = {"customer_id": customer.id, "status": "active"}
        contact = self.bulk.record(CONTACTS, met | of_customer, customer_name=customer.name)
        at = {"name": place.line1, "address": place, "contact_id": contact}
        site = self.bulk.record(SITES, at | of_customer, customer_name=customer.name)
        return customer, _Known(site, str(place.line1), place.model_dump_json(by_alias=True))

    def _visits(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """As many visits as jobs, each with the number of its job."""
        planned, worked = cycle(self._planned()), cycle(self._worked())
        for number, (person, day, slot) in enumerate(self._slots()):
            over = day < self.today
            values = self._visit(day, slot, None if not over and number % 10 == 0 else self.crew[person])
            if over:
                values["status"] = "cancelled" if number % 20 == 0 else "done"
            yield next(worked if over else planned), values

    def _slots(self) -> Iterator[tuple[int, date, int]]:
        """Who goes somewhere when: this week and the next always as often, else over a year, however few there are."""
        monday = self.today - timedelta(days=self.today.weekday())
        this_week = range((monday - self.today).days, (monday - self.today).days + 14)
        for day, slot, person in product((0, 1, 2, 3, 4, 7, 8, 9, 10, 11), range(A_DAY_EACH), range(CREW)):
            yield person, monday + timedelta(days=day), slot
        others = [day for day in range(-_HALF_A_YEAR, _HALF_A_YEAR + 1) if day not in this_week]
        for number in range(self.size - 2 * _WORKING_DAYS * A_DAY_EACH * CREW):
            turn, person = divmod(number, CREW)
            yield person, self.today + timedelta(days=others[turn * 100 % len(others)]), turn // len(others)

    def _visit(self, day: date, slot: int, person: str | None) -> dict[str, Any]:
        begin = datetime.combine(day, time(6), UTC) + timedelta(hours=slot)
        starts, ends = moment_text(begin), moment_text(begin + timedelta(minutes=45))
        when = {"time_zone": "Europe/London", "begins_at": starts, "starts_at": starts, "ends_at": ends}
        return {"person_id": person, "kind": "work", "status": "planned", "allow_overlap": False, **when}

    def _planned(self) -> list[int]:
        """The numbers of the jobs for which something is planned: every other of those that are open."""
        return [number for number, state in enumerate(self.states) if state == "open"][::2]

    def _worked(self) -> list[int]:
        return [number for number, state in enumerate(self.states) if state not in {"open", "enquiry"}]

    def _jobs(self, visits: Sequence[tuple[int, dict[str, Any]]]) -> None:
        coming: dict[int, list[str]] = {}
        for job, visit in visits:
            if visit["status"] == "planned":
                coming.setdefault(job, []).append(visit["begins_at"])
        for number in range(self.size):
            self._job(number, coming.get(number, []))

    def _job(self, number: int, coming: Sequence[str]) -> None:
        # The jobs of the one with few are alike in any firm: as many are late, or urgent, or about a boiler.
        which, behind = divmod(number, self.size // FEW)
        turn, chance = (number, self.chance) if behind else (which, Random(which))
        told, state, (customer, site) = demo_words.job(chance), self.states[number], self.customer_of(number)
        stage, next_action = stage_of(Standing(state, told["billing"], len(coming)))
        due = self.today + timedelta(days=turn * 7 % 360 - 180)
        seen = {
            "status": state,
            "stage": stage,
            "priority": ("low", "normal", "normal", "high", "urgent")[turn % 11 % 5],
            "customer_id": customer.id,
            "site_id": site.id,
            "lead_person_id": None if turn % 7 == 0 else self.crew[turn * 11 % CREW],
            "due_on": None if turn % 13 == 0 else due.isoformat(),
        }
        assigned = [self.few] * (number % (self.size // FEW) == 0) + [self.many] * (number % OF < MANY)
        about = {
            "number": f"J-{number + 1:04}",
            "next_action": next_action,
            "assigned": assigned,
            "customer_order_number": None,
            "cancel_reason": "The house is sold." if state == "cancelled" else None,
            "planned_visits": len(coming),
            "next_visit_at": min(coming, default=None),
            **{name: told[name] for name in ("title", "tags", "billing", "description")},
        }
        names = {"customer_name": customer.name, "site_name": site.name, "site_address": site.address}
        self.jobs.append(self.bulk.record(JOBS, seen | about, **names))
        self.billed.append(Billed(customer.id, customer.name, self.jobs[-1], told["title"]))
        for person in {*assigned, seen["lead_person_id"]} - {None}:
            self.bulk.row("own_job", {"person_id": person, "id": self.jobs[-1], "assigned": 1, **seen})

    def _hours(self) -> None:
        worked, turns = cycle(self._worked()), count()
        for number in range(self.size):
            whose = self.few if number < FEW else self.many if number % OF < MANY else self.crew[number % CREW]
            day = self.today - timedelta(days=1 + number * 11 % (_HALF_A_YEAR - 1))
            values: dict[str, Any] = {"minutes": 30 + number % 400, "started_at": None, "ended_at": None}
            if number >= FEW and number % OF == MANY:
                # With a beginning and an end, one after the other.
                turn, member = divmod(next(turns), CREW)
                whose, day = self.crew[member], self.today - timedelta(days=1 + turn % (_HALF_A_YEAR - 1))
                begin = datetime.combine(day, time(5), UTC) + timedelta(hours=turn // (_HALF_A_YEAR - 1))
                ends = moment_text(begin + timedelta(minutes=45))
                values = {"minutes": 45, "started_at": moment_text(begin), "ended_at": ends}
            about = {"person_id": whose, "job_id": self.jobs[next(worked)], "on_date": day.isoformat()}
            state = {"billable": True, "break_minutes": 0, "status": _HOURS[number * 3 % len(_HOURS)]}
            self.bulk.record(ENTRIES, values | about | state | _RATES)

    def _leave(self) -> None:
        """A hundredth as much as jobs, long past but for two of each person; no less than a list counts of it."""
        everyone = [*self.crew, self.few, self.many]
        states = ("approved", "declined", "cancelled", "requested")
        for number in range(max(self.size // 100, 4 * COUNTED)):
            day = self.today - timedelta(days=10 + number * 7 % 3600)
            self._away(everyone[number % len(everyone)], day, states[number % len(states)])
        # A few are away on a day of next week; what is further ahead clashes with nothing.
        for number, person in enumerate(everyone):
            soon = number < _ON_LEAVE
            self._away(person, self.today + timedelta(days=7 if soon else 200 + number), "approved")
            self._away(person, self.today + timedelta(days=240 + number), "requested")

    def _away(self, person: str, day: date, status: str) -> None:
        begin = datetime.combine(day, time(), UTC)
        times = {"starts_at": moment_text(begin), "ends_at": moment_text(begin + timedelta(days=1))}
        whole = {"from_date": day.isoformat(), "until_date": day.isoformat()}
        self.bulk.record(TIME_OFF, {"person_id": person, "kind": "holiday", "status": status, **times, **whole})

    def _beside(self) -> None:
        """Notes and files beside jobs; one job has many."""
        first = self.jobs[self.shared[0]]
        for number, job in enumerate([*self.jobs[::5], *[first] * 60]):
            visibility = "office" if number % 4 == 0 else "field"
            self.bulk.record(NOTES, {"record_id": job, "body": demo_words.NOTES[0], "visibility": visibility})
        for number, job in enumerate([*self.jobs[::20], *[first] * 60]):
            visibility = "office" if number % 4 == 0 else "field"
            about = {"name": "Meter.jpg", "kind": "photo", "media_type": "image/jpeg", "bytes": 1, "content": "0" * 64}
            self.bulk.record(DOCUMENTS, about | {"record_id": job, "visibility": visibility})


_RATES = {"cost_rate": 24_5000, "bill_rate": 62_0000}
_COPIES = ("status", "stage", "priority", "customer_id", "site_id", "lead_person_id", "due_on")
_GRANT_CUSTOMERS = (
    "INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)"
    " SELECT DISTINCT mine.organisation_id, mine.person_id, customer.id, customer.status, customer.name_folded"
    " FROM own_job AS mine JOIN customer ON customer.organisation_id = mine.organisation_id"
    " AND customer.id = mine.customer_id WHERE mine.organisation_id = :organisation ON CONFLICT DO NOTHING"
)
_GRANT_PLANNED = (
    f"INSERT INTO own_job (organisation_id, person_id, id, planned, {', '.join(_COPIES)})"
    f" SELECT DISTINCT job.organisation_id, visit.person_id, job.id, 1, {', '.join(f'job.{name}' for name in _COPIES)}"
    " FROM visit JOIN job ON job.organisation_id = visit.organisation_id AND job.id = visit.job_id"
    " WHERE visit.organisation_id = :organisation AND visit.person_id IS NOT NULL"
    " AND visit.status <> 'cancelled' ON CONFLICT (organisation_id, person_id, id) DO UPDATE SET planned = 1"
)

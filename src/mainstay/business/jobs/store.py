"""Where jobs are kept, and who sees which."""

from collections.abc import Collection, Mapping
from typing import Any, get_args

import orjson

from mainstay.business.jobs.model import Job, Standing, Status, UnbilledWork, stage_of
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.ledger.outbox import Letter
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder, Own
from mainstay.terms.rights import Right
from mainstay.values.search import kept_words, words_of_number, words_of_postal_address, words_of_text

# The chore that reckons anew whether a job is invoiced, once it is billed in another way or at another price.
REBILLED = "settle_job_billed_anew"
# The chore that lets what bears the title of a job be found by it again.
RETITLED = "reword_records_of_job"

_OF_SITE = "(SELECT site.{} FROM site WHERE site.organisation_id = :organisation AND site.id = job.site_id)"
# Work that should have been done before a date, and is not.
LATE = "job.due_on < :due_before AND job.due_on IS NOT NULL AND job.status NOT IN ('closed', 'cancelled', 'done')"
_LIVE = "job.status NOT IN ('closed', 'cancelled')"


def _words(site_address: str | None, tags: str, number: str, *texts: str | None) -> frozenset[str]:
    place = words_of_postal_address(orjson.loads(site_address)) if site_address else set()
    said = words_of_text(" ".join(text for text in (*texts, *orjson.loads(tags)) if text))
    return kept_words(words_of_number(number), said, place)


_TEXTS = ("title", "customer_name", "site_name", "description", "customer_order_number")

JOBS = Listing(
    Job,
    source="job",
    what="job",
    prefix="job",
    id_field="job_id",
    number="number",
    columns={
        "customer_name": "(SELECT customer.name FROM customer WHERE customer.organisation_id = :organisation"
        " AND customer.id = job.customer_id)",
        "site_name": _OF_SITE.format("name"),
        "site_address": _OF_SITE.format("address"),
        "lead_person_name": "(SELECT person.name FROM person WHERE person.organisation_id = :organisation"
        " AND person.id = job.lead_person_id)",
    },
    facts={
        "planned_visits": "job.planned_visits",
        "running_timers": "job.running_timers",
        "quoting": "job.quoting",
        "invoiced": "job.invoiced",
        "owed": "job.owed",
    },
    own=Own(
        granted="own_job",
        copies=("status", "stage", "priority", "customer_id", "site_id", "lead_person_id", "due_on"),
        unless=Right.ALL_JOBS_READ,
    ),
    filters={
        "status": {name: f"job.status = '{name}'" for name in get_args(Status)} | {"live": _LIVE},
        "stage": "job.stage = :stage",
        "priority": "job.priority = :priority",
        "customer_id": "job.customer_id = :customer_id",
        "site_id": "job.site_id = :site_id",
        "lead_person_id": "job.lead_person_id = :lead_person_id",
        "due_before": LATE,
    },
    orders={NEWEST: ListOrder("id", descending=True), "due": ListOrder("due_on", without="a due date")},
    found_by=(FoundBy(columns=("site_address", "tags", "number", *_TEXTS), words=_words),),
)


def insert(ctx: Context, values: Mapping[str, Any]) -> Job:
    """A new job, seen by those who are assigned to it."""
    stage, next_action = stage_of(Standing(values["status"], values["billing"]))
    job = JOBS.insert(ctx, {**values, "stage": stage, "next_action": next_action})
    for person in _assigned(job):
        _grant(ctx, job.id, person, "assigned")
    return job


def save(ctx: Context, job: Job, changes: Mapping[str, Any]) -> Job:
    """Write what changes, with the stage that follows from it; the very same job where nothing is different.

    What only rules know, such as timers that run, makes a new version too: what can be done with a job follows from it,
    and whoever decided by an older version is to look again. Of that alone nobody is told.
    """
    standing = job.standing._replace(**{name: changes[name] for name in Standing._fields if name in changes})
    stage, next_action = stage_of(standing)
    after = JOBS.save(ctx, job, {**changes, "stage": stage, "next_action": next_action})
    if {*job.assigned, job.lead_person_id} != {*after.assigned, after.lead_person_id}:
        _assign(ctx, after)
    if after.billing != job.billing:
        _bill_anew(ctx, after)
    if (after.billing, after.budget) != (job.billing, job.budget):
        ctx.post(Letter(REBILLED, {"job": job.id}))
    return after


def unbilled_work(ctx: Context, job: str) -> UnbilledWork:
    """Count a job's billable hours, approved or not yet, and materials that are on no invoice."""
    of_job = "WHERE organisation_id = :organisation AND job_id = :job AND billable = 1 AND billed = 0"
    worked = ctx.rows.one(
        f"SELECT CAST(sum(minutes) AS bigint) FROM time_entry {of_job} AND status NOT IN ('running', 'rejected')",
        job=job,
    )
    bought = ctx.rows.one(f"SELECT count(*) FROM material {of_job}", job=job)
    return UnbilledWork(*(int(row[0] or 0) if row else 0 for row in (worked, bought)))


def let_see(ctx: Context, job: str, person: str, *, planned: bool) -> None:
    """Let someone see a job because they are planned on it, or no longer for that."""
    if planned:
        _grant(ctx, job, person, "planned")
    else:
        _withdraw(ctx, job, "planned", "person_id = :person", person=person)


def _bill_anew(ctx: Context, job: Job) -> None:
    """Let what was bought for a job and is on no invoice be billed on, or not, as the job is now.

    Of hours, people say so themselves. What comes off an invoice again follows its job then.
    """
    ctx.rows.run(
        "UPDATE material SET billable = CASE WHEN value > 0 THEN :billable ELSE 0 END"
        " WHERE organisation_id = :organisation AND job_id = :job AND billed = 0",
        job=job.id,
        billable=int(job.bills_work),
    )


def _assigned(job: Job) -> list[str]:
    return sorted({*job.assigned, *([job.lead_person_id] if job.lead_person_id else [])})


def _assign(ctx: Context, job: Job) -> None:
    assigned = _assigned(job)
    _withdraw(ctx, job.id, "assigned", _none_of(assigned), **_named(assigned))
    for person in assigned:
        _grant(ctx, job.id, person, "assigned")


_COPIES = "status, stage, priority, customer_id, site_id, lead_person_id, due_on"


def _grant(ctx: Context, job: str, person: str, why: str) -> None:
    ctx.rows.run(
        f"INSERT INTO own_job (organisation_id, person_id, id, {why}, {_COPIES})"
        f" SELECT organisation_id, :person, id, 1, {_COPIES} FROM job"
        " WHERE organisation_id = :organisation AND id = :job"
        f" ON CONFLICT (organisation_id, person_id, id) DO UPDATE SET {why} = 1",
        job=job,
        person=person,
    )


def _withdraw(ctx: Context, job: str, why: str, whom: str, **people: str) -> None:
    mine = "own_job {} WHERE organisation_id = :organisation AND id = :job AND " + whom
    ctx.rows.run("UPDATE " + mine.format(f"SET {why} = 0"), job=job, **people)
    ctx.rows.run("DELETE FROM " + mine.format("") + " AND assigned = 0 AND planned = 0", job=job, **people)


def _none_of(people: Collection[str]) -> str:
    names = ", ".join(f":{name}" for name in _named(people))
    return f"person_id NOT IN ({names})" if people else "1 = 1"


def _named(people: Collection[str]) -> dict[str, str]:
    return {f"person_{chr(97 + number // 26)}{chr(97 + number % 26)}": one for number, one in enumerate(sorted(people))}

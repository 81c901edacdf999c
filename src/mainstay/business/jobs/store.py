"""Storage of jobs, and who may see which."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, get_args

import orjson
from pydantic import Field

from mainstay.business.jobs.model import Job, JobProgress, JobStatus, UnbilledWork, stage_of
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import select_related
from mainstay.values.descriptions import describe
from mainstay.values.search_words import combine_words, words_of_number, words_of_postal_address, words_of_text
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields, Visibility
from mainstay.vocabulary.permissions import Permission

# The kind of the task that decides again whether a job is invoiced, after its billing or budget has changed.
RECHECK_JOB_INVOICED = "settle_job_billed_anew"
# The kind of the task that refreshes the search words of records that contain a job's title.
REFRESH_JOB_SEARCH = "reword_records_of_job"

# Jobs that were due before a date and are not done.
LATE_SQL = "job.due_on < :due_before AND job.due_on IS NOT NULL AND job.status NOT IN ('closed', 'cancelled', 'done')"
_LIVE_SQL = "job.status NOT IN ('closed', 'cancelled')"


def _search_words(site_address: str | None, tags: str, number: str, *texts: str | None) -> frozenset[str]:
    address_words = words_of_postal_address(orjson.loads(site_address)) if site_address else set()
    text_words = words_of_text(" ".join(text for text in (*texts, *orjson.loads(tags)) if text))
    return combine_words(words_of_number(number), text_words, address_words)


_TEXTS = ("title", "customer_name", "site_name", "description", "customer_order_number")

JobId = Annotated[str, Field(title="Job", description=describe("[[The job's ID or number.]]"))]
JOBS = Kind(
    Job,
    source="job",
    id_type=JobId,
    area="Jobs",
    number_column="number",
    columns={
        "customer_name": select_related("customer.name", "job.customer_id"),
        "site_name": select_related("site.name", "job.site_id"),
        "site_address": select_related("site.address", "job.site_id"),
        "lead_person_name": select_related("person.name", "job.lead_person_id"),
    },
    visibility=Visibility(
        grant_table="own_job",
        copied_columns=("status", "stage", "priority", "customer_id", "site_id", "lead_person_id", "due_on"),
        unrestricted_with=Permission.ALL_JOBS_READ,
    ),
    equal_filters=("stage", "priority", "customer_id", "site_id", "lead_person_id"),
    filters={
        "status": {name: f"job.status = '{name}'" for name in get_args(JobStatus)} | {"live": _LIVE_SQL},
        "due_before": LATE_SQL,
    },
    orders={NEWEST: ListOrder("id", descending=True), "due": ListOrder("due_on", missing_label="a due date")},
    search_fields=(SearchFields(columns=("site_address", "tags", "number", *_TEXTS), extract_words=_search_words),),
)


def insert(ctx: Context, values: Mapping[str, Any]) -> Job:
    """Insert a job, and let the people assigned to it see it."""
    stage, next_action = stage_of(JobProgress(values["status"], values["billing"]))
    job = JOBS.insert(ctx, {**values, "stage": stage, "next_action": next_action})
    for person in _list_assigned(job):
        _grant_access(ctx, job.id, person, "assigned")
    return job


def save(ctx: Context, job: Job, changes: Mapping[str, Any]) -> Job:
    """Write changes to a job, with the stage that results from them. Return the same object if nothing changed.

    Facts that are not part of the output, such as running timers, also make a new version. They change what can be done
    with the job, so an operation based on an older version must be refused. No event is emitted for them.
    """
    progress = job.progress._replace(**{name: changes[name] for name in JobProgress._fields if name in changes})
    stage, next_action = stage_of(progress)
    updated = JOBS.save(ctx, job, {**changes, "stage": stage, "next_action": next_action})
    if {*job.assigned, job.lead_person_id} != {*updated.assigned, updated.lead_person_id}:
        _update_assigned_access(ctx, updated)
    if updated.billing != job.billing:
        _update_billable_materials(ctx, updated)
    if (updated.billing, updated.budget) != (job.billing, job.budget):
        ctx.add_task(OutboxTask(RECHECK_JOB_INVOICED, {"job": job.id}))
    return updated


def count_unbilled_work(ctx: Context, job_id: str) -> UnbilledWork:
    """Count a job's billable hours and materials that are on no invoice. Hours need not be approved yet."""
    of_job = "WHERE organisation_id = :organisation AND job_id = :job AND billable = 1 AND billed = 0"
    minutes = ctx.db.one(
        f"SELECT CAST(sum(minutes) AS bigint) FROM time_entry {of_job} AND status NOT IN ('running', 'rejected')",
        job=job_id,
    )
    materials = ctx.db.one(f"SELECT count(*) FROM material {of_job}", job=job_id)
    return UnbilledWork(*(int(row[0] or 0) if row else 0 for row in (minutes, materials)))


def set_planned_access(ctx: Context, job_id: str, person_id: str, *, planned: bool) -> None:
    """Let a person see a job because they are planned on it, or take that back."""
    if planned:
        _grant_access(ctx, job_id, person_id, "planned")
    else:
        _withdraw_access(ctx, job_id, "planned", "person_id = :person", person=person_id)


def _update_billable_materials(ctx: Context, job: Job) -> None:
    """Update whether a job's unbilled materials are billable, after its billing has changed.

    For hours, people decide that themselves. Materials that come off an invoice later follow their job then.
    """
    ctx.db.run(
        "UPDATE material SET billable = CASE WHEN value > 0 THEN :billable ELSE 0 END"
        " WHERE organisation_id = :organisation AND job_id = :job AND billed = 0",
        job=job.id,
        billable=int(job.bills_work),
    )


def _list_assigned(job: Job) -> list[str]:
    return sorted({*job.assigned, *([job.lead_person_id] if job.lead_person_id else [])})


def _update_assigned_access(ctx: Context, job: Job) -> None:
    assigned = _list_assigned(job)
    _withdraw_access(ctx, job.id, "assigned", _exclude_sql(assigned), **_name_parameters(assigned))
    for person in assigned:
        _grant_access(ctx, job.id, person, "assigned")


_COPIES = "status, stage, priority, customer_id, site_id, lead_person_id, due_on"


def _grant_access(ctx: Context, job_id: str, person_id: str, reason_column: str) -> None:
    ctx.db.run(
        f"INSERT INTO own_job (organisation_id, person_id, id, {reason_column}, {_COPIES})"
        f" SELECT organisation_id, :person, id, 1, {_COPIES} FROM job"
        " WHERE organisation_id = :organisation AND id = :job"
        f" ON CONFLICT (organisation_id, person_id, id) DO UPDATE SET {reason_column} = 1",
        job=job_id,
        person=person_id,
    )


def _withdraw_access(ctx: Context, job_id: str, reason_column: str, condition: str, **people: str) -> None:
    rest_sql = "own_job {} WHERE organisation_id = :organisation AND id = :job AND " + condition
    ctx.db.run("UPDATE " + rest_sql.format(f"SET {reason_column} = 0"), job=job_id, **people)
    ctx.db.run("DELETE FROM " + rest_sql.format("") + " AND assigned = 0 AND planned = 0", job=job_id, **people)


def _exclude_sql(people: Collection[str]) -> str:
    names = ", ".join(f":{name}" for name in _name_parameters(people))
    return f"person_id NOT IN ({names})" if people else "1 = 1"


def _name_parameters(people: Collection[str]) -> dict[str, str]:
    return {f"person_{chr(97 + number // 26)}{chr(97 + number % 26)}": one for number, one in enumerate(sorted(people))}

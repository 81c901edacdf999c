"""Operations on jobs."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS, check_external_ref, check_site, find_active_sites
from mainstay.business.jobs import store
from mainstay.business.jobs.events import JobCancelled, JobCompleted, JobCreated, JobStarted, JobUpdated
from mainstay.business.jobs.model import OFFICE_STAGES, Billing, Job, JobOut, JobStage, Priority, SettableJobStatus
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation import numbering
from mainstay.business.people.store import check_people
from mainstay.business.records.store import write_note
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import (
    STARTING_AFTER,
    WITHOUT_DUPLICATES,
    Day,
    Paragraph,
    Price,
    StoredDay,
    TextLine,
    make_id_validator,
    omittable_field,
)
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.permissions import Permission, RequiresPermission, find_withheld_values
from mainstay.vocabulary.refusal import Forbidden, raise_if_blocked
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

_MAX_PEOPLE = 50

_CustomerId = Annotated[
    str, make_id_validator("customer"), Field(title="Customer", description="For whom: the customer's id.")
]
_SiteId = Annotated[
    Annotated[str, make_id_validator("site")] | None, Field(title="Site", description="Where: a site of the customer.")
]
_Title = Annotated[TextLine, Field(description="What is to be done, in a few words.")]
_Description = Annotated[Paragraph | None, Field(description="What else one should know. The field reads it.")]
_Priority = Annotated[Priority, Field(description="How pressing it is.")]
_Billing = Annotated[
    Billing, Field(description="`fixed` by a quote, `timeAndMaterials` by what it took, or `nonBillable`.")
]
_OrderNumber = Annotated[
    TextLine | None,
    Field(title="Customer's order number", description="What the customer wants to read on the invoice."),
]
_Budget = Annotated[Price | None, Field(description="What was agreed or estimated, before tax, such as 1200.00.")]
_DueOn = Annotated[StoredDay | None, Field(title="Due", description="The date by which it is to be done.")]
_Lead = Annotated[
    Annotated[str, make_id_validator("person")] | None,
    Field(title="Led by", description="Who answers for it: a person's id."),
]
_Tags = Annotated[
    list[TextLine], Field(max_length=20, description="Words to find it by, such as boiler."), WITHOUT_DUPLICATES
]
_Assigned = Annotated[
    list[Annotated[str, make_id_validator("person")]],
    Field(max_length=_MAX_PEOPLE, description="The ids of the people who work on it: they see it."),
]
_ExternalRef = Annotated[
    TextLine | None, Field(title="Reference elsewhere", description="What another system calls it; no two share one.")
]
_JobId = Annotated[str, Field(title="Job", description="The job's id or number.")]


class ListJobs(ListInput):
    """Which jobs to list."""

    starting_after: Annotated[str | None, make_id_validator("job")] = STARTING_AFTER
    status: Literal["live", "enquiry", "open", "inProgress", "onHold", "done", "closed", "cancelled"] | None = Field(
        None, description="Only these; `live` are all that are neither closed nor cancelled."
    )
    stage: Annotated[JobStage | None, OFFICE_STAGES] = Field(None, description="Only jobs at this stage of the board.")
    priority: Priority | None = Field(None, description="Only jobs that are so pressing.")
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only jobs of this customer."
    )
    site_id: Annotated[str | None, make_id_validator("site")] = Field(
        None, title="Site", description="Only jobs at this site."
    )
    lead_person_id: Annotated[str | None, make_id_validator("person")] = Field(
        None, title="Led by", description="Only jobs that this person leads."
    )
    due_before: Day | None = Field(
        None,
        title="Due before",
        description="Only jobs that are not done and were due before this date, by their date.",
    )
    text: SearchText | None = Field(
        None,
        title="Search",
        description="Only jobs found by this: number, or words of title, customer, address, description or tags.",
    )
    order: Literal["newest", "due"] = Field(
        "newest", description="`newest` first, or those `due` soonest first, without those that have no date."
    )

    def fixed_order(self) -> str | None:
        """Return the order by due date if the list is filtered by it."""
        return "due" if self.due_before else None


class GetJob(Input):
    """Which job."""

    job_id: _JobId


class CreateJob(Input):
    """What is to be done, and for whom."""

    customer_id: _CustomerId
    title: _Title
    site_id: _SiteId = None
    description: _Description = None
    status: Literal["enquiry", "open"] = Field("open", description="`enquiry` where it is not agreed yet.")
    priority: _Priority = "normal"
    billing: _Billing = "timeAndMaterials"
    customer_order_number: _OrderNumber = None
    budget: _Budget = None
    due_on: _DueOn = None
    lead_person_id: _Lead = None
    assigned: _Assigned = Field(default_factory=list)
    tags: _Tags = Field(default_factory=list)
    external_ref: _ExternalRef = None


class UpdateJob(Input):
    """Which job, and what to change; null clears."""

    job_id: _JobId
    title: _Title = omittable_field()
    site_id: _SiteId = None
    description: _Description = None
    priority: _Priority = omittable_field()
    billing: _Billing = omittable_field()
    customer_order_number: _OrderNumber = None
    budget: Annotated[_Budget, RequiresPermission(Permission.PRICES_READ)] = None
    due_on: _DueOn = None
    lead_person_id: _Lead = None
    assigned: _Assigned = omittable_field()
    tags: _Tags = omittable_field()
    external_ref: _ExternalRef = None


class ChangeJobStatus(Input):
    """Which job, and what it becomes."""

    job_id: _JobId
    status: SettableJobStatus = Field(
        description="What it becomes. `open` also reopens a job that is closed or cancelled."
    )
    reason: Paragraph | None = Field(None, title="Why", description="Why, for all to read: a note beside the job.")


@operation(permission=Permission.JOBS_READ, effect=Effect.READ, api_path="GET /jobs")
def list_jobs(ctx: Context, given: ListJobs) -> PageResult[JobOut]:
    """List jobs.

    Members and subcontractors see the jobs they are assigned to or planned on.
    """
    if given.stage in find_withheld_values([OFFICE_STAGES], ctx.actor.permissions):
        raise Forbidden(f"The role {ctx.actor.role} may not ask by the stage {given.stage}. Ask by status instead.")
    return JOBS.page(ctx, given)


@operation(
    permission=Permission.JOBS_READ, effect=Effect.READ, api_path="GET /jobs/{job_id}", single_statement=True, on=JOBS
)
def get_job(_ctx: Context, _given: GetJob, job: Job) -> Job:
    """Get a job.

    By its id or its number.
    """
    return job


@operation(
    permission=Permission.JOBS_CHANGE, effect=Effect.CHANGE, api_path="POST /jobs", done_message="The job is created."
)
def create_job(ctx: Context, given: CreateJob) -> Job:
    """Make a job.

    For work that is agreed, or an enquiry that may become some; without siteId it is at the customer's only site. It
    gets the next number; visits are planned with plan_visit.
    """
    customer: Customer = CUSTOMERS.fetch(ctx, given.customer_id)
    raise_if_blocked(customer.not_usable())
    values = dict(given)
    if "site_id" not in given.model_fields_set:
        values["site_id"] = _choose_site(ctx, customer)
    _check_job_values(ctx, values, customer.id)
    job = store.insert(ctx, values | {"number": numbering.take_number(ctx, "job")})
    ctx.emit(JobCreated(job))
    return job


@operation(
    permission=Permission.JOBS_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /jobs/{job_id}",
    on=JOBS,
    blocked_by=Job.not_changeable,
    done_message="Your changes are saved.",
)
def update_job(ctx: Context, given: UpdateJob, job: Job) -> Job:
    """Change a job's details.

    Only what is sent changes; null clears. Its state is changed with change_job_status, and cancel_job calls it off.
    """
    changes = given.sent_fields("job_id")
    _check_job_values(ctx, changes, job.customer_id, job)
    updated = store.save(ctx, job, changes)
    if updated is not job:
        ctx.emit(JobUpdated(updated, job))
    if updated.title != job.title:
        ctx.add_task(OutboxTask(store.REFRESH_JOB_SEARCH, {"job": job.id}))
    return updated


@operation(
    permission=Permission.JOBS_MOVE,
    effect=Effect.CHANGE,
    api_path="POST /jobs/{job_id}/status",
    on=JOBS,
    done_message="The job's state is changed.",
)
def change_job_status(ctx: Context, given: ChangeJobStatus, job: Job) -> Job:
    """Change how far a job is.

    Begin it, put it on hold, finish it, close it (which warns of work on no invoice) or reopen it. Members may do so
    with their own jobs, between open and done.
    """
    raise_if_blocked(job.not_movable(ctx.actor, given.status))
    if given.status == "closed":
        ctx.warnings += job.closing_warnings(store.count_unbilled_work(ctx, job.id))
    if given.reason:
        write_note(ctx, job.id, given.reason)
    return set_job_status(ctx, job, given.status)


OPERATIONS = (list_jobs, get_job, create_job, update_job, change_job_status)


def set_job_status(ctx: Context, job: Job, status: SettableJobStatus) -> Job:
    """Set a job's state, and emit the event for it."""
    updated = store.save(ctx, job, {"status": status, "cancel_reason": None})
    begins, ends = status == "inProgress" and job.status in {"enquiry", "open"}, status == "done"
    ctx.emit((JobStarted if begins else JobCompleted if ends else JobUpdated)(updated, job))
    return updated


def start_job(ctx: Context, job: Job) -> Job:
    """Set a job in progress if it was waiting for work to begin."""
    return set_job_status(ctx, job, "inProgress") if job.status in {"enquiry", "open"} else job


def remove_job(ctx: Context, job: Job) -> None:
    """Remove a job that an import made and nothing refers to.

    Subscribers were sent an event when it was created, so they are sent a last one that it is cancelled.
    """
    cancelled = store.save(ctx, job, {"status": "cancelled", "cancel_reason": "The import was undone."})
    ctx.emit(JobCancelled(cancelled, job))
    JOBS.remove(ctx, cancelled)


def _choose_site(ctx: Context, customer: Customer) -> str | None:
    """Return the only site of a customer, with a note about it. With several sites, warn that one has to be chosen."""
    sites = find_active_sites(ctx, customer.id)
    if len(sites) > 1:
        ctx.warnings.append(
            f"{customer.name} has several sites, and the job is at none yet. Choose one. list_sites shows them, and"
            " update_job sets siteId."
        )
        return None
    if sites:
        ctx.warnings.append(f"The job is at {sites[0].name}, the only site of {customer.name}.")
    return sites[0].id if sites else None


def _check_job_values(ctx: Context, values: dict[str, Any], customer_id: str, job: Job | None = None) -> None:
    """Refuse a wrong site, a reference in use, and people who have left.

    People whom the job has already may have left.
    """
    check_site(ctx, values.get("site_id"), customer_id)
    lead, old_lead = values.get("lead_person_id"), job.lead_person_id if job else None
    check_people(ctx, "leadPersonId", [lead] if lead and lead != old_lead else [])
    assigned = {*job.assigned} if job else set()
    check_people(ctx, "assigned", [person for person in values.get("assigned") or [] if person not in assigned])
    check_external_ref(ctx, JOBS, values.get("external_ref"), job)

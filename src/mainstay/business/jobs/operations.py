"""Operations on jobs."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS, check_external_ref, check_site, find_active_sites
from mainstay.business.jobs import store
from mainstay.business.jobs.events import JobCancelled, JobCompleted, JobCreated, JobStarted, JobUpdated
from mainstay.business.jobs.model import OFFICE_STAGES, Billing, Job, JobOut, JobStage, Priority, SettableJobStatus
from mainstay.business.jobs.restoring import restore_job_status
from mainstay.business.jobs.store import JOBS, JobId
from mainstay.business.organisation import numbering
from mainstay.business.people.store import check_people
from mainstay.business.records.store import write_note
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import declare_inverse, restore_values
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    STARTING_AFTER,
    WITHOUT_DUPLICATES,
    Day,
    ExternalRef,
    Paragraph,
    Price,
    StoredDay,
    TextLine,
    make_id_validator,
    omittable_field,
)
from mainstay.values.message import Choice, FieldName, Message
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.permissions import Permission, RequiresPermission, find_withheld_values
from mainstay.vocabulary.refusal import Forbidden, raise_if_blocked
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

_MAX_PEOPLE = 50

_CustomerId = Annotated[
    str, make_id_validator("customer"), Field(title="Customer", description=describe("[[The customer's ID.]]"))
]
_SiteId = Annotated[
    Annotated[str, make_id_validator("site")] | None, Field(title="Site", description="Where the work is done.")
]
_Title = Annotated[TextLine, Field(description="The work in a few words.")]
_Description = Annotated[Paragraph | None, Field(description="Visible to the people doing the work.")]
_Priority = Annotated[Priority, Field(description=describe("[[`low`, `normal`, `high` or `urgent`.]]"))]
_Billing = Annotated[Billing, Field(description=describe("[[A `fixed` price, `timeAndMaterials`, or `nonBillable`.]]"))]
_OrderNumber = Annotated[
    TextLine | None,
    Field(title="Customer's order number", description="Printed on the invoice."),
]
_Budget = Annotated[Price | None, Field(description="The agreed or estimated price excluding tax, e.g. 1200.00.")]
_DueOn = Annotated[StoredDay | None, Field(title="Due date", description="When the work must be done.")]
_Lead = Annotated[
    Annotated[str, make_id_validator("person")] | None,
    Field(title="Lead", description=describe("[[The ID of the person in charge.]]")),
]
_Tags = Annotated[list[TextLine], Field(max_length=20, description="E.g. boiler, warranty."), WITHOUT_DUPLICATES]
_Assigned = Annotated[
    list[Annotated[str, make_id_validator("person")]],
    Field(
        title="Team",
        max_length=_MAX_PEOPLE,
        description=describe("[[The IDs of the people who work on it and can see it.]]"),
    ),
]


class ListJobs(ListInput):
    """Which jobs to list."""

    starting_after: Annotated[str | None, make_id_validator("job")] = STARTING_AFTER
    status: Literal["live", "enquiry", "open", "inProgress", "onHold", "done", "closed", "cancelled"] | None = Field(
        None, description=describe("[[Only this status; `live` means neither closed nor cancelled.]]")
    )
    stage: Annotated[JobStage | None, OFFICE_STAGES] = Field(None, description="Only jobs at this stage of the board.")
    priority: Priority | None = Field(None, description="Only jobs with this priority.")
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only jobs of this customer."
    )
    site_id: Annotated[str | None, make_id_validator("site")] = Field(
        None, title="Site", description="Only jobs at this site."
    )
    lead_person_id: Annotated[str | None, make_id_validator("person")] = Field(
        None, title="Lead", description="Only jobs that this person leads."
    )
    due_before: Day | None = Field(
        None,
        title="Due before",
        description="Only unfinished jobs due before this date, soonest first.",
    )
    text: SearchText | None = Field(
        None,
        title="Search",
        description="Number, or words of the title, customer, address, description or tags.",
    )
    order: Literal["newest", "due"] = Field(
        "newest", description=describe("[[`newest` first, or `due` soonest first, without those that have no date.]]")
    )

    def fixed_order(self) -> str | None:
        """Return the order by due date if the list is filtered by it."""
        return "due" if self.due_before else None


class CreateJob(Input):
    """The work, and the customer."""

    customer_id: _CustomerId
    title: _Title
    site_id: _SiteId = None
    description: _Description = None
    status: Literal["enquiry", "open"] = Field("open", description="Enquiry until the customer agrees.")
    priority: _Priority = "normal"
    billing: _Billing = "timeAndMaterials"
    customer_order_number: _OrderNumber = None
    budget: _Budget = None
    due_on: _DueOn = None
    lead_person_id: _Lead = None
    assigned: _Assigned = Field(default_factory=list)
    tags: _Tags = Field(default_factory=list)
    external_ref: ExternalRef = None


class UpdateJob(Input):
    """Which job, and what to change; null clears."""

    job_id: JobId
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
    external_ref: ExternalRef = None


class ChangeJobStatus(Input):
    """Which job, and its new status."""

    job_id: JobId
    status: SettableJobStatus = Field(
        description=describe("The new status. [[`open` also reopens a closed or cancelled job.]]")
    )
    reason: Paragraph | None = Field(None, title="Reason", description="Added to the job as a note for everyone.")


@operation(permission=Permission.JOBS_READ, effect=Effect.READ, api_path="GET /jobs")
def list_jobs(ctx: Context, given: ListJobs) -> PageResult[JobOut]:
    """List jobs.

    Show jobs by customer, stage, due date or text. Members and subcontractors only see jobs that they are assigned to
    or have a visit for.
    """
    if given.stage in find_withheld_values([OFFICE_STAGES], ctx.actor.permissions):
        message = Message(
            "You can't filter by the stage {stage}. Filter by status instead.", stage=Choice(given.stage or "")
        )
        raise Forbidden(message)
    return JOBS.page(ctx, given)


get_job = declare_get(JOBS, "Show job. [[By its ID or number.]]", Permission.JOBS_READ, api_path="GET /jobs/{job_id}")


@operation(
    permission=Permission.JOBS_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /jobs",
    undone_by=declare_inverse("cancel_job", "jobId", reason="Created by mistake", confirmed=True),
    past_text="Job created",
)
def create_job(ctx: Context, given: CreateJob) -> Job:
    """New job.

    [[Create a job for agreed work, or an enquiry or lead; without siteId it is at the customer's only site. It
    gets the next number; book visits with plan_visit.]]
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
    done_message="Job updated.",
    undone_by=restore_values,
    past_text="Details edited",
)
def update_job(ctx: Context, given: UpdateJob, job: Job) -> Job:
    """Edit job.

    [[Only the fields you send change; null clears. Use change_job_status for its status and cancel_job to cancel
    it.]]
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
    done_message="Job status changed.",
    undone_by=restore_job_status,
    past_text="Job changed",
    past_text_by=(
        "status",
        {
            "enquiry": "Job: enquiry",
            "open": "Job: open",
            "inProgress": "Job: in progress",
            "onHold": "Job: on hold",
            "done": "Job: done",
            "closed": "Job: closed",
        },
    ),
)
def change_job_status(ctx: Context, given: ChangeJobStatus, job: Job) -> Job:
    """Change job status.

    If you close a job with work that is not invoiced yet, you get a warning. [[Starts, holds, finishes, closes or
    reopens a job; members can do this with their own jobs, between open and done.]]
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
        message = Message(
            "{customer} has several sites, so the job has none yet. Choose one.",
            for_programs=Message("list_sites shows them, and update_job sets {field}.", field=FieldName("siteId")),
            customer=customer.name,
        )
        ctx.warnings.append(message)
        return None
    if sites:
        ctx.warnings.append(
            Message("The job is at {site}, the only site of {customer}.", site=sites[0].name, customer=customer.name)
        )
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

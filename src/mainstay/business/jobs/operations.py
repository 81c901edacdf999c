"""What can be done with jobs."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.customers.store import CUSTOMERS, check_reference, check_site, find_sites
from mainstay.business.jobs import store
from mainstay.business.jobs.events import JobCancelled, JobCompleted, JobCreated, JobStarted, JobUpdated
from mainstay.business.jobs.model import STAGES_OF_OFFICE, Billing, Job, JobOut, JobStage, Move, Priority
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation import numbering
from mainstay.business.people.store import check_here
from mainstay.business.records.store import write_note
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import Letter
from mainstay.terms.refusal import Forbidden, refuse
from mainstay.terms.rights import Needs, Right, withheld
from mainstay.terms.shapes import Input, ListInput, Page
from mainstay.values.fields import EACH_ONCE, LAST_SEEN, Day, KeptDay, Line, Paragraph, Price, id_of, omittable
from mainstay.values.search import SearchText

_MOST_PEOPLE = 50

_CustomerId = Annotated[str, id_of("customer"), Field(title="Customer", description="For whom: the customer's id.")]
_SiteId = Annotated[
    Annotated[str, id_of("site")] | None, Field(title="Site", description="Where: a site of the customer.")
]
_Title = Annotated[Line, Field(description="What is to be done, in a few words.")]
_Description = Annotated[Paragraph | None, Field(description="What else one should know. The field reads it.")]
_Priority = Annotated[Priority, Field(description="How pressing it is.")]
_Billing = Annotated[
    Billing, Field(description="`fixed` by a quote, `timeAndMaterials` by what it took, or `nonBillable`.")
]
_OrderNumber = Annotated[
    Line | None, Field(title="Customer's order number", description="What the customer wants to read on the invoice.")
]
_Budget = Annotated[Price | None, Field(description="What was agreed or estimated, before tax, such as 1200.00.")]
_DueOn = Annotated[KeptDay | None, Field(title="Due", description="The date by which it is to be done.")]
_Lead = Annotated[
    Annotated[str, id_of("person")] | None, Field(title="Led by", description="Who answers for it: a person's id.")
]
_Tags = Annotated[list[Line], Field(max_length=20, description="Words to find it by, such as boiler."), EACH_ONCE]
_Assigned = Annotated[
    list[Annotated[str, id_of("person")]],
    Field(max_length=_MOST_PEOPLE, description="The ids of the people who work on it: they see it."),
]
_ExternalRef = Annotated[
    Line | None, Field(title="Reference elsewhere", description="What another system calls it; no two share one.")
]
_JobId = Annotated[str, Field(title="Job", description="The job's id or number.")]


class ListJobs(ListInput):
    """Which jobs to list."""

    starting_after: Annotated[str | None, id_of("job")] = LAST_SEEN
    status: Literal["live", "enquiry", "open", "inProgress", "onHold", "done", "closed", "cancelled"] | None = Field(
        None, description="Only these; `live` are all that are neither closed nor cancelled."
    )
    stage: Annotated[JobStage | None, STAGES_OF_OFFICE] = Field(
        None, description="Only jobs at this stage of the board."
    )
    priority: Priority | None = Field(None, description="Only jobs that are so pressing.")
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Only jobs of this customer."
    )
    site_id: Annotated[str | None, id_of("site")] = Field(None, title="Site", description="Only jobs at this site.")
    lead_person_id: Annotated[str | None, id_of("person")] = Field(
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
        """Return the order of the date by which the jobs are narrowed."""
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
    title: _Title = omittable()
    site_id: _SiteId = None
    description: _Description = None
    priority: _Priority = omittable()
    billing: _Billing = omittable()
    customer_order_number: _OrderNumber = None
    budget: Annotated[_Budget, Needs(Right.PRICES_READ)] = None
    due_on: _DueOn = None
    lead_person_id: _Lead = None
    assigned: _Assigned = omittable()
    tags: _Tags = omittable()
    external_ref: _ExternalRef = None


class ChangeJobStatus(Input):
    """Which job, and what it becomes."""

    job_id: _JobId
    status: Move = Field(description="What it becomes. `open` also reopens a job that is closed or cancelled.")
    reason: Paragraph | None = Field(None, title="Why", description="Why, for all to read: a note beside the job.")


@operation(right=Right.JOBS_READ, effect=Effect.READ, rest="GET /jobs")
def list_jobs(ctx: Context, given: ListJobs) -> Page[JobOut]:
    """List jobs.

    Members and subcontractors see the jobs they are assigned to or planned on.
    """
    if given.stage in withheld([STAGES_OF_OFFICE], ctx.actor.rights):
        raise Forbidden(f"The role {ctx.actor.role} may not ask by the stage {given.stage}. Ask by status instead.")
    return JOBS.page(ctx, given)


@operation(right=Right.JOBS_READ, effect=Effect.READ, rest="GET /jobs/{job_id}", glances=True, on=JOBS)
def get_job(_ctx: Context, _given: GetJob, job: Job) -> Job:
    """Get a job.

    By its id or its number.
    """
    return job


@operation(right=Right.JOBS_CHANGE, effect=Effect.CHANGE, rest="POST /jobs", done="The job is created.")
def create_job(ctx: Context, given: CreateJob) -> Job:
    """Make a job.

    For work that is agreed, or an enquiry that may become some; without siteId it is at the customer's only site. It
    gets the next number; visits are planned with plan_visit.
    """
    customer: Customer = CUSTOMERS.fetch(ctx, given.customer_id)
    refuse(customer.not_usable())
    values = dict(given)
    if "site_id" not in given.model_fields_set:
        values["site_id"] = _choose_site(ctx, customer)
    _check(ctx, values, customer.id)
    job = store.insert(ctx, values | {"number": numbering.take(ctx, "job")})
    ctx.record(JobCreated(job))
    return job


@operation(
    right=Right.JOBS_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /jobs/{job_id}",
    on=JOBS,
    unless=Job.not_changeable,
    done="Your changes are saved.",
)
def update_job(ctx: Context, given: UpdateJob, job: Job) -> Job:
    """Change a job's details.

    Only what is sent changes; null clears. Its state is changed with change_job_status, and cancel_job calls it off.
    """
    changes = given.sent("job_id")
    _check(ctx, changes, job.customer_id, job)
    after = store.save(ctx, job, changes)
    if after is not job:
        ctx.record(JobUpdated(after, job))
    if after.title != job.title:
        ctx.post(Letter(store.RETITLED, {"job": job.id}))
    return after


@operation(
    right=Right.JOBS_MOVE,
    effect=Effect.CHANGE,
    rest="POST /jobs/{job_id}/status",
    on=JOBS,
    done="The job's state is changed.",
)
def change_job_status(ctx: Context, given: ChangeJobStatus, job: Job) -> Job:
    """Change how far a job is.

    Begin it, put it on hold, finish it, close it (which warns of work on no invoice) or reopen it. Members may do so
    with their own jobs, between open and done.
    """
    refuse(job.not_movable(ctx.actor, given.status))
    if given.status == "closed":
        ctx.warnings += job.closing_warnings(store.unbilled_work(ctx, job.id))
    if given.reason:
        write_note(ctx, job.id, given.reason)
    return move(ctx, job, given.status)


OPERATIONS = (list_jobs, get_job, create_job, update_job, change_job_status)


def move(ctx: Context, job: Job, to: Move) -> Job:
    """Let a job become this, and tell of it."""
    after = store.save(ctx, job, {"status": to, "cancel_reason": None})
    begins, ends = to == "inProgress" and job.status in {"enquiry", "open"}, to == "done"
    ctx.record((JobStarted if begins else JobCompleted if ends else JobUpdated)(after, job))
    return after


def begin(ctx: Context, job: Job) -> Job:
    """Work has begun: a job that waited for it is in progress."""
    return move(ctx, job, "inProgress") if job.status in {"enquiry", "open"} else job


def remove_job(ctx: Context, job: Job) -> None:
    """Remove a job that an import made and nothing refers to.

    Those who follow events were told that it was created. They are told that it is cancelled, the last they hear of it.
    """
    cancelled = store.save(ctx, job, {"status": "cancelled", "cancel_reason": "The import was undone."})
    ctx.record(JobCancelled(cancelled, job))
    JOBS.remove(ctx, cancelled)


def _choose_site(ctx: Context, customer: Customer) -> str | None:
    """Return the only site of a customer, and say so; with several, warn that somebody has to choose."""
    sites = find_sites(ctx, customer.id)
    if len(sites) > 1:
        ctx.warnings.append(
            f"{customer.name} has several sites, and the job is at none yet. Choose one. list_sites shows them, and"
            " update_job sets siteId."
        )
        return None
    if sites:
        ctx.warnings.append(f"The job is at {sites[0].name}, the only site of {customer.name}.")
    return sites[0].id if sites else None


def _check(ctx: Context, values: dict[str, Any], customer: str, but: Job | None = None) -> None:
    """Refuse what does not belong together, and people who are not here, unless the job has them from before."""
    check_site(ctx, values.get("site_id"), customer)
    lead, before = values.get("lead_person_id"), but.lead_person_id if but else None
    check_here(ctx, "leadPersonId", [lead] if lead and lead != before else [])
    known = {*but.assigned} if but else set()
    check_here(ctx, "assigned", [person for person in values.get("assigned") or [] if person not in known])
    check_reference(ctx, JOBS, values.get("external_ref"), but)

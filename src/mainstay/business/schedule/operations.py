"""What can be done with visits."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.jobs.events import JobUpdated
from mainstay.business.jobs.operations import begin
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.house import house_of
from mainstay.business.schedule import changes, store
from mainstay.business.schedule.changes import MoveVisit, PlanVisit
from mainstay.business.schedule.load import warnings
from mainstay.business.schedule.model import Progress, Visit, VisitOut, VisitStatus
from mainstay.business.schedule.placing import hand_down, place
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import bounds
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, LastDay, ListInput, Page
from mainstay.values.fields import LAST_SEEN, AskedBool, Day, id_of
from mainstay.values.moments import local_date

# Of what is planned at once, so many are looked at for what is worth a warning; the others are alike.
_LOOKED_AT = 10
# What puts a visit elsewhere.
_ELSEWHERE = frozenset({"starts_at", "ends_at", "duration_minutes", "on", "person_id", "time_zone"})


class ListVisits(ListInput):
    """Which visits to list."""

    starting_after: Annotated[str | None, id_of("visit")] = LAST_SEEN
    from_: Day | None = Field(None, alias="from", description="Only visits of this date or later.")
    until: LastDay | None = Field(None, description="Only visits of this date or before.")
    person_id: Annotated[str | None, id_of("person")] = Field(
        None, title="Person", description="Only this person's visits."
    )
    job_id: changes.JobId | None = Field(None, title="Job", description="Only visits of this job: its id or number.")
    series_id: Annotated[str | None, id_of("series")] = Field(
        None, title="Series", description="Only the repetitions of one visit."
    )
    group_id: Annotated[str | None, id_of("group")] = Field(None, title="Crew", description="Only of one crew.")
    status: VisitStatus | None = Field(None, description="Only these. Without it, all but the cancelled.")
    unassigned: AskedBool = Field(default=False, description="Only visits of nobody yet.")
    on_leave: AskedBool = Field(default=False, description="Only visits to come of people on leave then.")
    order: Literal["start", "latest"] = Field("start", description="Earliest `start` first, or `latest` first.")


class GetVisit(Input):
    """Which visit."""

    visit_id: str = Field(description="The visit's id.")


class SetVisitStatus(Input):
    """Which visit, and how far it is."""

    visit_id: str = Field(description="The visit's id.")
    status: Progress = Field(description="`started` when work begins, `done` when it is over, `planned` to undo that.")


@operation(right=Right.SCHEDULE_READ, effect=Effect.READ, rest="GET /visits")
def list_visits(ctx: Context, given: ListVisits) -> Page[VisitOut]:
    """List visits.

    Without dates, from today on; with jobId, seriesId, groupId or `latest`, all. Members see details of
    their own, subcontractors only their own.
    """
    zone = house_of(ctx).time_zone
    first = given.from_
    whole = given.job_id or given.series_id or given.group_id
    if not (first or given.until or whole or given.order == "latest"):
        first = local_date(ctx.now, zone).isoformat()
    begin_at, end_at = bounds(first, given.until, zone)
    conditions: list[str] = []
    bound: dict[str, Any] = {}
    if begin_at:
        conditions, bound = [*conditions, "visit.begins_at >= :begin_at"], bound | {"begin_at": begin_at}
    if given.until:
        conditions, bound = [*conditions, "visit.begins_at < :end_at"], bound | {"end_at": end_at}
    if given.on_leave:
        conditions, bound = [*conditions, store.ON_LEAVE], bound | {"now": ctx.at}
        # Who else is on leave is not for everyone.
        conditions += [] if ctx.actor.may(Right.ALL_LEAVE_READ) else ["visit.person_id = :me"]
    if given.unassigned:
        conditions = [*conditions, "visit.person_id IS NULL"]
    if given.job_id is not None:
        job = JOBS.fetch(ctx, given.job_id)
        conditions, bound = [*conditions, "visit.job_id = :job"], bound | {"job": job.id}
    return VISITS.page(ctx, given, " AND ".join(conditions), walks=not given.on_leave, **bound)


@operation(
    right=Right.SCHEDULE_READ,
    effect=Effect.READ,
    rest="GET /visits/{visit_id}",
    glances=True,
    on=VISITS,
    offered=NO_TOOL,
)
def get_visit(_ctx: Context, _given: GetVisit, visit: Visit) -> Visit:
    """Get a visit.

    Where it is, whom one meets there and what is to be done.
    """
    return visit


@operation(
    right=Right.SCHEDULE_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /visits",
    # The job is further with it.
    only_adds=False,
    mails=True,
    done="The visit is planned.",
)
def plan_visit(ctx: Context, given: PlanVisit) -> Visit:
    """Plan a visit.

    For one person, several or nobody yet, once or repeated; who is elsewhere then, or on leave, is refused. Answers
    with the first visit; use plan_schedule for many at once.
    """
    placed = place(ctx, changes.planned(ctx, given))
    ctx.warnings += warnings(ctx, placed[:_LOOKED_AT])
    return placed[0]


@operation(
    right=Right.SCHEDULE_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /visits/{visit_id}",
    on=VISITS,
    unless=Visit.not_movable,
    mails=True,
    done="The visit is changed.",
)
def move_visit(ctx: Context, given: MoveVisit, visit: Visit) -> Visit:
    """Move or change a visit.

    To another time or person, or other notes: only what is sent changes, and personId null leaves it unassigned.
    A cancelled visit is planned again by it.
    """
    placed = place(ctx, changes.moved(ctx, given, visit))
    if not _ELSEWHERE.isdisjoint(given.model_fields_set):
        ctx.warnings += warnings(ctx, placed[:_LOOKED_AT])
    return next((one for one in placed if one.id == visit.id), visit)


@operation(
    right=Right.SCHEDULE_CHANGE,
    effect=Effect.CHANGE,
    rest="POST /visits/{visit_id}/cancel",
    on=VISITS,
    unless=Visit.not_cancellable,
    mails=True,
    done="The visit is cancelled.",
)
def cancel_visit(ctx: Context, given: changes.CancelVisit, visit: Visit) -> Visit:
    """Cancel a visit.

    It leaves the schedule and can be planned again with move_visit.
    """
    placed = place(ctx, changes.cancelled(ctx, given, visit))
    if len(placed) > 1:
        ctx.warnings.append(f"{len(placed)} visits are cancelled: this one and those that go with it.")
    return next(one for one in placed if one.id == visit.id)


@operation(
    right=Right.VISITS_MOVE,
    effect=Effect.CHANGE,
    rest="POST /visits/{visit_id}/status",
    on=VISITS,
    unless=Visit.not_done_by,
    done="The visit's state is changed.",
)
def set_visit_status(ctx: Context, given: SetVisitStatus, visit: Visit) -> Visit:
    """Say how far a visit is.

    Started or done; the first start of a job's visits starts the job. Members and subcontractors do so with their own.
    """
    if visit.status == given.status:
        return visit
    job = JOBS.find(ctx, "job.id = :id", id=visit.about_job) if visit.about_job else None
    if job:
        refuse(job.not_workable())
    after = store.save(ctx, visit, {"status": given.status, **_progress(ctx, given.status, visit)})
    if job:
        told = hand_down(ctx, job)
        begun = begin(ctx, told) if given.status != "planned" else told
        if begun is told and told is not job:
            ctx.record(JobUpdated(told, job))
    return after


OPERATIONS = (list_visits, get_visit, plan_visit, move_visit, cancel_visit, set_visit_status)


def _progress(ctx: Context, status: Progress, visit: Visit) -> dict[str, str | None]:
    """When it was begun and finished, as far as it is."""
    if status == "planned":
        return {"started_at": None, "finished_at": None}
    if status == "started":
        return {"finished_at": None, **({"started_at": ctx.at} if visit.status == "planned" else {})}
    return {"finished_at": ctx.at, **({"started_at": ctx.at} if visit.status == "planned" else {})}

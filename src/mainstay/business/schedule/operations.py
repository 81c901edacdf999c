"""Operations on visits."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.schedule.model import Visit, VisitOut, VisitStatus
from mainstay.business.schedule.placement import place_visits
from mainstay.business.schedule.restoring import restore_visits
from mainstay.business.schedule.store import ON_LEAVE_CONDITION, VISITS
from mainstay.business.schedule.visit_changes import (
    CancelVisit,
    MoveVisit,
    PlanVisit,
    VisitJobId,
    build_cancelled_visits,
    build_moved_visits,
    build_new_visits,
)
from mainstay.business.schedule.visit_times import bounds_of_days
from mainstay.business.schedule.workload import find_warnings
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import STARTING_AFTER, Day, QueryBool, make_id_validator
from mainstay.values.message import Message
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import LastDay, ListInput, PageResult
from mainstay.vocabulary.toolsets import Toolset

# If many visits are planned at once, only the first ones are checked for warnings, because the others are alike.
_MAX_CHECKED_VISITS = 10
# The fields that change a visit's time or person.
_TIME_FIELDS = frozenset({"starts_at", "ends_at", "duration_minutes", "on", "person_id", "time_zone"})


class ListVisits(ListInput):
    """Which visits to list."""

    starting_after: Annotated[str | None, make_id_validator("visit")] = STARTING_AFTER
    from_: Day | None = Field(None, alias="from", description="Only visits on or after this date.")
    until: LastDay | None = Field(None, description="Only visits on or before this date.")
    person_id: Annotated[str | None, make_id_validator("person")] = Field(
        None, title="Person", description="Only this person's visits."
    )
    job_id: VisitJobId | None = Field(
        None, title="Job", description=describe("[[Only visits of this job: its ID or number.]]")
    )
    series_id: Annotated[str | None, make_id_validator("series")] = Field(
        None, title="Series", description="Only the repeats of one visit."
    )
    group_id: Annotated[str | None, make_id_validator("group")] = Field(
        None, title="Crew", description="Only visits planned together for several people."
    )
    status: VisitStatus | None = Field(None, description="Only this status. Default: all except cancelled.")
    unassigned: QueryBool = Field(default=False, description="Only unassigned visits.")
    on_leave: QueryBool = Field(default=False, description="Only upcoming visits of people who are off then.")
    order: Literal["start", "latest"] = Field(
        "start", description=describe("[[Earliest `start` first, or `latest` first.]]")
    )


@operation(permission=Permission.SCHEDULE_READ, effect=Effect.READ, api_path="GET /visits")
def list_visits(ctx: Context, given: ListVisits) -> PageResult[VisitOut]:
    """List visits.

    [[Who goes where and when: without dates, from today on; with jobId, seriesId, groupId or `latest`, all.]]
    Members see details of their own visits only, subcontractors only their own visits.
    """
    zone = settings_of(ctx).time_zone
    first_day = given.from_
    narrows_list = given.until or given.job_id or given.series_id or given.group_id
    if first_day is None and not narrows_list and given.order == "start":
        first_day = local_date(ctx.now, zone).isoformat()
    begin_at, end_at = bounds_of_days(first_day, given.until, zone)
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    if first_day:
        conditions.append("visit.begins_at >= :begin_at")
        parameters["begin_at"] = begin_at
    if given.until:
        conditions.append("visit.begins_at < :end_at")
        parameters["end_at"] = end_at
    if given.on_leave:
        conditions.append(ON_LEAVE_CONDITION)
        parameters["now"] = ctx.now_text
        # Not everyone may know who else is on leave.
        if not ctx.actor.can(Permission.ALL_LEAVE_READ):
            conditions.append("visit.person_id = :me")
    if given.unassigned:
        conditions.append("visit.person_id IS NULL")
    if given.job_id is not None:
        conditions.append("visit.job_id = :job")
        parameters["job"] = JOBS.fetch(ctx, given.job_id).id
    return VISITS.page(ctx, given, " AND ".join(conditions), uses_index=not given.on_leave, **parameters)


get_visit = declare_get(
    VISITS,
    "Show visit. The address, access notes, contact and work to do.",
    Permission.SCHEDULE_READ,
    api_path="GET /visits/{visit_id}",
    extra_toolset=Toolset.SINGLE_RECORDS,
)


@operation(
    permission=Permission.SCHEDULE_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /visits",
    # Planning a visit changes the stage of its job.
    only_adds=False,
    emails_outside=True,
    undone_by=restore_visits,
    past_text="Visit planned",
)
def plan_visit(ctx: Context, given: PlanVisit) -> Visit:
    """Plan visit.

    Book or schedule work for one person, several or nobody yet, once or repeated; clashes with other visits or
    time off are refused. [[Returns the first visit; use plan_schedule for many at once.]]
    """
    visits = place_visits(ctx, build_new_visits(ctx, given))
    ctx.warnings += find_warnings(ctx, visits[:_MAX_CHECKED_VISITS])
    return visits[0]


@operation(
    permission=Permission.SCHEDULE_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /visits/{visit_id}",
    on=VISITS,
    blocked_by=Visit.not_movable,
    emails_outside=True,
    done_message="Visit updated.",
    undone_by=restore_visits,
    past_text="Visit changed",
)
def move_visit(ctx: Context, given: MoveVisit, visit: Visit) -> Visit:
    """Edit visit.

    [[Move or reschedule it (with only startsAt, it lasts as long as before), reassign it, or change its notes: only the
    fields you send change.]] A cancelled visit becomes planned again.
    """
    visits = place_visits(ctx, build_moved_visits(ctx, given, visit))
    if not _TIME_FIELDS.isdisjoint(given.model_fields_set):
        ctx.warnings += find_warnings(ctx, visits[:_MAX_CHECKED_VISITS])
    return next((changed for changed in visits if changed.id == visit.id), visit)


@operation(
    permission=Permission.SCHEDULE_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /visits/{visit_id}/cancel",
    on=VISITS,
    blocked_by=Visit.not_cancellable,
    emails_outside=True,
    undone_by=restore_visits,
    past_text="Visit cancelled",
)
def cancel_visit(ctx: Context, given: CancelVisit, visit: Visit) -> Visit:
    """Cancel visit.

    Removes it from the schedule. [[To plan it again, use move_visit.]]
    """
    visits = place_visits(ctx, build_cancelled_visits(ctx, given, visit))
    if len(visits) > 1:
        ctx.warnings.append(
            Message(
                "{count} visit cancelled.",
                plural="{count} visits cancelled: this one and others of its crew or series.",
                count=len(visits),
            )
        )
    return next(cancelled for cancelled in visits if cancelled.id == visit.id)


OPERATIONS = (list_visits, get_visit, plan_visit, move_visit, cancel_visit)

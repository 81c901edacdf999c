"""Changes several visits at once, all or none."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from mainstay.business.schedule import visit_changes as changes
from mainstay.business.schedule.model import Visit, VisitKind, VisitStatus
from mainstay.business.schedule.placement import Placement, update_jobs_and_notify, write_visits
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.visit_changes import (
    MAX_CHANGED_VISITS,
    AllowOverlap,
    CancelVisit,
    EndsAt,
    MoveVisit,
    OverlapReason,
    PlanVisit,
    Scope,
    StartsAt,
    VisitDate,
    VisitMinutes,
    VisitNotes,
    VisitPersonId,
    VisitZone,
)
from mainstay.business.schedule.visit_times import format_visit_time
from mainstay.business.schedule.workload import LONGEST_DAY, describe_loads, find_nearby_visits, find_warnings
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import TextLine, make_id_validator, omittable_field
from mainstay.values.model_config import INPUT_CONFIG, OUTPUT_CONFIG
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Blocked, Conflict, Fault, Invalid, Reason, raise_if_blocked
from mainstay.vocabulary.schemas import IrreversibleInput, Output
from mainstay.vocabulary.validation import UNKNOWN_FIELD, faults_of

_MAX_CHANGES = 50
_CHANGE_WORDS = {"plan": "planned", "move": "moved", "cancel": "cancelled"}


class Change(BaseModel):
    """One change of the schedule."""

    model_config = INPUT_CONFIG

    change: Literal["plan", "move", "cancel"] = Field(
        description="`plan` a new visit as plan_visit does, `move` one as move_visit does, or `cancel` one."
    )
    visit_id: Annotated[str | None, make_id_validator("visit")] = Field(
        None, description="Which visit to move or cancel."
    )
    job_id: str | None = Field(None, description="To plan: the job's id or number.")
    title: TextLine | None = Field(None, description="To plan without a job: what it is.")
    kind: VisitKind = omittable_field(description="Work, assessment or other.")
    person_ids: list[VisitPersonId] = omittable_field(max_length=20, description="To plan: who goes.")
    person_id: VisitPersonId | None = Field(None, description="To move: who goes instead; null for nobody yet.")
    starts_at: StartsAt = None
    ends_at: EndsAt = None
    duration_minutes: VisitMinutes = None
    on: VisitDate = None
    time_zone: VisitZone = None
    notes: VisitNotes = None
    scope: Scope = omittable_field()
    allow_overlap: AllowOverlap = omittable_field()
    overlap_reason: OverlapReason = None


class PlanSchedule(IrreversibleInput):
    """The changes."""

    changes: list[Change] = Field(
        min_length=1,
        max_length=_MAX_CHANGES,
        description="The changes, checked together and made all or none.",
        examples=[[{"change": "plan", "jobId": "J-1042", "startsAt": "2026-11-16T08:30", "durationMinutes": 120}]],
    )


class PlannedVisit(BaseModel):
    """A visit as it is after a plan."""

    model_config = OUTPUT_CONFIG

    id: str
    about: str
    status: VisitStatus
    person_id: str | None
    person_name: str | None
    starts_at: str | None = Field(json_schema_extra={"format": "date-time"})
    ends_at: str | None = Field(json_schema_extra={"format": "date-time"})
    on: str | None = Field(json_schema_extra={"format": "date"})
    time_zone: str


class SchedulePlanOut(Output):
    """What became of a plan."""

    noun = "schedulePlan"

    summary: str
    visits: list[PlannedVisit]
    warnings: list[str] = Field(description="What is allowed and yet worth a look.")


@operation(
    permission=Permission.SCHEDULE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /schedule/plan",
    only_adds=False,
    emails_outside=True,
    done_message="The schedule is changed.",
)
def plan_schedule(ctx: Context, given: PlanSchedule) -> SchedulePlanOut:
    """Change the schedule in several places at once.

    Bookings, moves and cancellations are checked together, so that two people may swap visits, and made all or none.
    The preview tells every clash, what is worth a look, and how full each day becomes.
    """
    placements, reasons = _prepare_changes(ctx, given.changes)
    counts = Counter(change.change for change in given.changes)
    ctx.summary = "Visits are " + ", ".join(f"{_CHANGE_WORDS[kind]}: {number}" for kind, number in counts.items()) + "."
    visits, clash_reasons = write_visits(ctx, placements)
    ctx.effects += [f"{visit.display_name}: {_describe_state(visit)}." for visit in visits]
    nearby = find_nearby_visits(ctx, visits, LONGEST_DAY)
    ctx.effects += describe_loads(visits, nearby)
    ctx.warnings += find_warnings(ctx, visits, nearby)
    raise_if_blocked([*reasons, *clash_reasons])
    update_jobs_and_notify(ctx, placements, visits)
    return SchedulePlanOut(
        object=SchedulePlanOut.noun,
        summary=ctx.summary,
        visits=[_to_planned_visit(visit) for visit in visits],
        warnings=ctx.warnings,
    )


OPERATIONS = (plan_schedule,)


def _prepare_changes(ctx: Context, requested: Sequence[Change]) -> tuple[list[Placement], list[Reason]]:
    """Return all visits to be written, and the reasons why some changes cannot be made.

    Faults name the change by its number.
    """
    placements: list[Placement] = []
    faults: list[Fault] = []
    reasons: list[Reason] = []
    for number, change in enumerate(requested):
        try:
            placements += _prepare_change(ctx, change)
        except Invalid as invalid:
            faults += [_to_plan_fault(number, change, fault) for fault in invalid.faults]
        except Blocked as blocked:
            reasons += blocked.reasons
        except Conflict as conflict:
            reasons.append(Reason(conflict.text))
    if faults:
        raise Invalid(faults)
    _check_not_twice(placements)
    if len(placements) > MAX_CHANGED_VISITS:
        raise Conflict(f"This changes more than {MAX_CHANGED_VISITS} visits at once. Make several plans of it.")
    return placements, reasons


def _to_plan_fault(number: int, change: Change, fault: Fault) -> Fault:
    """Return a fault of one change as a fault of the whole plan.

    A field that only another kind of change takes gets a problem text of its own.
    """
    problem = fault.problem
    if problem == UNKNOWN_FIELD:
        problem = f"is not taken to {change.change} a visit"
        problem += ": send personIds" if (change.change, fault.field) == ("plan", "personId") else ""
    return Fault(f"changes.{number}.{fault.field}", problem)


def _prepare_change(ctx: Context, change: Change) -> list[Placement]:
    sent = {
        name: value for name, value in change.model_dump(by_alias=True, exclude_unset=True).items() if name != "change"
    }
    if change.change == "plan":
        return changes.build_new_visits(ctx, _validate_as(PlanVisit, sent))
    if change.visit_id is None:
        raise Invalid([Fault("visitId", "is required to move or cancel a visit")])
    visit = VISITS.fetch(ctx, change.visit_id)
    if change.change == "move":
        move = _validate_as(MoveVisit, sent)
        raise_if_blocked(visit.not_movable(ctx.actor))
        return changes.build_moved_visits(ctx, move, visit)
    cancellation = _validate_as(CancelVisit, sent)
    raise_if_blocked(visit.not_cancellable(ctx.actor))
    return changes.build_cancelled_visits(ctx, cancellation, visit)


def _validate_as(model: type[Any], sent: dict[str, Any]) -> Any:
    """Validate fields as the input of a single change. A field that this change does not take is refused by name."""
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise Invalid(faults_of(error)) from None


def _check_not_twice(placements: Sequence[Placement]) -> None:
    times = Counter(placement.visit.id for placement in placements if placement.visit)
    repeated = [
        placement.visit.display_name for placement in placements if placement.visit and times[placement.visit.id] > 1
    ]
    if repeated:
        raise Conflict(f"The visit of {repeated[0]} is changed twice by this plan. Change each visit once.")


def _describe_state(visit: Visit) -> str:
    if visit.status == "cancelled":
        return "cancelled"
    return (
        f"{visit.person_name or 'nobody yet'},"
        f" {format_visit_time(visit.starts_at, visit.ends_at, visit.on, visit.time_zone)}"
    )


def _to_planned_visit(visit: Visit) -> PlannedVisit:
    names: Iterator[str] = (name for name in PlannedVisit.model_fields if name != "about")
    return PlannedVisit(about=visit.display_name, **{name: getattr(visit, name) for name in names})

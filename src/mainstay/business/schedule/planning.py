"""Several changes of the schedule at once, all or none."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from mainstay.business.schedule import changes
from mainstay.business.schedule.changes import (
    MOST,
    AllowOverlap,
    CancelVisit,
    EndsAt,
    Minutes,
    MoveVisit,
    Notes,
    On,
    OverlapReason,
    PersonId,
    PlanVisit,
    Scope,
    StartsAt,
    Zone,
)
from mainstay.business.schedule.load import WHOLE_DAYS, loads, planned_near, warnings
from mainstay.business.schedule.model import Visit, VisitKind, VisitStatus
from mainstay.business.schedule.placing import Placement, put, tell_all
from mainstay.business.schedule.store import VISITS
from mainstay.business.schedule.times import told
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.faults import UNKNOWN, faults_of
from mainstay.terms.refusal import Blocked, Conflict, Fault, Invalid, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Irrevocable, Shown
from mainstay.values.fields import Line, id_of, omittable
from mainstay.values.models import GIVEN, TOLD

_MOST_CHANGES = 50
_WORDS = {"plan": "planned", "move": "moved", "cancel": "cancelled"}


class Change(BaseModel):
    """One change of the schedule."""

    model_config = GIVEN

    change: Literal["plan", "move", "cancel"] = Field(
        description="`plan` a new visit as plan_visit does, `move` one as move_visit does, or `cancel` one."
    )
    visit_id: Annotated[str | None, id_of("visit")] = Field(None, description="Which visit to move or cancel.")
    job_id: str | None = Field(None, description="To plan: the job's id or number.")
    title: Line | None = Field(None, description="To plan without a job: what it is.")
    kind: VisitKind = omittable(description="Work, assessment or other.")
    person_ids: list[PersonId] = omittable(max_length=20, description="To plan: who goes.")
    person_id: PersonId | None = Field(None, description="To move: who goes instead; null for nobody yet.")
    starts_at: StartsAt = None
    ends_at: EndsAt = None
    duration_minutes: Minutes = None
    on: On = None
    time_zone: Zone = None
    notes: Notes = None
    scope: Scope = omittable()
    allow_overlap: AllowOverlap = omittable()
    overlap_reason: OverlapReason = None


class PlanSchedule(Irrevocable):
    """The changes."""

    changes: list[Change] = Field(
        min_length=1,
        max_length=_MOST_CHANGES,
        description="The changes, checked together and made all or none.",
        examples=[[{"change": "plan", "jobId": "J-1042", "startsAt": "2026-11-16T08:30", "durationMinutes": 120}]],
    )


class PlannedVisit(BaseModel):
    """A visit as it is after a plan."""

    model_config = TOLD

    id: str
    about: str
    status: VisitStatus
    person_id: str | None
    person_name: str | None
    starts_at: str | None = Field(json_schema_extra={"format": "date-time"})
    ends_at: str | None = Field(json_schema_extra={"format": "date-time"})
    on: str | None = Field(json_schema_extra={"format": "date"})
    time_zone: str


class SchedulePlanOut(Shown):
    """What became of a plan."""

    noun = "schedulePlan"

    summary: str
    visits: list[PlannedVisit]
    warnings: list[str] = Field(description="What is allowed and yet worth a look.")


@operation(
    right=Right.SCHEDULE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    rest="POST /schedule/plan",
    only_adds=False,
    mails=True,
    done="The schedule is changed.",
)
def plan_schedule(ctx: Context, given: PlanSchedule) -> SchedulePlanOut:
    """Change the schedule in several places at once.

    Bookings, moves and cancellations are checked together, so that two people may swap visits, and made all or none.
    The preview tells every clash, what is worth a look, and how full each day becomes.
    """
    placements, reasons = _wanted(ctx, given.changes)
    counted = Counter(change.change for change in given.changes)
    ctx.summary = "Visits are " + ", ".join(f"{_WORDS[kind]}: {number}" for kind, number in counted.items()) + "."
    placed, clashing = put(ctx, placements)
    ctx.effects += [f"{one.called}: {_words(one)}." for one in placed]
    near = planned_near(ctx, placed, WHOLE_DAYS)
    ctx.effects += loads(placed, near)
    ctx.warnings += warnings(ctx, placed, near)
    refuse([*reasons, *clashing])
    tell_all(ctx, placements, placed)
    return SchedulePlanOut(
        object=SchedulePlanOut.noun,
        summary=ctx.summary,
        visits=[_planned(one) for one in placed],
        warnings=ctx.warnings,
    )


OPERATIONS = (plan_schedule,)


def _wanted(ctx: Context, asked: Sequence[Change]) -> tuple[list[Placement], list[Reason]]:
    """All visits that are written; and why some of the changes cannot be made, each told with its number."""
    placements: list[Placement] = []
    faults: list[Fault] = []
    reasons: list[Reason] = []
    for number, change in enumerate(asked):
        try:
            placements += _placements(ctx, change)
        except Invalid as invalid:
            faults += [_within(number, change, fault) for fault in invalid.faults]
        except Blocked as blocked:
            reasons += blocked.reasons
        except Conflict as conflict:
            reasons.append(Reason(conflict.text))
    if faults:
        raise Invalid(faults)
    _check_once(placements)
    if len(placements) > MOST:
        raise Conflict(f"This changes more than {MOST} visits at once. Make several plans of it.")
    return placements, reasons


def _within(number: int, change: Change, fault: Fault) -> Fault:
    """A fault of one change; what another kind of change takes is known, but not here."""
    problem = fault.problem
    if problem == UNKNOWN:
        problem = f"is not taken to {change.change} a visit"
        problem += ": send personIds" if (change.change, fault.field) == ("plan", "personId") else ""
    return Fault(f"changes.{number}.{fault.field}", problem)


def _placements(ctx: Context, change: Change) -> list[Placement]:
    sent = {
        name: value for name, value in change.model_dump(by_alias=True, exclude_unset=True).items() if name != "change"
    }
    if change.change == "plan":
        return changes.planned(ctx, _as(PlanVisit, sent))
    if change.visit_id is None:
        raise Invalid([Fault("visitId", "is required to move or cancel a visit")])
    visit = VISITS.fetch(ctx, change.visit_id)
    if change.change == "move":
        moved = _as(MoveVisit, sent)
        refuse(visit.not_movable(ctx.actor))
        return changes.moved(ctx, moved, visit)
    off = _as(CancelVisit, sent)
    refuse(visit.not_cancellable(ctx.actor))
    return changes.cancelled(ctx, off, visit)


def _as(model: type[Any], sent: dict[str, Any]) -> Any:
    """The input of the change by itself; a field that it does not take is refused by name."""
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise Invalid(faults_of(error)) from None


def _check_once(placements: Sequence[Placement]) -> None:
    times = Counter(placement.visit.id for placement in placements if placement.visit)
    twice = [placement.visit.called for placement in placements if placement.visit and times[placement.visit.id] > 1]
    if twice:
        raise Conflict(f"The visit of {twice[0]} is changed twice by this plan. Change each visit once.")


def _words(visit: Visit) -> str:
    if visit.status == "cancelled":
        return "cancelled"
    return f"{visit.person_name or 'nobody yet'}, {told(visit.starts_at, visit.ends_at, visit.on, visit.time_zone)}"


def _planned(visit: Visit) -> PlannedVisit:
    names: Iterator[str] = (name for name in PlannedVisit.model_fields if name != "about")
    return PlannedVisit(about=visit.called, **{name: getattr(visit, name) for name in names})

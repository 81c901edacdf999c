"""Changes several visits at once, all or none."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from mainstay.business.schedule import visit_changes as changes
from mainstay.business.schedule.model import Visit, VisitKind, VisitStatus
from mainstay.business.schedule.placement import Placement, update_jobs_and_notify, write_visits
from mainstay.business.schedule.restoring import MAX_CHANGES, restore_visits
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
from mainstay.business.schedule.visit_times import describe_visit_time
from mainstay.business.schedule.workload import LONGEST_DAY, describe_loads, find_nearby_visits, find_warnings
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import TextLine, make_id_validator, omittable_field
from mainstay.values.message import FieldName, Message
from mainstay.values.model_config import INPUT_CONFIG, OUTPUT_CONFIG
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import (
    Blocked,
    Conflict,
    Fault,
    Invalid,
    Reason,
    join_messages,
    raise_if_blocked,
    template_of,
)
from mainstay.vocabulary.schemas import IrreversibleInput, Output
from mainstay.vocabulary.validation import UNKNOWN_FIELD, faults_of


class Change(BaseModel):
    """One change of the schedule."""

    model_config = INPUT_CONFIG

    change: Literal["plan", "move", "cancel"] = Field(
        description=describe(
            "[[`plan` a new visit (as plan_visit does), `move` one (as move_visit does) or `cancel` one.]]"
        )
    )
    visit_id: Annotated[str | None, make_id_validator("visit")] = Field(
        None, description="The visit to move or cancel."
    )
    job_id: str | None = Field(None, description=describe("[[To plan: the job's ID or number.]]"))
    title: TextLine | None = Field(None, description="To plan without a job: what it is.")
    kind: VisitKind = omittable_field(description=describe("[[To plan: `work`, `assessment` or `other`.]]"))
    person_ids: list[VisitPersonId] = omittable_field(max_length=20, description="To plan: who goes.")
    person_id: VisitPersonId | None = Field(
        None, description=describe("[[To move: who goes instead; null unassigns it.]]")
    )
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
        max_length=MAX_CHANGES,
        description="The changes. Either all are made or none.",
        examples=[[{"change": "plan", "jobId": "J-1042", "startsAt": "2026-11-16T08:30", "durationMinutes": 120}]],
    )


class PlannedVisit(BaseModel):
    """A visit after a plan."""

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
    """The result of a plan."""

    noun = "schedulePlan"

    summary: str
    visits: list[PlannedVisit]
    warnings: list[str] = Field(description="What is allowed but should be checked.")


@operation(
    permission=Permission.SCHEDULE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    api_path="POST /schedule/plan",
    only_adds=False,
    emails_outside=True,
    done_message="Schedule updated.",
    undone_by=restore_visits,
    past_text="Schedule changed",
)
def plan_schedule(ctx: Context, given: PlanSchedule) -> SchedulePlanOut:
    """Plan several visits.

    Sort out a day when someone is sick or people swap: book, move and cancel many visits at once, all or none.
    The preview shows every clash, warnings and how full each day becomes.
    """
    placements, reasons = _prepare_changes(ctx, given.changes)
    counts = Counter(change.change for change in given.changes)
    ctx.summary = join_messages([_count_planned(kind, count) for kind, count in counts.items()])
    visits, clash_reasons = write_visits(ctx, placements)
    ctx.effects += map(_describe_state, visits)
    nearby = find_nearby_visits(ctx, visits, LONGEST_DAY)
    ctx.effects += describe_loads(visits, nearby)
    ctx.warnings += find_warnings(ctx, visits, nearby)
    raise_if_blocked([*reasons, *clash_reasons])
    update_jobs_and_notify(ctx, placements, visits)
    render = ctx.request.message_format.render
    return SchedulePlanOut(
        object=SchedulePlanOut.noun,
        summary=render(join_messages([_count_done(kind, count) for kind, count in counts.items()])),
        visits=[_to_planned_visit(visit) for visit in visits],
        warnings=[*map(render, ctx.warnings)],
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
            reasons.append(Reason(conflict.message))
    if faults:
        raise Invalid(faults)
    _check_not_twice(placements)
    if len(placements) > MAX_CHANGED_VISITS:
        raise Conflict(
            Message(
                "This changes more than {most} visits at once. Split it into several plans.", most=MAX_CHANGED_VISITS
            )
        )
    return placements, reasons


def _to_plan_fault(number: int, change: Change, fault: Fault) -> Fault:
    """Return a fault of one change as a fault of the whole plan.

    A field that only another kind of change takes gets a message of its own.
    """
    field = f"changes.{number}.{fault.field}"
    if template_of(fault) != UNKNOWN_FIELD:
        return Fault(field, fault.message)
    if change.change == "move":
        return Fault(field, Message("is not used to move a visit"))
    if change.change == "cancel":
        return Fault(field, Message("is not used to cancel a visit"))
    detail = Message("send {field}", field=FieldName("personIds")) if fault.field == "personId" else None
    return Fault(field, Message("is not used to plan a visit", for_programs=detail))


def _prepare_change(ctx: Context, change: Change) -> list[Placement]:
    sent = {
        name: value for name, value in change.model_dump(by_alias=True, exclude_unset=True).items() if name != "change"
    }
    if change.change == "plan":
        return changes.build_new_visits(ctx, _validate_as(PlanVisit, sent))
    if change.visit_id is None:
        raise Invalid([Fault("visitId", Message("is required to move or cancel a visit"))])
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
        raise Conflict(
            Message(
                "The visit for {visit} is changed twice in this plan. Change each visit only once.", visit=repeated[0]
            )
        )


def _count_planned(change: str, count: int) -> Message:
    """Return how many visits such a change is about, for a preview."""
    if change == "plan":
        return Message("{count} visit will be planned.", plural="{count} visits will be planned.", count=count)
    if change == "move":
        return Message("{count} visit will be moved.", plural="{count} visits will be moved.", count=count)
    return Message("{count} visit will be cancelled.", plural="{count} visits will be cancelled.", count=count)


def _count_done(change: str, count: int) -> Message:
    """Return how many visits were changed in this way."""
    if change == "plan":
        return Message("{count} visit planned.", plural="{count} visits planned.", count=count)
    if change == "move":
        return Message("{count} visit moved.", plural="{count} visits moved.", count=count)
    return Message("{count} visit cancelled.", plural="{count} visits cancelled.", count=count)


def _describe_state(visit: Visit) -> Message:
    if visit.status == "cancelled":
        return Message("{visit} will be cancelled.", visit=visit.name_in_messages)
    time = describe_visit_time(visit.starts_at, visit.ends_at, visit.on, visit.time_zone)
    if visit.person_name is None:
        return Message("{visit} will be unassigned, {time}.", visit=visit.name_in_messages, time=time)
    return Message(
        "{visit} will be for {person}, {time}.", visit=visit.name_in_messages, person=visit.person_name, time=time
    )


def _to_planned_visit(visit: Visit) -> PlannedVisit:
    names: Iterator[str] = (name for name in PlannedVisit.model_fields if name != "about")
    return PlannedVisit(about=visit.display_name, **{name: getattr(visit, name) for name in names})

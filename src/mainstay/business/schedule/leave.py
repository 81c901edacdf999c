"""Operations on time off: request, decide and cancel."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated, Literal

import orjson
from pydantic import Field

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.people.emails import actor_name, email_person, find_recipients
from mainstay.business.people.store import PEOPLE, check_people
from mainstay.business.schedule.model import Collision, LeaveKind, LeaveStatus, TimeOff, TimeOffOut
from mainstay.business.schedule.store import TIME_OFF, VISITS
from mainstay.business.schedule.visit_times import bounds_of_days, read_moment
from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act, declare_inverse, name_record
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import STARTING_AFTER, Day, Paragraph, make_id_validator
from mainstay.values.message import CalendarDate, CalendarDates, Choice, FieldName, LocalPeriod, Message
from mainstay.values.moments import ONE_DAY, local_date, moment_text, parse_moment
from mainstay.values.wall_times import EnteredMoment
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.record_json import column_names, to_json
from mainstay.vocabulary.refusal import Conflict, Fault, Forbidden, Invalid
from mainstay.vocabulary.schemas import Input, LastDay, ListInput, PageResult
from mainstay.vocabulary.toolsets import Toolset
from mainstay.vocabulary.validation import REQUIRED

_MAX_LENGTH = timedelta(days=366)
# At most this many visits within time off are named.
_MAX_NAMED = 100


class ListTimeOff(ListInput):
    """Which time off to list."""

    starting_after: Annotated[str | None, make_id_validator("leave", "time off")] = STARTING_AFTER
    from_: Day | None = Field(
        None, alias="from", description="Only time off that ends on this date or later. Default: today."
    )
    until: LastDay | None = Field(None, description="Only time off that starts on or before this date.")
    person_id: Annotated[str | None, make_id_validator("person")] = Field(
        None, title="Person", description="Only this person's time off."
    )
    status: LeaveStatus | None = Field(None, description="Only this status. Default: requested and approved.")
    order: Literal["start", "latest"] = Field(
        "start", description=describe("[[Earliest `start` first, or `latest` first.]]")
    )


class RequestTimeOff(Input):
    """Who is away, when and why."""

    person_id: Annotated[str | None, make_id_validator("person"), RequiresPermission(Permission.LEAVE_DECIDE)] = Field(
        None, title="Person", description="Who is off. Default: you. Only the office can enter it for others."
    )
    kind: LeaveKind = Field("holiday", description=describe("[[`holiday`, `sick` or `unavailable`.]]"))
    from_: Day | None = Field(None, alias="from", title="First day off", description="For whole days.")
    until: LastDay | None = Field(None, title="Last day off", description="Leave empty for a single day.")
    starts_at: EnteredMoment | None = Field(
        None,
        title="Starts",
        description=describe("Only for part of a day. [[A local time such as `2026-11-15T10:30`, or with an offset.]]"),
    )
    ends_at: EnteredMoment | None = Field(None, title="Ends", description="Only for part of a day.")
    note: Paragraph | None = Field(None, description="For the office, e.g. the reason.")
    approved: Annotated[bool, RequiresPermission(Permission.LEAVE_DECIDE)] = Field(
        default=False, title="Approve now", description=describe("[[Approves it at once.]] Office only.")
    )


class DecideTimeOff(Input):
    """Which time off, and the answer."""

    time_off_id: str = Field(description=describe("[[The ID of the time off.]]"))
    decision: Literal["approve", "decline"] = Field(description=describe("[[`approve` or `decline`.]]"))
    note: Paragraph | None = Field(None, title="Reply", description="The person will see it.")


@operation(permission=Permission.LEAVE_READ, effect=Effect.READ, api_path="GET /time-off")
def list_time_off(ctx: Context, given: ListTimeOff) -> PageResult[TimeOffOut]:
    """List time off.

    Who is on holiday, sick or unavailable. Members see their own, the office everyone's.
    """
    zone = settings_of(ctx).time_zone
    first = given.from_
    if not (first or given.until or given.order == "latest"):
        first = local_date(ctx.now, zone).isoformat()
    begin, end = bounds_of_days(first, given.until, zone)
    conditions = []
    if begin:
        # No time off is longer than a year, so one that began earlier cannot reach these dates.
        conditions = ["time_off.ends_at > :begin", "time_off.starts_at > :earliest"]
    if given.until:
        conditions.append("time_off.starts_at < :end")
    earliest = moment_text(parse_moment(begin) - _MAX_LENGTH) if begin else ""
    return TIME_OFF.page(ctx, given, " AND ".join(conditions), begin=begin, earliest=earliest, end=end)


@operation(
    permission=Permission.LEAVE_READ,
    effect=Effect.READ,
    api_path="GET /time-off/{time_off_id}",
    on=TIME_OFF,
    extra_toolset=Toolset.SINGLE_RECORDS,
)
def get_time_off(ctx: Context, _given: Input, time_off: TimeOff) -> TimeOff:
    """Show time off.

    Includes the planned visits that clash with it.
    """
    return _add_collisions(ctx, time_off)


@operation(
    permission=Permission.LEAVE_REQUEST,
    effect=Effect.CHANGE,
    api_path="POST /time-off",
    emails_outside=True,
    done_message="Time off saved.",
    undone_by=declare_inverse("cancel_time_off", "timeOffId"),
    past_text="Time off entered",
)
def request_time_off(ctx: Context, given: RequestTimeOff) -> TimeOff:
    """Request time off.

    [[Book holiday or call in sick: for whole days (`from`, `until`) or part of a day (`startsAt`, `endsAt`). It
    takes effect once the office approves it with decide_time_off; the answer lists the planned visits that clash
    with it.]]
    """
    person = PEOPLE.fetch(ctx, given.person_id).id if given.person_id else ctx.actor.id
    if person is None:
        raise Invalid([Fault("personId", Message(REQUIRED))])
    if person != ctx.actor.id and not ctx.actor.can(Permission.LEAVE_DECIDE):
        raise Forbidden(Message("You can only request time off for yourself. Ask the office."))
    check_people(ctx, "personId", [person])
    period = _read_period(given, settings_of(ctx).time_zone)
    _check_overlap(ctx, person, str(period["starts_at"]), str(period["ends_at"]))
    status: LeaveStatus = "approved" if given.approved else "requested"
    values = {"person_id": person, "kind": given.kind, "note": given.note, "status": status}
    time_off = TIME_OFF.insert(ctx, values | period)
    if given.approved:
        _email_person(ctx, time_off, _describe_entry(ctx, time_off))
    return _add_collisions(ctx, time_off)


@operation(
    permission=Permission.LEAVE_REQUEST,
    effect=Effect.CHANGE,
    api_path="POST /time-off/{time_off_id}/cancel",
    on=TIME_OFF,
    blocked_by=TimeOff.not_cancellable,
    emails_outside=True,
    not_undone=Message("Cancelled time off can't be restored. Request it again."),
    past_text="Time off cancelled",
)
def cancel_time_off(ctx: Context, _given: Input, time_off: TimeOff) -> TimeOff:
    """Cancel time off.

    Your own, whether requested or approved. The office can cancel anyone's.
    """
    after = TIME_OFF.save(ctx, time_off, {"status": "cancelled"})
    _email_person(ctx, after, _describe_change(ctx, after))
    return _add_collisions(ctx, after)


_WAS_UNDECIDED = Message("Approve or decline it instead.")


def _restore_decision(act: Act) -> Sequence[Inverse] | Message:
    """Decide the other way again, unless there was no decision before."""
    before: TimeOff = act.before
    if before.status == "requested":
        return _WAS_UNDECIDED
    decision = "approve" if before.status == "approved" else "decline"
    note = orjson.loads(to_json(before))["decisionNote"]
    return [Inverse(act.operation, name_record(act) | {"decision": decision, "note": note})]


@operation(
    permission=Permission.LEAVE_DECIDE,
    effect=Effect.CHANGE,
    api_path="POST /time-off/{time_off_id}/decide",
    on=TIME_OFF,
    blocked_by=TimeOff.not_decidable,
    emails_outside=True,
    undone_by=_restore_decision,
    done_message="Answer recorded.",
    past_text="Time off decided",
    past_text_by=("decision", {"approve": "Time off approved", "decline": "Time off declined"}),
)
def decide_time_off(ctx: Context, given: DecideTimeOff, time_off: TimeOff) -> TimeOff:
    """Approve or decline time off.

    Visits can't be planned during approved time off; those already planned stay until you move them. [[The
    answer lists them, to be moved with plan_schedule, for example.]]
    """
    status: LeaveStatus = "approved" if given.decision == "approve" else "declined"
    if status == "approved" and time_off.status != status:
        # Since it was declined, other time off may have been requested for the same time.
        _check_overlap(ctx, time_off.person_id, time_off.starts_at, time_off.ends_at, except_id=time_off.id)
    after = TIME_OFF.save(ctx, time_off, {"status": status, "decision_note": given.note})
    if after is not time_off:
        _email_person(ctx, after, _describe_change(ctx, after), given.note)
    return _add_collisions(ctx, after)


OPERATIONS = (list_time_off, get_time_off, request_time_off, cancel_time_off, decide_time_off)


_SUBJECTS: dict[LeaveStatus, Message] = {
    "approved": Message("Your time off was approved"),
    "declined": Message("Your time off was declined"),
    "cancelled": Message("Your time off was cancelled"),
}


def _describe_entry(ctx: Context, time_off: TimeOff) -> Message:
    return Message(
        "{name} entered and approved time off for you ({kind}): {when}.",
        name=actor_name(ctx),
        kind=Choice(time_off.kind),
        when=_period_of(ctx, time_off),
    )


def _describe_change(ctx: Context, time_off: TimeOff) -> Message:
    name, kind, when = actor_name(ctx), Choice(time_off.kind), _period_of(ctx, time_off)
    if time_off.status == "approved":
        return Message("{name} approved your time off ({kind}): {when}.", name=name, kind=kind, when=when)
    if time_off.status == "declined":
        return Message("{name} declined your time off ({kind}): {when}.", name=name, kind=kind, when=when)
    return Message("{name} cancelled your time off ({kind}): {when}.", name=name, kind=kind, when=when)


def _email_person(ctx: Context, time_off: TimeOff, first_sentence: Message, note: str | None = None) -> None:
    """Email the person what someone else did with their time off."""
    lines = [Message("See it here: {address}", address=f"{ctx.base_url}/time-off/{time_off.id}")]
    if time_off.status != "approved":
        lines.append(Message("To ask for other days, request time off again."))
    paragraphs = (first_sentence, note, lines) if note else (first_sentence, lines)
    for person in find_recipients(ctx, [time_off.person_id]):
        email_person(ctx, person, _SUBJECTS[time_off.status], paragraphs, time_off.id)


def _period_of(ctx: Context, time_off: TimeOff) -> CalendarDates | LocalPeriod:
    """Return when the time off is: whole days, or from one time to another."""
    if time_off.from_ and time_off.until:
        return CalendarDates(time_off.from_, time_off.until)
    return LocalPeriod(time_off.starts_at, time_off.ends_at, settings_of(ctx).time_zone)


def _read_period(given: RequestTimeOff, zone: str) -> dict[str, str | None]:
    if (
        bool(given.from_) == bool(given.starts_at)
        or (given.from_ and given.ends_at)
        or (given.until and not given.from_)
    ):
        problem = Message(
            "is required for whole days, or {start} and {end} for part of a day",
            start=FieldName("startsAt"),
            end=FieldName("endsAt"),
        )
        raise Invalid([Fault("from", problem)])
    if given.from_:
        last = given.until or given.from_
        begin, end = bounds_of_days(given.from_, last, zone)
        if date.fromisoformat(last) - date.fromisoformat(given.from_) >= _MAX_LENGTH:
            raise Invalid([Fault("until", Message("is more than a year after {field}", field=FieldName("from")))])
        return {"starts_at": begin, "ends_at": end, "from_date": given.from_, "until_date": last}
    if not given.ends_at:
        raise Invalid([Fault("endsAt", Message(REQUIRED))])
    starts, ends = read_moment("startsAt", given.starts_at or "", zone), read_moment("endsAt", given.ends_at, zone)
    if not starts < ends <= starts + _MAX_LENGTH:
        problem = Message("is not within a year after {field}", field=FieldName("startsAt"))
        raise Invalid([Fault("endsAt", problem)])
    return {"starts_at": moment_text(starts), "ends_at": moment_text(ends), "from_date": None, "until_date": None}


def _check_overlap(ctx: Context, person_id: str, starts: str, ends: str, except_id: str = "") -> None:
    """Refuse time off that overlaps other time off of the same person, unless that was declined or cancelled."""
    overlapping = TIME_OFF.find(
        ctx,
        "time_off.person_id = :person AND time_off.status IN ('requested', 'approved') AND time_off.id <> :but"
        " AND time_off.starts_at < :ends AND time_off.ends_at > :starts",
        person=person_id,
        starts=starts,
        ends=ends,
        but=except_id,
    )
    if overlapping:
        message = Message(
            "{person} already has time off ({kind}, {status}): {period}. Cancel that first.",
            for_programs=Message("Call cancel_time_off with {id}.", id=overlapping.id),
            person=overlapping.person_name,
            kind=Choice(overlapping.kind),
            status=Choice(overlapping.status),
            period=_describe_period(overlapping, settings_of(ctx).time_zone),
        )
        raise Conflict(message)


def _describe_period(time_off: TimeOff, zone: str) -> LocalPeriod | Message:
    if time_off.from_ and time_off.until:
        return Message("{first} to {last}", first=CalendarDate(time_off.from_), last=CalendarDate(time_off.until))
    return LocalPeriod(time_off.starts_at, time_off.ends_at, zone)


def _add_collisions(ctx: Context, time_off: TimeOff) -> TimeOff:
    """Return the time off with the planned visits within it. Declined or cancelled time off has none."""
    collisions: list[Collision] = []
    if time_off.status in {"requested", "approved"}:
        visits = VISITS.find_many(
            ctx,
            "visit.person_id = :person AND visit.status IN ('planned', 'started') AND visit.begins_at < :ends"
            " AND visit.begins_at > :earliest AND (visit.ends_at > :starts OR visit.begins_at >= :starts)",
            _MAX_NAMED,
            person=time_off.person_id,
            starts=time_off.starts_at,
            ends=time_off.ends_at,
            earliest=moment_text(parse_moment(time_off.starts_at) - ONE_DAY),
        )
        collisions = [
            Collision(
                visit_id=visit.id,
                about=visit.display_name,
                on=visit.on,
                starts_at=visit.starts_at,
                ends_at=visit.ends_at,
            )
            for visit in visits
        ]
    collisions_json = orjson.dumps([visit.model_dump(by_alias=True) for visit in collisions]).decode()
    position = column_names(TimeOffOut).index("collisions")
    return replace(time_off, row=(*time_off.row[:position], collisions_json, *time_off.row[position + 1 :]))

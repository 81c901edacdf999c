"""Time off: asked for, decided, withdrawn."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated, Literal

import orjson
from pydantic import Field

from mainstay.business.organisation.house import house_of
from mainstay.business.people.store import PEOPLE, check_here
from mainstay.business.people.telling import actor_s_name, tell, to_tell
from mainstay.business.schedule.model import Collision, LeaveKind, LeaveStatus, TimeOff, TimeOffOut
from mainstay.business.schedule.store import TIME_OFF, VISITS
from mainstay.business.schedule.telling import Seen
from mainstay.business.schedule.times import bounds, moment_of, told
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.locales import Locale
from mainstay.terms.actor import NO_TOOL
from mainstay.terms.refusal import Conflict, Fault, Forbidden, Invalid
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Input, LastDay, ListInput, Page
from mainstay.terms.wire import column_names
from mainstay.values.fields import LAST_SEEN, Day, Paragraph, id_of
from mainstay.values.moments import local_date, moment_text, parse_moment
from mainstay.values.wall_times import WallTime

_LONGEST = timedelta(days=366)
_A_DAY = timedelta(hours=24)
# So many visits are named that fall into time off.
_NAMED = 100
# Also where the office has entered it as approved.
_ENTERED = "The time off is entered. It counts once it is approved."


class ListTimeOff(ListInput):
    """Which time off to list."""

    starting_after: Annotated[str | None, id_of("leave", "time off")] = LAST_SEEN
    from_: Day | None = Field(
        None, alias="from", description="Only what reaches into this date or later. Without dates, today."
    )
    until: LastDay | None = Field(None, description="Only what begins on this date or before.")
    person_id: Annotated[str | None, id_of("person")] = Field(
        None, title="Person", description="Only this person's time off."
    )
    status: LeaveStatus | None = Field(None, description="Only this. Without it, what is requested or approved.")
    order: Literal["start", "latest"] = Field("start", description="Earliest `start` first, or `latest` first.")


class GetTimeOff(Input):
    """Which time off."""

    time_off_id: str = Field(description="The id of the time off.")


class RequestTimeOff(Input):
    """Who is away, when and why."""

    person_id: Annotated[str | None, id_of("person"), Needs(Right.LEAVE_DECIDE)] = Field(
        None, title="Person", description="Who is away. Without it, you; others only by the office."
    )
    kind: LeaveKind = Field("holiday", description="Why they are away.")
    from_: Day | None = Field(None, alias="from", description="The first whole day.")
    until: LastDay | None = Field(None, description="The last whole day. Without it, the first.")
    starts_at: WallTime | None = Field(
        None, title="Begins", description="For less than a day: a moment, or a local time such as 2026-11-15T10:30."
    )
    ends_at: WallTime | None = Field(None, title="Ends", description="When it ends, likewise.")
    note: Paragraph | None = Field(None, description="What the office should know.")
    approved: Annotated[bool, Needs(Right.LEAVE_DECIDE)] = Field(
        default=False, title="Approved already", description="Whether it counts at once; only by the office."
    )


class CancelTimeOff(Input):
    """Which time off is withdrawn."""

    time_off_id: str = Field(description="The id of the time off.")


class DecideTimeOff(Input):
    """Which time off, and the answer."""

    time_off_id: str = Field(description="The id of the time off.")
    decision: Literal["approve", "decline"] = Field(description="Whether they may be away.")
    note: Paragraph | None = Field(None, title="Answer", description="What the person should know.")


@operation(right=Right.LEAVE_READ, effect=Effect.READ, rest="GET /time-off")
def list_time_off(ctx: Context, given: ListTimeOff) -> Page[TimeOffOut]:
    """List time off.

    Members see their own, the office everyone's.
    """
    zone = house_of(ctx).time_zone
    first = given.from_
    if not (first or given.until or given.order == "latest"):
        first = local_date(ctx.now, zone).isoformat()
    begin, end = bounds(first, given.until, zone)
    conditions = []
    if begin:
        # Nothing is longer than a year: what began before cannot reach so far.
        conditions = ["time_off.ends_at > :begin", "time_off.starts_at > :earliest"]
    if given.until:
        conditions.append("time_off.starts_at < :end")
    earliest = moment_text(parse_moment(begin) - _LONGEST) if begin else ""
    return TIME_OFF.page(ctx, given, " AND ".join(conditions), begin=begin, earliest=earliest, end=end)


@operation(
    right=Right.LEAVE_READ,
    effect=Effect.READ,
    rest="GET /time-off/{time_off_id}",
    on=TIME_OFF,
    offered=NO_TOOL,
)
def get_time_off(ctx: Context, _given: GetTimeOff, time_off: TimeOff) -> TimeOff:
    """Get time off.

    With the planned visits that fall into it.
    """
    return _with_collisions(ctx, time_off)


@operation(right=Right.LEAVE_REQUEST, effect=Effect.CHANGE, rest="POST /time-off", mails=True, done=_ENTERED)
def request_time_off(ctx: Context, given: RequestTimeOff) -> TimeOff:
    """Ask for time off.

    For whole days by `from` and `until`, or from one time to another. It counts once the office approves it with
    decide_time_off; the answer names the planned visits that fall into it.
    """
    person = PEOPLE.fetch(ctx, given.person_id).id if given.person_id else ctx.actor.id
    if person is None:
        raise Invalid([Fault("personId", "is required")])
    if person != ctx.actor.id and not ctx.actor.may(Right.LEAVE_DECIDE):
        raise Forbidden(f"The role {ctx.actor.role} may ask for its own time off only. Ask the office.")
    check_here(ctx, "personId", [person])
    period = _period(given, house_of(ctx).time_zone)
    _check_only(ctx, person, str(period["starts_at"]), str(period["ends_at"]))
    status: LeaveStatus = "approved" if given.approved else "requested"
    values = {"person_id": person, "kind": given.kind, "note": given.note, "status": status}
    entered = TIME_OFF.insert(ctx, values | period)
    if given.approved:
        _tell(ctx, entered, None, "entered and approved")
    return _with_collisions(ctx, entered)


@operation(
    right=Right.LEAVE_REQUEST,
    effect=Effect.CHANGE,
    rest="POST /time-off/{time_off_id}/cancel",
    on=TIME_OFF,
    unless=TimeOff.not_cancellable,
    mails=True,
    done="The time off is cancelled.",
)
def cancel_time_off(ctx: Context, _given: CancelTimeOff, time_off: TimeOff) -> TimeOff:
    """Cancel time off.

    One's own, asked for or approved; the office everyone's.
    """
    after = TIME_OFF.save(ctx, time_off, {"status": "cancelled"})
    _tell(ctx, after, None, after.status)
    return _with_collisions(ctx, after)


@operation(
    right=Right.LEAVE_DECIDE,
    effect=Effect.CHANGE,
    rest="POST /time-off/{time_off_id}/decide",
    on=TIME_OFF,
    unless=TimeOff.not_decidable,
    mails=True,
    done="The time off is decided.",
)
def decide_time_off(ctx: Context, given: DecideTimeOff, time_off: TimeOff) -> TimeOff:
    """Approve or decline time off.

    From then on nothing is planned for the person in approved time off. Visits that fall into it stay until they are
    moved, with plan_schedule for example; the answer names them.
    """
    status: LeaveStatus = "approved" if given.decision == "approve" else "declined"
    if status == "approved" and time_off.status != status:
        # Since it was declined, other time off may have been asked for in its place.
        _check_only(ctx, time_off.person_id, time_off.starts_at, time_off.ends_at, but=time_off.id)
    after = TIME_OFF.save(ctx, time_off, {"status": status, "decision_note": given.note})
    if after is not time_off:
        _tell(ctx, after, given.note, after.status)
    return _with_collisions(ctx, after)


OPERATIONS = (list_time_off, get_time_off, request_time_off, cancel_time_off, decide_time_off)


_DECIDED = """\
{name} {did} your time off ({kind}): {when}.
{answer}
It is here: {base_url}/time-off/{id}
{next}"""


def _tell(ctx: Context, time_off: TimeOff, answer: str | None, did: str) -> None:
    """Tell whose it is what someone else did with it."""
    for person in to_tell(ctx, [time_off.person_id]):
        text = _DECIDED.format(
            name=actor_s_name(ctx),
            did=did,
            kind=time_off.kind,
            when=_when(ctx, time_off),
            answer=f"\n{answer}\n" if answer else "",
            base_url=ctx.base_url,
            id=time_off.id,
            next="" if time_off.status == "approved" else "For other days, ask for time off again there.\n",
        )
        tell(ctx, person, f"Your time off is {time_off.status}", text, time_off.id)


def _when(ctx: Context, time_off: TimeOff) -> str:
    """When it is, as people write it: from one date to another, or from one time to another."""
    house = house_of(ctx)
    if time_off.from_ and time_off.until:
        return Locale("en", house.country).days(time_off.from_, time_off.until)
    return Seen(time_off.kind, time_off.starts_at, time_off.ends_at, None, house.time_zone).words(house)


def _period(given: RequestTimeOff, zone: str) -> dict[str, str | None]:
    if (
        bool(given.from_) == bool(given.starts_at)
        or (given.from_ and given.ends_at)
        or (given.until and not given.from_)
    ):
        raise Invalid([Fault("from", "is required with until for whole days, or startsAt with endsAt instead")])
    if given.from_:
        last = given.until or given.from_
        begin, end = bounds(given.from_, last, zone)
        if date.fromisoformat(last) - date.fromisoformat(given.from_) >= _LONGEST:
            raise Invalid([Fault("until", "is more than a year after from")])
        return {"starts_at": begin, "ends_at": end, "from_date": given.from_, "until_date": last}
    if not given.ends_at:
        raise Invalid([Fault("endsAt", "is required with startsAt")])
    starts, ends = moment_of("startsAt", given.starts_at or "", zone), moment_of("endsAt", given.ends_at, zone)
    if not starts < ends <= starts + _LONGEST:
        raise Invalid([Fault("endsAt", "is not within a year after startsAt")])
    return {"starts_at": moment_text(starts), "ends_at": moment_text(ends), "from_date": None, "until_date": None}


def _check_only(ctx: Context, person: str, starts: str, ends: str, but: str = "") -> None:
    """Refuse what has time in common with other time off of the same person that counts, or may."""
    known = TIME_OFF.find(
        ctx,
        "time_off.person_id = :person AND time_off.status IN ('requested', 'approved') AND time_off.id <> :but"
        " AND time_off.starts_at < :ends AND time_off.ends_at > :starts",
        person=person,
        starts=starts,
        ends=ends,
        but=but,
    )
    if known:
        words = told(known.starts_at, known.ends_at, None, house_of(ctx).time_zone)
        text = f"{known.person_name} has {known.kind} {known.status} on {words} already."
        raise Conflict(f"{text} Cancel that first (cancel_time_off).")


def _with_collisions(ctx: Context, time_off: TimeOff) -> TimeOff:
    """The time off, with the planned visits that fall into it; over, it hinders none."""
    found: list[Collision] = []
    if time_off.status in {"requested", "approved"}:
        visits = VISITS.some(
            ctx,
            "visit.person_id = :person AND visit.status IN ('planned', 'started') AND visit.begins_at < :ends"
            " AND visit.begins_at > :earliest AND (visit.ends_at > :starts OR visit.begins_at >= :starts)",
            _NAMED,
            person=time_off.person_id,
            starts=time_off.starts_at,
            ends=time_off.ends_at,
            earliest=moment_text(parse_moment(time_off.starts_at) - _A_DAY),
        )
        found = [
            Collision(visit_id=one.id, about=one.called, on=one.on, starts_at=one.starts_at, ends_at=one.ends_at)
            for one in visits
        ]
    told_of = orjson.dumps([one.model_dump(by_alias=True) for one in found]).decode()
    place = column_names(TimeOffOut).index("collisions")
    return replace(time_off, row=(*time_off.row[:place], told_of, *time_off.row[place + 1 :]))

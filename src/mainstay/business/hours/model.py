"""Hours: the states of an entry, how its time is reckoned, and the rules of who may change it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.organisation.books import if_closed
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Fault, Invalid, Reason
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Record, Shown, states
from mainstay.terms.wire import PriceText
from mainstay.values.durations import hours_text
from mainstay.values.models import TOLD
from mainstay.values.moments import Period, local_date, moment_text

Status = Literal["running", "draft", "submitted", "approved", "rejected"]
# What waits to be approved or rejected.
TO_REVIEW: Status = "submitted"
Decision = Literal["approve", "reject", "unapprove"]
# What hours become by each.
BECOMES: Mapping[str, Status] = {"approve": "approved", "reject": "rejected", "unapprove": "submitted"}
# In which state each is decided, the likeliest first.
DECIDED_IN: Mapping[Decision, Status] = {"approve": TO_REVIEW, "reject": TO_REVIEW, "unapprove": "approved"}

# How far ahead hours may end, and how long an entry may be.
AHEAD = timedelta(minutes=15)
LONGEST = timedelta(hours=24)
MOST_MINUTES = 1440
# What is longer is often mistyped, or a timer that nobody stopped.
_LONG_MINUTES = 12 * 60
# Nobody logs hours of another century; it was mistyped.
_EARLIEST = date(2000, 1, 1)

_OFFICE_ONLY = Needs(Right.ALL_HOURS_READ)
_COSTS = Needs(Right.COSTS_READ)


class TimeEntryOut(Record):
    """Hours of one person."""

    noun = "timeEntry"
    place = "/hours/{id}"
    states = states(running="good", draft="waiting", submitted="waiting", approved="good", rejected="bad")

    person_id: str
    person_name: str = Field(title="Person", examples=["Tom Ashworth"])
    status: Status
    on: str = Field(
        title="Date", description="The local date on which the work began.", json_schema_extra={"format": "date"}
    )
    minutes: int | None = Field(title="Time", description="Without breaks; null while a timer runs.", examples=[450])
    started_at: str | None = Field(json_schema_extra={"format": "date-time"})
    ended_at: str | None = Field(json_schema_extra={"format": "date-time"})
    break_minutes: int = Field(title="Break")
    job_id: str | None
    job_number: str | None = Field(title="Job", examples=["J-1042"])
    job_title: str | None = Field(title="Job's title", examples=["Replace the boiler"])
    visit_id: str | None
    note: str | None
    review_note: str | None = Field(title="Why rejected", description="What was said when it was rejected.")
    billable: Annotated[bool | None, _OFFICE_ONLY] = Field(description="Whether the customer is billed for it.")
    billable_minutes: Annotated[int | None, _OFFICE_ONLY] = Field(
        title="Time to bill", description="Where other than the minutes are billed."
    )
    billed: Annotated[bool | None, _OFFICE_ONLY] = Field(description="Whether it is on an invoice.")
    cost_rate: Annotated[PriceText | None, _COSTS] = Field(
        title="Cost per hour", description="As it was when the hours were logged."
    )
    bill_rate: Annotated[PriceText | None, _COSTS] = Field(
        title="Billed per hour", description="As it was when the hours were logged."
    )


class BriefEntry(BaseModel):
    """One of several entries that were changed at once."""

    model_config = TOLD

    id: str
    person_name: str
    on: str = Field(json_schema_extra={"format": "date"})
    minutes: int
    job_number: str | None


class HoursBatchOut(Shown):
    """Several entries that were changed at once."""

    noun = "hoursBatch"

    status: Status = Field(description="What they are now.")
    minutes: int = Field(description="Of all of them.")
    entries: list[BriefEntry]
    warnings: list[str] = Field(description="What is worth a look, such as an entry of more than 12 hours.")


def is_long(minutes: int | None) -> bool:
    """Whether an entry is longer than most people work in a day, so that someone should look at it."""
    return minutes is not None and minutes > _LONG_MINUTES


class Worked(NamedTuple):
    """When someone worked and how long: from a beginning to an end, or so many minutes of a date."""

    on: str
    minutes: int
    started_at: str | None = None
    ended_at: str | None = None
    break_minutes: int = 0

    @property
    def columns(self) -> dict[str, object]:
        """The same as it is kept."""
        return {"on_date": self.on} | {name: getattr(self, name) for name in self._fields if name != "on"}


def worked_between(started: datetime, ended: datetime, break_minutes: int, zone: str, now: datetime) -> Worked:
    """From a beginning to an end; the minutes that really passed, without the break."""
    check_start(started, now)
    if ended <= started:
        raise Invalid([Fault("endedAt", "is not after the start; a shift over midnight ends on the next date")])
    if ended > now + AHEAD:
        raise Invalid([Fault("endedAt", "lies ahead; hours are logged when they are worked")])
    if ended - started > LONGEST:
        raise Invalid([Fault("endedAt", "is more than 24 hours after the start; log one entry for each day")])
    minutes = Period(started, ended).minutes - break_minutes
    if minutes < 1:
        problem = "leaves no time worked" if break_minutes else "is less than a minute after the start"
        raise Invalid([Fault("breakMinutes" if break_minutes else "endedAt", problem)])
    on = local_date(started, zone).isoformat()
    return Worked(on, minutes, moment_text(started), moment_text(ended), break_minutes)


def worked_on(on: str, minutes: int, zone: str, now: datetime) -> Worked:
    """So many minutes of a date."""
    if date.fromisoformat(on) > local_date(now + AHEAD, zone):
        raise Invalid([Fault("on", "lies ahead; hours are logged when they are worked")])
    if date.fromisoformat(on) < _EARLIEST:
        raise Invalid([Fault("on", "lies too far back")])
    return Worked(on, minutes)


def check_start(started: datetime, now: datetime) -> None:
    """Refuse a beginning that cannot be meant."""
    if started > now + AHEAD:
        raise Invalid([Fault("startedAt", "lies ahead; hours are logged when they are worked")])
    if started.date() < _EARLIEST:
        raise Invalid([Fault("startedAt", "lies too far back")])


@dataclass(frozen=True, slots=True)
class TimeEntry(Kept):
    """Hours as their rules see them."""

    shown = TimeEntryOut

    person_id: str
    person_name: str
    status: Status
    on: str
    minutes: int | None
    started_at: str | None
    ended_at: str | None
    break_minutes: int
    job_id: str | None
    job_number: str | None
    job_title: str | None
    visit_id: str | None
    billable: bool
    billed: bool
    # Until which date the organisation's books are closed.
    closed_until: str | None

    @property
    def called(self) -> str:
        """How long, when and on what."""
        time = "A running timer" if self.minutes is None else f"{hours_text(self.minutes)} hours"
        return f"{time} of {self.person_name} on {self.on}" + (f" ({self.work})" if self.job_id else "")

    @property
    def warnings(self) -> list[str]:
        """What is worth a look before it is approved."""
        return [f"{self.called} is an entry of more than 12 hours. Check its times."] if is_long(self.minutes) else []

    @property
    def work(self) -> str:
        """What was worked on."""
        return f"{self.job_number} {self.job_title}" if self.job_id else "no job"

    def not_changeable(self, by: Actor) -> list[Reason]:
        """Why it cannot be changed."""
        if self.status == "running":
            return [*self._if_another_s(by), Reason("The timer still runs. Stop it first.", unblock="stop_timer")]
        return self.not_deletable(by)

    def not_deletable(self, by: Actor) -> list[Reason]:
        """Why it cannot be deleted; a running timer can be."""
        return [*self._if_another_s(by), *self._if_frozen(by), *self.if_closed()]

    def not_submittable(self, by: Actor) -> list[Reason]:
        """Why it cannot be handed in."""
        reasons = self._if_another_s(by)
        if self.status == "running":
            reasons.append(Reason(f"{self.called}: the timer still runs. Stop it first.", unblock="stop_timer"))
        elif self.status not in {"draft", "rejected"}:
            reasons.append(Reason(f"{self.called} is {self.status} already."))
        return [*reasons, *self.if_closed()]

    def not_stoppable(self, by: Actor) -> list[Reason]:
        """Why its timer cannot be stopped."""
        stopped = [] if self.status == "running" else [Reason(f"{self.called}: its timer is stopped already.")]
        return [*self._if_another_s(by), *stopped, *self.if_closed()]

    def not_reviewable(self, decision: Decision) -> list[Reason]:
        """Why it cannot be approved, rejected, or un-approved."""
        billed = self._if_billed() if decision == "unapprove" else []
        return [*self._if_not(DECIDED_IN[decision], decision), *billed, *self.if_closed()]

    def not_decided_on(self, _by: Actor) -> list[Reason]:
        """Why nothing can be decided on it: what stands against the decision that is nearest."""
        return min(map(self.not_reviewable, DECIDED_IN), key=len)

    def if_closed(self) -> list[Reason]:
        """The reason that the books are closed for its date."""
        return if_closed(self.on, self.closed_until)

    def _if_not(self, status: Status, decision: Decision) -> list[Reason]:
        if self.status == status:
            return []
        way = _WAYS.get((self.status, decision), ("", None))
        return [Reason(f"{self.called} is {self.status}, not {status}.{way[0]}", unblock=way[1])]

    def _if_another_s(self, by: Actor) -> list[Reason]:
        if self.person_id != by.id and not by.may(Right.HOURS_REVIEW):
            return [Reason(f"The role {by.role} changes only its own hours. Ask the office.", forbids=True)]
        return []

    def _if_frozen(self, by: Actor) -> list[Reason]:
        if self.billed:
            return self._if_billed()
        if self.status == "approved":
            text = f"{self.called} is approved and so stays as it is, until someone in the office un-approves it."
            return [Reason(text, unblock="review_hours")]
        if self.status == "submitted" and not by.may(Right.HOURS_REVIEW):
            text = f"{self.called} is submitted. Ask the office to reject it, then change it."
            return [Reason(text, unblock="review_hours")]
        return []

    def _if_billed(self) -> list[Reason]:
        if self.billed:
            told = f"{self.called} is on an invoice. Void or credit that, or take it out of the draft, first."
            return [Reason(told, "void_invoice", otherwise="credit_invoice")]
        return []


_WAYS: dict[tuple[Status, Decision], tuple[str, str | None]] = {
    ("running", "approve"): (" Stop the timer, then submit it.", "stop_timer"),
    ("draft", "approve"): (" Submit it first.", "submit_hours"),
    ("rejected", "approve"): (" Submit it again first.", "submit_hours"),
    ("approved", "reject"): (" Un-approve it first.", "review_hours"),
}

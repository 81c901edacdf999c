"""Hours: the states of an entry, how its time is calculated, and the rules of who may change it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.organisation.closed_books import reasons_if_closed
from mainstay.values.message import CalendarDate, Choice, Duration, Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.moments import Period, local_date, moment_text
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.record_json import PriceText
from mainstay.vocabulary.refusal import Fault, Invalid, Reason
from mainstay.vocabulary.roles import RefersTo
from mainstay.vocabulary.schemas import Output, Record, StoredRecord, make_states

EntryStatus = Literal["running", "draft", "submitted", "approved", "rejected"]
# The state of entries that wait to be approved or rejected.
TO_REVIEW: EntryStatus = "submitted"
ReviewDecision = Literal["approve", "reject", "unapprove"]
# The state after each decision.
STATUS_AFTER: Mapping[str, EntryStatus] = {"approve": "approved", "reject": "rejected", "unapprove": "submitted"}
# The state before each decision, the most likely decision first.
STATUS_BEFORE: Mapping[ReviewDecision, EntryStatus] = {
    "approve": TO_REVIEW,
    "reject": TO_REVIEW,
    "unapprove": "approved",
}

# How far in the future hours may end, and how long an entry may be.
MAX_AHEAD = timedelta(minutes=15)
MAX_ENTRY_LENGTH = timedelta(hours=24)
MAX_ENTRY_MINUTES = 1440
# A longer entry is often a typing error, or a timer that nobody stopped.
LONG_MINUTES = 12 * 60
# An earlier date is a typing error.
_EARLIEST = date(2000, 1, 1)

_OFFICE_ONLY = RequiresPermission(Permission.ALL_HOURS_READ)
_COSTS = RequiresPermission(Permission.COSTS_READ)


class TimeEntryOut(Record):
    """Hours of one person."""

    noun = "timeEntry"
    office_path = "/hours/{id}"
    states = make_states(running="begun", draft="waiting", submitted="begun", approved="good", rejected="waiting")

    person_id: Annotated[str, RefersTo("person")]
    person_name: str = Field(title="Person", examples=["Tom Ashworth"])
    status: EntryStatus
    on: str = Field(
        title="Date", description="The local date on which the work began.", json_schema_extra={"format": "date"}
    )
    minutes: int | None = Field(title="Time", description="Without breaks; null while a timer runs.", examples=[450])
    started_at: str | None = Field(json_schema_extra={"format": "date-time"})
    ended_at: str | None = Field(json_schema_extra={"format": "date-time"})
    break_minutes: int = Field(title="Break")
    job_id: Annotated[str | None, RefersTo("job")]
    job_number: str | None = Field(title="Job", examples=["J-1042"])
    job_title: str | None = Field(title="Job title", examples=["Replace the boiler"])
    visit_id: Annotated[str | None, RefersTo("visit")]
    note: str | None
    review_note: str | None = Field(title="Reason for rejection", description="Given when it was rejected.")
    billable: Annotated[bool | None, _OFFICE_ONLY] = Field(description="Whether the customer is charged for it.")
    billable_minutes: Annotated[int | None, _OFFICE_ONLY] = Field(
        title="Time to invoice", description="If it differs from the minutes."
    )
    billed: Annotated[bool | None, _OFFICE_ONLY] = Field(title="Invoiced", description="Whether it is on an invoice.")
    cost_rate: Annotated[PriceText | None, _COSTS] = Field(
        title="Cost per hour", description="As it was when the hours were logged."
    )
    bill_rate: Annotated[PriceText | None, _COSTS] = Field(
        title="Charge-out rate", description="As it was when the hours were logged."
    )


class BriefEntry(BaseModel):
    """One of several entries that were changed at once."""

    model_config = OUTPUT_CONFIG

    id: str
    person_name: str
    on: str = Field(json_schema_extra={"format": "date"})
    minutes: int
    job_number: str | None


class HoursBatchOut(Output):
    """Several entries that were changed at once."""

    noun = "hoursBatch"

    status: EntryStatus = Field(description="Their new status.")
    minutes: int = Field(description="In total.")
    entries: list[BriefEntry]
    warnings: list[str] = Field(description="What to check, such as an entry of more than 12 hours.")


def is_unusually_long(minutes: int | None) -> bool:
    """Return whether an entry is longer than most people work in a day, so that someone should check it."""
    return minutes is not None and minutes > LONG_MINUTES


def has_unknown_cost(entry: TimeEntryOut) -> bool:
    """Return whether hours that count are on no invoice, and their person had no cost per hour."""
    return entry.cost_rate is None and entry.minutes is not None and entry.status != "rejected" and not entry.billed


def is_work_on_visit(entry: "TimeEntry | TimeEntryOut", visit_id: str, job_id: str | None) -> bool:
    """Return whether hours are those of a visit: of itself, or of its job without naming any visit."""
    return entry.visit_id == visit_id or (entry.visit_id is None and entry.job_id == job_id)


class WorkTime(NamedTuple):
    """When someone worked: from a start to an end, or a number of minutes on a date."""

    on: str
    minutes: int
    started_at: str | None = None
    ended_at: str | None = None
    break_minutes: int = 0

    @property
    def columns(self) -> dict[str, object]:
        """Its values, by column."""
        return {"on_date": self.on} | {name: getattr(self, name) for name in self._fields if name != "on"}


def work_time_between(started: datetime, ended: datetime, break_minutes: int, zone: str, now: datetime) -> WorkTime:
    """Return hours from a start to an end. The minutes are those that really passed, without the break."""
    check_start_time(started, now)
    check_end_time(started, ended, now)
    if ended - started > MAX_ENTRY_LENGTH:
        raise Invalid([Fault("endedAt", Message("is more than 24 hours after the start; log one entry for each day"))])
    minutes = Period(started, ended).minutes - break_minutes
    if minutes < 1:
        if break_minutes:
            raise Invalid([Fault("breakMinutes", Message("is as long as the time worked"))])
        raise Invalid([Fault("endedAt", Message("is less than a minute after the start"))])
    on = local_date(started, zone).isoformat()
    return WorkTime(on, minutes, moment_text(started), moment_text(ended), break_minutes)


def work_time_on(on: str, minutes: int, zone: str, now: datetime) -> WorkTime:
    """Return hours as a number of minutes on a date."""
    if date.fromisoformat(on) > local_date(now + MAX_AHEAD, zone):
        raise Invalid([Fault("on", Message("is in the future; log hours after the work"))])
    if date.fromisoformat(on) < _EARLIEST:
        raise Invalid([Fault("on", Message("is too long ago"))])
    return WorkTime(on, minutes)


def check_start_time(started: datetime, now: datetime) -> None:
    """Refuse a start in the future or too far in the past."""
    if started > now + MAX_AHEAD:
        raise Invalid([Fault("startedAt", Message("is in the future; log hours after the work"))])
    if started.date() < _EARLIEST:
        raise Invalid([Fault("startedAt", Message("is too long ago"))])


def check_end_time(started: datetime | None, ended: datetime, now: datetime) -> None:
    """Refuse an end that is not after the start, if that is known, or is in the future."""
    if started and ended <= started:
        raise Invalid(
            [Fault("endedAt", Message("is not after the start; for work past midnight, enter the next date"))]
        )
    if ended > now + MAX_AHEAD:
        raise Invalid([Fault("endedAt", Message("is in the future; log hours after the work"))])


@dataclass(frozen=True, slots=True)
class TimeEntry(StoredRecord):
    """A time entry, as seen by the rules."""

    output = TimeEntryOut

    person_id: str
    person_name: str
    status: EntryStatus
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
    # The date until which the organisation's books are closed.
    closed_until: str | None

    @property
    def display_name(self) -> str:
        """How long, whose, when and on what job."""
        return str(self.name_in_messages)

    @property
    def name_in_messages(self) -> Message:
        """How long, whose, when and on what job."""
        person, date = self.person_name, CalendarDate(self.on)
        if self.minutes is None and self.job_id:
            return Message("Running timer of {person} on {date} ({job})", person=person, date=date, job=self.job_name)
        if self.minutes is None:
            return Message("Running timer of {person} on {date}", person=person, date=date)
        hours = Duration(self.minutes)
        if self.job_id:
            return Message(
                "{hours} hours of {person} on {date} ({job})", hours=hours, person=person, date=date, job=self.job_name
            )
        return Message("{hours} hours of {person} on {date}", hours=hours, person=person, date=date)

    @property
    def warnings(self) -> list[Message]:
        """What should be checked before it is approved."""
        warning = Message("{entry}: this is more than 12 hours. Check the times.", entry=self.name_in_messages)
        return [warning] if is_unusually_long(self.minutes) else []

    @property
    def job_name(self) -> str:
        """The job that was worked on."""
        return f"{self.job_number} {self.job_title}" if self.job_id else "no job"

    def not_changeable(self, by: Actor) -> list[Reason]:
        """Return why it cannot be changed."""
        if self.status == "running":
            return [
                *self._reasons_if_not_own(by),
                Reason(Message("The timer is still running. Stop it first."), first="stop_timer"),
            ]
        return self.not_deletable(by)

    def not_deletable(self, by: Actor) -> list[Reason]:
        """Return why it cannot be deleted. A running timer can be."""
        return [*self._reasons_if_not_own(by), *self._reasons_if_locked(by), *self.reasons_if_closed()]

    def not_submittable(self, by: Actor) -> list[Reason]:
        """Return why it cannot be submitted."""
        reasons = self._reasons_if_not_own(by)
        if self.status == "running":
            message = Message("{entry}: the timer is still running. Stop it first.", entry=self.name_in_messages)
            reasons.append(Reason(message, first="stop_timer"))
        elif self.status not in {"draft", "rejected"}:
            message = Message("{entry}: already {status}.", entry=self.name_in_messages, status=Choice(self.status))
            reasons.append(Reason(message))
        return [*reasons, *self.reasons_if_closed()]

    def not_stoppable(self, by: Actor) -> list[Reason]:
        """Return why its timer cannot be stopped."""
        stopped = Message("{entry}: the timer is already stopped.", entry=self.name_in_messages)
        reasons = [] if self.status == "running" else [Reason(stopped)]
        return [*self._reasons_if_not_own(by), *reasons, *self.reasons_if_closed()]

    def not_reviewable(self, decision: ReviewDecision) -> list[Reason]:
        """Return why it cannot be approved, rejected or un-approved."""
        billed_reasons = self._reasons_if_billed() if decision == "unapprove" else []
        wrong_status = [] if self.status == STATUS_BEFORE[decision] else [self._wrong_status_reason(decision)]
        return [*wrong_status, *billed_reasons, *self.reasons_if_closed()]

    def not_decidable(self, _by: Actor) -> list[Reason]:
        """Return why no decision is possible: the reasons against the decision with the fewest."""
        return min(map(self.not_reviewable, STATUS_BEFORE), key=len)

    def reasons_if_closed(self) -> list[Reason]:
        """Return the reason that the books are closed for its date, or nothing if they are open."""
        return reasons_if_closed(self.on, self.closed_until)

    def _wrong_status_reason(self, decision: ReviewDecision) -> Reason:
        """Return the reason that this decision is not possible in its status."""
        entry = self.name_in_messages
        match self.status, decision:
            case "running", "approve":
                message = Message("{entry}: the timer is still running. Stop it, then submit it.", entry=entry)
                return Reason(message, first="stop_timer")
            case "draft", "approve":
                return Reason(Message("{entry}: still a draft. Submit it first.", entry=entry), first="submit_hours")
            case "rejected", "approve":
                return Reason(Message("{entry}: rejected. Submit it again first.", entry=entry), first="submit_hours")
            case "approved", "reject":
                message = Message("{entry}: already approved. Undo the approval first.", entry=entry)
                return Reason(message, first="review_hours")
        needed = Choice(STATUS_BEFORE[decision])
        return Reason(
            Message("{entry}: {status}, not {needed}.", entry=entry, status=Choice(self.status), needed=needed)
        )

    def _reasons_if_not_own(self, by: Actor) -> list[Reason]:
        if self.person_id != by.id and not by.can(Permission.HOURS_REVIEW):
            return [Reason(Message("You can only change your own hours. Ask the office."), is_missing_permission=True)]
        return []

    def _reasons_if_locked(self, by: Actor) -> list[Reason]:
        if self.billed:
            return self._reasons_if_billed()
        if self.status == "approved":
            message = Message(
                "{entry}: already approved. The office must undo the approval first.", entry=self.name_in_messages
            )
            return [Reason(message, first="review_hours")]
        if self.status == "submitted" and not by.can(Permission.HOURS_REVIEW):
            message = Message(
                "{entry}: already submitted. Ask the office to reject it, then change it.", entry=self.name_in_messages
            )
            return [Reason(message, first="review_hours")]
        return []

    def _reasons_if_billed(self) -> list[Reason]:
        if self.billed:
            message = Message(
                "{entry}: already on an invoice. Void or credit the invoice, or remove it from the draft, first.",
                entry=self.name_in_messages,
            )
            return [Reason(message, ("void_invoice", "credit_invoice"))]
        return []

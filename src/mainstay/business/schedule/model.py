"""Visits and time off: what is shown of them, and the rules of what can be done with them."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field
from pydantic.config import JsonDict

from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Reason
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Record, states
from mainstay.values.address import Address
from mainstay.values.models import TOLD
from mainstay.values.words import words_of

VisitKind = Literal["work", "assessment", "other"]
VisitStatus = Literal["planned", "started", "done", "cancelled"]
# What a visit becomes while it is done; it is cancelled and planned again by acts of their own.
Progress = Literal["planned", "started", "done"]
LeaveKind = Literal["holiday", "sick", "unavailable"]
LeaveStatus = Literal["requested", "approved", "declined", "cancelled"]

LONGEST_VISIT_HOURS = 24
_MOMENT: JsonDict = {"format": "date-time"}


class Step(NamedTuple):
    """What whoever goes to a visit does next: what it becomes, and what that is called."""

    to: Progress
    words: str


def next_step(status: VisitStatus) -> Step | None:
    """What is next, by how far a visit is."""
    return _STEPS.get(status)


_STEPS: dict[VisitStatus, Step] = {"planned": Step("started", "Start"), "started": Step("done", "Finish")}
# What people are told once someone has said how far a visit is.
PROGRESSED: dict[str, str] = {
    "planned": "The visit is planned again.",
    "started": "The visit has started.",
    "done": "The visit is done.",
}


def is_as_planned(status: VisitStatus) -> bool:
    """Whether a visit is as nearly all on a board are, so that nothing needs to be said of it."""
    return status == "planned"


def is_done(status: VisitStatus) -> bool:
    """Whether a visit is over, though its day is not."""
    return status == "done"


def is_undecided(status: LeaveStatus) -> bool:
    """Whether time off was only asked for, and so is in nobody's way yet."""
    return status == "requested"


class VisitOut(Record):
    """A visit: one person at one job, or something else in their day.

    Whoever sees a colleague's only because the team's schedule is open to them is told who, when and which number.
    """

    noun = "visit"
    place = "/schedule/visits/{id}"
    states = states(planned="waiting", started="good", done="over", cancelled="over")

    kind: VisitKind
    status: VisitStatus
    person_id: str | None = Field(description="Who goes; null as long as nobody does.")
    person_name: str | None = Field(title="Person")
    starts_at: str | None = Field(title="Begins", json_schema_extra=_MOMENT)
    ends_at: str | None = Field(title="Ends", json_schema_extra=_MOMENT)
    on: str | None = Field(
        title="Any time on",
        description="The date, where it may be any time of it.",
        json_schema_extra={"format": "date"},
    )
    time_zone: str = Field(description="Where it is: the clocks that were promised.")
    job_id: str | None
    job_number: str | None = Field(title="Job")
    job_title: str | None = Field(title="Work")
    title: str | None = Field(description="What it is, where there is no job.")
    customer_name: str | None = Field(title="Customer")
    site_name: str | None = Field(title="Site")
    site_address: Address | None = Field(title="Address")
    access_notes: str | None = Field(title="Access", description="How one gets in.")
    contact_name: str | None = Field(title="Contact", description="Whom one meets there.")
    contact_phone: str | None = Field(title="Contact's phone")
    notes: str | None
    started_at: str | None = Field(title="Started", json_schema_extra=_MOMENT)
    finished_at: str | None = Field(title="Finished", json_schema_extra=_MOMENT)
    group_id: str | None = Field(description="The same for everyone who goes together.")
    series_id: str | None = Field(description="The same for every repetition.")
    allow_overlap: bool = Field(description="Whether the person is elsewhere then too, on purpose.")
    overlap_reason: Annotated[str | None, Needs(Right.ALL_JOBS_READ)]


@dataclass(frozen=True, slots=True)
class Visit(Kept):
    """A visit as its rules see it."""

    shown = VisitOut

    kind: VisitKind
    status: VisitStatus
    person_id: str | None
    person_name: str | None
    starts_at: str | None
    ends_at: str | None
    on: str | None
    time_zone: str
    # What it is about, and at which place: also where that is not shown.
    about_job: str | None
    about: str | None
    at_site: str | None
    group_id: str | None
    series_id: str | None
    begins_at: str
    allow_overlap: bool

    @property
    def called(self) -> str:
        """What it is about."""
        return self.about or words_of(self.kind)

    @property
    def takes_time(self) -> bool:
        """Whether someone cannot be elsewhere because of it."""
        return self.person_id is not None and self.starts_at is not None and self.status != "cancelled"

    def not_movable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be changed; one that was cancelled is planned again by it."""
        if self.status == "done":
            text = f"The visit of {self.called} is done. Set it back to planned or started first."
            return [Reason(text, unblock="set_visit_status")]
        return []

    def not_cancellable(self, _by: Actor) -> list[Reason]:
        """Why it cannot be cancelled."""
        if self.status == "cancelled":
            return [Reason(f"The visit of {self.called} is cancelled already.")]
        if self.status == "done":
            text = f"The visit of {self.called} is done. Set it back to planned or started first."
            return [Reason(text, unblock="set_visit_status")]
        return []

    def not_done_by(self, by: Actor) -> list[Reason]:
        """Why someone cannot say how far it is."""
        if self.person_id != by.id and not by.may(Right.SCHEDULE_CHANGE):
            return [Reason(f"The role {by.role} may do this with its own visits only. Ask the office.", forbids=True)]
        if self.status == "cancelled":
            return [Reason(f"The visit of {self.called} is cancelled. Plan it again first.", unblock="move_visit")]
        return []


class Collision(BaseModel):
    """A visit within someone's time off."""

    model_config = TOLD

    visit_id: str
    about: str
    on: str | None = Field(description="Its date, where it has no times.", json_schema_extra={"format": "date"})
    starts_at: str | None = Field(json_schema_extra=_MOMENT)
    ends_at: str | None = Field(json_schema_extra=_MOMENT)


class TimeOffOut(Record):
    """Time in which someone is not there."""

    noun = "timeOff"
    place = "/time-off/{id}"
    states = states(requested="waiting", approved="good", declined="bad", cancelled="over")

    person_id: str
    person_name: str = Field(title="Person")
    kind: LeaveKind
    status: LeaveStatus
    from_: str | None = Field(
        alias="from", description="Its first date, where it is whole days.", json_schema_extra={"format": "date"}
    )
    until: str | None = Field(
        description="Its last date, where it is whole days.", json_schema_extra={"format": "date"}
    )
    starts_at: str = Field(title="Begins", json_schema_extra=_MOMENT)
    ends_at: str = Field(title="Ends", json_schema_extra=_MOMENT)
    note: str | None
    decision_note: str | None = Field(title="Answer")
    collisions: list[Collision] | None = Field(
        title="Visits within it",
        description="The planned visits within it, which stay until they are moved. Null in lists.",
    )


@dataclass(frozen=True, slots=True)
class TimeOff(Kept):
    """Time off as its rules see it."""

    shown = TimeOffOut

    person_id: str
    person_name: str
    kind: LeaveKind
    status: LeaveStatus
    from_: str | None
    until: str | None
    starts_at: str
    ends_at: str

    @property
    def called(self) -> str:
        """Whose it is, and what."""
        return f"{self.kind} of {self.person_name}"

    def not_cancellable(self, by: Actor) -> list[Reason]:
        """Why it cannot be withdrawn."""
        if self.person_id != by.id and not by.may(Right.LEAVE_DECIDE):
            return [Reason(f"The role {by.role} may cancel its own time off only. Ask the office.", forbids=True)]
        return self._if_over()

    def not_decidable(self, _by: Actor) -> list[Reason]:
        """Why there is nothing to decide."""
        if self.status == "cancelled":
            return [Reason("This time off was cancelled. It has to be requested again.", unblock="request_time_off")]
        return []

    def _if_over(self) -> list[Reason]:
        if self.status in {"declined", "cancelled"}:
            return [Reason(f"This time off is {self.status} already.")]
        return []

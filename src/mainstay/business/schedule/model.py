"""Visits and time off: their output models, and the rules of what can be done with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field
from pydantic.config import JsonDict

from mainstay.values.address import Address
from mainstay.values.choices import to_label
from mainstay.values.message import Choice, Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.moments import parse_moment
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.roles import OUTSIDER_TEXT, RefersTo
from mainstay.vocabulary.schemas import Record, StoredRecord, make_states

VisitKind = Literal["work", "assessment", "other"]
VisitStatus = Literal["planned", "started", "done", "cancelled"]
# The states that can be set directly. Cancelling and planning again are operations of their own.
SettableStatus = Literal["planned", "started", "done"]
LeaveKind = Literal["holiday", "sick", "unavailable"]
LeaveStatus = Literal["requested", "approved", "declined", "cancelled"]

# The statuses that the person who does the work sets.
PLANNED: SettableStatus = "planned"
STARTED: SettableStatus = "started"
FINISHED: SettableStatus = "done"
MAX_VISIT_HOURS = 24
_MOMENT: JsonDict = {"format": "date-time"}


class VisitStep(NamedTuple):
    """The next step of a visit: the state it leads to, and the button's text."""

    to: SettableStatus
    words: str

    @property
    def starts_work(self) -> bool:
        """Whether the work begins with this step."""
        return self.to == STARTED


def next_visit_step(status: VisitStatus) -> VisitStep | None:
    """Return the next step of a visit in this state, or None."""
    return _NEXT_STEPS.get(status)


_NEXT_STEPS: dict[VisitStatus, VisitStep] = {
    "planned": VisitStep("started", "Start"),
    "started": VisitStep("done", "Finish"),
}


# The messages shown after a visit's state was set.
STATUS_MESSAGES: Mapping[VisitStatus, Message] = {
    "planned": Message("Visit set back to planned."),
    "started": Message("Visit started."),
    "done": Message("Visit done."),
    "cancelled": Message("Visit cancelled."),
}


def is_usual_status(status: VisitStatus) -> bool:
    """Return whether a visit is in the usual state, which the board does not mention."""
    return status == "planned"


def is_visit_done(status: VisitStatus) -> bool:
    """Return whether a visit is done."""
    return status == "done"


class VisitDelay(NamedTuple):
    """By how many minutes a visit is late: to begin, or to end."""

    minutes: int
    has_begun: bool


def find_visit_delay(status: VisitStatus, starts_at: str, ends_at: str, now: datetime) -> VisitDelay | None:
    """Return by how much a visit is late: it should have begun, or ended, and has not. Otherwise None."""
    if status not in _DUE_STEPS:
        return None
    due = parse_moment(ends_at if status == "started" else starts_at)
    minutes = (now - due) // timedelta(minutes=1)
    return VisitDelay(minutes, status == "started") if minutes > _MINUTES_OF_GRACE else None


# The states in which a visit still has to begin or to end.
_DUE_STEPS: frozenset[VisitStatus] = frozenset({"planned", "started"})
# Nobody starts the clock to the minute.
_MINUTES_OF_GRACE = 10


def is_undecided(status: str) -> bool:
    """Return whether time off was only requested, and so blocks no visits yet."""
    return status == "requested"


class VisitOut(Record):
    """A visit: one person at one job, or something else in their day.

    People who see a colleague's visit only on the team's schedule get the person, the time and the job number.
    """

    noun = "visit"
    office_path = "/schedule/visits/{id}"
    states = make_states(planned="waiting", started="begun", done="good", cancelled="over")

    kind: VisitKind
    status: VisitStatus
    person_id: Annotated[str | None, RefersTo("person")] = Field(description="Who goes; null if unassigned.")
    person_name: str | None = Field(title="Person")
    starts_at: str | None = Field(title="Starts", json_schema_extra=_MOMENT)
    ends_at: str | None = Field(title="Ends", json_schema_extra=_MOMENT)
    on: str | None = Field(
        title="All day",
        description="The date, if the visit has no times.",
        json_schema_extra={"format": "date"},
    )
    time_zone: str = Field(description="The time zone of the place of work.")
    job_id: Annotated[str | None, RefersTo("job")]
    job_number: str | None = Field(title="Job")
    job_title: str | None = Field(title="Work")
    title: str | None = Field(description="What it is, if there is no job.")
    customer_name: str | None = Field(title="Customer")
    site_name: str | None = Field(title="Site")
    site_address: Address | None = Field(title="Address")
    access_notes: Annotated[str | None, OUTSIDER_TEXT] = Field(title="Access", description="How to get in.")
    contact_name: str | None = Field(title="Contact", description="The contact on site.")
    contact_phone: str | None = Field(title="Contact phone")
    notes: str | None
    started_at: str | None = Field(title="Started", json_schema_extra=_MOMENT)
    finished_at: str | None = Field(title="Finished", json_schema_extra=_MOMENT)
    group_id: str | None = Field(description="The same for all visits planned together for several people.")
    series_id: str | None = Field(description="The same for all repeats of one visit.")
    allow_overlap: bool = Field(title="Double booking allowed", description="Whether it may clash with other visits.")
    overlap_reason: Annotated[str | None, RequiresPermission(Permission.ALL_JOBS_READ)] = Field(
        title="Reason for double booking"
    )


@dataclass(frozen=True, slots=True)
class Visit(StoredRecord):
    """A visit, as seen by the rules."""

    output = VisitOut

    kind: VisitKind
    status: VisitStatus
    person_id: str | None
    person_name: str | None
    starts_at: str | None
    ends_at: str | None
    on: str | None
    time_zone: str
    started_at: str | None
    # The job, title and site of the visit. The rules know them even if the actor may not see them.
    about_job: str | None
    about: str | None
    at_site: str | None
    group_id: str | None
    series_id: str | None
    begins_at: str
    allow_overlap: bool

    @property
    def display_name(self) -> str:
        """The visit's job or title, or else its kind."""
        return str(self.name_in_messages)

    @property
    def name_in_messages(self) -> Message | str:
        """What it is for."""
        return self.about or Message.from_template(to_label(self.kind))

    @property
    def takes_time(self) -> bool:
        """Whether its person cannot be elsewhere because of it."""
        return self.person_id is not None and self.starts_at is not None and self.status != "cancelled"

    def not_movable(self, _by: Actor) -> list[Reason]:
        """Return why it cannot be changed. A cancelled visit can: changing it plans it again."""
        if self.status == "done":
            return [self._done_reason()]
        return []

    def not_cancellable(self, _by: Actor) -> list[Reason]:
        """Return why it cannot be cancelled."""
        if self.status == "cancelled":
            return [Reason(Message("The visit for {visit} is already cancelled.", visit=self.name_in_messages))]
        if self.status == "done":
            return [self._done_reason()]
        return []

    def not_settable(self, by: Actor) -> list[Reason]:
        """Return why the actor cannot set its state."""
        if self.person_id != by.id and not by.can(Permission.SCHEDULE_CHANGE):
            return [Reason(Message("You can only update your own visits. Ask the office."), is_missing_permission=True)]
        if self.status == "cancelled":
            message = Message("The visit for {visit} is cancelled. Plan it again first.", visit=self.name_in_messages)
            return [Reason(message, first="move_visit")]
        return []

    def _done_reason(self) -> Reason:
        message = Message(
            "The visit for {visit} is done. Set it back to planned or started first.", visit=self.name_in_messages
        )
        return Reason(message, first="set_visit_status")


class Collision(BaseModel):
    """A visit within someone's time off."""

    model_config = OUTPUT_CONFIG

    visit_id: str
    about: str
    on: str | None = Field(description="Its date, if it has no times.", json_schema_extra={"format": "date"})
    starts_at: str | None = Field(json_schema_extra=_MOMENT)
    ends_at: str | None = Field(json_schema_extra=_MOMENT)


class TimeOffOut(Record):
    """Holiday, sick leave or other time off of a person."""

    noun = "timeOff"
    office_path = "/time-off/{id}"
    states = make_states(requested="waiting", approved="good", declined="over", cancelled="over")

    person_id: Annotated[str, RefersTo("person")]
    person_name: str = Field(title="Person")
    kind: LeaveKind
    status: LeaveStatus
    from_: str | None = Field(
        alias="from", description="Its first date, if it is for whole days.", json_schema_extra={"format": "date"}
    )
    until: str | None = Field(
        description="Its last date, if it is for whole days.", json_schema_extra={"format": "date"}
    )
    starts_at: str = Field(title="Starts", json_schema_extra=_MOMENT)
    ends_at: str = Field(title="Ends", json_schema_extra=_MOMENT)
    note: str | None
    decision_note: str | None = Field(title="Reply")
    collisions: list[Collision] | None = Field(
        title="Clashing visits",
        description="The planned visits in this time, which stay until you move them. Null in lists.",
    )


@dataclass(frozen=True, slots=True)
class TimeOff(StoredRecord):
    """Time off, as seen by the rules."""

    output = TimeOffOut

    person_id: str
    person_name: str
    kind: LeaveKind
    status: LeaveStatus
    from_: str | None
    until: str | None
    starts_at: str
    ends_at: str

    @property
    def display_name(self) -> str:
        """The kind of time off, and whose it is."""
        return str(self.name_in_messages)

    @property
    def name_in_messages(self) -> Message:
        """The same, for the readers of a message."""
        return Message("{kind} of {person}", kind=Choice(self.kind), person=self.person_name)

    def not_cancellable(self, by: Actor) -> list[Reason]:
        """Return why it cannot be cancelled."""
        if self.person_id != by.id and not by.can(Permission.LEAVE_DECIDE):
            return [
                Reason(Message("You can only cancel your own time off. Ask the office."), is_missing_permission=True)
            ]
        return self._reasons_if_over()

    def not_decidable(self, _by: Actor) -> list[Reason]:
        """Return why it cannot be approved or declined."""
        if self.status == "cancelled":
            return [Reason(Message("This time off was cancelled. Request it again."), instead="request_time_off")]
        return []

    def _reasons_if_over(self) -> list[Reason]:
        if self.status in {"declined", "cancelled"}:
            return [Reason(Message("This time off is already {status}.", status=Choice(self.status)))]
        return []

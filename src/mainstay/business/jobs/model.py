"""Jobs: their states, the stage they are at, and the rules of what can be done with them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field

from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Reason
from mainstay.terms.rights import Needs, NeedsFor, Right
from mainstay.terms.shapes import Kept, Record, states
from mainstay.terms.wire import PriceText
from mainstay.values.address import Address
from mainstay.values.durations import hours_text
from mainstay.values.words import words_of

Status = Literal["enquiry", "open", "inProgress", "onHold", "done", "closed", "cancelled"]
JobStage = Literal[
    "enquiry",
    "quoting",
    "toSchedule",
    "scheduled",
    "inProgress",
    "toInvoice",
    "invoiced",
    "paid",
    "closed",
    "onHold",
    "cancelled",
]
Priority = Literal["low", "normal", "high", "urgent"]
Billing = Literal["fixed", "timeAndMaterials", "nonBillable"]
# What a job can be moved to; it is cancelled by an act of its own.
Move = Literal["enquiry", "open", "inProgress", "onHold", "done", "closed"]

# What is next at each stage.
_NEXT: dict[JobStage, str | None] = {
    "enquiry": "Quote it or open it",
    "quoting": "Wait for the answer",
    "toSchedule": "Plan a visit",
    "scheduled": "Do the planned visit",
    "inProgress": "Finish the work",
    "toInvoice": "Invoice the work",
    "invoiced": "Wait for the payment",
    "paid": "Close the job",
    "closed": None,
    "onHold": "Take it up again",
    "cancelled": None,
}
# Where the work is done and not on an invoice yet.
TO_BILL: JobStage = "toInvoice"
# What is over needs no column of a board; a list shows it. Whoever is not told how far the office is with it sees what
# is done as one.
_OVER: frozenset[JobStage] = frozenset({"paid", "closed", "cancelled"})
ON_BOARD: tuple[JobStage, ...] = tuple(stage for stage in get_args(JobStage) if stage not in _OVER)
DONE: Status = "done"
# What is next at these is the office's to do; the others need not be told of it.
_OFFICE_S: tuple[JobStage, ...] = ("enquiry", "quoting", "toSchedule", "toInvoice", "invoiced", "paid")

_OFFICE_ONLY = Needs(Right.ALL_JOBS_READ)
# These tell how far the money is; that the work is done or closed its state tells.
STAGES_OF_OFFICE = NeedsFor(Right.ALL_JOBS_READ, ("toInvoice", "invoiced", "paid", "closed"))
_STEPS_OF_OFFICE = NeedsFor(Right.ALL_JOBS_READ, tuple(words for at in _OFFICE_S if (words := _NEXT[at])))
# Whoever sees only their own visits cannot tell whose the planned one is: those that are theirs the schedule tells.
_STEP_OF_SOMEONE = NeedsFor(Right.ALL_SCHEDULE_READ, (str(_NEXT["scheduled"]),))
# For examples.
_PERSON = "person_01KA41T9YB7C5D3E1F9G8H6J4K"
_SITE: dict[str, Any] = {
    "line1": "2 Weir Lane",
    "line2": None,
    "city": "Sowerby Bridge",
    "region": None,
    "postalCode": "HX6 2AG",
    "country": "GB",
}


class JobOut(Record):
    """A job."""

    noun = "job"
    place = "/jobs/{id}"
    states = states(
        enquiry="waiting",
        open="waiting",
        inProgress="good",
        onHold="waiting",
        done="good",
        closed="over",
        cancelled="over",
    )

    number: str = Field(examples=["J-1042"])
    title: str = Field(examples=["Replace the boiler"])
    status: Status = Field(examples=["open"])
    stage: Annotated[JobStage | None, STAGES_OF_OFFICE] = Field(
        description="Where it stands on the board; derived. `closed` is without an invoice for all of it.",
        examples=["toSchedule"],
    )
    next_action: Annotated[str | None, _STEPS_OF_OFFICE, _STEP_OF_SOMEONE] = Field(
        title="Next step", description="What is to be done next.", examples=["Plan a visit"]
    )
    priority: Priority = Field(examples=["normal"])
    customer_id: str = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    site_id: str | None = Field(examples=["site_01KA3R5X7Z9B1D3F5H7J9K1N3P"])
    site_name: str | None = Field(title="Site", examples=["2 Weir Lane"])
    site_address: Address | None = Field(title="Address", examples=[_SITE])
    description: str | None = Field(examples=["The key is with the neighbour."])
    due_on: str | None = Field(title="Due", examples=["2026-11-27"], json_schema_extra={"format": "date"})
    lead_person_id: str | None = Field(examples=[_PERSON])
    lead_person_name: str | None = Field(title="Led by", examples=["Tom Ashworth"])
    assigned: list[str] = Field(description="The ids of the people who see it and work on it.", examples=[[_PERSON]])
    tags: list[str] = Field(examples=[["boiler"]])
    next_visit_at: Annotated[str | None, Needs(Right.ALL_SCHEDULE_READ)] = Field(
        title="Next visit",
        description="When the next planned visit begins.",
        examples=[None],
        json_schema_extra={"format": "date-time"},
    )
    billing: Annotated[Billing | None, _OFFICE_ONLY] = Field(
        description="How it is billed.", examples=["timeAndMaterials"]
    )
    budget: Annotated[PriceText | None, Needs(Right.PRICES_READ)] = Field(
        description="What was agreed or estimated.", examples=["1200.00"]
    )
    customer_order_number: Annotated[str | None, _OFFICE_ONLY] = Field(title="Customer's order number", examples=[None])
    quote_id: Annotated[str | None, _OFFICE_ONLY] = Field(examples=[None])
    cancel_reason: str | None = Field(examples=[None])
    external_ref: Annotated[str | None, _OFFICE_ONLY] = Field(title="Reference elsewhere", examples=[None])


class Standing(NamedTuple):
    """All that says how far a job is: its state, and what other areas have handed down."""

    status: Status
    billing: Billing
    planned_visits: int = 0
    quoting: bool = False
    invoiced: bool = False
    owed: int = 0


def stage_of(job: Standing) -> tuple[JobStage, str | None]:
    """Where a job stands on the board, and what is to be done next."""
    stage: JobStage
    if job.status in {"enquiry", "open"} and job.quoting and not job.planned_visits:
        stage = "quoting"
    elif job.status == "open":
        stage = "scheduled" if job.planned_visits else "toSchedule"
    elif job.status == "done" and job.billing != "nonBillable" and not job.invoiced:
        stage = "toInvoice"
    elif job.status == "done":
        stage = "invoiced" if job.owed else "paid"
    elif job.status == "closed":
        stage = "paid" if job.invoiced and not job.owed else "closed"
    else:
        stage = job.status
    return stage, None if job.status == "closed" else _NEXT[stage]


# What a job can become, from each state, the likeliest first.
_MOVES: dict[Status, tuple[Move, ...]] = {
    "enquiry": ("open", "onHold"),
    "open": ("inProgress", "done", "onHold", "enquiry"),
    "inProgress": ("done", "onHold", "open"),
    "onHold": ("open", "inProgress", "done"),
    "done": ("closed", "inProgress", "open"),
    "closed": ("open", "inProgress", "done"),
    "cancelled": ("open",),
}
# What those who only work on a job may make of it.
_IN_THE_FIELD = {"open", "inProgress", "onHold", "done"}


class UnbilledWork(NamedTuple):
    """How much of a job's billable work is on no invoice."""

    minutes: int
    materials: int

    def __str__(self) -> str:
        hours = f"{hours_text(self.minutes)} h of work" if self.minutes else ""
        materials = f"{self.materials} line{'s' * (self.materials > 1)} of materials" if self.materials else ""
        return " and ".join(filter(None, (hours, materials)))


class Step(NamedTuple):
    """What is next with a job: what it becomes by it, and what that is called."""

    words: str
    to: Move


def next_step(stage: JobStage, *, told: bool) -> Step | None:
    """What is next at a stage, where it is for someone to say so, and they are told of it.

    With what was called off nothing is next; it can be taken up again.
    """
    return _STEPS.get(stage) if told or stage == "cancelled" else None


def is_to_be_planned(stage: JobStage) -> bool:
    """Whether a visit is what comes next."""
    return stage == "toSchedule"


def is_planned(stage: JobStage) -> bool:
    """Whether someone will go there."""
    return stage == "scheduled"


def is_to_be_billed(stage: JobStage) -> bool:
    """Whether an invoice is what comes next."""
    return stage == TO_BILL


_STEPS: dict[JobStage, Step] = {
    "enquiry": Step("Open the job", "open"),
    "toSchedule": Step("Start the work", "inProgress"),
    "scheduled": Step("Start the work", "inProgress"),
    "inProgress": Step("Finish the work", "done"),
    "toInvoice": Step("Close the job", "closed"),
    "paid": Step("Close the job", "closed"),
    "onHold": Step("Take it up again", "open"),
    "cancelled": Step("Reopen the job", "open"),
}


def is_over(status: Status) -> bool:
    """Whether nothing is planned or logged on a job any more."""
    return status in {"closed", "cancelled"}


def moves(status: Status, by: Actor) -> list[Move]:
    """What someone may make of a job in this state."""
    return [to for to in _MOVES[status] if _may_move(by, status, to)]


def _may_move(by: Actor, status: Status, to: Move) -> bool:
    return by.may(Right.JOBS_CHANGE) or {to, status} <= _IN_THE_FIELD


@dataclass(frozen=True, slots=True)
class Job(Kept):
    """A job as its rules see it."""

    shown = JobOut

    number: str
    title: str
    status: Status
    billing: Billing
    customer_id: str
    customer_name: str
    site_id: str | None
    lead_person_id: str | None
    assigned: list[str]
    # In ten-thousandths.
    budget: int | None
    quote_id: str | None
    # Handed down by other areas.
    planned_visits: int
    running_timers: int
    quoting: bool
    invoiced: bool
    owed: int

    @property
    def called(self) -> str:
        """Number and title."""
        return f"{self.number} {self.title}"

    @property
    def detail(self) -> str:
        """For whom it is."""
        return self.customer_name

    @property
    def standing(self) -> Standing:
        """How far it is."""
        return Standing(self.status, self.billing, self.planned_visits, self.quoting, self.invoiced, self.owed)

    @property
    def bills_work(self) -> bool:
        """Whether its customer is billed for hours and materials, and not for a price that was agreed."""
        return self.billing == "timeAndMaterials"

    def not_changeable(self, _by: Actor) -> list[Reason]:
        """Why its details cannot be changed."""
        return self._if_over()

    def not_movable(self, by: Actor, to: Move) -> list[Reason]:
        """Why it cannot become this."""
        words = words_of(to).lower()
        if to == self.status:
            return [Reason(f"{self.number} is {words} already.")]
        if not _may_move(by, self.status, to):
            return [Reason(f"The role {by.role} may not make it {words}. Ask the office.", forbids=True)]
        if to not in _MOVES[self.status]:
            possible = ", ".join(_MOVES[self.status])
            return [Reason(f"{self.number} is {words_of(self.status).lower()}. From there it can become: {possible}.")]
        return [*self._if_timed(by, to), *self._if_not_paid(to)]

    def closing_warnings(self, unbilled: UnbilledWork) -> list[str]:
        """What is worth a look before it is closed: work that would stay unbilled."""
        if any(unbilled):
            what = f"{self.number} has {unbilled} on no invoice"
        elif self.invoiced or self.billing == "nonBillable":
            return []
        else:
            what = f"{self.number} is closed without an invoice for all of it"
        return [f"{what}. Invoice it if it is to be billed (draft_invoice)."]

    def not_cancellable(self, by: Actor) -> list[Reason]:
        """Why it cannot be cancelled."""
        if self.status == "cancelled":
            return [Reason(f"{self.number} is cancelled already.")]
        if self.status == "closed":
            return [Reason(f"{self.number} is closed. Reopen it first.", unblock="change_job_status")]
        return self._if_timed(by, "cancelled")

    def not_workable(self) -> list[Reason]:
        """Why no work can be planned or logged on it."""
        return [reason._replace(at=self.id) for reason in self._if_over()]

    def _if_over(self) -> list[Reason]:
        if is_over(self.status):
            return [Reason(f"{self.number} is {self.status}. Reopen it first.", unblock="change_job_status")]
        return []

    def _if_timed(self, by: Actor, to: str) -> list[Reason]:
        if not self.running_timers or to not in {"done", "closed", "cancelled"}:
            return []
        # Who sees only their own hours would be told of no other, and stops no other.
        if by.may(Right.ALL_HOURS_READ):
            way = "Stop it first. list_hours of the job with the status `running` tells whose it is."
        else:
            way = "Stop it first if it is yours. Otherwise whoever started it does, or someone in the office."
        return [Reason(f"A timer still runs on {self.number}. {way}", unblock="stop_timer")]

    def _if_not_paid(self, to: str) -> list[Reason]:
        if to != "closed" or not self.owed:
            return []
        if self.invoiced:
            return [Reason(f"{self.number} is not paid yet. It closes by itself when it is.")]
        text = f"{self.number} has an invoice that is not paid yet. Record the payment, or credit or void it, first."
        return [Reason(text, unblock="record_payment")]

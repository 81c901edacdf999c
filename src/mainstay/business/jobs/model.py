"""Jobs: their states and stages, and the rules of what can be done with them."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field

from mainstay.values.address import Address
from mainstay.values.message import Choice, Duration, Message, PossibleChoices
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission, RequiresPermission, RequiresPermissionForValues
from mainstay.vocabulary.record_json import PriceText
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.roles import OUTSIDER_TEXT, RefersTo
from mainstay.vocabulary.schemas import Record, StoredRecord, make_states

JobStatus = Literal["enquiry", "open", "inProgress", "onHold", "done", "closed", "cancelled"]
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
# The states that a job can be set to. Cancelling is an operation of its own.
SettableJobStatus = Literal["enquiry", "open", "inProgress", "onHold", "done", "closed"]

# The next step at each stage.
_NEXT_ACTIONS: dict[JobStage, str | None] = {
    "enquiry": "Send a quote or start the job",
    "quoting": "Waiting for an answer",
    "toSchedule": "Plan a visit",
    "scheduled": "Visit planned",
    "inProgress": "Finish the work",
    "toInvoice": "Invoice the work",
    "invoiced": "Waiting for payment",
    "paid": "Close the job",
    "closed": None,
    "onHold": "Resume the job",
    "cancelled": None,
}
# The stage of jobs that wait for a visit.
TO_SCHEDULE: JobStage = "toSchedule"
# The stage of jobs whose work is done and not invoiced yet.
TO_BILL: JobStage = "toInvoice"
# The stage of jobs that are being worked on.
IN_PROGRESS: JobStage = "inProgress"
# Finished jobs need no column on the board, because a list shows them. People who do not see the stages of invoicing
# see all finished work as done.
_FINISHED_STAGES: frozenset[JobStage] = frozenset({"paid", "closed", "cancelled"})
BOARD_STAGES: tuple[JobStage, ...] = tuple(stage for stage in get_args(JobStage) if stage not in _FINISHED_STAGES)
DONE: JobStatus = "done"
# At these stages the next step is up to the office, and is shown only there.
_STAGES_UP_TO_OFFICE: tuple[JobStage, ...] = ("enquiry", "quoting", "toSchedule", "toInvoice", "invoiced", "paid")

_OFFICE_ONLY = RequiresPermission(Permission.ALL_JOBS_READ)
# These stages tell about invoices and payments. That the work is done or closed can be seen by the status.
OFFICE_STAGES = RequiresPermissionForValues(Permission.ALL_JOBS_READ, ("toInvoice", "invoiced", "paid", "closed"))
_OFFICE_NEXT_ACTIONS = RequiresPermissionForValues(
    Permission.ALL_JOBS_READ, tuple(label for stage in _STAGES_UP_TO_OFFICE if (label := _NEXT_ACTIONS[stage]))
)
# People who see only their own visits cannot tell whose visit is planned. The schedule shows them their own.
_VISIT_NEXT_ACTION = RequiresPermissionForValues(Permission.ALL_SCHEDULE_READ, (str(_NEXT_ACTIONS["scheduled"]),))
# Used in examples.
_EXAMPLE_PERSON = "person_01KA41T9YB7C5D3E1F9G8H6J4K"
_EXAMPLE_ADDRESS: dict[str, Any] = {
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
    office_path = "/jobs/{id}"
    states = make_states(
        enquiry="waiting",
        open="waiting",
        inProgress="begun",
        onHold="waiting",
        done="good",
        closed="over",
        cancelled="over",
    )

    number: str = Field(examples=["J-1042"])
    title: str = Field(examples=["Replace the boiler"])
    status: JobStatus = Field(examples=["open"])
    stage: Annotated[JobStage | None, OFFICE_STAGES] = Field(
        description="Its column on the board; derived. `closed` means closed without a full invoice.",
        examples=["toSchedule"],
    )
    next_action: Annotated[str | None, _OFFICE_NEXT_ACTIONS, _VISIT_NEXT_ACTION] = Field(
        title="Next step", description="What to do next.", examples=["Plan a visit"]
    )
    priority: Priority = Field(examples=["normal"])
    customer_id: Annotated[str, RefersTo("customer")] = Field(examples=["customer_01KA3R2D4F6H8J0K2N4P6R8T0V"])
    customer_name: str = Field(title="Customer", examples=["Calder Property Services"])
    site_id: Annotated[str | None, RefersTo("site")] = Field(examples=["site_01KA3R5X7Z9B1D3F5H7J9K1N3P"])
    site_name: str | None = Field(title="Site", examples=["2 Weir Lane"])
    site_address: Address | None = Field(title="Site address", examples=[_EXAMPLE_ADDRESS])
    description: Annotated[str | None, OUTSIDER_TEXT] = Field(examples=["The key is with the neighbour."])
    due_on: str | None = Field(title="Due date", examples=["2026-11-27"], json_schema_extra={"format": "date"})
    lead_person_id: Annotated[str | None, RefersTo("person")] = Field(examples=[_EXAMPLE_PERSON])
    lead_person_name: str | None = Field(title="Lead", examples=["Tom Ashworth"])
    assigned: list[str] = Field(
        title="Team", description="The IDs of the people who work on it.", examples=[[_EXAMPLE_PERSON]]
    )
    tags: list[str] = Field(examples=[["boiler"]])
    next_visit_at: Annotated[str | None, RequiresPermission(Permission.ALL_SCHEDULE_READ)] = Field(
        title="Next visit",
        description="When the next planned visit starts.",
        examples=[None],
        json_schema_extra={"format": "date-time"},
    )
    billing: Annotated[Billing | None, _OFFICE_ONLY] = Field(
        description="How it is invoiced.", examples=["timeAndMaterials"]
    )
    budget: Annotated[PriceText | None, RequiresPermission(Permission.PRICES_READ)] = Field(
        description="The agreed or estimated price, excluding tax.", examples=["1200.00"]
    )
    customer_order_number: Annotated[str | None, _OFFICE_ONLY] = Field(title="Customer's order number", examples=[None])
    quote_id: Annotated[str | None, _OFFICE_ONLY, RefersTo("quote")] = Field(examples=[None])
    cancel_reason: str | None = Field(examples=[None])
    external_ref: Annotated[str | None, _OFFICE_ONLY] = Field(title="External ID", examples=[None])


class JobProgress(NamedTuple):
    """Everything that determines a job's stage: its status, and totals maintained by other areas."""

    status: JobStatus
    billing: Billing
    planned_visits: int = 0
    quoting: bool = False
    invoiced: bool = False
    owed: int = 0


def stage_of(progress: JobProgress) -> tuple[JobStage, str | None]:
    """Return a job's stage on the board and its next step."""
    stage: JobStage
    if progress.status in {"enquiry", "open"} and progress.quoting and not progress.planned_visits:
        stage = "quoting"
    elif progress.status == "open":
        stage = "scheduled" if progress.planned_visits else "toSchedule"
    elif progress.status == "done" and progress.billing != "nonBillable" and not progress.invoiced:
        stage = "toInvoice"
    elif progress.status == "done":
        stage = "invoiced" if progress.owed else "paid"
    elif progress.status == "closed":
        stage = "paid" if progress.invoiced and not progress.owed else "closed"
    else:
        stage = progress.status
    return stage, None if progress.status == "closed" else _NEXT_ACTIONS[stage]


# The possible next states from each state, the most likely first.
_NEXT_STATUSES: dict[JobStatus, tuple[SettableJobStatus, ...]] = {
    "enquiry": ("open", "onHold"),
    "open": ("inProgress", "done", "onHold", "enquiry"),
    "inProgress": ("done", "onHold", "open"),
    "onHold": ("open", "inProgress", "done"),
    "done": ("closed", "inProgress", "open"),
    "closed": ("open", "inProgress", "done"),
    "cancelled": ("open",),
}
# The states between which members may move their own jobs.
_FIELD_STATUSES = {"open", "inProgress", "onHold", "done"}


class UnbilledWork(NamedTuple):
    """How much of a job's billable work is not on an invoice."""

    minutes: int
    materials: int

    def describe(self) -> list[Message]:
        """Return the hours and the materials, if there are any."""
        hours = Message("{hours} h of work", hours=Duration(self.minutes))
        materials = Message("{count} line of materials", plural="{count} lines of materials", count=self.materials)
        return [*([hours] if self.minutes else []), *([materials] if self.materials else [])]


class JobStep(NamedTuple):
    """The next step of a job: the button's text, and the state it leads to."""

    label: str
    status: SettableJobStatus


def next_job_step(stage: JobStage, *, sees_office_stages: bool) -> JobStep | None:
    """Return the next step at a stage, or None.

    `sees_office_stages` says whether the person sees the stages of the office. A cancelled job can always be reopened.
    """
    return _STEPS.get(stage) if sees_office_stages or stage == "cancelled" else None


def has_to_be_planned(stage: JobStage) -> bool:
    """Return whether the next step is to plan a visit."""
    return stage == TO_SCHEDULE


def has_planned_visit(stage: JobStage) -> bool:
    """Return whether a visit is planned."""
    return stage == "scheduled"


def has_to_be_billed(stage: JobStage, billing: Billing | None, unbilled: Decimal) -> bool:
    """Return whether the next step is to invoice: a price was agreed, or there is work or material to bill."""
    return stage == TO_BILL and (billing == "fixed" or unbilled != 0)


_STEPS: dict[JobStage, JobStep] = {
    "enquiry": JobStep("Open the job", "open"),
    "toSchedule": JobStep("Start the work", "inProgress"),
    "scheduled": JobStep("Start the work", "inProgress"),
    "inProgress": JobStep("Finish the work", "done"),
    "toInvoice": JobStep("Close the job", "closed"),
    "paid": JobStep("Close the job", "closed"),
    "onHold": JobStep("Resume the job", "open"),
    "cancelled": JobStep("Reopen the job", "open"),
}


def is_over(status: JobStatus) -> bool:
    """Return whether a job is closed or cancelled, so that nothing can be planned or logged on it."""
    return status in {"closed", "cancelled"}


def settable_statuses(status: JobStatus, by: Actor) -> list[SettableJobStatus]:
    """Return the states that a person may set for a job in this state."""
    return [new_status for new_status in _NEXT_STATUSES[status] if _can_set(by, status, new_status)]


def _can_set(by: Actor, status: JobStatus, new_status: SettableJobStatus) -> bool:
    return by.can(Permission.JOBS_CHANGE) or {new_status, status} <= _FIELD_STATUSES


def find_status_path(status: JobStatus, wanted: JobStatus) -> list[SettableJobStatus]:
    """Return the states to set one after the other, as few as possible, to come from one state to another."""
    paths: dict[JobStatus, list[SettableJobStatus]] = {status: []}
    for reached in (queue := [status]):
        for following in _NEXT_STATUSES[reached]:
            if following not in paths:
                paths[following] = [*paths[reached], following]
                queue.append(following)
    return paths[wanted]


@dataclass(frozen=True, slots=True)
class Job(StoredRecord):
    """A job, as seen by the rules."""

    output = JobOut

    number: str
    title: str
    status: JobStatus
    billing: Billing
    customer_id: str
    customer_name: str
    site_id: str | None
    lead_person_id: str | None
    assigned: list[str]
    # In ten-thousandths of the currency unit.
    budget: int | None
    quote_id: str | None
    # Maintained by other areas.
    planned_visits: int
    running_timers: int
    quoting: bool
    invoiced: bool
    owed: int

    @property
    def display_name(self) -> str:
        """The job's number and title."""
        return f"{self.number} {self.title}"

    @property
    def progress(self) -> JobProgress:
        """What determines its stage."""
        return JobProgress(self.status, self.billing, self.planned_visits, self.quoting, self.invoiced, self.owed)

    @property
    def bills_work(self) -> bool:
        """Whether its customer is billed for hours and materials instead of an agreed price."""
        return self.billing == "timeAndMaterials"

    def not_changeable(self, _by: Actor) -> list[Reason]:
        """Return why its details cannot be changed."""
        return self._reasons_if_over()

    def not_movable(self, by: Actor, new_status: SettableJobStatus) -> list[Reason]:
        """Return why it cannot be set to this state."""
        if new_status == self.status:
            return [Reason(Message("{job} is already {status}.", job=self.number, status=Choice(new_status)))]
        if not _can_set(by, self.status, new_status):
            message = Message(
                "You can't change the status of {job} to {status}. Ask the office.",
                job=self.number,
                status=Choice(new_status),
            )
            return [Reason(message, is_missing_permission=True)]
        if new_status not in _NEXT_STATUSES[self.status]:
            message = Message(
                "{job} is {status}. It can only become {possible}.",
                job=self.number,
                status=Choice(self.status),
                possible=PossibleChoices(_NEXT_STATUSES[self.status]),
            )
            return [Reason(message)]
        return [*self._reasons_if_timed(by, new_status), *self._reasons_if_unpaid(new_status)]

    def closing_warnings(self, unbilled: UnbilledWork) -> list[Message]:
        """Return warnings about work that would stay unbilled if the job is closed."""
        hint = Message("Call draft_invoice.")
        if any(unbilled):
            return [
                Message(
                    "{job} has work that is not on an invoice: {unbilled}. Invoice it if the customer should pay.",
                    for_programs=hint,
                    job=self.number,
                    unbilled=unbilled.describe(),
                )
            ]
        if self.invoiced or self.billing == "nonBillable":
            return []
        return [
            Message(
                "{job} is closed without a full invoice. Create one if the customer should pay.",
                for_programs=hint,
                job=self.number,
            )
        ]

    def not_cancellable(self, by: Actor) -> list[Reason]:
        """Return why it cannot be cancelled."""
        if self.status == "cancelled":
            return [Reason(Message("{job} is already cancelled.", job=self.number))]
        if self.status == "closed":
            return [Reason(Message("{job} is closed. Reopen it first.", job=self.number), first="change_job_status")]
        return self._reasons_if_timed(by, "cancelled")

    def not_workable(self) -> list[Reason]:
        """Return why no work can be planned or logged on it."""
        return [reason._replace(unblocking_record_id=self.id) for reason in self._reasons_if_over()]

    def _reasons_if_over(self) -> list[Reason]:
        if is_over(self.status):
            message = Message("{job} is {status}. Reopen it first.", job=self.number, status=Choice(self.status))
            return [Reason(message, first="change_job_status")]
        return []

    def _reasons_if_timed(self, by: Actor, new_status: str) -> list[Reason]:
        if not self.running_timers or new_status not in {"done", "closed", "cancelled"}:
            return []
        # People who see only their own hours may not learn whose timer runs, and cannot stop it.
        if by.can(Permission.ALL_HOURS_READ):
            message = Message(
                "A timer is still running on {job}. Stop it first.",
                for_programs=Message("list_hours of the job with the status `running` shows whose it is."),
                job=self.number,
            )
        else:
            message = Message(
                "A timer is still running on {job}. If it is not yours, ask the person who started it or the office to"
                " stop it.",
                job=self.number,
            )
        return [Reason(message, first="stop_timer")]

    def _reasons_if_unpaid(self, new_status: str) -> list[Reason]:
        if new_status != "closed" or not self.owed:
            return []
        if self.invoiced:
            return [Reason(Message("{job} is not paid yet. It closes automatically once it is.", job=self.number))]
        message = Message(
            "{job} has an unpaid invoice. Record the payment, or credit or void the invoice, first.", job=self.number
        )
        return [Reason(message, first="record_payment")]

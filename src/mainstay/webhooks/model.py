"""Webhooks, their deliveries and the events they are sent: the wire models and the rules."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mainstay.kernel.context import Context
from mainstay.values.fields import InputKind
from mainstay.values.message import Choice, Message
from mainstay.vocabulary.actor import Actor, Stamp
from mainstay.vocabulary.refusal import Fault, Invalid, Reason
from mainstay.vocabulary.roles import RefersTo
from mainstay.vocabulary.schemas import Output, Record, StoredRecord, make_states

# The kind of an event that is sent to test a webhook. It is about no real change and is not in the feed.
TEST_EVENT = "webhook.test"

WebhookStatus = Literal["active", "failing", "paused", "disabled"]
DeliveryStatus = Literal["waiting", "retrying", "sending", "delivered", "failed"]


class EventData(BaseModel):
    """What an event is about."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    object: dict[str, Any] = Field(description="The whole record after the change.")
    previous: dict[str, Any] = Field(description="The previous values of the changed fields.")


class EventOut(Output):
    """An event, byte for byte as it is sent to webhooks."""

    noun = "event"

    id: str = Field(description="The same in the feed and in every delivery, to recognise repeats.")
    type: str = Field(description="The type, such as `person.joined`.")
    created_at: str = Field(description="When it happened.", json_schema_extra={"format": "date-time"})
    organisation_id: str
    sequence: int = Field(description="Increases by one with each event of the organisation, without gaps.")
    actor: Stamp = Field(description="Who did it, and through what.")
    data: EventData = Field(description="The record it happened to.")


class WebhookOut(Record):
    """A webhook: where events are sent. Its secret is shown only once, when it is created."""

    noun = "webhook"
    office_path = "/settings/developer/webhooks/{id}"
    states = make_states(active="good", failing="bad", paused="waiting", disabled="bad")

    url: str = Field(title="URL", description="Where events are sent.", examples=["https://example.com/webhooks"])
    description: str | None = Field(examples=["Our accounting"])
    events: list[str] | None = Field(description="The types of events to send; null for all.", examples=[None])
    status: WebhookStatus = Field(
        description="`failing`: active, but the last attempts failed. `paused`: events are stored. `disabled`:"
        " they are not.",
        examples=["active"],
    )
    disabled_reason: str | None = Field(description="Why it was disabled.", examples=[None])
    failing_since: str | None = Field(description="Since when every attempt has failed.", examples=[None])
    generation: int = Field(description="The number of its secret; increases with each rotation.", examples=[1])
    rotated_at: str | None = Field(
        description="When its secret was last replaced; the previous one signs for 24 more hours.", examples=[None]
    )


class DeliveryOut(Output):
    """One event for one webhook, and how its last attempt ended."""

    noun = "delivery"
    office_path = "/settings/developer/deliveries/{id}"
    states = make_states(waiting="waiting", retrying="bad", sending="waiting", delivered="good", failed="bad")

    id: str
    webhook_id: Annotated[str, RefersTo("webhook")]
    event_id: str = Field(title="Event ID")
    event_type: str
    status: DeliveryStatus
    attempts: int = Field(description="The number of attempts.")
    due_at: str | None = Field(description="When it is tried next; null if it is not, or is being sent now.")
    created_at: str
    last_attempt_at: str | None
    last_status: int | None = Field(description="The HTTP status of the last response.")
    last_error: str | None = Field(description="The error, if there was no response.")
    last_duration_ms: int | None


class AttemptOut(Output):
    """One attempt at a delivery."""

    noun = "attempt"

    number: int
    tried_at: str
    status: int | None = Field(description="The HTTP status of the response.")
    error: str | None = Field(description="The error, if there was no response.")
    duration_ms: int
    answer: str = Field(description="The beginning of the response.")
    headers: dict[str, str] | None = Field(description="The headers that were sent.")


class DeliveryDetailOut(DeliveryOut):
    """A delivery with its body and all responses."""

    body: str | None = Field(description="The body, byte for byte; null if the event was deleted.")
    history: list[AttemptOut] = Field(description="The attempts, last one first; at most a hundred.")


class RedeliveredOut(Output):
    """How many events are sent again."""

    noun = "redelivered"

    webhook_id: str
    count: int
    has_more: bool = Field(description="Whether there are more to send: repeat.")


@dataclass(frozen=True, slots=True)
class Webhook(StoredRecord):
    """A webhook with the fields that its rules need."""

    output = WebhookOut

    url: str
    description: str | None
    events: list[str] | None
    status: WebhookStatus
    failing_since: str | None
    generation: int
    created_at: str

    @property
    def display_name(self) -> str:
        """Its description, or else its address."""
        return self.description or self.url

    def wants(self, kind: str) -> bool:
        """Return whether it is sent events of this kind."""
        return self.events is None or kind in self.events

    def not_sent_to(self, _by: Actor) -> list[Reason]:
        """Return the reasons why nothing is sent to it now."""
        if self.status in {"active", "failing"}:
            return []
        text = Message("The webhook is {status}. Resume it first.", status=Choice(self.status))
        return [Reason(text, first="resume_webhook")]

    def not_resumable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be set active."""
        return [Reason(Message("The webhook is already active."))] if self.status in {"active", "failing"} else []

    def not_deliverable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why no deliveries can be created for it."""
        if self.status != "disabled":
            return []
        return [Reason(_DISABLED, first="resume_webhook")]


@dataclass(frozen=True, slots=True)
class Delivery(StoredRecord):
    """A delivery with the fields that its rules need."""

    output: ClassVar[type[Output]] = DeliveryOut

    webhook_id: str
    event_id: str
    event_type: str
    status: DeliveryStatus
    # Whether its webhook is disabled, and whether its body is still stored.
    to_nowhere: bool
    has_body: bool

    @property
    def display_name(self) -> str:
        """The kind of event, which its receiver knows it by."""
        return self.event_type

    def not_repeatable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be sent again."""
        reasons = []
        if not self.has_body:
            reasons.append(Reason(Message("The event has been deleted, so it can't be sent again.")))
        if self.to_nowhere:
            reasons.append(Reason(_DISABLED, first="resume_webhook", unblocking_record_id=self.webhook_id))
        if self.status == "sending":
            reasons.append(Reason(Message("The event is being sent right now. Wait for the result.")))
        return reasons


_DISABLED = Message("The webhook is disabled. Resume it first.")


@dataclass(frozen=True, slots=True)
class DeliveryDetail(Delivery):
    """A delivery with its body and its attempts."""

    output = DeliveryDetailOut


def is_kind_wanted(kinds: str | None, kind: str) -> bool:
    """Return whether a webhook with these chosen kinds (a JSON list, or None for all) is sent events of this kind."""
    return kinds is None or kind in orjson.loads(kinds)


def check_kinds(ctx: Context, field: str, *kinds: str) -> None:
    """Refuse kinds of events that do not exist."""
    if not {*kinds} <= ctx.event_names:
        names = ", ".join(sorted(ctx.event_names))
        raise Invalid([Fault(field, Message("has an unknown type of event; choose from {names}", names=names))])


def _remove_repeats(kinds: list[str]) -> list[str]:
    if not kinds:
        raise ValueError(Message("is empty; choose at least one type, or leave it out for all"))
    return list(dict.fromkeys(kinds))


EventKinds = Annotated[list[str], AfterValidator(_remove_repeats), InputKind("checks")]

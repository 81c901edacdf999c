"""Webhooks, their deliveries and the events they are sent: the wire models and the rules."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mainstay.kernel.context import Context
from mainstay.values.fields import InputKind
from mainstay.vocabulary.actor import Actor, Stamp
from mainstay.vocabulary.refusal import Fault, Invalid, Reason
from mainstay.vocabulary.schemas import Output, Record, StoredRecord, make_states

# The kind of an event that is sent to test a webhook. It is about no real change and is not in the feed.
TEST_EVENT = "webhook.test"

WebhookStatus = Literal["active", "failing", "paused", "disabled"]
DeliveryStatus = Literal["waiting", "retrying", "sending", "delivered", "failed"]


class EventData(BaseModel):
    """What an event is about."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    object: dict[str, Any] = Field(description="The whole record after the change.")
    previous: dict[str, Any] = Field(description="The fields that the change changed, as they were before.")


class EventOut(Output):
    """Something that happened, byte for byte as webhooks are sent it."""

    noun = "event"

    id: str = Field(description="The same in the feed and in every delivery, so that a repeat is known by it.")
    type: str = Field(description="The kind, such as `person.joined`.")
    created_at: str = Field(description="When it happened.", json_schema_extra={"format": "date-time"})
    organisation_id: str
    sequence: int = Field(description="Goes up by one with each event of the organisation, without gaps.")
    actor: Stamp = Field(description="Who did it, and through what.")
    data: EventData = Field(description="The record it happened to.")


class WebhookOut(Record):
    """A webhook: where events are sent to. Its secret is shown once, where it was made, and never here."""

    noun = "webhook"
    office_path = "/settings/developer/webhooks/{id}"
    states = make_states(active="good", failing="bad", paused="waiting", disabled="bad")

    url: str = Field(title="Address", description="Where events are sent.", examples=["https://example.com/webhooks"])
    description: str | None = Field(examples=["Our accounting"])
    events: list[str] | None = Field(description="The kinds that are sent; null for all.", examples=[None])
    status: WebhookStatus = Field(
        description="A failing one is active, but its last attempts have failed. A paused one keeps what happens for"
        " later; a disabled one does not.",
        examples=["active"],
    )
    disabled_reason: str | None = Field(description="Why it was disabled.", examples=[None])
    failing_since: str | None = Field(description="Since when every attempt has failed.", examples=[None])
    generation: int = Field(description="The number of its secret; goes up with each rotation.", examples=[1])
    rotated_at: str | None = Field(
        description="When its secret was last rotated; the one before signs for 24 hours more.", examples=[None]
    )


class DeliveryOut(Output):
    """One event for one webhook, and how its last attempt ended."""

    noun = "delivery"
    office_path = "/settings/developer/deliveries/{id}"
    states = make_states(waiting="waiting", retrying="bad", sending="waiting", delivered="good", failed="bad")

    id: str
    webhook_id: str
    event_id: str = Field(title="Id of the event")
    event_type: str
    status: DeliveryStatus
    attempts: int = Field(description="How often it was tried.")
    due_at: str | None = Field(description="When it is tried next; null when it is not, or is being sent.")
    created_at: str
    last_attempt_at: str | None
    last_status: int | None = Field(description="The HTTP status that was answered last.")
    last_error: str | None = Field(description="What was met instead of an answer.")
    last_duration_ms: int | None


class AttemptOut(Output):
    """One attempt at a delivery."""

    noun = "attempt"

    number: int
    tried_at: str
    status: int | None = Field(description="The HTTP status that was answered.")
    error: str | None = Field(description="What was met instead of an answer.")
    duration_ms: int
    answer: str = Field(description="The beginning of what was answered.")
    headers: dict[str, str] | None = Field(description="The headers that were sent.")


class DeliveryDetailOut(DeliveryOut):
    """A delivery with what is sent and everything that was answered."""

    body: str | None = Field(description="What is sent, byte for byte; null when the event is kept no longer.")
    history: list[AttemptOut] = Field(description="The attempts, the last one first; at most a hundred.")


class RedeliveredOut(Output):
    """How many events are sent again."""

    noun = "redelivered"

    webhook_id: str
    count: int
    has_more: bool = Field(description="Whether there are more than are sent at once: ask again.")


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
        return [Reason(f"The webhook is {self.status}. Resume it first.", unblocked_by="resume_webhook")]

    def not_resumable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why it cannot be set active."""
        return [Reason("The webhook is active already.")] if self.status in {"active", "failing"} else []

    def not_deliverable(self, _by: Actor) -> list[Reason]:
        """Return the reasons why no deliveries can be created for it."""
        if self.status != "disabled":
            return []
        return [Reason("The webhook is disabled. Resume it first.", unblocked_by="resume_webhook")]


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
            reasons.append(Reason("The event is kept no longer, so it cannot be sent again."))
        if self.to_nowhere:
            message = "The webhook is disabled. Resume it first."
            reasons.append(Reason(message, unblocked_by="resume_webhook", unblock_on=self.webhook_id))
        if self.status == "sending":
            reasons.append(Reason("The event is being sent at this moment. Wait for what becomes of it."))
        return reasons


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
        raise Invalid(
            [Fault(field, f"names a kind of event that is not known; there are {', '.join(sorted(ctx.event_names))}")]
        )


def _remove_repeats(kinds: list[str]) -> list[str]:
    if not kinds:
        raise ValueError("is empty; name at least one kind, or leave it out for all")
    return list(dict.fromkeys(kinds))


EventKinds = Annotated[list[str], AfterValidator(_remove_repeats), InputKind("checks")]

"""What is told to others, to whom, and what became of it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mainstay.kernel.actor import Stamp
from mainstay.kernel.event import Event
from mainstay.kernel.shapes import Record, Shown

# How long events and deliveries are kept.
KEPT = timedelta(days=30)
# The kind of an event that is sent to try a webhook: it happened to nobody and is in no feed.
TEST = "webhook.test"

# The columns of EventOut in its order.
EVENT_COLUMNS = "id, type, created_at, organisation_id, sequence, actor, data"

WebhookStatus = Literal["active", "paused", "disabled"]
DeliveryStatus = Literal["waiting", "sending", "delivered", "failed"]


class EventData(BaseModel):
    """What an event is about."""

    model_config = ConfigDict(frozen=True)

    object: dict[str, Any] = Field(description="The whole record after the change.")
    previous: dict[str, Any] = Field(description="The fields that the change changed, as they were before.")


class EventOut(Shown):
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

    url: str = Field(description="Where events are sent.", examples=["https://example.com/webhooks"])
    description: str | None = Field(examples=["Our accounting"])
    events: list[str] | None = Field(description="The kinds that are sent; null for all.", examples=[None])
    status: WebhookStatus = Field(
        description="A paused one keeps what happens for later; a disabled one does not.", examples=["active"]
    )
    disabled_reason: str | None = Field(description="Why it was disabled.", examples=[None])
    failing_since: str | None = Field(description="Since when every attempt has failed.", examples=[None])
    generation: int = Field(description="The number of its secret; goes up with each rotation.", examples=[1])
    rotated_at: str | None = Field(
        description="When its secret was last rotated; the one before signs for 24 hours more.", examples=[None]
    )


class DeliveryOut(Shown):
    """One event for one webhook, and how its last attempt ended."""

    noun = "delivery"

    id: str
    webhook_id: str
    event_id: str
    event_type: str
    status: DeliveryStatus
    attempts: int = Field(description="How often it was tried.")
    due_at: str | None = Field(description="When it is tried next; null when it is not, or is being sent.")
    created_at: str
    last_attempt_at: str | None
    last_status: int | None = Field(description="The HTTP status that was answered last.")
    last_error: str | None = Field(description="What was met instead of an answer.")
    last_duration_ms: int | None


class AttemptOut(Shown):
    """One attempt at a delivery."""

    noun = "attempt"

    number: int
    tried_at: str
    status: int | None = Field(description="The HTTP status that was answered.")
    error: str | None = Field(description="What was met instead of an answer.")
    duration_ms: int
    answer: str = Field(description="The beginning of what was answered.")


class DeliveryDetailOut(DeliveryOut):
    """A delivery with what is sent and everything that was answered."""

    body: str | None = Field(description="What is sent, byte for byte; null when the event is kept no longer.")
    history: list[AttemptOut] = Field(description="The attempts, the last one first; at most a hundred.")


class RedeliveredOut(Shown):
    """How many events are sent again."""

    noun = "redelivered"

    webhook_id: str
    count: int
    has_more: bool = Field(description="Whether there are more than are sent at once: ask again.")


@dataclass(frozen=True, slots=True)
class Webhook:
    """What the rules need to know of a webhook."""

    id: str
    url: str
    # As they are kept.
    kinds: str | None
    status: WebhookStatus
    generation: int
    created_at: str
    version: int


def wants(kinds: str | None, kind: str) -> bool:
    """Whether a webhook that chose these kinds, a JSON list or None for all, is sent events of this kind."""
    return kinds is None or kind in orjson.loads(kinds)


def event_kinds() -> list[str]:
    """Every kind of event there is."""
    return sorted({event.name for event in Event.__subclasses__()})


def _known(kind: str) -> str:
    if kind not in event_kinds():
        raise ValueError(f"is not a kind of event; there are {', '.join(event_kinds())}")
    return kind


def _all_known(kinds: list[str]) -> list[str]:
    if not kinds:
        raise ValueError("is empty; name at least one kind, or leave it out for all")
    if not {*kinds} <= {*event_kinds()}:
        raise ValueError(f"has a kind that is not known; there are {', '.join(event_kinds())}")
    return list(dict.fromkeys(kinds))


EventKind = Annotated[str, AfterValidator(_known)]
EventKinds = Annotated[list[str], AfterValidator(_all_known)]

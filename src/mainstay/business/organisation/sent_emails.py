"""Emails about a record: recipient, time and delivery status."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from mainstay.changes.outbox import TASK_PREFIX
from mainstay.identity.keys import PEOPLE_DOORS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import RecordStore
from mainstay.values.fields import STARTING_AFTER, make_id_validator
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import MessageText
from mainstay.vocabulary.schemas import ListInput, Output, PageResult, StoredRecord, make_states

EmailStatus = Literal["queued", "sent", "failed"]


class MessageOut(Output):
    """An email about a record."""

    noun = "message"
    states = make_states(queued="waiting", sent="good", failed="bad")

    id: str
    recipient: str = Field(title="To", description="The recipient's address.")
    subject: str
    text: str | None = Field(
        description="What it says, if it came with a document; `[link]` stands for the link in it."
    )
    is_copy: bool = Field(description="Whether the recipient got it as a copy (Cc).")
    status: EmailStatus
    problem: MessageText | None = Field(description="Why it could not be sent.")
    created_at: str = Field(title="Created", json_schema_extra={"format": "date-time"})


def has_email_failed(status: EmailStatus) -> bool:
    """Return whether an email could not be sent."""
    return status == "failed"


class ListMessages(ListInput):
    """The record that the emails are about."""

    starting_after: Annotated[str | None, make_id_validator(TASK_PREFIX, "an email")] = STARTING_AFTER
    about: str = Field(description="The ID of a record of any kind.")


@dataclass(frozen=True, slots=True)
class SentEmail(StoredRecord):
    """An email, as seen by the rules. No rules apply to it."""

    output = MessageOut


SENT_EMAILS = RecordStore(
    SentEmail,
    source="message",
    label="email",
    prefix=TASK_PREFIX,
    id_field="message_id",
    filters={"about": "message.record_id = :about"},
)


@operation(permission=Permission.MESSAGES_READ, effect=Effect.READ, doors=PEOPLE_DOORS)
def list_messages(ctx: Context, given: ListMessages) -> PageResult[MessageOut]:
    """List emails about a record.

    Newest first, each with whether it was sent.
    """
    return SENT_EMAILS.page(ctx, given)


OPERATIONS = (list_messages,)

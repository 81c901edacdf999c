"""The mails about a record: to whom, when, and what became of them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from mainstay.identity.keys import FOR_PEOPLE
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import PREFIX
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Kept, ListInput, Page, Shown, states
from mainstay.values.fields import LAST_SEEN, id_of

Status = Literal["queued", "sent", "failed"]


class MessageOut(Shown):
    """A mail about a record."""

    noun = "message"
    states = states(queued="waiting", sent="good", failed="bad")

    id: str
    recipient: str = Field(title="To", description="The address it goes to.")
    subject: str
    status: Status
    problem: str | None = Field(description="Why it could not be sent, in a sentence.")
    created_at: str = Field(title="Written", json_schema_extra={"format": "date-time"})


def has_failed(status: Status) -> bool:
    """Whether a mail could not be sent."""
    return status == "failed"


class ListMessages(ListInput):
    """The mails about which record."""

    starting_after: Annotated[str | None, id_of(PREFIX, "a message")] = LAST_SEEN
    about: str = Field(description="The id of the record, of whatever kind.")


@dataclass(frozen=True, slots=True)
class Message(Kept):
    """A mail as rules see it; there are none."""

    shown = MessageOut


MESSAGES = Listing(
    Message,
    source="message",
    what="message",
    prefix=PREFIX,
    id_field="message_id",
    filters={"about": "message.record_id = :about"},
)


@operation(right=Right.MESSAGES_READ, effect=Effect.READ, offered=FOR_PEOPLE)
def list_messages(ctx: Context, given: ListMessages) -> Page[MessageOut]:
    """List the mails about a record, newest first.

    Each with what became of it.
    """
    return MESSAGES.page(ctx, given)


OPERATIONS = (list_messages,)

"""Reactions of conversations to events of other areas."""

from mainstay.business.assistant.store import delete_conversations
from mainstay.business.people.events import PersonLeft
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Reaction, ReactionEvent


def delete_conversations_of_person(ctx: Context, event: ReactionEvent) -> None:
    """Delete the conversations of a person who left, which nobody else reads."""
    delete_conversations(ctx.db, "person_id = :person", person=str(event.record["id"]))


REACTIONS = (Reaction(PersonLeft, delete_conversations_of_person, "Conversations deleted"),)

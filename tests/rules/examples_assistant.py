"""Conversations of each role with the assistant, and the inputs of their operations."""

from collections.abc import Callable
from typing import NamedTuple

from mainstay.business.assistant import store
from mainstay.business.assistant.model import StepKind, TurnStatus
from mainstay.business.assistant.operations import ask_assistant
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.cast import EMAILS, Cast
from support.oauth_app import begin_session, find_session

ExampleInput = dict[str, object]


class TalkSamples(NamedTuple):
    """By role: a sign-in, a conversation that has been answered, and the turn of another one that has not."""

    sessions: dict[Role, str]
    conversations: dict[Role, str]
    open_turns: dict[Role, str]


def make_talk_samples(cast: Cast) -> TalkSamples:
    """Make conversations of every role. A subcontractor has none, and tries those of the owner."""
    roles: list[Role] = [*Role]
    roles.remove(Role.SUBCONTRACTOR)
    sessions = {role: find_session(cast, begin_session(cast, EMAILS[role])) for role in Role}
    conversations: dict[Role, str] = {}
    turns: dict[Role, str] = {}
    for role in roles:
        actor = cast.actor(role, door=Door.OFFICE)
        answered, still_open = (
            cast.perform(ask_assistant, actor, question=f"Who is {role}?", sessionId=sessions[role]) for _ in range(2)
        )
        conversations[role], turns[role] = str(answered["conversationId"]), str(still_open["id"])
        with cast.performer.database.write_transaction(cast.organisation) as db:
            said: dict[str, object] = {"text": "You.", "calls": [], "raw": None, "reason": "end"}
            store.add_step(db, str(answered["id"]), StepKind.SAID, said, cast.performer.clock())
            store.set_status(db, str(answered["id"]), TurnStatus.DONE, cast.performer.clock())
            store.add_usage(db, cast.people[role], "2026-11-19", 100)
            # No server process takes it over while it is looked at.
            db.run(
                "UPDATE conversation_turn SET leased_until = '9999' WHERE organisation_id = :organisation AND id = :id",
                id=turns[role],
            )
    conversations[Role.SUBCONTRACTOR] = conversations[Role.OWNER]
    turns[Role.SUBCONTRACTOR] = turns[Role.OWNER]
    return TalkSamples(sessions, conversations, turns)


TALK_EXAMPLES: dict[str, Callable[[TalkSamples, Role], ExampleInput]] = {
    "list_conversations": lambda *_: {},
    "get_conversation": lambda samples, role: {"conversationId": samples.conversations[role]},
    "ask_assistant": lambda samples, role: {"question": "Which jobs are late?", "sessionId": samples.sessions[role]},
    "stop_assistant": lambda samples, role: {"turnId": samples.open_turns[role]},
    "delete_conversation": lambda samples, role: {"conversationId": samples.conversations[role]},
}

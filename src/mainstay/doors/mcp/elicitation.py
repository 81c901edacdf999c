"""Elicitation: before an irreversible tool, the client shows its person the preview and asks for a confirmation.

The server keeps nothing between the question and the reply: the client brings back a sealed state, which is valid for
one person, tool and input, for ten minutes, and once.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from mainstay.doors.json import encode_json
from mainstay.doors.mcp.protocol import Call
from mainstay.identity.encryption import Encryptor
from mainstay.kernel.operation import Operation
from mainstay.values.moments import Clock
from mainstay.vocabulary.actor import Actor

STATE_LIFETIME = timedelta(minutes=10)
# The name of the question, and the name of the only field in its form.
_QUESTION, _FIELD = "confirm", "confirmed"

# What a person did with the question. None: the reply is missing or incomplete, so that it is asked again.
Reply = Literal["accept", "decline", "cancel"] | None


class ToolCall(NamedTuple):
    """A call of a tool, and who makes it."""

    call: Call
    operation: Operation
    actor: Actor
    arguments: Mapping[str, Any]

    @property
    def is_asked(self) -> bool:
        """Whether to ask the person: if the client shows forms, and the call does not confirm by itself.

        A person who confirms what the program does on a page of the office is not asked twice.
        """
        confirms = _FIELD in self.arguments or self.actor.confirms_in_office
        return self.call.shows_forms and self.operation.may_need_person and not confirms

    @property
    def reply(self) -> Reply:
        """The person's reply to the question."""
        replies = self.call.params.get("inputResponses")
        reply = replies.get(_QUESTION) if isinstance(replies, dict) else None
        match reply:
            case {"action": "accept", "content": {"confirmed": bool(confirmed)}}:
                return "accept" if confirmed else "decline"
            case {"action": "decline" | "cancel" as action}:
                return "decline" if action == "decline" else "cancel"
        return None

    @property
    def purpose(self) -> str:
        """What the state of its question is valid for: the person and the credential, the tool and its input."""
        digest = hashlib.sha256(encode_json(dict(sorted(self.arguments.items())))).hexdigest()
        actor = self.actor
        return f"elicitation {actor.organisation} {actor.id} {actor.credential} {self.operation.name} {digest}"


class AnsweredQuestion(NamedTuple):
    """A question to which a call brings the reply."""

    # By this id it counts once.
    id: str
    preview_token: str
    reply: Reply


class InvalidState(Exception):
    """The state that a client brought back is not of this call, or has expired."""


@dataclass(frozen=True, slots=True)
class Elicitation:
    """Asks questions about previews, and reads the replies."""

    sealer: Encryptor
    clock: Clock

    def build_question(self, tool_call: ToolCall, message: str, preview_token: str) -> dict[str, Any]:
        """Return the result by which the client shows a preview to its person and asks for a confirmation."""
        operation = tool_call.operation
        description = "True does it." if operation.undone_by else "True does it. It cannot be undone."
        field = {"type": "boolean", "title": operation.title, "description": description}
        schema = {"type": "object", "properties": {_FIELD: field}, "required": [_FIELD]}
        params = {"mode": "form", "message": message, "requestedSchema": schema}
        state = f"{secrets.token_hex(16)} {preview_token}"
        return {
            "inputRequests": {_QUESTION: {"method": "elicitation/create", "params": params}},
            "requestState": self.sealer.encrypt(tool_call.purpose, state, self.clock() + STATE_LIFETIME),
        }

    def read_question(self, tool_call: ToolCall) -> AnsweredQuestion | None:
        """Return the question to which a call brings the reply, if it does."""
        state = tool_call.call.params.get("requestState") if tool_call.call.is_modern else None
        if state is None:
            return None
        opened = self.sealer.decrypt(tool_call.purpose, state, self.clock()) if isinstance(state, str) else None
        if opened is None:
            raise InvalidState
        question_id, _, preview_token = opened.partition(" ")
        return AnsweredQuestion(question_id, preview_token, tool_call.reply)

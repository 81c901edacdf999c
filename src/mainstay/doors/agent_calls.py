"""What the calls of agents have in common, through the tool server and through the built-in assistant."""

from typing import Any

from mainstay.kernel.operation import Operation
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.agent_json import AgentFormat
from mainstay.vocabulary.refusal import Fault, Invalid

# Every list takes this field in addition to its operation's input, with this value only.
DETAIL, FULL_DETAIL = "detail", "full"


def take_agent_format(operation: Operation, actor: Actor, arguments: dict[str, Any]) -> AgentFormat:
    """Return how an agent reads the answer, and take out of the arguments what decides it."""
    if not operation.returns_page or (detail := arguments.pop(DETAIL, None)) is None:
        return AgentFormat(actor.time_zone)
    if detail != FULL_DETAIL:
        raise Invalid([Fault(DETAIL, Message("is not {choice}", choice=f"'{FULL_DETAIL}'"))])
    return AgentFormat(actor.time_zone, has_full_lists=True)

"""How many tokens a request has, about, where nobody counts them: one for four characters."""

import orjson

from mainstay.doors.assistant.models.conversation import CallResults, ConversationMessage, ModelReply, ModelRequest

_CHARACTERS_PER_TOKEN = 4


def estimate_text_tokens(characters: int) -> int:
    """Return the tokens of a text of this length."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def estimate_request_tokens(request: ModelRequest) -> int:
    """Return the tokens of everything that a model is told."""
    tools = sum(len(tool.name) + len(tool.description) + len(orjson.dumps(tool.input_schema)) for tool in request.tools)
    return estimate_text_tokens(len(request.instructions) + tools + sum(map(_count_characters, request.messages)))


def count_reply_characters(reply: ModelReply) -> int:
    """Return the length of a reply's text and calls."""
    return len(reply.text) + sum(len(call.name) + len(call.arguments) for call in reply.calls)


def _count_characters(message: ConversationMessage) -> int:
    if isinstance(message, ModelReply):
        return count_reply_characters(message)
    if isinstance(message, CallResults):
        return sum(len(result.text) for result in message.results)
    return len(message.text)

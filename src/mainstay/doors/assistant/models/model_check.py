"""The Test button: find out whether a model can do what the assistant needs, and say how to fix what it cannot."""

from collections.abc import Awaitable
from secrets import token_hex
from typing import NamedTuple

from mainstay.doors.assistant.models.client import fetch_reply
from mainstay.doors.assistant.models.conversation import (
    CallResult,
    CallResults,
    ModelRequest,
    ModelTool,
    UserText,
)
from mainstay.doors.assistant.models.model_problem import ModelProblem
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.doors.assistant.models.reply_builder import parse_arguments
from mainstay.infrastructure.streaming_client import StreamingClient
from mainstay.values.choices import TextEnum
from mainstay.values.message import DecimalNumber, Message

# The list of tools has up to 35,000 tokens, and a conversation comes on top.
NEEDED_TOKENS = 40_000
# Reasoning models need some of it before they answer.
_OUTPUT_TOKENS = 2_000
_TOOL = ModelTool(
    "repeat_code",
    "Repeat a code. Call it with exactly the code that the person names.",
    {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The code."}},
        "required": ["code"],
        "additionalProperties": False,
    },
)
# Each of these words is one token for every model, so that as many tokens have to be counted.
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# A server that reports fewer of them has cut the prompt.
_MIN_SHARE = 0.9


class CheckName(TextEnum):
    """What is checked of a model."""

    ANSWER = "answer"
    TOOLS = "tools"
    CONTEXT = "context"


class ModelCheck(NamedTuple):
    """The outcome of one check; the message says how to fix what failed."""

    name: CheckName
    is_passed: bool
    message: Message


async def check_model(
    client: StreamingClient, settings: ModelSettings, *, needed_tokens: int = NEEDED_TOKENS
) -> list[ModelCheck]:
    """Check a plain answer, a call of a tool, and a prompt of so many tokens, in this order."""
    answered = await _run_check(CheckName.ANSWER, _check_answer(client, settings))
    if not answered.is_passed:
        message = Message("Not checked, because the model did not answer.")
        others = (CheckName.TOOLS, CheckName.CONTEXT)
        return [answered, *(ModelCheck(name, is_passed=False, message=message) for name in others)]
    return [
        answered,
        await _run_check(CheckName.TOOLS, _check_tools(client, settings)),
        await _run_check(CheckName.CONTEXT, _check_context(client, settings, needed_tokens)),
    ]


async def _run_check(name: CheckName, check: Awaitable[Message]) -> ModelCheck:
    try:
        return ModelCheck(name, is_passed=True, message=await check)
    except ModelProblem as problem:
        return ModelCheck(name, is_passed=False, message=problem.message)


async def _check_answer(client: StreamingClient, settings: ModelSettings) -> Message:
    request = ModelRequest("", [UserText("Say hello in one short sentence.")], [], _OUTPUT_TOKENS)
    finished = await fetch_reply(client, settings, request)
    if not finished.reply.text.strip():
        raise _make_failure(Message("The model answers without any text. Choose another model."))
    return Message("The model answers.")


async def _check_tools(client: StreamingClient, settings: ModelSettings) -> Message:
    """Have the model call a tool with a code that it cannot guess, and take the result."""
    code = token_hex(4)
    asked = UserText(f"Call the tool {_TOOL.name} with the code {code}.")
    finished = await fetch_reply(client, settings, ModelRequest("", [asked], [_TOOL], _OUTPUT_TOKENS))
    calls = finished.reply.calls
    if not calls:
        raise _make_failure(
            Message(
                "The model does not call tools. Choose a model that supports tools. In llama.cpp, add --jinja; in vLLM,"
                " add --enable-auto-tool-choice."
            )
        )
    if not any(call.name == _TOOL.name and parse_arguments(call.arguments).get("code") == code for call in calls):
        raise _make_failure(Message("The model calls tools, but with the wrong values. Choose a more capable model."))
    results = CallResults(tuple(CallResult(call.id, "Repeated.") for call in calls))
    try:
        await fetch_reply(client, settings, ModelRequest("", [asked, finished.reply, results], [_TOOL], _OUTPUT_TOKENS))
    except ModelProblem as problem:
        raise _make_failure(
            Message("The model calls tools, but does not take their results. {problem}", problem=problem.message)
        ) from problem
    return Message("The model calls tools.")


async def _check_context(client: StreamingClient, settings: ModelSettings, needed_tokens: int) -> Message:
    """Send a prompt as long as the assistant's, and see how much of it the model read.

    Some servers silently cut what is too long at its beginning, where the tools are. So the count that they report is
    compared, and if they report none, the model has to know a code from the beginning.
    """
    code = token_hex(4)
    words = " ".join(_WORDS[number % len(_WORDS)] for number in range(needed_tokens))
    text = f"The code is {code}.\n\n{words}\n\nWhich code is named at the beginning? Answer with the code only."
    try:
        finished = await fetch_reply(client, settings, ModelRequest("", [UserText(text)], [], _OUTPUT_TOKENS))
    except ModelProblem as problem:
        raise _make_failure(
            Message(
                "The assistant needs a model that reads {needed} tokens at once. {problem} {fix}",
                needed=DecimalNumber(str(needed_tokens)),
                problem=problem.message,
                fix=_CONTEXT_FIX,
            )
        ) from problem
    if finished.is_estimated and code not in finished.reply.text:
        raise _make_failure(Message("The model did not read the beginning of a long prompt. {fix}", fix=_CONTEXT_FIX))
    if not finished.is_estimated and finished.input_tokens < needed_tokens * _MIN_SHARE:
        read = DecimalNumber(str(finished.input_tokens))
        raise _make_failure(Message("The model reads only about {read} tokens. {fix}", read=read, fix=_CONTEXT_FIX))
    return Message("The model reads {needed} tokens or more at once.", needed=DecimalNumber(str(needed_tokens)))


def _make_failure(message: Message) -> ModelProblem:
    return ModelProblem(message, is_temporary=False)


_CONTEXT_FIX = Message(
    "In Ollama, set OLLAMA_CONTEXT_LENGTH=65536. In llama.cpp, set --ctx-size 65536; in vLLM, --max-model-len 65536."
)

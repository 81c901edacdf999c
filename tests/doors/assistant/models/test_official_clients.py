"""The official SDKs understand the scripted server, and read from it what our own parsers read."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import anthropic
import openai
import pytest

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.client import DIALECTS
from mainstay.doors.assistant.models.conversation import Finished, ModelRequest, UserText
from mainstay.doors.assistant.models.dialect import ReplyParser
from mainstay.doors.assistant.models.model_settings import ModelSettings
from support.model_server import ModelServer, run_model_server_thread
from support.model_streams import ScriptedCall, ScriptedError, ScriptedTurn, render_stream

TURNS = {
    "text": ScriptedTurn("Grüße! Two jobs wait 🔧 for parts.", output_tokens=9),
    "call": ScriptedTurn("I look.", (ScriptedCall("list_jobs", {"status": "open", "search": 'Köln \\ "5"'}),)),
    "parallel calls": ScriptedTurn(
        calls=(ScriptedCall("get_job", {"id": "job_1"}), ScriptedCall("get_me"), ScriptedCall("get_job", {"id": "j2"}))
    ),
    "reasoning": ScriptedTurn("Done.", (ScriptedCall("get_me"),), reasoning="First I think about it for a while."),
    "cut": ScriptedTurn("It is about", reason="length"),
    "refused": ScriptedTurn("I can't help with that.", reason="refused"),
    "nothing": ScriptedTurn(),
}
TOOLS = ("get_job", "get_me", "list_jobs")


class SdkReply(NamedTuple):
    """What an SDK accumulated."""

    text: str
    calls: list[tuple[str, str, Any]]
    input_tokens: int
    output_tokens: int


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with run_model_server_thread() as server:
        yield server


def ask_anthropic(server: ModelServer) -> SdkReply:
    client = anthropic.Anthropic(base_url=server.url, api_key="sk-scripted", max_retries=0)
    schema: Any = {"type": "object", "properties": {}}
    with (
        client,
        client.messages.stream(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": "Hello"}],
            tools=[{"name": name, "input_schema": schema} for name in TOOLS],
        ) as stream,
    ):
        streamed = "".join(stream.text_stream)
        message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    assert streamed == text
    calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
    usage = message.usage
    return SdkReply(text, calls, usage.input_tokens + (usage.cache_read_input_tokens or 0), usage.output_tokens)


def ask_openai_chat(server: ModelServer) -> SdkReply:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="sk-scripted", max_retries=0)
    tools: Any = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in TOOLS]
    with (
        client,
        client.chat.completions.stream(
            model="scripted",
            messages=[{"role": "user", "content": "Hello"}],
            tools=tools,
            stream_options={"include_usage": True},
        ) as stream,
    ):
        with suppress(openai.LengthFinishReasonError):  # what arrived of a reply that was cut is still there
            stream.until_done()
        completion = stream.current_completion_snapshot
    message, usage = completion.choices[0].message, completion.usage
    calls = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
    assert usage is not None
    return SdkReply(
        (message.content or "") + (message.refusal or ""), calls, usage.prompt_tokens, usage.completion_tokens
    )


def ask_openai_responses(server: ModelServer) -> SdkReply:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="sk-scripted", max_retries=0)
    tools: Any = [{"type": "function", "name": name, "parameters": {}, "strict": False} for name in TOOLS]
    response: Any = None
    with (
        client,
        client.responses.create(
            model="scripted", input=[{"role": "user", "content": "Hello"}], tools=tools, stream=True, store=False
        ) as stream,
    ):
        deltas: list[str] = []
        for event in stream:
            if event.type in {"response.output_text.delta", "response.refusal.delta"}:
                deltas.append(event.delta)
            if event.type == "error":
                raise openai.OpenAIError(event.message)
            response = getattr(event, "response", response)
    items = response.output
    parts = [part for item in items if item.type == "message" for part in item.content]
    text = "".join(part.text if part.type == "output_text" else part.refusal for part in parts)
    assert "".join(deltas) == text
    calls = [(item.call_id, item.name, json.loads(item.arguments)) for item in items if item.type == "function_call"]
    return SdkReply(text, calls, response.usage.input_tokens, response.usage.output_tokens)


ASK = {
    ModelDialect.MESSAGES: ask_anthropic,
    ModelDialect.CHAT: ask_openai_chat,
    ModelDialect.RESPONSES: ask_openai_responses,
}


def read_reply(dialect: ModelDialect, stream: bytes) -> Finished:
    settings = ModelSettings("http://127.0.0.1", dialect, "scripted", None, allows_private=True)
    request = ModelRequest("", [UserText("Hello")], [], 100)
    parser = ReplyParser(DIALECTS[dialect].open_reader(settings, request))
    *_, last = parser.feed(stream)
    assert isinstance(last, Finished)
    return last


@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("dialect", list(ModelDialect))
def test_an_sdk_and_our_parser_read_the_same(server: ModelServer, dialect: ModelDialect, name: str) -> None:
    turn = TURNS[name]
    server.add_script("Hello", turn)

    theirs = ASK[dialect](server)
    ours = read_reply(dialect, render_stream(dialect, turn, number=0))

    calls = [(call.id, call.name, json.loads(call.arguments)) for call in ours.reply.calls]
    assert SdkReply(ours.reply.text, calls, ours.input_tokens, ours.output_tokens) == theirs
    assert theirs.text == turn.text
    assert [name for _, name, _ in theirs.calls] == [call.name for call in turn.calls]
    assert not ours.is_estimated


@pytest.mark.parametrize(
    ("error", "anthropics", "openais"),
    [
        (ScriptedError(401, kind="authentication_error"), anthropic.AuthenticationError, openai.AuthenticationError),
        (ScriptedError(429, retry_after="7"), anthropic.RateLimitError, openai.RateLimitError),
        (ScriptedError(529, kind="overloaded_error"), anthropic.APIStatusError, openai.APIStatusError),
    ],
)
def test_the_sdks_understand_the_errors(
    server: ModelServer, error: ScriptedError, anthropics: type[Exception], openais: type[Exception]
) -> None:
    server.add_script("Hello", error, error)
    with pytest.raises(anthropics, match="Something is wrong"):
        ask_anthropic(server)
    with pytest.raises(openais, match="Something is wrong"):
        ask_openai_chat(server)


def test_the_sdks_notice_an_error_in_the_middle(server: ModelServer) -> None:
    turn = ScriptedTurn("I begin", delivery="error")
    server.add_script("Hello", turn, turn, turn)
    with pytest.raises(anthropic.APIError, match="Overloaded"):
        ask_anthropic(server)
    for ask in (ask_openai_chat, ask_openai_responses):
        with pytest.raises(openai.OpenAIError, match="Overloaded"):
            ask(server)


def test_an_sdk_gives_results_as_our_requests_do(server: ModelServer) -> None:
    """The server finds the calls and results in what an SDK sends, so its check of ours means something."""
    server.add_script("Weather", ScriptedTurn("Rain."))
    with anthropic.Anthropic(base_url=server.url, api_key="sk", max_retries=0) as client:
        client.messages.create(
            model="scripted",
            max_tokens=10,
            stream=True,
            messages=[
                {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "get_me", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "rain"}]},
            ],
        ).close()
    request = server.requests[-1]
    assert ([call.id for call in request.calls], [result.text for result in request.results]) == (["a"], ["rain"])
    assert request.fault is None

"""The Test button tells a model that can do the work from one that cannot, and says how to fix it."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.model_check import CheckName, ModelCheck, check_model
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.infrastructure.streaming_client import StreamingClient
from support.model_server import RecordedRequest, Step, run_model_server
from support.model_streams import ScriptedCall, ScriptedError, ScriptedTurn

EACH_DIALECT = pytest.mark.parametrize("dialect", list(ModelDialect))


def answer_well(request: RecordedRequest) -> ScriptedTurn:
    """Answer as a good model does; each word is a token."""
    text = request.user_texts[0]
    tokens = len(text.split())
    code = re.search(r"code (?:is )?(\w{8})\b", text)
    if request.tool_names and not request.results:
        assert code
        return ScriptedTurn(calls=(ScriptedCall(request.tool_names[0], {"code": code[1]}),), input_tokens=tokens)
    return ScriptedTurn(code[1] if code else "Hello!", input_tokens=tokens)


def check(dialect: ModelDialect, answer: Callable[[RecordedRequest], Step] = answer_well) -> Sequence[ModelCheck]:
    async def story() -> Sequence[ModelCheck]:
        async with run_model_server() as server:
            server.answer = answer
            return await check_model(StreamingClient(), server.make_settings(dialect))

    return asyncio.run(story())


def failures_of(checks: Sequence[ModelCheck]) -> dict[CheckName, str]:
    assert [check.name for check in checks] == [*CheckName]
    return {check.name: str(check.message) for check in checks if not check.is_passed}


@EACH_DIALECT
def test_a_good_model_passes(dialect: ModelDialect) -> None:
    checks = check(dialect)
    assert failures_of(checks) == {}
    assert [str(check.message) for check in checks] == [
        "The model answers.",
        "The model calls tools.",
        "The model reads 40000 tokens or more at once.",
    ]


@EACH_DIALECT
def test_a_server_that_cuts_the_prompt_is_caught(dialect: ModelDialect) -> None:
    """Ollama reads the last 4,096 tokens of a prompt, unless it is told otherwise, and says nothing."""

    def answer(request: RecordedRequest) -> ScriptedTurn:
        turn = answer_well(request)
        return replace(turn, text="Which code?", input_tokens=4096) if turn.input_tokens > 4096 else turn

    assert failures_of(check(dialect, answer)) == {
        CheckName.CONTEXT: "The model reads only about 4096 tokens. In Ollama, set OLLAMA_CONTEXT_LENGTH=65536."
        " In llama.cpp, set --ctx-size 65536; in vLLM, --max-model-len 65536."
    }


@pytest.mark.parametrize(("reads_all", "failed"), [(True, set()), (False, {CheckName.CONTEXT})])
def test_without_a_count_the_model_has_to_know_the_beginning(*, reads_all: bool, failed: set[CheckName]) -> None:
    def answer(request: RecordedRequest) -> ScriptedTurn:
        turn = answer_well(request)
        forgets = turn.input_tokens > 4096 and not reads_all
        return replace(turn, text="Which code?" if forgets else turn.text, input_tokens=0, output_tokens=0)

    assert {*failures_of(check(ModelDialect.CHAT, answer))} == failed


def test_a_server_that_refuses_the_prompt_is_told_with_its_words() -> None:
    def answer(request: RecordedRequest) -> Step:
        turn = answer_well(request)
        too_long = ScriptedError(400, "the request exceeds the available context size (8192 tokens)")
        return too_long if turn.input_tokens > 8192 else turn

    [message] = failures_of(check(ModelDialect.CHAT, answer)).values()
    assert message.startswith("The assistant needs a model that reads 40000 tokens at once.")
    assert "available context size (8192 tokens)" in message
    assert "--ctx-size 65536" in message


@EACH_DIALECT
@pytest.mark.parametrize(
    ("turn", "message"),
    [
        (ScriptedTurn("The code is 12345678."), "does not call tools"),
        (ScriptedTurn(calls=(ScriptedCall("repeat_code", {"code": "12345678"}),)), "wrong values"),
        (ScriptedTurn(calls=(ScriptedCall("repeat_code", "{broken"),)), "wrong values"),
        (ScriptedTurn(calls=(ScriptedCall("another"),)), "wrong values"),
    ],
)
def test_a_model_that_does_not_call_tools(dialect: ModelDialect, turn: ScriptedTurn, message: str) -> None:
    def answer(request: RecordedRequest) -> ScriptedTurn:
        return turn if request.tool_names else answer_well(request)

    failures = failures_of(check(dialect, answer))
    assert {*failures} == {CheckName.TOOLS}
    assert message in failures[CheckName.TOOLS]


def test_a_server_that_does_not_take_results() -> None:
    def answer(request: RecordedRequest) -> Step:
        return ScriptedError(500, "no template for tools") if request.results else answer_well(request)

    [message] = failures_of(check(ModelDialect.CHAT, answer)).values()
    assert message.startswith("The model calls tools, but does not take their results.")
    assert "no template for tools" in message


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (ScriptedError(401), "refused the key"),
        (ScriptedTurn(" "), "without any text"),
        (ScriptedTurn("x", delivery="cut"), "broke off"),
    ],
)
def test_without_an_answer_nothing_else_is_tried(step: Step, message: str) -> None:
    failures = failures_of(check(ModelDialect.CHAT, lambda _request: step))
    assert message in failures[CheckName.ANSWER]
    assert failures[CheckName.TOOLS] == failures[CheckName.CONTEXT] == "Not checked, because the model did not answer."


def test_nobody_there() -> None:
    settings = ModelSettings("http://127.0.0.1:1", ModelDialect.CHAT, "m", None, allows_private=True)
    failures = failures_of(asyncio.run(check_model(StreamingClient(), settings)))
    assert "Check that it runs" in failures[CheckName.ANSWER]

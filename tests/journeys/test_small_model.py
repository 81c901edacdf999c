"""A real small model, served by llama.cpp: streaming, stopping and the Test button, in the protocols it speaks.

It is too small to call tools, so it shows what happens on the wire and nothing of judgement.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.client import stream_reply
from mainstay.doors.assistant.models.conversation import Finished, ModelReply, ModelRequest, TextDelta, UserText
from mainstay.doors.assistant.models.model_check import CheckName, check_model
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.infrastructure.streaming_client import StreamingClient
from support.model_requests import LIST_JOBS

PYTHON = Path(sys.prefix, "clients", "small_model", "bin", "python")
SCRIPT = Path(__file__).parents[1] / "clients" / "small_model.py"
CONTEXT = 2048

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of the model's server."""
    with subprocess.Popen(
        [PYTHON, SCRIPT, str(CONTEXT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.mark.parametrize("dialect", list(ModelDialect))
def test_a_conversation_with_a_real_model(url: str, dialect: ModelDialect) -> None:
    settings = ModelSettings(url, dialect, "smollm2", None, allows_private=True)
    said = (UserText("Hello!"), ModelReply("Hello. How can I help?"), UserText("Name three colours."))

    async def story() -> tuple[list[TextDelta], Finished]:
        async with aclosing(
            stream_reply(StreamingClient(), settings, ModelRequest("You are brief.", said, [LIST_JOBS], 24))
        ) as stream:
            *deltas, last = [event async for event in stream]
        assert isinstance(last, Finished)
        return [delta for delta in deltas if isinstance(delta, TextDelta)], last

    deltas, last = asyncio.run(story())
    assert len(deltas) > 3
    assert "".join(delta.text for delta in deltas) == last.reply.text
    assert not last.is_estimated
    assert 20 < last.input_tokens < CONTEXT
    assert 3 < last.output_tokens <= 24


def test_a_stopped_reply_frees_the_model_at_once(url: str) -> None:
    """The server has one place: the next question waits until the reply before it has ended."""
    settings = ModelSettings(url, ModelDialect.CHAT, "smollm2", None, allows_private=True)

    async def ask(text: str, max_output_tokens: int) -> None:
        request = ModelRequest("", [UserText(text)], [], max_output_tokens)
        async with aclosing(stream_reply(StreamingClient(), settings, request)) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    return

    async def story() -> None:
        for number in range(3):
            async with asyncio.timeout(120):
                await ask(f"Count to a thousand, number {number}.", CONTEXT - 100)

    asyncio.run(story())


def test_the_test_button_finds_what_a_real_small_model_cannot(url: str) -> None:
    settings = ModelSettings(url, ModelDialect.CHAT, "smollm2", None, allows_private=True)
    checks = {check.name: check for check in asyncio.run(check_model(StreamingClient(), settings))}
    assert {name: check.is_passed for name, check in checks.items()} == {
        CheckName.ANSWER: True,
        CheckName.TOOLS: False,
        CheckName.CONTEXT: False,
    }
    assert "--ctx-size 65536" in str(checks[CheckName.CONTEXT].message)

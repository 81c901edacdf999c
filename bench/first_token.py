"""What the assistant adds to its model until the first piece of text: beside the same request over a bare socket.

`python -m bench.first_token` measures this part alone. The model is a script in another process, whose time does not
count, and the request has as many tools as the assistant's largest.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time
from urllib.parse import urlsplit

import uvloop

# The parts of the bench are found from the root, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.contenders.running import ROOT

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.client import DIALECTS, stream_reply
from mainstay.doors.assistant.models.conversation import ModelRequest, ModelTool, TextDelta, UserText
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.infrastructure.streaming_client import StreamingClient

_TOOLS = 110
_PARAMETERS = 8
_REQUESTS = 20
# The first piece of the scripted text, in every protocol.
_FIRST_PIECE = b"Two job"


@dataclass(frozen=True, slots=True)
class FirstTokenTimes:
    """Of one protocol in one round: milliseconds of processor time of a request until its first piece of text."""

    dialect: str
    ours: float
    bare: float


def measure_first_tokens(until: float) -> list[FirstTokenTimes]:
    """Measure in rounds until this moment, three at least."""
    with _run_model() as url:
        return uvloop.run(_measure_rounds(url, until))


async def _measure_rounds(url: str, until: float) -> list[FirstTokenTimes]:
    client = StreamingClient()
    rounds: list[FirstTokenTimes] = []
    while len(rounds) < 4 * len(ModelDialect) or monotonic() < until:
        rounds += [await _measure_dialect(client, url, dialect) for dialect in ModelDialect]
    # The first round imports and connects for the first time.
    return rounds[len(ModelDialect) :]


async def _measure_dialect(client: StreamingClient, url: str, dialect: ModelDialect) -> FirstTokenTimes:
    settings = ModelSettings(url, dialect, "scripted", "sk-scripted", allows_private=True)
    request = _make_request()

    async def ask() -> None:
        async with aclosing(stream_reply(client, settings, request)) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    return

    address, headers, body = DIALECTS[dialect].build_request(settings, request)
    lines = [f"POST {urlsplit(address).path} HTTP/1.1", "host: x", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    whole = "\r\n".join([*lines, "", ""]).encode() + body

    async def ask_bare() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
        writer.write(whole)
        await reader.readuntil(_FIRST_PIECE)
        writer.transport.abort()

    return FirstTokenTimes(dialect.value, await _measure_cpu(ask), await _measure_cpu(ask_bare))


async def _measure_cpu(ask: Callable[[], Awaitable[None]]) -> float:
    began = process_time()
    for _ in range(_REQUESTS):
        await ask()
    return (process_time() - began) / _REQUESTS * 1000


def _make_request() -> ModelRequest:
    parameter = {"type": "string", "description": "The day on which it is planned or was done, such as 2026-11-30."}
    schema = {
        "type": "object",
        "properties": {f"parameter{number}": parameter for number in range(_PARAMETERS)},
        "additionalProperties": False,
    }
    description = "List jobs, newest first, by their customer, their status, who leads them and when they are due. " * 3
    tools = [ModelTool(f"list_jobs_{number}", description, json.loads(json.dumps(schema))) for number in range(_TOOLS)]
    return ModelRequest("You help a plumber. " * 100, [UserText("Which jobs wait for parts?")], tools, 1000)


@contextmanager
def _run_model() -> Iterator[str]:
    words = [sys.executable, "-m", "bench.contenders.model", str(max(os.sched_getaffinity(0)))]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


if __name__ == "__main__":
    for times in measure_first_tokens(monotonic() + 10):
        print(f"{times.dialect:12}{times.ours:8.2f} ms, bare {times.bare:.2f} ms")

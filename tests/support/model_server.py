"""A server of a scripted model: it speaks all three protocols on a real socket, and checks what it is asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.model_settings import ModelSettings
from support.model_streams import ScriptedError, ScriptedTurn, render_error_event, render_events
from support.receiver_threads import run_receiver_thread
from support.receivers import Receiver, run_receiver

Step = ScriptedTurn | ScriptedError
PATHS = {
    "/v1/messages": ModelDialect.MESSAGES,
    "/v1/chat/completions": ModelDialect.CHAT,
    "/v1/responses": ModelDialect.RESPONSES,
}


@dataclass(frozen=True)
class ModelCallSeen:
    """A call, or the result of one, in what the model was told."""

    id: str
    text: str


@dataclass(frozen=True)
class RecordedRequest:
    """What the model was asked."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def dialect(self) -> ModelDialect:
        return PATHS[self.path]

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The messages, and their parts, one after the other, as each protocol has them."""
        listed: list[dict[str, Any]] = self.body.get("messages", self.body.get("input", []))
        if self.dialect is not ModelDialect.MESSAGES:
            return listed
        return [{"role": message["role"], **block} for message in listed for block in _list_blocks(message["content"])]

    @property
    def user_texts(self) -> list[str]:
        """What the person said."""
        said = [entry for entry in self.entries if entry.get("role") == "user"]
        if self.dialect is ModelDialect.MESSAGES:
            return [entry["text"] for entry in said if entry["type"] == "text"]
        return [entry["content"] for entry in said]

    @property
    def calls(self) -> list[ModelCallSeen]:
        """The calls in the conversation."""
        if self.dialect is ModelDialect.MESSAGES:
            used = [entry for entry in self.entries if entry["type"] == "tool_use"]
            return [ModelCallSeen(entry["id"], entry["name"]) for entry in used]
        if self.dialect is ModelDialect.RESPONSES:
            used = [entry for entry in self.entries if entry.get("type") == "function_call"]
            return [ModelCallSeen(entry["call_id"], entry["name"]) for entry in used]
        calls = [call for entry in self.entries for call in entry.get("tool_calls") or ()]
        return [ModelCallSeen(call["id"], call["function"]["name"]) for call in calls]

    @property
    def results(self) -> list[ModelCallSeen]:
        """The results of calls in the conversation."""
        if self.dialect is ModelDialect.MESSAGES:
            told = [entry for entry in self.entries if entry["type"] == "tool_result"]
            return [ModelCallSeen(entry["tool_use_id"], entry["content"]) for entry in told]
        if self.dialect is ModelDialect.RESPONSES:
            told = [entry for entry in self.entries if entry.get("type") == "function_call_output"]
            return [ModelCallSeen(entry["call_id"], entry["output"]) for entry in told]
        told = [entry for entry in self.entries if entry["role"] == "tool"]
        return [ModelCallSeen(entry["tool_call_id"], entry["content"]) for entry in told]

    @property
    def tool_names(self) -> list[str]:
        """The tools that are offered."""
        tools: list[dict[str, Any]] = self.body.get("tools", [])
        return [tool.get("function", tool)["name"] for tool in tools]

    @property
    def fault(self) -> str | None:
        """What a real server would refuse: each call needs exactly one result, and each result a call before it."""
        calls, results = ([seen.id for seen in listed] for listed in (self.calls, self.results))
        if len(set(calls)) < len(calls):
            return "two calls have the same id"
        return None if sorted(calls) == sorted(results) else f"calls {calls} have the results {results}"


class ModelServer:
    """Replies as its scripts say, and records what it is asked.

    A script belongs to the conversations that begin with its opening: each request takes its next step. Whatever has no
    script gets the reply of `answer`.
    """

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self.answer: Callable[[RecordedRequest], Step] = lambda _request: ScriptedError(500, "There is no script.")
        self._scripts: dict[str, Iterator[Step]] = {}
        self.receiver: Receiver

    @property
    def url(self) -> str:
        """The address of the server, as people enter it."""
        return f"http://127.0.0.1:{self.receiver.port}"

    def add_script(self, opening: str, *steps: Step) -> None:
        """Reply with these steps to the conversations whose first text contains the opening."""
        self._scripts[opening] = iter(steps)

    def make_settings(self, dialect: ModelDialect, key: str | None = "sk-scripted") -> ModelSettings:
        """Return the settings of the scripted model."""
        return ModelSettings(self.url, dialect, "scripted", key, allows_private=True)

    async def handle(self, receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Reply to the one request of a connection."""
        await receiver.read_request(reader)
        request = _parse_request(receiver.requests[-1])
        self.requests.append(request)
        step = self._choose_step(request)
        if isinstance(step, ScriptedError):
            _write_error(writer, step)
        else:
            await _write_turn(writer, request.dialect, step, len(request.calls))
        await writer.drain()
        if isinstance(step, ScriptedTurn) and step.delivery == "cut":
            writer.close()
            await writer.wait_closed()
        await reader.read()  # until the other side closes

    def _choose_step(self, request: RecordedRequest) -> Step:
        if request.path not in PATHS:
            return ScriptedError(404, "There is nothing here.", "not_found_error")
        if request.fault:
            return ScriptedError(400, request.fault)
        opening = request.user_texts[0] if request.user_texts else ""
        script = next((script for begin, script in self._scripts.items() if begin in opening), None)
        return self.answer(request) if script is None else next(script, ScriptedError(500, "The script has ended."))


@asynccontextmanager
async def run_model_server() -> AsyncIterator[ModelServer]:
    """Run a scripted model within the loop of a test."""
    server = ModelServer()
    async with run_receiver(server.handle) as server.receiver:
        yield server


@contextmanager
def run_model_server_thread() -> Iterator[ModelServer]:
    """Run a scripted model in a thread of its own, for tests that ask it from other threads or processes."""
    server = ModelServer()
    with run_receiver_thread() as receivers:
        server.receiver = receivers.open_receiver(server.handle)
        yield server


def _list_blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks of a message; a text alone is short for one block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _parse_request(request: bytes) -> RecordedRequest:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return RecordedRequest(first.split()[1], headers, json.loads(body))


def _write_error(writer: asyncio.StreamWriter, error: ScriptedError) -> None:
    body = json.dumps({"type": "error", "error": {"type": error.kind, "message": error.message}}).encode()
    retry = f"retry-after: {error.retry_after}\r\n" if error.retry_after else ""
    writer.write(
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase if error.status in [*HTTPStatus] else 'Busy'}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n{retry}connection: close\r\n\r\n".encode()
        + body
    )


async def _write_turn(writer: asyncio.StreamWriter, dialect: ModelDialect, turn: ScriptedTurn, number: int) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
    first, rest = render_events(dialect, turn, number)
    if turn.delivery == "drip":
        first = [bytes([byte]) for event in first for byte in event]
        rest = [bytes([byte]) for event in rest for byte in event]
    for event in first:
        await _write_chunk(writer, event)
    if turn.delivery == "error":
        rest = [render_error_event(dialect)]
    if turn.delivery in {"stall", "cut"}:
        return
    for event in rest:
        await _write_chunk(writer, event)
    writer.write(b"0\r\n\r\n")


async def _write_chunk(writer: asyncio.StreamWriter, content: bytes) -> None:
    writer.write(b"%x\r\n%s\r\n" % (len(content), content))
    await writer.drain()

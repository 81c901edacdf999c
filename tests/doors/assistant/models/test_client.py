"""Replies over real connections: what arrives, what does not, and what becomes of the connection."""

import asyncio
import gc
import json
import logging
from collections.abc import Iterator
from contextlib import aclosing
from typing import NamedTuple

import pytest

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.client import fetch_reply, stream_reply
from mainstay.doors.assistant.models.conversation import (
    CallResult,
    CallResults,
    Finished,
    ModelEvent,
    ModelRequest,
    TextDelta,
    UserText,
)
from mainstay.doors.assistant.models.model_problem import ModelProblem
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.infrastructure.streaming_client import StreamingClient, StreamLimits
from support.model_requests import make_model_request
from support.model_server import ModelServer, Step, run_model_server
from support.model_streams import Delivery, ScriptedCall, ScriptedError, ScriptedTurn
from support.receivers import (
    HOST_NAME,
    ConnectionHandler,
    Receiver,
    answer_with,
    make_client_tls,
    make_server_tls,
    run_receiver,
)

EACH_DIALECT = pytest.mark.parametrize("dialect", list(ModelDialect))
KEY = "sk-very-secret"
TURN = ScriptedTurn("Two jobs.", (ScriptedCall("list_jobs", {"search": "x"}), ScriptedCall("get_me")))
SHORT = StreamLimits(silence_seconds=0.2)


@pytest.fixture(autouse=True, scope="module")
def _nothing_left_open() -> Iterator[None]:
    """A socket that nobody closed warns when it is collected, and warnings are errors."""
    yield
    gc.collect()


class Outcome(NamedTuple):
    """What came of a request."""

    events: list[ModelEvent]
    problem: ModelProblem | None

    @property
    def shown(self) -> str:
        """What a person reads of the problem."""
        assert self.problem is not None
        return str(self.problem.message)


async def collect(client: StreamingClient, settings: ModelSettings, request: ModelRequest | None = None) -> Outcome:
    events: list[ModelEvent] = []
    try:
        async with aclosing(stream_reply(client, settings, request or make_model_request())) as stream:
            async for event in stream:
                events += [event]
    except ModelProblem as problem:
        return Outcome(events, problem)
    return Outcome(events, None)


def ask(dialect: ModelDialect, step: Step, limits: StreamLimits | None = None) -> Outcome:
    """Ask the scripted model once; afterwards it has been hung up on."""

    async def story() -> Outcome:
        async with run_model_server() as server:
            server.add_script("Hello", step)
            outcome = await collect(StreamingClient(limits), server.make_settings(dialect, KEY))
            await server.receiver.connection_closed.wait()
            return outcome

    return asyncio.run(story())


def ask_receiver(handler: ConnectionHandler, limits: StreamLimits | None = None) -> Outcome:
    async def story() -> Outcome:
        async with run_receiver(handler) as receiver:
            settings = ModelSettings(receiver.url, ModelDialect.CHAT, "m", KEY, allows_private=True)
            outcome = await collect(StreamingClient(limits), settings)
            await receiver.connection_closed.wait()
            return outcome

    return asyncio.run(story())


@EACH_DIALECT
@pytest.mark.parametrize("delivery", ["whole", "drip"])
def test_a_reply_arrives_in_pieces(dialect: ModelDialect, delivery: Delivery) -> None:
    *deltas, last = ask(dialect, ScriptedTurn(TURN.text, TURN.calls, delivery=delivery)).events
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["Two job", "s."]
    assert isinstance(last, Finished)
    assert [(call.name, json.loads(call.arguments)) for call in last.reply.calls] == [
        ("list_jobs", {"search": "x"}),
        ("get_me", {}),
    ]
    assert (last.reply.text, last.reason, last.input_tokens, last.output_tokens) == ("Two jobs.", "tools", 120, 12)


@EACH_DIALECT
def test_calls_and_their_results_go_on(dialect: ModelDialect) -> None:
    """The server refuses what a real one would: two calls with one id, a call without a result, a result of no call."""

    async def story() -> ModelServer:
        async with run_model_server() as server:
            server.add_script("Hello", TURN, TURN, ScriptedTurn("Done."))
            messages = [*make_model_request().messages]
            for _ in range(3):
                request = make_model_request(*messages)
                reply = (await fetch_reply(StreamingClient(), server.make_settings(dialect), request)).reply
                results = CallResults(tuple(CallResult(call.id, f"Result of {call.name}") for call in reply.calls))
                messages += [reply, results] if reply.calls else [reply, UserText("Thanks")]
            return server

    server = asyncio.run(story())
    assert [len(request.results) for request in server.requests] == [0, 2, 4]
    assert [seen.text for seen in server.requests[-1].results] == ["Result of list_jobs", "Result of get_me"] * 2
    assert server.requests[-1].tool_names == ["list_jobs"]


# No reply


@EACH_DIALECT
@pytest.mark.parametrize(
    ("delivery", "problem"),
    [("stall", "stopped responding"), ("cut", "broke off"), ("error", "Overloaded")],
)
def test_what_breaks_off_is_a_problem_after_its_beginning(
    dialect: ModelDialect, delivery: Delivery, problem: str
) -> None:
    turn = ScriptedTurn("It begins", TURN.calls, delivery=delivery)
    outcome = ask(dialect, turn, SHORT if delivery == "stall" else None)
    assert "".join(event.text for event in outcome.events if isinstance(event, TextDelta)) == "It begins"
    assert problem in outcome.shown
    assert outcome.problem is not None
    assert outcome.problem.is_temporary


@pytest.mark.parametrize(
    ("error", "shown", "is_temporary", "retry_after"),
    [
        (ScriptedError(401), "refused the key", False, None),
        (ScriptedError(403), "refused the key", False, None),
        (ScriptedError(404), "not found", False, None),
        (ScriptedError(429, retry_after="7"), "too many requests", True, 7),
        (ScriptedError(429, retry_after="7.5"), "too many requests", True, 7),
        (ScriptedError(429, retry_after="999999999999"), "too many requests", True, 3600),
        (ScriptedError(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), "too many requests", True, None),
        (ScriptedError(429, "Pay.", "insufficient_quota", "7"), "has no credit left", False, None),
        (ScriptedError(400, "This model's maximum context length is 8192"), "longer than the model", False, None),
        (ScriptedError(400, "Encrypted content is not supported"), "Choose Chat Completions", False, None),
        (ScriptedError(400), "refused the request. It says: invalid_request_error: Something is wrong.", False, None),
        (ScriptedError(500), "has a fault", True, None),
        (ScriptedError(529, kind="overloaded_error", retry_after="2"), "overloaded", True, 2),
    ],
)
def test_each_status_has_its_words(error: ScriptedError, shown: str, *, is_temporary: bool, retry_after: int) -> None:
    outcome = ask(ModelDialect.CHAT, error)
    assert shown in outcome.shown
    assert outcome.problem is not None
    assert (outcome.problem.is_temporary, outcome.problem.retry_after) == (is_temporary, retry_after)


def test_the_key_is_neither_shown_nor_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        outcome = ask(ModelDialect.MESSAGES, ScriptedError(401, f"{KEY} is unknown"))
    assert "[hidden] is unknown" in outcome.shown
    assert KEY not in repr(outcome.problem) + caplog.text
    assert "You help a plumber" not in caplog.text


def test_a_key_cannot_add_headers() -> None:
    for key in ("sk\r\nx-evil: 1", "sk\n", "sk-ключ"):
        settings = ModelSettings("https://api.example.com", ModelDialect.CHAT, "m", key, allows_private=False)
        assert "Enter it again" in asyncio.run(collect(StreamingClient(), settings)).shown


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    async def story() -> tuple[str, int]:
        async with run_model_server() as server:
            redirect = f"HTTP/1.1 {status} There\r\nLocation: {server.url}/v1\r\nContent-Length: 0\r\n\r\n".encode()
            async with run_receiver(answer_with(redirect)) as receiver:
                settings = ModelSettings(receiver.url, ModelDialect.CHAT, "m", KEY, allows_private=True)
                outcome = await collect(StreamingClient(), settings)
            return outcome.shown, server.receiver.connections

    shown, connections = asyncio.run(story())
    assert "redirects" in shown
    assert connections == 0


@pytest.mark.parametrize(
    "body", [b"<html>Hello</html>", b"{}", b"data: {\n\n", b"data: []\n\n", b"data: [DONE]\n\n", b""]
)
def test_a_page_is_no_reply(body: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert ask_receiver(answer_with(head + body)).problem is not None


@pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b'{"error":' * 1500, b'{"error":[]}', b"\xff", b"[]"])
def test_a_page_of_an_error_is_not_shown(body: bytes) -> None:
    head = b"HTTP/1.1 502 Bad\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert ask_receiver(answer_with(head + body)).shown.endswith("Try again in a moment.")


def make_flood(beginning: bytes, rest: bytes) -> ConnectionHandler:
    """Sends without end, as fast as it is taken."""

    async def handle(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await receiver.read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + beginning)
        while True:
            writer.write(rest)
            await writer.drain()

    return handle


@pytest.mark.parametrize(
    ("beginning", "rest"),
    [
        (b"data: ", b"x" * 100_000),
        (b"", b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % (b"x" * 10_000)),
        (b"", b'data: {"choices":[{"delta":{"tool_calls":[{"id":"","function":{"name":"a","arguments":"1"}}]}}]}\n\n'),
        (b"", b": keep alive " + b"x" * 10_000 + b"\n\n"),
    ],
)
def test_a_flood_is_not_read_to_its_end(beginning: bytes, rest: bytes) -> None:
    outcome = ask_receiver(make_flood(beginning, rest), StreamLimits(max_bytes=6_000_000))
    assert outcome.problem is not None


def test_a_reply_has_a_deadline_in_all() -> None:
    async def drip(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await receiver.read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b": keep alive\n\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    assert "took too long" in ask_receiver(drip, StreamLimits(total_seconds=0.3)).shown


# The connection


@EACH_DIALECT
@pytest.mark.parametrize("how", ["cancel", "close"])
def test_who_stops_hangs_up_at_once(dialect: ModelDialect, how: str) -> None:
    async def story() -> None:
        async with run_model_server() as server:
            server.add_script("Hello", ScriptedTurn("It begins", delivery="stall"))
            stream = stream_reply(StreamingClient(), server.make_settings(dialect), make_model_request())
            began = asyncio.Event()

            async def read() -> None:
                async with aclosing(stream):
                    async for _ in stream:
                        began.set()
                        if how == "close":
                            return

            reading = asyncio.create_task(read())
            await began.wait()
            if how == "cancel":
                reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await server.receiver.connection_closed.wait()

    asyncio.run(story())


EVIL = (
    "http://127.0.0.1:{port}",
    "https://127.0.0.1:{port}",
    "https://localhost:{port}",
    "https://[::1]:{port}",
    "https://[::ffff:127.0.0.1]:{port}",
    "https://2130706433:{port}",
    "https://127.1:{port}",
    "https://169.254.169.254/latest",
    "https://10.0.0.1/v1",
    "https://ollama.internal:{port}",
    "http://api.example.com/v1",
    "https://key@api.example.com",
    "file:///etc/passwd",
    "gopher://api.example.com",
    "api.example.com",
    "",
)


@EACH_DIALECT
@pytest.mark.parametrize("address", EVIL)
def test_an_organisation_s_own_server_is_never_private(dialect: ModelDialect, address: str) -> None:
    async def story() -> tuple[str, int]:
        async with run_model_server() as server:
            url = address.format(port=server.receiver.port)
            settings = ModelSettings(url, dialect, "m", KEY, allows_private=False)
            outcome = await collect(StreamingClient(), settings)
            return outcome.shown, server.receiver.connections

    shown, connections = asyncio.run(story())
    assert "is not allowed" in shown
    assert connections == 0


def test_what_is_no_address_is_told_to_an_operator() -> None:
    settings = ModelSettings("localhost:11434", ModelDialect.CHAT, "m", None, allows_private=True)
    assert "This isn't the address" in asyncio.run(collect(StreamingClient(), settings)).shown


def test_a_name_that_leads_inside_is_refused() -> None:
    async def story() -> tuple[str, int]:
        async with run_model_server() as server:
            client = StreamingClient(resolve=lambda _host, _port: ["93.184.215.14", "127.0.0.1"])
            url = f"https://{HOST_NAME}:{server.receiver.port}"
            settings = ModelSettings(url, ModelDialect.CHAT, "m", KEY, allows_private=False)
            return (await collect(client, settings)).shown, server.receiver.connections

    shown, connections = asyncio.run(story())
    assert ("is not allowed" in shown, connections) == (True, 0)


@pytest.mark.parametrize(("host", "is_known"), [(HOST_NAME, True), ("other.example.com", False)])
def test_over_tls_the_name_counts_and_not_the_address(host: str, *, is_known: bool) -> None:
    async def story() -> tuple[Outcome, Receiver]:
        server = ModelServer()
        server.add_script("Hello", TURN)
        async with run_receiver(server.handle, make_server_tls()) as receiver:
            settings = ModelSettings(
                f"https://{host}:{receiver.port}", ModelDialect.CHAT, "m", KEY, allows_private=True
            )
            client = StreamingClient(tls=make_client_tls(), resolve=lambda _host, _port: ["127.0.0.1"])
            return await collect(client, settings), receiver

    outcome, receiver = asyncio.run(story())
    assert receiver.server_names == [host]
    assert (outcome.problem is None) == is_known
    if not is_known:
        assert "no valid certificate" in outcome.shown
        assert receiver.requests == []


def test_nobody_there_is_a_temporary_problem() -> None:
    settings = ModelSettings("http://127.0.0.1:1", ModelDialect.CHAT, "m", None, allows_private=True)
    outcome = asyncio.run(collect(StreamingClient(), settings))
    assert "Check that it runs" in outcome.shown

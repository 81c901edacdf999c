import asyncio
import gc
import gzip
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

import pytest

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.guarded_connection import NoResponse
from mainstay.infrastructure.webhook_client import (
    DEADLINE_SECONDS,
    MAX_ANSWER_BYTES,
    WebhookClient,
    WebhookResponse,
)
from support.receivers import (
    BODY,
    HEADERS,
    OK,
    SHORT_DEADLINE,
    ConnectionHandler,
    Receiver,
    answer_with,
    close_at_once,
    make_test_client,
    never_answer,
    run_receiver,
)


@pytest.fixture(autouse=True, scope="module")
def _nothing_left_open() -> Iterator[None]:
    """A socket that nobody closed warns when it is collected, and warnings are errors."""
    yield
    gc.collect()


def answer_of(talk: ConnectionHandler, body: bytes = BODY) -> WebhookResponse:
    async def story() -> WebhookResponse:
        async with run_receiver(talk) as receiver, make_test_client() as web:
            return await web.post(receiver.url, HEADERS, body)

    return asyncio.run(story())


def fault_of(talk: ConnectionHandler, *, deadline: float = DEADLINE_SECONDS) -> str:
    """Why there was no answer; and the receiver has been hung up on."""

    async def story() -> str:
        async with run_receiver(talk) as receiver, make_test_client(deadline=deadline) as web:
            with pytest.raises(NoResponse) as caught:
                await web.post(receiver.url, HEADERS, BODY)
            await receiver.connection_closed.wait()
            assert web._kept == []
            return caught.value.kind

    return asyncio.run(story())


def test_a_post_arrives_byte_for_byte() -> None:
    async def story() -> tuple[WebhookResponse, list[bytes], str]:
        async with run_receiver(answer_with(OK)) as receiver, make_test_client() as web:
            answer = await web.post(f"{receiver.url}/käse?a=%20b", HEADERS, BODY)
            return answer, receiver.requests, f"127.0.0.1:{receiver.port}"

    answer, [request], host = asyncio.run(story())

    assert answer == WebhookResponse(200, b"ok", None)
    assert request.decode() == (
        f"POST /hook/k%C3%A4se?a=%20b HTTP/1.1\r\nhost: {host}\r\nuser-agent: Mainstay-Webhooks/1\r\n"
        f"accept-encoding: identity\r\ncontent-length: {len(BODY)}\r\n"
        f"content-type: application/json\r\nwebhook-id: evt_1\r\n\r\n{BODY.decode()}"
    )


@pytest.mark.parametrize("status", [200, 201, 202, 204, 304, 400, 404, 410, 429, 500, 503])
def test_every_status_is_an_answer(status: int) -> None:
    assert answer_of(answer_with(b"HTTP/1.1 %d Said\r\nContent-Length: 0\r\n\r\n" % status)) == WebhookResponse(
        status, b"", None
    )


def test_the_wish_to_be_asked_later_is_told() -> None:
    answer = b"HTTP/1.1 503 Busy\r\nRETRY-after: 120\r\nContent-Length: 4\r\n\r\nbusy"

    assert answer_of(answer_with(answer)) == WebhookResponse(503, b"busy", "120")


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    assert answer_of(answer_with(b"HTTP/1.0 200 OK\r\n\r\nthat is all", close=True)).body == b"that is all"


def test_an_answer_that_comes_before_the_whole_body_was_sent_is_heard() -> None:
    async def talk(_: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        writer.write_eof()
        await reader.read()

    assert answer_of(talk, b"x" * 50_000_000).status == 413


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    async def story() -> tuple[WebhookResponse, int]:
        async with run_receiver(answer_with(OK)) as inside:
            redirect = f"HTTP/1.1 {status} There\r\nLocation: {inside.url}\r\nContent-Length: 0\r\n\r\n".encode()
            async with run_receiver(answer_with(redirect)) as receiver, make_test_client() as web:
                return await web.post(receiver.url, HEADERS, BODY), inside.connections

    answer, connections = asyncio.run(story())

    assert (answer.status, connections) == (status, 0)


def test_no_cookie_is_kept() -> None:
    async def story() -> list[bytes]:
        baking = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
        async with run_receiver(answer_with(baking)) as receiver, make_test_client() as web:
            for _ in range(2):
                await web.post(receiver.url, HEADERS, BODY)
            return receiver.requests

    first, second = asyncio.run(story())
    assert first == second


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    assert answer_of(answer_with(OK)).status == 200


# What is read of an answer


def test_of_a_huge_answer_only_the_beginning_is_read() -> None:
    async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await receiver.read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        for sent[0] in range(1000):
            writer.write(b"x" * 100_000)
            await writer.drain()

    async def story() -> WebhookResponse:
        async with run_receiver(talk) as receiver, make_test_client() as web:
            answer = await web.post(receiver.url, HEADERS, BODY)
            await receiver.connection_closed.wait()
            assert web._kept == []
            return answer

    sent = [0]
    assert asyncio.run(story()) == WebhookResponse(200, b"x" * MAX_ANSWER_BYTES, None)
    assert sent[0] < 200  # of a thousand; what the buffers of two sockets may hold


@pytest.mark.parametrize("length", [0, 1, MAX_ANSWER_BYTES - 1, MAX_ANSWER_BYTES, MAX_ANSWER_BYTES + 1])
def test_an_answer_is_read_up_to_its_bound(length: int) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length + b"x" * length

    assert answer_of(answer_with(answer)).body == b"x" * min(length, MAX_ANSWER_BYTES)


def test_an_answer_is_not_waited_for_beyond_its_bound() -> None:
    unfinished = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + b"x" * MAX_ANSWER_BYTES

    assert answer_of(answer_with(unfinished)).body == b"x" * MAX_ANSWER_BYTES


def test_a_compressed_answer_is_not_expanded() -> None:
    bomb = gzip.compress(bytes(10_000_000))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)

    assert answer_of(answer_with(head + bomb)).body == bomb[:MAX_ANSWER_BYTES]


def test_an_answer_in_crumbs_is_read_up_to_a_bound_of_what_they_weigh() -> None:
    crumbs = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * MAX_ANSWER_BYTES

    answer = answer_of(answer_with(crumbs))

    assert answer.status == 200
    assert 2_000 < len(answer.body) < MAX_ANSWER_BYTES / 2


def make_flood(first: bytes, rest: bytes) -> ConnectionHandler:
    """Sends without end, as fast as it is taken."""

    async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await receiver.read_request(reader)
        writer.write(first)
        while True:
            writer.write(rest * 1000)
            await writer.drain()

    return talk


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"and longer "),
        (b"HTTP/1.1 200 ", b"OK "),
    ],
)
def test_an_answer_that_never_gets_to_the_point_is_not_heard_out(first: bytes, rest: bytes) -> None:
    assert fault_of(make_flood(first, rest)) == "answer not understood"


# No answer


def make_drip(first: bytes, drop: bytes) -> ConnectionHandler:
    """Sends a little again and again, always in time for a client that counts from the last byte."""

    async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await receiver.read_request(reader)
        writer.write(first)
        while True:
            writer.write(drop)
            await writer.drain()
            with suppress(TimeoutError):
                async with asyncio.timeout(0.01):
                    await reader.read()
                    return

    return talk


@pytest.mark.parametrize(
    "talk",
    [
        never_answer,
        answer_with(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"),
        answer_with(b"HTTP/1.1 200 O"),
        answer_with(b"garbage without an end"),
        make_drip(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", b"x"),
        make_drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        make_drip(b"HTTP/1.1 200 OK\r\n", b"X-Drop: x\r\n"),
        make_drip(b"HTTP/1.1 200 OK\r\nX-Drop: ", b"x"),
        make_drip(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    ],
)
def test_a_receiver_that_takes_its_time_runs_out_of_it(talk: ConnectionHandler) -> None:
    assert fault_of(talk, deadline=SHORT_DEADLINE) == "no answer in time"


def test_a_receiver_that_does_not_read_runs_out_of_time() -> None:
    async def story() -> str:
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            async with make_test_client(deadline=SHORT_DEADLINE) as web:
                with pytest.raises(NoResponse) as caught:
                    await web.post(f"http://127.0.0.1:{deaf.getsockname()[1]}/", HEADERS, b"x" * 50_000_000)
        return caught.value.kind

    assert asyncio.run(story()) == "no answer in time"


async def reset_connection(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await receiver.read_request(reader)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(
    "talk",
    [
        reset_connection,
        close_at_once,
        answer_with(b"", close=True),
        answer_with(b"HTTP/1.1 200 OK\r\nContent-", close=True),
        answer_with(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", close=True),
        answer_with(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf", close=True),
    ],
)
def test_a_connection_that_ends_too_early_is_broken(talk: ConnectionHandler) -> None:
    assert fault_of(talk) == "connection broken"


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        bytes(range(256)) + b"\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok",
    ],
)
@pytest.mark.parametrize("close", [False, True])
def test_garbage_is_not_understood(answer: bytes, *, close: bool) -> None:
    assert fault_of(answer_with(answer, close=close)) == "answer not understood"


def test_nobody_there_is_a_connection_refused() -> None:
    async def story() -> str:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            async with make_test_client() as web:
                with pytest.raises(NoResponse) as caught:
                    await web.post(f"http://127.0.0.1:{closed.getsockname()[1]}/", HEADERS, BODY)
        return caught.value.kind

    assert asyncio.run(story()) == "connection refused"


def test_a_host_is_reached_at_the_address_that_works() -> None:
    async def story() -> WebhookResponse:
        guard = AddressGuard(allow_private=True, resolve=lambda _host, _port: ["::1", "127.0.0.1"])
        async with run_receiver(answer_with(OK)) as receiver, WebhookClient(guard) as web:
            return await web.post(f"http://localhost:{receiver.port}/", HEADERS, BODY)

    assert asyncio.run(story()).status == 200


def test_who_gives_up_a_post_leaves_no_connection() -> None:
    async def story() -> None:
        async with run_receiver(never_answer) as receiver, make_test_client() as web:
            posting = asyncio.create_task(web.post(receiver.url, HEADERS, BODY))
            await receiver.request_received.wait()
            posting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await posting
            await receiver.connection_closed.wait()
            assert web._kept == []

    asyncio.run(story())


def test_a_post_may_be_given_up_at_any_moment() -> None:
    async def story() -> int:
        given_up = 0
        async with run_receiver(answer_with(OK)) as receiver, make_test_client() as web:
            for moments in range(60):
                posting = asyncio.create_task(web.post(receiver.url, HEADERS, BODY))
                for _ in range(moments):
                    await asyncio.sleep(0)
                given_up += posting.cancel()
                await asyncio.gather(posting, return_exceptions=True)
            assert len(web._kept) <= 1
            await web.post(receiver.url, HEADERS, BODY)
        return given_up

    assert asyncio.run(story()) > 5

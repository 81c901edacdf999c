import asyncio
import gc
import os
from collections.abc import Iterator

import pytest

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.guarded_connection import NoResponse
from mainstay.infrastructure.webhook_client import DEADLINE_SECONDS, WebhookClient, WebhookResponse
from support.receivers import (
    BODY,
    HEADERS,
    HOST_NAME,
    OK,
    SHORT_DEADLINE,
    ConnectionHandler,
    Receiver,
    answer_with,
    close_at_once,
    make_server_tls,
    make_test_client,
    run_receiver,
)


@pytest.fixture(autouse=True, scope="module")
def _nothing_left_open() -> Iterator[None]:
    """A socket that nobody closed warns when it is collected, and warnings are errors."""
    yield
    gc.collect()


# TLS


def test_over_tls_the_name_counts_and_not_the_address() -> None:
    async def story() -> tuple[list[WebhookResponse], Receiver]:
        async with run_receiver(answer_with(OK), make_server_tls()) as receiver, make_test_client() as web:
            posts = [await web.post(f"https://{HOST_NAME}:{receiver.port}/", HEADERS, BODY) for _ in range(2)]
            return posts, receiver

    answers, receiver = asyncio.run(story())

    assert answers == [WebhookResponse(200, b"ok", None)] * 2
    assert (receiver.server_names, receiver.connections) == ([HOST_NAME], 1)
    assert f"host: {HOST_NAME}:{receiver.port}".encode() in receiver.requests[0]


@pytest.mark.parametrize("host", ["other.example.com", "127.0.0.1", "localhost", "my_app.example.com", "xn--a.example"])
def test_a_certificate_of_another_name_does_not_do(host: str) -> None:
    async def story() -> tuple[str, list[bytes]]:
        async with run_receiver(answer_with(OK), make_server_tls()) as receiver, make_test_client() as web:
            with pytest.raises(NoResponse) as caught:
                await web.post(f"https://{host}:{receiver.port}/", HEADERS, BODY)
            return caught.value.kind, receiver.requests

    assert asyncio.run(story()) == ("TLS failed", [])


def test_a_certificate_that_nobody_vouches_for_does_not_do() -> None:
    async def story() -> tuple[str, list[bytes]]:
        guard = AddressGuard(allow_private=True, resolve=lambda _host, _port: ["127.0.0.1"])
        async with run_receiver(answer_with(OK), make_server_tls()) as receiver, WebhookClient(guard) as web:
            with pytest.raises(NoResponse) as caught:
                await web.post(f"https://{HOST_NAME}:{receiver.port}/", HEADERS, BODY)
            return caught.value.kind, receiver.requests

    assert asyncio.run(story()) == ("TLS failed", [])


async def break_tls(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await receiver.read_request(reader)
    os.write(writer.get_extra_info("socket").fileno(), b"\x17\x03\x03\x00\x20" + b"no cipher made this, surely not!")
    await reader.read()


def test_tls_that_breaks_later_is_a_failure_of_tls() -> None:
    async def story() -> str:
        async with run_receiver(break_tls, make_server_tls()) as receiver, make_test_client() as web:
            with pytest.raises(NoResponse) as caught:
                await web.post(f"https://{HOST_NAME}:{receiver.port}/", HEADERS, BODY)
            await receiver.connection_closed.wait()
        return caught.value.kind

    assert asyncio.run(story()) == "TLS failed"


async def speak_plainly(_receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK)
    await reader.read()


async def hang_before_tls(_receiver: Receiver, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    while await reader.read(1000):
        pass


@pytest.mark.parametrize(
    ("talk", "kind", "deadline"),
    [
        (speak_plainly, "TLS failed", DEADLINE_SECONDS),
        (close_at_once, "TLS failed", DEADLINE_SECONDS),
        (hang_before_tls, "no answer in time", SHORT_DEADLINE),
    ],
)
def test_a_receiver_that_does_not_speak_tls(talk: ConnectionHandler, kind: str, deadline: float) -> None:
    async def story() -> str:
        async with run_receiver(talk) as receiver, make_test_client(deadline=deadline) as web:
            with pytest.raises(NoResponse) as caught:
                await web.post(f"https://{HOST_NAME}:{receiver.port}/", HEADERS, BODY)
            await receiver.connection_closed.wait()
        return caught.value.kind

    assert asyncio.run(story()) == kind


# Connections that are kept


def test_posts_one_after_the_other_share_a_connection() -> None:
    async def story() -> tuple[int, int]:
        async with run_receiver(answer_with(OK)) as receiver, make_test_client() as web:
            for _ in range(5):
                await web.post(receiver.url, HEADERS, BODY)
            return receiver.connections, len(receiver.requests)

    assert asyncio.run(story()) == (1, 5)


def test_the_bound_of_an_answer_counts_for_each_anew() -> None:
    async def story() -> tuple[int, int]:
        long = b"HTTP/1.1 200 OK\r\nContent-Length: 15000\r\n\r\n" + b"x" * 15_000
        async with run_receiver(answer_with(long)) as receiver, make_test_client() as web:
            answers = [await web.post(receiver.url, HEADERS, BODY) for _ in range(5)]
            return receiver.connections, sum(len(answer.body) for answer in answers)

    assert asyncio.run(story()) == (1, 75_000)


def test_posts_at_the_same_time_have_a_connection_each_and_leave_it_to_the_next() -> None:
    async def story() -> int:
        async with run_receiver(answer_with(OK)) as receiver, make_test_client() as web:
            for _ in range(3):
                await asyncio.gather(*(web.post(receiver.url, HEADERS, BODY) for _ in range(16)))
            return receiver.connections

    assert asyncio.run(story()) == 16


def test_a_connection_serves_its_own_host_only() -> None:
    async def story() -> tuple[int, int, int]:
        async with (
            run_receiver(answer_with(OK)) as one,
            run_receiver(answer_with(OK)) as other,
            make_test_client() as web,
        ):
            for url in (one.url, other.url, one.url, f"http://{HOST_NAME}:{one.port}/"):
                await web.post(url, HEADERS, BODY)
            return one.connections, other.connections, len(one.requests)

    assert asyncio.run(story()) == (2, 1, 3)


def test_no_more_connections_are_kept_than_posts_may_be_in_flight() -> None:
    async def story() -> int:
        together = asyncio.Barrier(80)

        async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await receiver.read_request(reader)
            await together.wait()
            writer.write(OK)
            await reader.read()

        async with run_receiver(talk) as receiver, make_test_client() as web:
            await asyncio.gather(*(web.post(receiver.url, HEADERS, BODY) for _ in range(80)))
            return len(web._kept)

    assert asyncio.run(story()) == 64


def test_a_connection_is_not_kept_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainstay.infrastructure.webhook_client._KEPT_SECONDS", -1)

    async def story() -> tuple[int, int]:
        async with run_receiver(answer_with(OK)) as receiver, make_test_client() as web:
            for _ in range(2):
                await web.post(receiver.url, HEADERS, BODY)
            return receiver.connections, len(web._kept)

    assert asyncio.run(story()) == (2, 0)


@pytest.mark.parametrize(
    "parting", [b"", b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", b"x" * 1_000_000]
)
def test_a_connection_that_the_receiver_closed_meanwhile_is_not_used(parting: bytes) -> None:
    async def story() -> tuple[list[int], int]:
        async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await receiver.read_request(reader)
            writer.write(OK)
            await rested.wait()
            writer.write(parting)
            if not parting:
                writer.close()
            await reader.read()

        rested = asyncio.Event()
        async with run_receiver(talk) as receiver, make_test_client() as web:
            first = await web.post(receiver.url, HEADERS, BODY)
            rested.set()
            await web._kept[0].stream._arrived.wait()
            rested.clear()
            second = await web.post(receiver.url, HEADERS, BODY)
            return [first.status, second.status], receiver.connections

    assert asyncio.run(story()) == ([200, 200], 2)


@pytest.mark.parametrize("rude", [b"", b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
def test_a_connection_that_the_receiver_closes_as_the_next_post_comes_is_replaced(rude: bytes) -> None:
    async def story() -> tuple[list[WebhookResponse], int]:
        async def talk(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await receiver.read_request(reader)
            writer.write(OK)
            await receiver.read_request(reader)
            writer.write(rude)
            writer.close()

        async with run_receiver(talk) as receiver, make_test_client() as web:
            return [await web.post(receiver.url, HEADERS, BODY) for _ in range(2)], receiver.connections

    assert asyncio.run(story()) == ([WebhookResponse(200, b"ok", None)] * 2, 2)


def test_a_connection_that_the_receiver_wants_closed_is_not_kept() -> None:
    async def story() -> tuple[int, int]:
        closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        async with run_receiver(answer_with(closing)) as receiver, make_test_client() as web:
            await web.post(receiver.url, HEADERS, BODY)
            await receiver.connection_closed.wait()
            return receiver.connections, len(web._kept)

    assert asyncio.run(story()) == (1, 0)


def test_what_is_kept_is_closed_at_the_end() -> None:
    async def story() -> None:
        async with run_receiver(answer_with(OK)) as receiver:
            async with make_test_client() as web:
                await web.post(receiver.url, HEADERS, BODY)
            await receiver.connection_closed.wait()

    asyncio.run(story())

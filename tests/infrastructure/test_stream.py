import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpcore2
import pytest

from mainstay.infrastructure.http_stream import MAX_UNREAD_BYTES, LimitedStream, TooMuchData

MAX_BYTES = 1000


@asynccontextmanager
async def connect_stream() -> AsyncIterator[tuple[LimitedStream, socket.socket]]:
    """A stream, and the other end of its connection."""
    here, there = socket.socketpair()
    with there:
        there.settimeout(0)
        stream = await LimitedStream.connect(here, MAX_BYTES, None, "here")
        try:
            yield stream, there
        finally:
            await stream.aclose()


def test_no_more_is_read_than_the_bound_until_something_is_written() -> None:
    async def story() -> tuple[int, int]:
        async with connect_stream() as (stream, there):
            there.send(b"x" * 2500)
            before = len(await stream.read(600)) + len(await stream.read(600))
            with pytest.raises(TooMuchData):
                await stream.read(600)
            await stream.write(b"go on")
            return before, len(await stream.read(65_536))

    assert asyncio.run(story()) == (MAX_BYTES, MAX_BYTES)


def test_what_nobody_reads_does_not_fill_the_memory() -> None:
    async def story() -> int:
        sent = 0
        async with connect_stream() as (_, there):
            for _ in range(1000):
                try:
                    sent += there.send(b"x" * 100_000)
                except BlockingIOError:
                    await asyncio.sleep(0)
        return sent

    assert asyncio.run(story()) < 5_000_000


def test_a_long_response_goes_on_once_what_arrived_is_read() -> None:
    async def story() -> tuple[int, int]:
        here, there = socket.socketpair()
        stream = await LimitedStream.connect(here, 10 * MAX_UNREAD_BYTES, None, "here")
        _, writer = await asyncio.open_connection(sock=there)
        writer.write(b"x" * 4 * MAX_UNREAD_BYTES)
        writer.write_eof()
        unread, received = 0, 0
        while data := await stream.read(65_536):
            received += len(data)
            unread = max(unread, len(stream._buffer))
            await asyncio.sleep(0)
        await stream.aclose()
        writer.close()
        return unread, received

    unread, received = asyncio.run(story())
    assert unread < 2 * MAX_UNREAD_BYTES
    assert received == 4 * MAX_UNREAD_BYTES


def test_who_writes_waits_for_one_who_does_not_read() -> None:
    async def story() -> None:
        async with connect_stream() as (stream, _):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await stream.write(b"x" * 50_000_000)

    asyncio.run(story())


def test_what_came_before_the_end_is_read_before_the_end() -> None:
    async def story() -> list[bytes]:
        async with connect_stream() as (stream, there):
            there.send(b"last words")
            there.close()
            heard = [await stream.read(5), await stream.read(100), await stream.read(100)]
            with pytest.raises(httpcore2.WriteError):
                await stream.write(b"still there?")
            return heard

    assert asyncio.run(story()) == [b"last ", b"words", b""]

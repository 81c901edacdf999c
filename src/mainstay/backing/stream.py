"""The bytes of one connection, as httpcore2 reads and writes them."""

import asyncio
import socket
import ssl
from typing import Self, cast

import httpcore2


class TooMuch(Exception):
    """The other side sends more than anyone wants to hear."""


class Stream(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """A connection on which so many bytes at most are read after each thing written.

    The bound is on bytes as they come, so that neither endless headers nor an answer in crumbs costs much. All
    waiting is under the deadline of the one who waits; the timeouts of the interface are not used.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._left = most
        self._buffer = bytearray()
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._fault: Exception | None = None
        self._ended = False
        self.heard_end = False

    @classmethod
    async def over(cls, connected: socket.socket, most: int, tls: ssl.SSLContext | None, host: str) -> Self:
        """The stream over a connected socket; with TLS, once the other side has proved to be this host."""
        _, stream = await asyncio.get_running_loop().create_connection(
            lambda: cls(most), sock=connected, ssl=tls, server_hostname=host if tls else None
        )
        return stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if not self._left:
            raise TooMuch
        await self._arrived.wait()
        if self._buffer:
            data = bytes(self._buffer[: min(max_bytes, self._left)])
            del self._buffer[: len(data)]
            self._left -= len(data)
            if not self._buffer and not self._ended:
                self._arrived.clear()
            return data
        if self._fault:
            raise self._fault
        self.heard_end = True
        return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._left = self._most
        if not self._ended:
            self._transport.write(buffer)
            await self._writable.wait()
        if self._ended:
            raise httpcore2.WriteError("the connection has ended")

    async def aclose(self) -> None:
        self.close()

    def close(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def get_extra_info(self, info: str) -> bool | None:
        """Whether something came that nobody asked for: then the connection serves for no other request."""
        return self._arrived.is_set() if info == "is_readable" else None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._arrived.set()
        if len(self._buffer) > self._most:
            self._transport.pause_reading()  # for good: what is buffered is already too much

    def eof_received(self) -> None:
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fault = exc
        self._end()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _end(self) -> None:
        self._ended = True
        self._arrived.set()
        self._writable.set()

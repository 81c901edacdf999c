"""The bytes of one connection, in the interface that httpcore2 reads and writes."""

import asyncio
import socket
import ssl
from typing import Self, cast

import httpcore2

# Of what nobody has read yet, no more than this is stored, however large the limit is.
MAX_UNREAD_BYTES = 262_144


class TooMuchData(Exception):
    """The other side sends more than the limit."""


class LimitedStream(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """A connection that accepts a limited number of bytes after each write.

    The limit counts bytes as they arrive, so that neither endless headers nor a response in tiny pieces costs much. All
    waiting is under the caller's deadline; the timeouts of the interface are not used.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._remaining = limit
        self._buffer = bytearray()
        self._is_paused = False
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._fault: Exception | None = None
        self._ended = False
        self.received_end = False

    @classmethod
    async def connect(cls, connected: socket.socket, limit: int, tls: ssl.SSLContext | None, host: str) -> Self:
        """Return a stream on a connected socket; with TLS, after the other side has proved to be this host."""
        _, stream = await asyncio.get_running_loop().create_connection(
            lambda: cls(limit), sock=connected, ssl=tls, server_hostname=host if tls else None
        )
        return stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if not self._remaining:
            raise TooMuchData
        await self._arrived.wait()
        if self._buffer:
            data = bytes(self._buffer[: min(max_bytes, self._remaining)])
            del self._buffer[: len(data)]
            self._remaining -= len(data)
            if not self._buffer and not self._ended:
                self._arrived.clear()
                self._resume_reading()
            return data
        if self._fault:
            raise self._fault
        self.received_end = True
        return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._remaining = self._limit
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
        """Return whether unrequested data arrived: then the connection cannot be used for another request."""
        return self._arrived.is_set() if info == "is_readable" else None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._arrived.set()
        if len(self._buffer) > min(self._limit, MAX_UNREAD_BYTES):
            self._transport.pause_reading()
            self._is_paused = True

    def eof_received(self) -> None:
        self._mark_ended()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fault = exc
        self._mark_ended()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _resume_reading(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()

    def _mark_ended(self) -> None:
        self._ended = True
        self._arrived.set()
        self._writable.set()

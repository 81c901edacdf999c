"""A host on the web with the documents of apps, under a certificate of its own."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.webhook_client import WebhookClient
from support.oauth_app import CALLBACK
from support.receiver_threads import run_receiver_thread
from support.receivers import CERTIFICATE, HOST_NAME, Receiver, make_server_tls

FETCH_DEADLINE = 1.0


@dataclass
class DocumentHost:
    """Answers each request with the document that it has now."""

    receiver: Receiver = field(init=False)
    document: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    status: int = 200
    body: bytes | None = None
    is_silent: bool = False

    @property
    def client_id(self) -> str:
        """The address of the document."""
        return f"https://{HOST_NAME}:{self.receiver.port}/app/client.json"

    @property
    def fetches(self) -> int:
        """How often the document was fetched."""
        return len(self.receiver.requests)

    def open_web(self) -> WebhookClient:
        """Open a client that trusts the certificate and finds this host; nothing else is different."""
        guard = AddressGuard(allow_private=True, resolve=lambda _host, _port: ["127.0.0.1"])
        return WebhookClient(guard, tls=ssl.create_default_context(cafile=CERTIFICATE), deadline=FETCH_DEADLINE)

    async def answer(self, receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        await receiver.read_request(reader)
        if self.is_silent:
            await reader.read()
            return
        body = orjson.dumps(self.document) if self.body is None else self.body
        headers = {**self.headers, "Content-Length": str(len(body))}
        lines = [f"HTTP/1.1 {self.status} Said", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()


@contextmanager
def run_document_host() -> Iterator[DocumentHost]:
    """Run a host with the document of an app until the block ends."""
    host = DocumentHost()
    with run_receiver_thread() as thread:
        host.receiver = thread.open_receiver(host.answer, make_server_tls())
        host.document = {"client_id": host.client_id, "client_name": "Document app", "redirect_uris": [CALLBACK]}
        yield host

"""Client ID metadata documents: the ID of an app is an https address, at which a document describes the app.

This follows draft-ietf-oauth-client-id-metadata-document, which the authorization of the Model Context Protocol names.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mainstay.doors.json import InvalidJson, decode_json
from mainstay.doors.oauth.errors import OAuthError
from mainstay.doors.oauth.register import clean_name, read_metadata
from mainstay.doors.runner import Runner
from mainstay.identity import clients
from mainstay.identity.clients import OAuthClient
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.rate_limits import RateLimits
from mainstay.kernel.perform import Performer
from mainstay.lazy_import import import_lazily
from mainstay.values.message import Message

if TYPE_CHECKING:
    from mainstay.infrastructure.webhook_client import WebhookClient, WebhookResponse

MAX_DOCUMENT_BYTES = 5_120
MIN_FRESH, MAX_FRESH = timedelta(minutes=5), timedelta(hours=24)
# How many documents may be fetched for one account in an hour, and how many a process fetches at the same time.
FETCHES_AN_HOUR = 30
MAX_FETCHES = 32


class DocumentRefused(Exception):
    """An app cannot be connected by its document; the message says why."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class ClientDocuments:
    """Finds the apps whose IDs are addresses of documents."""

    performer: Performer
    runner: Runner
    limits: RateLimits
    # Opens the client for outgoing requests, when the first document is fetched.
    open_web: "Callable[[], WebhookClient]"
    # Whether the operator allows such apps.
    is_on: bool
    _running: dict[str, asyncio.Task[OAuthClient]] = field(default_factory=dict)

    async def find_client(self, client_id: str, account: str) -> OAuthClient:
        """Return the app with this ID for a person with this account; fetch its document if that is not fresh.

        Requests for the same app at the same time share one fetch, and hold neither a thread nor a transaction.
        """
        if not self.is_on:
            raise DocumentRefused(Message("This app can't be connected here: it is known by a web address only."))
        _check_address(client_id)
        running = self._running.get(client_id)
        if running is None:
            if len(self._running) >= MAX_FETCHES:
                raise _too_many()
            running = self._running[client_id] = asyncio.create_task(self._find_or_fetch(client_id, account))
            running.add_done_callback(lambda task: self._forget(client_id, task))
        return await asyncio.shield(running)

    def _forget(self, client_id: str, task: asyncio.Task[OAuthClient]) -> None:
        del self._running[client_id]
        if not task.cancelled():
            # If nobody waits for it any more, its exception is read here: Python logs exceptions that are never read.
            task.exception()

    async def _find_or_fetch(self, client_id: str, account: str) -> OAuthClient:
        known = await self.runner.run_read(self._find_fresh, client_id)
        if known:
            return known
        if not (await self.limits.take(f"client documents {account}", FETCHES_AN_HOUR, 3600.0)).accepted:
            raise _too_many()
        web = await self.runner.run(self.open_web)
        try:
            response = await web.get(client_id, "application/json")
        except import_lazily("mainstay.infrastructure.guarded_connection").NoResponse as failure:
            raise _unreadable(_FAILURES[failure.kind]) from None
        metadata = read_document(client_id, response)
        now = self.performer.clock()
        fresh_until = now + read_lifetime(response.headers.get("cache-control", ""))
        database = self.performer.database
        return await self.runner.run(clients.save_document, database, client_id, metadata, fresh_until, now)

    def _find_fresh(self, client_id: str) -> OAuthClient | None:
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return clients.find_fresh(db, client_id, self.performer.clock())


def read_document(client_id: str, response: "WebhookResponse") -> dict[str, Any]:
    """Return the metadata that a document gives; refuse it if it is not a valid description of this app."""
    if response.status != _OK:
        raise _unreadable(Message("it answered with the status {status}", status=response.status))
    if len(response.body) > MAX_DOCUMENT_BYTES:
        raise _unreadable(Message("it is longer than {count} bytes", count=MAX_DOCUMENT_BYTES))
    if not _JSON_TYPE.fullmatch(response.headers.get("content-type", "")):
        raise _unreadable(Message("it is not marked as JSON"))
    try:
        document = decode_json(response.body)
    except InvalidJson:
        raise _unreadable(Message("it is not valid JSON")) from None
    if not isinstance(document, dict):
        raise _unreadable(Message("it is not a JSON object"))
    if document.get("client_id") != client_id:
        raise _unreadable(Message("it describes another app"))
    if _has_shared_secret(document):
        raise _unreadable(Message("it says that the app has a secret, but everyone can read it there"))
    try:
        # Every such app is a public client: it proves with PKCE that a code is its own.
        metadata = read_metadata(document | {"token_endpoint_auth_method": "none"})
        if clean_name(document.get("client_name"), default="") == "":
            raise _unreadable(Message("it does not name the app"))
    except OAuthError as problem:
        raise _unreadable(Message("{problem}", problem=problem.text.rstrip("."))) from None
    return metadata


def read_lifetime(cache_control: str) -> timedelta:
    """Return how long a document counts as fresh, by its `Cache-Control` and within bounds."""
    directives = dict(_DIRECTIVE.findall(cache_control.lower()))
    if "no-store" in directives or "no-cache" in directives:
        return MIN_FRESH
    seconds = directives.get("max-age", "")
    age = timedelta(seconds=int(seconds[:_MAX_DIGITS])) if seconds.isdecimal() else MIN_FRESH
    return min(max(age, MIN_FRESH), MAX_FRESH)


_OK = 200
_JSON_TYPE = re.compile(r"application/(?:[\w.!#$&^-]+\+)?json\s*(?:;.*)?", re.IGNORECASE | re.ASCII)
_DIRECTIVE = re.compile(r"([a-z-]+)(?:\s*=\s*\"?([^\s,\"]*))?")
_MAX_DIGITS = 9


def _check_address(client_id: str) -> None:
    """Refuse an ID that may not be the address of a document: it has a path, written in one way only."""
    match = _ADDRESS.fullmatch(client_id)
    if not match or any(unquote(segment) in {".", ".."} for segment in match["path"].split("/")):
        raise DocumentRefused(Message("The app's ID is not a valid web address. Ask the maker of the app."))


_ADDRESS = re.compile(r"(?=[!-~]+\Z)https://[^/?#@\\]+/(?P<path>[^?#\\]+)(?:\?[^#\\]*)?")


def _has_shared_secret(document: dict[str, Any]) -> bool:
    """Return whether a document gives a secret that the app and the server would share."""
    if any(name.startswith("client_secret") for name in document):
        return True
    named = document.get("token_endpoint_auth_method")
    methods = named if isinstance(named, list) else [named]
    return bool(methods) and all(isinstance(method, str) and method.startswith("client_secret") for method in methods)


def _unreadable(reason: Message) -> DocumentRefused:
    return DocumentRefused(
        Message(
            "The app's description of itself, at the web address in its ID, can't be used: {reason}. Try again later,"
            " or ask the maker of the app.",
            reason=reason,
        )
    )


def _too_many() -> DocumentRefused:
    return DocumentRefused(Message("Too many apps are being connected at the moment. Try again later."))


# Why there was no response, by the kind of failure.
_FAILURES = {
    "address refused": Message("its address is not on the public internet"),
    "name not found": Message("its host can't be found"),
    "connection refused": Message("its host doesn't answer"),
    "no answer in time": Message("its host takes too long to answer"),
    "TLS failed": Message("the certificate of its host is not valid"),
    "connection broken": Message("the connection broke"),
    "answer not understood": Message("its host sent something that is not a web page"),
}

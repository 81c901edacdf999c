"""The HTTP API: a key comes in, an operation is performed, JSON goes out."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeVar

from mainstay.backing.database import EVERY
from mainstay.backing.limits import Limits
from mainstay.doors.api.answers import refused
from mainstay.doors.api.inputs import body_input, conditions, query_input
from mainstay.doors.api.routes import Endpoint, Found, Routes
from mainstay.doors.http import Interrupted, Request, Response, error
from mainstay.identity.authenticate import NoSuchKey, actor_of_key
from mainstay.identity.last_used import LastUsed
from mainstay.kernel import context
from mainstay.kernel.actor import Actor, Door
from mainstay.kernel.perform import Stage, admit
from mainstay.kernel.refusal import NotFound, Refusal, TooMany

PREFIX = "/api/v1"
REQUESTS_A_MINUTE = 600

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiDoor:
    """Translates between HTTP and operations."""

    stage: Stage
    limits: Limits
    last_used: LastUsed
    routes: Routes
    openapi: bytes
    threads: Executor

    async def __call__(self, request: Request) -> Response:
        """Answer a request under `/api/v1`."""
        try:
            actor = await self._enter(request)
        except Refusal as refusal:
            return refused(refusal)
        verdict = await self.limits.take(actor.credential, REQUESTS_A_MINUTE)
        try:
            if not verdict.accepted:
                raise TooMany(f"More than {REQUESTS_A_MINUTE} requests in a minute. Wait a minute, then go on.")
            response = await self._serve(request, actor)
        except Refusal as refusal:
            response = refused(refusal)
        except Interrupted as interrupted:
            response = error(interrupted.status, interrupted.text)
        response.headers = (
            *response.headers,
            (b"ratelimit-limit", b"%d" % verdict.limit),
            (b"ratelimit-remaining", b"%d" % verdict.remaining),
        )
        return response

    async def _enter(self, request: Request) -> Actor:
        scheme, _, secret = request.headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer":
            raise NoSuchKey
        actor = await self._run(self._authenticate, secret.strip().decode("latin-1"))
        self.last_used.note(actor.organisation, actor.credential, self.stage.clock())
        return actor

    def _authenticate(self, secret: str) -> Actor:
        with self.stage.database.reading(EVERY) as rows:
            return actor_of_key(rows, secret, Door.API)

    async def _serve(self, request: Request, actor: Actor) -> Response:
        named = request.headers.get(b"x-organisation-id")
        if named is not None and named.decode("latin-1") != actor.organisation:
            raise NotFound("organisation")
        path = request.path[len(PREFIX) :]
        if path == "/openapi.json" and request.method in {"GET", "HEAD"}:
            return Response(200, self.openapi)
        found = self.routes.find(path)
        if found is None:
            return error(404, "There is nothing at this address. GET /api/v1/openapi.json lists what there is.")
        endpoint = found.endpoints.get(request.method)
        if endpoint is None:
            allowed = ", ".join(sorted(found.endpoints)).encode()
            return error(405, "This method is not allowed here.", ((b"allow", allowed),))
        try:
            return await self._perform(request, actor, endpoint, found)
        except Refusal as refusal:
            return refused(refusal, endpoint.number)

    async def _perform(self, request: Request, actor: Actor, endpoint: Endpoint, found: Found) -> Response:
        operation = endpoint.operation
        admit(operation, actor)
        if operation.changes:
            raw = await body_input(request, found.values)
            answer = await self._in_thread(self.stage.perform, operation, actor, raw, conditions(request))
        else:
            words = query_input(request, found.values)
            answer = await self._run(self.stage.perform, operation, actor, words, context.Request(request.id))
        headers = []
        if answer.version is not None:
            headers.append((b"etag", b'"%d"' % answer.version))
        if answer.replayed:
            headers.append((b"idempotent-replayed", b"true"))
        return Response(endpoint.status, answer.body, headers, endpoint.number)

    async def _run(self, function: Callable[..., T], *given: Any) -> T:
        """Run a bounded read: here, where that takes microseconds, else in a thread."""
        if self.stage.database.reads_inline:
            return function(*given)
        return await self._in_thread(function, *given)

    async def _in_thread(self, function: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.threads, function, *given)

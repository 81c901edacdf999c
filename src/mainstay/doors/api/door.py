"""The HTTP API: a key comes in, an operation is performed, JSON goes out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mainstay.doors.api.answers import refused
from mainstay.doors.api.inputs import body_input, no_parameters, query_input
from mainstay.doors.api.routes import Endpoint
from mainstay.doors.entrance import Entrance, OverLimit
from mainstay.doors.http import OUR_FAULT, Headers, Interrupted, Request, Response, error, log_fault
from mainstay.doors.known import naming_known
from mainstay.doors.papers import RETRY_AFTER, NotReady, Papers
from mainstay.doors.paths import Paths
from mainstay.kernel.catalogue import admit
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.ledger.replay import Answer
from mainstay.terms.actor import Actor, Door
from mainstay.terms.faults import Raw
from mainstay.terms.refusal import Invalid, NotFound, Refusal

PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True)
class ApiDoor:
    """Translates between HTTP and operations."""

    entrance: Entrance
    paths: Paths[Endpoint]
    # Gives the description.
    describe: Callable[[], bytes]
    papers: Papers

    async def __call__(self, request: Request) -> Response:
        """Answer a request under `/api/v1`."""
        try:
            actor, verdict = await self.entrance.enter(request, Door.API)
        except Refusal as refusal:
            return refused(refusal)
        try:
            response = await self._serve(request, actor) if verdict.accepted else refused(OverLimit())
        except Refusal as refusal:
            response = refused(refusal)
        except Interrupted as interrupted:
            response = error(interrupted.status, interrupted.text, interrupted.headers)
        except Exception as fault:
            log_fault(fault, request)
            response = error(500, OUR_FAULT)
        response.headers = (
            *response.headers,
            ("ratelimit-limit", str(verdict.limit)),
            ("ratelimit-remaining", str(verdict.remaining)),
        )
        return response

    async def _serve(self, request: Request, actor: Actor) -> Response:
        named = request.headers.get("x-organisation-id")
        if named is not None and named != actor.organisation:
            raise NotFound("organisation")
        path = request.path[len(PREFIX) :]
        if path == "/openapi.json":
            return self._describe(request)
        found = self.paths.find(path)
        if found is None:
            raise Interrupted(404, "There is nothing at this address. GET /api/v1/openapi.json lists what there is.")
        endpoint = found.methods.get(request.method)
        if endpoint is None:
            raise _not_allowed(found.methods)
        operation = endpoint.operation
        raw: Raw
        try:
            admit(operation, actor)
            if operation.changes:
                raw, envelope = await body_input(request, found.values, operation.input, endpoint.elsewhere)
            else:
                raw, envelope = query_input(request, found.values, operation.input), Envelope(request.id)
        except Refusal as refusal:
            return refused(refusal, endpoint.number)
        try:
            if operation.gives:
                response = await self._file(operation, actor, raw, envelope)
                response.route = endpoint.number
                return response
            answer = await self.entrance.runner.perform(self.entrance.stage, operation, actor, raw, envelope)
        except Invalid as invalid:
            return refused(naming_known(invalid.faults, operation.input, endpoint.parameters), endpoint.number)
        except Refusal as refusal:
            return refused(refusal, endpoint.number)
        return Response(endpoint.status, answer.body, _headers(answer), endpoint.number)

    async def _file(self, operation: Operation, actor: Actor, raw: Raw, envelope: Envelope) -> Response:
        try:
            return await self.papers.answer(operation, actor, raw, envelope)
        except NotReady as waiting:
            return Response(202, waiting.body, RETRY_AFTER)

    def _describe(self, request: Request) -> Response:
        if request.method not in _READS:
            raise _not_allowed(_READS)
        no_parameters(request)
        return Response(200, self.describe())


_READS = ("GET", "HEAD")


def _headers(answer: Answer) -> Headers:
    headers = []
    if answer.version is not None:
        headers.append(("etag", f'"{answer.version}"'))
    if answer.replayed:
        headers.append(("idempotent-replayed", "true"))
    return headers


def _not_allowed(methods: Iterable[str]) -> Interrupted:
    return Interrupted(405, "This method is not allowed here.", (("allow", ", ".join(sorted(methods))),))

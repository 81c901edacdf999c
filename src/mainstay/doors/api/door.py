"""The HTTP API: authenticates a key, performs an operation and answers with JSON."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mainstay.changes.idempotency import Answer
from mainstay.doors.api.inputs import read_body_input, read_query_input, refuse_parameters
from mainstay.doors.api.routes import Endpoint
from mainstay.doors.bearer_auth import BearerAuth, RateLimitExceeded
from mainstay.doors.document_answers import RETRY_AFTER, DocumentAnswers, FileNotReady
from mainstay.doors.field_hints import add_field_hints
from mainstay.doors.http import SERVER_ERROR, Headers, HttpError, Request, Response, error_response, log_fault
from mainstay.doors.path_router import PathRouter
from mainstay.doors.refusal_responses import refusal_response
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.refusal import Invalid, NotFound, Refusal
from mainstay.vocabulary.validation import RawInput

API_PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True)
class ApiDoor:
    """The door of the HTTP API: translates between HTTP and operations."""

    auth: BearerAuth
    router: PathRouter[Endpoint]
    # Returns the OpenAPI description.
    build_description: Callable[[], bytes]
    document_answers: DocumentAnswers

    async def __call__(self, request: Request) -> Response:
        """Answer a request under `/api/v1`."""
        try:
            actor, rate_limit = await self.auth.authenticate(request, Door.API)
        except Refusal as refusal:
            return refusal_response(refusal)
        try:
            response = (
                await self._perform(request, actor) if rate_limit.accepted else refusal_response(RateLimitExceeded())
            )
        except Refusal as refusal:
            response = refusal_response(refusal)
        except HttpError as http_error:
            response = error_response(http_error.status, http_error.text, http_error.headers)
        except Exception as error:
            log_fault(error, request)
            response = error_response(500, str(SERVER_ERROR))
        response.headers = (
            *response.headers,
            ("ratelimit-limit", str(rate_limit.limit)),
            ("ratelimit-remaining", str(rate_limit.remaining)),
        )
        return response

    async def _perform(self, request: Request, actor: Actor) -> Response:
        organisation = request.headers.get("x-organisation-id")
        if organisation is not None and organisation != actor.organisation:
            raise NotFound("organisation")
        path = request.path[len(API_PREFIX) :]
        if path == "/openapi.json":
            return self._send_description(request)
        match = self.router.find(path)
        if match is None:
            raise HttpError(404, "There is nothing at this address. GET /api/v1/openapi.json lists all addresses.")
        endpoint = match.methods.get(request.method)
        if endpoint is None:
            raise _method_not_allowed(match.methods)
        operation = endpoint.operation
        raw: RawInput
        try:
            check_permission(operation, actor)
            if operation.changes:
                raw, details = await read_body_input(request, match.values, operation.input, endpoint.path_only_fields)
            else:
                raw, details = read_query_input(request, match.values, operation.input), RequestDetails(request.id)
        except Refusal as refusal:
            return refusal_response(refusal, endpoint.route_number)
        try:
            if operation.returns_file:
                response = await self._send_document(operation, actor, raw, details)
                response.route_number = endpoint.route_number
                return response
            answer = await self.auth.runner.perform(self.auth.performer, operation, actor, raw, details)
        except Invalid as invalid:
            return refusal_response(
                add_field_hints(invalid.faults, operation.input, endpoint.path_parameters), endpoint.route_number
            )
        except Refusal as refusal:
            return refusal_response(refusal, endpoint.route_number)
        status = 200 if details.dry_run else 202 if answer.awaits_confirmation else endpoint.status
        return Response(status, answer.body, _answer_headers(answer, details), endpoint.route_number)

    async def _send_document(
        self, operation: Operation, actor: Actor, raw: RawInput, details: RequestDetails
    ) -> Response:
        try:
            return await self.document_answers.answer(operation, actor, raw, details)
        except FileNotReady as not_ready:
            return Response(202, not_ready.body, RETRY_AFTER)

    def _send_description(self, request: Request) -> Response:
        if request.method not in _READ_METHODS:
            raise _method_not_allowed(_READ_METHODS)
        refuse_parameters(request)
        return Response(200, self.build_description())


_READ_METHODS = ("GET", "HEAD")


def _answer_headers(answer: Answer, details: RequestDetails) -> Headers:
    headers = []
    if details.dry_run:
        headers.append(("preference-applied", "dry-run"))
    if answer.version is not None:
        headers.append(("etag", f'"{answer.version}"'))
    if answer.is_replayed:
        headers.append(("idempotent-replayed", "true"))
    if answer.undoable_change is not None:
        headers.append(("change-id", str(answer.undoable_change)))
    return headers


def _method_not_allowed(methods: Iterable[str]) -> HttpError:
    return HttpError(405, "This method is not allowed here.", (("allow", ", ".join(sorted(methods))),))

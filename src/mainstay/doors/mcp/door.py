"""The tool server: answers each JSON-RPC call with one JSON body, without sessions or streams."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from mainstay.changes.idempotency import INVALID_KEY, is_idempotency_key
from mainstay.doors.agent_calls import take_agent_format
from mainstay.doors.bearer_auth import BearerAuth, RateLimitExceeded
from mainstay.doors.compression import compress
from mainstay.doors.cors import ANY_ORIGIN, answer_preflight
from mainstay.doors.http import SERVER_ERROR, HttpError, Request, Response, log_fault
from mainstay.doors.json import encode_json, is_json
from mainstay.doors.mcp import protocol
from mainstay.doors.mcp.elicitation import AnsweredQuestion, Elicitation, InvalidState, ToolCall
from mainstay.doors.mcp.instructions import INSTRUCTIONS
from mainstay.doors.mcp.protocol import Call, NotACall, read_call, rpc_error_response
from mainstay.doors.mcp.tool_schema import DRY_RUN, IDEMPOTENCY_KEY
from mainstay.doors.mcp.tools import DECLINED, ToolOffer, Tools, describe_preview
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.preview import PreviewDiffers
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.refusal import Fault, Invalid, Refusal, Unauthenticated
from mainstay.vocabulary.toolsets import ToolChoice, Toolset, choose_toolsets, parse_toolsets
from mainstay.vocabulary.validation import NOT_A_BOOLEAN

BODY_LIMIT = 1_048_576
# The header by which a client chooses the toolsets that it is offered.
TOOLSETS_HEADER = "x-mcp-toolsets"
# How long a client may cache answers that are the same for everyone.
DISCOVERY_MS = 3_600_000


@dataclass(frozen=True, slots=True, eq=False)
class McpDoor:
    """The door of the tool server: translates between the Model Context Protocol and operations."""

    auth: BearerAuth
    tools: Tools
    elicitation: Elicitation
    server_info: dict[str, str]
    # The value of the WWW-Authenticate header, which leads a client to the sign-in.
    challenge: str
    # The number of this route in the metrics.
    route_number: int

    async def __call__(self, request: Request) -> Response:
        """Answer a request to `/mcp`."""
        if request.method == "OPTIONS":
            return answer_preflight(request, "POST")
        try:
            response = await self._answer(request)
        except Exception as problem:
            response = _internal_error_response(problem, request)
        response.headers = (*response.headers, *ANY_ORIGIN)
        response.route_number = self.route_number
        return response

    async def _answer(self, request: Request) -> Response:
        if request.method != "POST":
            return rpc_error_response(
                405, protocol.HTTP_ERROR, "Only POST is allowed here.", headers=(("allow", "POST"),)
            )
        try:
            actor, rate_limit = await self.auth.authenticate(request, Door.AGENT)
            if not rate_limit.accepted:
                return rpc_error_response(
                    429, protocol.TOO_MANY, RateLimitExceeded().text, headers=(("retry-after", "60"),)
                )
            _check_headers(request, actor)
            choice = _read_choice(request, actor)
            call = read_call(request.headers, await request.read_body(BODY_LIMIT))
            return await self._answer_call(request, actor, call, choice)
        except Unauthenticated as refusal:
            headers = (("www-authenticate", self.challenge),)
            return rpc_error_response(401, protocol.UNAUTHENTICATED, refusal.text, headers=headers)
        except HttpError as http_error:
            return rpc_error_response(http_error.status, protocol.HTTP_ERROR, http_error.text)
        except NotACall as not_a_call:
            return not_a_call.response

    async def _answer_call(self, request: Request, actor: Actor, call: Call, choice: ToolChoice) -> Response:
        """Answer a call; an unexpected error is answered with the id of the call too."""
        try:
            return await self._dispatch(request, actor, call, choice)
        except (Unauthenticated, HttpError):
            raise
        except Exception as problem:
            return _internal_error_response(problem, request, call.id)

    async def _dispatch(self, request: Request, actor: Actor, call: Call, choice: ToolChoice) -> Response:
        match call.method:
            case "tools/call":
                return await self._call_tool(request, actor, call, choice)
            case "tools/list":
                return self._list_tools(request, ToolOffer(actor.permissions, actor.access, choice), call)
            case "initialize" if not call.is_modern:
                return call.answer(self._build_initialize_result(call))
            case "ping" if not call.is_modern:
                return call.answer({})
            case "server/discover" if call.is_modern:
                return call.answer(self._build_discovery_result())
        return call.refuse(protocol.METHOD_NOT_FOUND, f"There is no method {call.method[:100]!r} here.")

    def _list_tools(self, request: Request, offer: ToolOffer, call: Call) -> Response:
        if call.params.get("cursor") is not None:
            return call.refuse(protocol.INVALID_PARAMS, "The cursor is unknown: the list has only one page.")
        body = _encode_tool_list(self, offer, call.id, is_modern=call.is_modern)
        return Response(200, body, quiet=True, gzipped_body=_compress_once(body) if request.accepts_gzip else None)

    def build_tool_list(self, offer: ToolOffer, *, is_modern: bool) -> dict[str, Any]:
        """Return the result of `tools/list` for an offer."""
        result: dict[str, Any] = {"tools": self.tools.list_tools(offer)}
        if is_modern:
            result |= {**self._build_modern_fields(), "ttlMs": 0, "cacheScope": "private"}
        return result

    async def _call_tool(self, request: Request, actor: Actor, call: Call, choice: ToolChoice) -> Response:
        name, arguments = call.params.get("name"), call.params.get("arguments", {})
        if not isinstance(name, str):
            return call.refuse(protocol.INVALID_PARAMS, "name is required: the name of a tool; tools/list shows them.")
        operation = self.tools.find_operation(name)
        if operation is None:
            return call.refuse(protocol.INVALID_PARAMS, "There is no tool with that name; tools/list shows them.")
        if not operation.is_in(choice):
            return call.refuse(protocol.INVALID_PARAMS, _describe_missing_toolset(operation, actor))
        if not isinstance(arguments, dict):
            return call.refuse(protocol.INVALID_PARAMS, "arguments is not an object.")
        tool_call = ToolCall(call, operation, actor, arguments)
        try:
            result = await self._perform_tool(request, tool_call, self.elicitation.read_question(tool_call))
        except InvalidState:
            text = "requestState is not of this call, or has expired. Send the call again without it."
            return call.refuse(protocol.INVALID_PARAMS, text)
        except Unauthenticated:
            raise
        except Refusal as refusal:
            result = self.tools.build_refusal(operation, refusal, actor).to_wire()
        modern_fields = self._build_modern_fields(is_question="inputRequests" in result) if call.is_modern else {}
        return call.answer(result | modern_fields, logged=operation.changes or result["isError"])

    async def _perform_tool(
        self, request: Request, tool_call: ToolCall, question: AnsweredQuestion | None
    ) -> dict[str, Any]:
        """Perform a tool and return its result, or a question if the person has to confirm it first."""
        operation, actor, arguments = tool_call.operation, tool_call.actor, dict(tool_call.arguments)
        runner, performer = self.auth.runner, self.auth.performer
        details = _take_request_details(request, tool_call, arguments)
        asks, notice = tool_call.is_asked and not details.dry_run, ""
        if asks:
            details = details._replace(asks_person=True)
        match question:
            case AnsweredQuestion(question_id, preview_token, "accept"):
                details = details._replace(question_id=question_id, preview_token=preview_token, asks_person=False)
                arguments |= {"confirmed": True} if operation.is_irreversible else {}
            case AnsweredQuestion(question_id, _, "decline"):
                await runner.run_change(actor.organisation, performer.decline, actor, request.id, question_id)
                return DECLINED.to_wire()
            case AnsweredQuestion(_, _, "cancel"):
                asks, details = False, details._replace(dry_run=True)
        try:
            answer = await runner.perform(performer, operation, actor, encode_json(arguments), details)
        except PreviewDiffers as refusal:
            if not asks:
                raise
            answer, notice = refusal.preview, f"{refusal.text}\n"
        if asks and answer.is_preview and not (preview := orjson.loads(answer.body))["blockers"]:
            message = f"{notice}{describe_preview(preview)}"
            return self.elicitation.build_question(tool_call, message, preview["previewToken"])
        return self.tools.build_result(operation, answer, actor).to_wire()

    def _build_initialize_result(self, call: Call) -> dict[str, Any]:
        requested = call.params.get("protocolVersion")
        return {
            "protocolVersion": requested if requested in protocol.LEGACY_VERSIONS else protocol.LEGACY_VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": self.server_info,
            "instructions": INSTRUCTIONS,
        }

    def _build_discovery_result(self) -> dict[str, Any]:
        return {
            "supportedVersions": protocol.SUPPORTED_VERSIONS,
            "capabilities": {"tools": {}},
            "instructions": INSTRUCTIONS,
            "ttlMs": DISCOVERY_MS,
            "cacheScope": "public",
            **self._build_modern_fields(),
        }

    def _build_modern_fields(self, *, is_question: bool = False) -> dict[str, Any]:
        """Return the fields that every result of the modern protocol carries."""
        return {
            "resultType": "input_required" if is_question else "complete",
            "_meta": {protocol.SERVER_INFO_KEY: self.server_info},
        }


# Clients count their calls from 0 or 1, and few sets of permissions are in use: nearly all of these large answers are
# the same. Compressing one takes ten times as long as everything else that a call takes.
@lru_cache(16)
def _encode_tool_list(door: McpDoor, offer: ToolOffer, id_: protocol.CallId, *, is_modern: bool) -> bytes:
    return protocol.encode_answer(id_, door.build_tool_list(offer, is_modern=is_modern))


@lru_cache(16)
def _compress_once(body: bytes) -> bytes:
    return compress(body, "application/json", reused=True)


def _take_request_details(request: Request, tool_call: ToolCall, arguments: dict[str, Any]) -> RequestDetails:
    """Take out of the arguments what every change or list takes, so that only the operation's input is left."""
    agent_format = take_agent_format(tool_call.operation, tool_call.actor, arguments)
    details = RequestDetails(request.id, agent_format=agent_format)
    if not tool_call.operation.changes:
        return details
    if DRY_RUN in arguments:
        dry_run = arguments.pop(DRY_RUN)
        if not isinstance(dry_run, bool):
            raise Invalid([Fault(DRY_RUN, Message(NOT_A_BOOLEAN))])
        details = details._replace(dry_run=dry_run)
    if IDEMPOTENCY_KEY in arguments:
        key = arguments.pop(IDEMPOTENCY_KEY)
        if not isinstance(key, str) or not is_idempotency_key(key):
            raise Invalid([Fault(IDEMPOTENCY_KEY, INVALID_KEY)])
        details = details._replace(idempotency_key=key, idempotency_field=IDEMPOTENCY_KEY)
    return details


def _internal_error_response(problem: Exception, request: Request, id_: protocol.CallId = None) -> Response:
    log_fault(problem, request)
    return rpc_error_response(500, protocol.INTERNAL_ERROR, f"{SERVER_ERROR} ({request.id})", id_)


def _check_headers(request: Request, actor: Actor) -> None:
    """Refuse a request whose headers are wrong, before its body is read."""
    organisation = request.headers.get("x-organisation-id")
    if organisation is not None and organisation != actor.organisation:
        text = "This token belongs to another organisation than X-Organisation-Id says. Nothing was done."
        raise NotACall(rpc_error_response(403, protocol.OTHER_ORGANISATION, text))
    if not is_json(request.headers.get("content-type", "")):
        raise HttpError(415, "Send the header Content-Type: application/json.")
    if not _accepts_json(request.headers.get("accept")):
        raise HttpError(406, "Responses are application/json; the Accept header does not allow that.")


def _read_choice(request: Request, actor: Actor) -> ToolChoice:
    """Return the toolsets that the header of a request asks for, without those that its credential does not have."""
    try:
        return _choose_named(request.headers.get(TOOLSETS_HEADER, ""), actor.toolsets)
    except ValueError as error:
        names = [toolset.value for toolset in Toolset]
        text = f"There is no toolset {str(error)[:100]!r}. X-MCP-Toolsets takes some of: {', '.join(names)}."
        raise NotACall(rpc_error_response(400, protocol.INVALID_PARAMS, text, toolsets=names)) from None


@lru_cache(256)
def _choose_named(names: str, allowed: frozenset[Toolset] | None) -> ToolChoice:
    return choose_toolsets(parse_toolsets(names) if names.strip() else None, allowed)


def _describe_missing_toolset(operation: Operation, actor: Actor) -> str:
    """Return how to get a tool that is not among the chosen ones."""
    needed = {toolset for toolset in (operation.area, operation.extra_toolset) if toolset}
    missing = [] if actor.toolsets is None else sorted(needed - actor.toolsets)
    if missing:
        return f"This connection does not include {operation.name}: it is limited to areas without {missing[0]}."
    name = operation.extra_toolset or operation.area
    return f"{operation.name} is not among the chosen tools. The header X-MCP-Toolsets: {name} offers it."


@lru_cache(1024)
def _accepts_json(accept: str | None) -> bool:
    """Return whether an Accept header allows JSON, by its most precise entry; a missing or empty one does."""
    choices = (accept or "").strip(" ,").lower()
    if not choices:
        return True
    allowed = {}
    for choice in choices.split(","):
        kind, *parameters = (part.strip() for part in choice.split(";"))
        allowed[kind] = not any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters)
    return next((allowed[kind] for kind in ("application/json", "application/*", "*/*") if kind in allowed), False)

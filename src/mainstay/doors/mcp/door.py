"""The tool server: one JSON-RPC call in, one JSON body out; no sessions, no streams."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mainstay.doors.cors import ANYONE, preflight
from mainstay.doors.entrance import Entrance, OverLimit
from mainstay.doors.http import OUR_FAULT, Interrupted, Request, Response, log_fault
from mainstay.doors.json import encode, is_json
from mainstay.doors.known import naming_known
from mainstay.doors.mcp import protocol
from mainstay.doors.mcp.described import IDEMPOTENCY_KEY
from mainstay.doors.mcp.instructions import INSTRUCTIONS
from mainstay.doors.mcp.protocol import Call, NoCall, fault, read_call
from mainstay.doors.mcp.tools import ToolResult, Tools
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.ledger.replay import NO_REPLAY_KEY, is_replay_key
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import Fault, Invalid, Refusal, Unauthenticated

BODY_LIMIT = 1_048_576
# How long a client may keep what says nothing about the one who asks.
DISCOVERY_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class McpDoor:
    """Translates between the Model Context Protocol and operations."""

    entrance: Entrance
    tools: Tools
    server_info: dict[str, str]
    # The value of WWW-Authenticate, which leads a client to the sign-in.
    challenge: str
    # The number of this route for the meters.
    number: int

    async def __call__(self, request: Request) -> Response:
        """Answer a request to `/mcp`."""
        if request.method == "OPTIONS":
            return preflight(request, "POST")
        try:
            response = await self._answer(request)
        except Exception as problem:
            response = _our_fault(problem, request)
        response.headers = (*response.headers, *ANYONE)
        response.route = self.number
        return response

    async def _answer(self, request: Request) -> Response:
        if request.method != "POST":
            return fault(405, protocol.HTTP_FAULT, "Only POST is answered here.", headers=(("allow", "POST"),))
        try:
            actor, verdict = await self.entrance.enter(request, Door.AGENT)
            if not verdict.accepted:
                return fault(429, protocol.TOO_MANY, OverLimit().text, headers=(("retry-after", "60"),))
            _check_headers(request, actor)
            call = read_call(request.headers, await request.body(BODY_LIMIT))
            return await self._served(request, actor, call)
        except Unauthenticated as refusal:
            headers = (("www-authenticate", self.challenge),)
            return fault(401, protocol.UNAUTHENTICATED, refusal.text, headers=headers)
        except Interrupted as interrupted:
            return fault(interrupted.status, protocol.HTTP_FAULT, interrupted.text)
        except NoCall as no_call:
            return no_call.response

    async def _served(self, request: Request, actor: Actor, call: Call) -> Response:
        """The answer to a call, by its id whatever becomes of it."""
        try:
            return await self._dispatch(request, actor, call)
        except (Unauthenticated, Interrupted):
            raise
        except Exception as problem:
            return _our_fault(problem, request, call.id)

    async def _dispatch(self, request: Request, actor: Actor, call: Call) -> Response:
        match call.method:
            case "tools/call":
                return await self._call_tool(request, actor, call)
            case "tools/list":
                return self._list_tools(actor, call)
            case "initialize" if not call.modern:
                return call.result(self._initialized(call))
            case "ping" if not call.modern:
                return call.result({})
            case "server/discover" if call.modern:
                return call.result(self._discovered())
        return call.refuse(protocol.METHOD_NOT_FOUND, f"There is no method {call.method[:100]!r} here.")

    def _list_tools(self, actor: Actor, call: Call) -> Response:
        if call.params.get("cursor") is not None:
            return call.refuse(protocol.INVALID_PARAMS, "There is no such cursor: the list has one page.")
        listed: dict[str, Any] = {"tools": self.tools.offer(actor)}
        if call.modern:
            listed |= {**self._modern(), "ttlMs": 0, "cacheScope": "private"}
        return call.result(listed)

    async def _call_tool(self, request: Request, actor: Actor, call: Call) -> Response:
        name, arguments = call.params.get("name"), call.params.get("arguments", {})
        if not isinstance(name, str):
            return call.refuse(protocol.INVALID_PARAMS, "name is required: the name of a tool; tools/list shows them.")
        operation = self.tools.find(name)
        if operation is None:
            return call.refuse(protocol.INVALID_PARAMS, "There is no tool of that name; tools/list shows them.")
        if not isinstance(arguments, dict):
            return call.refuse(protocol.INVALID_PARAMS, "arguments is not an object.")
        stage = self.entrance.stage
        try:
            envelope = _take_envelope(request, operation, arguments)
            answer = await self.entrance.runner.perform(stage, operation, actor, encode(arguments), envelope)
            result = self.tools.answered(operation, answer, actor)
        except Unauthenticated:
            raise
        except Invalid as invalid:
            text = naming_known(invalid.faults, operation.input).text
            result = ToolResult((text + self.tools.way_out(operation, invalid, actor),), None, is_error=True)
        except Refusal as refusal:
            result = ToolResult((refusal.text + self.tools.way_out(operation, refusal, actor),), None, is_error=True)
        told = result.wire() | (self._modern() if call.modern else {})
        return call.result(told, logged=operation.changes or result.is_error)

    def _initialized(self, call: Call) -> dict[str, Any]:
        asked = call.params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in protocol.LEGACY else protocol.LEGACY[0],
            "capabilities": {"tools": {}},
            "serverInfo": self.server_info,
            "instructions": INSTRUCTIONS,
        }

    def _discovered(self) -> dict[str, Any]:
        return {
            "supportedVersions": protocol.SUPPORTED,
            "capabilities": {"tools": {}},
            "instructions": INSTRUCTIONS,
            "ttlMs": DISCOVERY_MS,
            "cacheScope": "public",
            **self._modern(),
        }

    def _modern(self) -> dict[str, Any]:
        """What every result of the modern era carries."""
        return {"resultType": "complete", "_meta": {protocol.SERVER_INFO: self.server_info}}


def _take_envelope(request: Request, operation: Operation, arguments: dict[str, Any]) -> Envelope:
    """Take what is about the call out of the arguments, and leave what the operation is given."""
    if not operation.changes or IDEMPOTENCY_KEY not in arguments:
        return Envelope(request.id)
    key = arguments.pop(IDEMPOTENCY_KEY)
    if not isinstance(key, str) or not is_replay_key(key):
        raise Invalid([Fault(IDEMPOTENCY_KEY, NO_REPLAY_KEY)])
    return Envelope(request.id, replay_key=key, replay_field=IDEMPOTENCY_KEY)


def _our_fault(problem: Exception, request: Request, id_: protocol.Id = None) -> Response:
    log_fault(problem, request)
    return fault(500, protocol.INTERNAL, f"{OUR_FAULT} ({request.id})", id_)


def _check_headers(request: Request, actor: Actor) -> None:
    """What can be decided before the body is read."""
    named = request.headers.get("x-organisation-id")
    if named is not None and named != actor.organisation:
        text = "This token belongs to another organisation than X-Organisation-Id says. Nothing was done."
        raise NoCall(fault(403, protocol.OTHER_ORGANISATION, text))
    if not is_json(request.headers.get("content-type", "")):
        raise Interrupted(415, "Send the header Content-Type: application/json.")
    if not _accepts_json(request.headers.get("accept")):
        raise Interrupted(406, "Answers are application/json; the Accept header does not allow that.")


@lru_cache(1024)
def _accepts_json(accept: str | None) -> bool:
    """Whether an Accept header allows JSON; one that is missing or empty does, and what is most precise counts."""
    choices = (accept or "").strip(" ,").lower()
    if not choices:
        return True
    allowed = {}
    for choice in choices.split(","):
        kind, *parameters = (part.strip() for part in choice.split(";"))
        allowed[kind] = not any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters)
    return next((allowed[kind] for kind in ("application/json", "application/*", "*/*") if kind in allowed), False)

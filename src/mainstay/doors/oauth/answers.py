"""Errors in the language of OAuth (RFC 6749 §5.2)."""

from collections.abc import Awaitable, Callable

import orjson

from mainstay.doors.cors import ANYONE, preflight
from mainstay.doors.http import OUR_FAULT, Headers, Interrupted, Request, Response, log_fault


class OAuthError(Exception):
    """A refusal with one of OAuth's own codes."""

    def __init__(self, code: str, text: str, status: int = 400, headers: Headers = ()) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.status = status
        self.headers = headers

    def response(self) -> Response:
        """As a program is told."""
        body = orjson.dumps({"error": self.code, "error_description": self.text})
        return Response(self.status, body, (*self.headers, *ANYONE))


async def answer_program(request: Request, serve: Callable[[Request], Awaitable[Response]], code: str) -> Response:
    """What a program endpoint answers: to a browser that asks first, to a request, and to one that it cannot serve.

    The code is for what is wrong with a request that could not even be read.
    """
    if request.method == "OPTIONS":
        return preflight(request, "POST")
    try:
        return await serve(request)
    except OAuthError as problem:
        return problem.response()
    except Interrupted as interrupted:
        return OAuthError(code, interrupted.text, interrupted.status, interrupted.headers).response()
    except Exception as fault:
        log_fault(fault, request)
        return OAuthError("server_error", OUR_FAULT, 500).response()

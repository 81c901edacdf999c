"""Errors in the form of OAuth (RFC 6749 §5.2)."""

from collections.abc import Awaitable, Callable

import orjson

from mainstay.doors.cors import ANY_ORIGIN, answer_preflight
from mainstay.doors.http import SERVER_ERROR, Headers, HttpError, Request, Response, log_fault
from mainstay.values.message import Message


class OAuthError(Exception):
    """A refusal with an error code of OAuth."""

    def __init__(self, code: str, message: Message | str, status: int = 400, headers: Headers = ()) -> None:
        super().__init__(message)
        self.code = code
        # A visitor reads it too, if there is no safe way back to the app.
        self.message = message
        self.text = str(message)
        self.status = status
        self.headers = headers

    def to_response(self) -> Response:
        """Return the error as the answer to a program."""
        body = orjson.dumps({"error": self.code, "error_description": self.text})
        return Response(self.status, body, (*self.headers, *ANY_ORIGIN))


async def answer_program(request: Request, serve: Callable[[Request], Awaitable[Response]], code: str) -> Response:
    """Answer a request to an endpoint for programs; answer preflight requests, and turn every exception into an error.

    `code` is the OAuth error for a request that could not be read.
    """
    if request.method == "OPTIONS":
        return answer_preflight(request, "POST")
    try:
        return await serve(request)
    except OAuthError as problem:
        return problem.to_response()
    except HttpError as http_error:
        return OAuthError(code, http_error.text, http_error.status, http_error.headers).to_response()
    except Exception as error:
        log_fault(error, request)
        return OAuthError("server_error", str(SERVER_ERROR), 500).to_response()

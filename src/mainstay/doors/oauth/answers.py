"""Errors in the language of OAuth (RFC 6749 §5.2)."""

import orjson

from mainstay.doors.cors import ANYONE
from mainstay.doors.http import Headers, Response


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

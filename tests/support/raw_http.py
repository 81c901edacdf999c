"""Raw HTTP: the shape of every refusal, and requests that a real client would not send."""

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any

import httpx2
import orjson

from support.servers import ServerProcess

ORGANISATION = "/api/v1/organisation"
PEOPLE = "/api/v1/people"
JSON = {"Content-Type": "application/json"}
NEW_PERSON = {"name": "Nora New", "email": "nora@new.example", "role": "member"}


def check_refusal(answer: httpx2.Response, status: int) -> str:
    """Check the status and shape of a refusal, and return its sentence."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    return read_error(answer.content)


def remove_known_names(text: str) -> str:
    """Remove the list of known names from a refusal."""
    return re.sub(r" \(known: [^)]*\)", "", text)


def read_error(body: bytes) -> str:
    """Return the sentence of a refusal."""
    error_body = orjson.loads(body)
    assert list(error_body) == ["error"]
    assert isinstance(error_body["error"], str)
    assert error_body["error"]
    return str(error_body["error"])


@dataclass(frozen=True)
class RawResponse:
    """An answer as it came over the connection."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return orjson.loads(self.body)


def format_head(method: str, path: str, key: str | None = None, **headers: str) -> bytes:
    """Format the head of a request; `_` in a header's name stands for `-`."""
    lines = [f"{method} {path} HTTP/1.1"]
    named = {"Host": "localhost"} | ({"Authorization": f"Bearer {key}"} if key else {}) | headers
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def to_chunks(body: bytes, size: int) -> bytes:
    """Encode a body in chunks."""
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def send_raw(server: ServerProcess, *pieces: bytes) -> RawResponse:
    """Send bytes on a new connection, and receive the first answer. The connection is left open until then."""
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as connection:
        for piece in pieces:
            connection.sendall(piece)
        return receive_response(connection)


def receive_response(connection: socket.socket) -> RawResponse:
    """Receive the next answer on a connection."""
    response = HTTPResponse(connection)
    response.begin()
    return RawResponse(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())

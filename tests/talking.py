"""Speaking HTTP: what every refusal looks like, and requests put together by hand where a client would mend them."""

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any

import httpx2
import orjson

from running import ServerProcess

ORGANISATION = "/api/v1/organisation"
PEOPLE = "/api/v1/people"
JSON = {"Content-Type": "application/json"}
NEWCOMER = {"name": "Nora New", "email": "nora@new.example", "role": "member"}


def refused(answer: httpx2.Response, status: int) -> str:
    """The sentence of a refusal, once it has this status and the one shape there is."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    return sentence(answer.content)


def without_known(text: str) -> str:
    """What a refusal says, but for the names that are known where one is not."""
    return re.sub(r" \(known: [^)]*\)", "", text)


def sentence(body: bytes) -> str:
    """What a refusal says."""
    told = orjson.loads(body)
    assert list(told) == ["error"]
    assert isinstance(told["error"], str)
    assert told["error"]
    return str(told["error"])


@dataclass(frozen=True)
class Heard:
    """An answer as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return orjson.loads(self.body)


def head(method: str, path: str, key: str | None = None, **headers: str) -> bytes:
    """The head of a request, exactly as written; `_` in a header's name stands for `-`."""
    lines = [f"{method} {path} HTTP/1.1"]
    named = {"Host": "localhost"} | ({"Authorization": f"Bearer {key}"} if key else {}) | headers
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunked(body: bytes, size: int) -> bytes:
    """A body in chunks, whose length nobody is told beforehand."""
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def speak(server: ServerProcess, *pieces: bytes) -> Heard:
    """Send bytes on a connection of their own, and hear the first answer. The connection is left open until then."""
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        for piece in pieces:
            line.sendall(piece)
        return hear(line)


def hear(line: socket.socket) -> Heard:
    """The next answer on a connection."""
    response = HTTPResponse(line)
    response.begin()
    return Heard(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())

"""What is refused before its body was read is heard by whoever is still sending the body."""

import socket

import pytest

from cast import Cast
from mainstay.doors.http import READ_AWAY_BYTES
from running import RunningServer
from talking import ORGANISATION, PEOPLE, Heard, chunked, head, hear

BODY = b"x" * 16_384
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def _sent_later(server: RunningServer, start: bytes, body: bytes) -> Heard:
    """The answer to a request whose body comes after others were served."""
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(start)
        for _ in range(5):
            assert server.request("GET", "/healthz").status_code == 200
        half = len(body) // 2
        line.sendall(body[:half])
        line.sendall(body[half:])
        return hear(line)


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (PEOPLE, {"Content_Type": JSON}, 401),
        ("/mcp", {"Content_Type": JSON}, 401),
        ("/oauth/token", {"Content_Type": JSON}, 400),
        ("/nowhere", {"Content_Type": FORM}, 404),
        ("/sign-in", {"Content_Type": FORM, "Host": "elsewhere.example"}, 421),
        ("/.well-known/nothing", {"Content_Type": JSON}, 404),
    ],
)
def test_every_door_is_heard(server: RunningServer, path: str, headers: dict[str, str], status: int) -> None:
    start = head("POST", path, Content_Length=str(len(BODY)), **headers)
    assert _sent_later(server, start, BODY).status == status

    start = head("POST", path, Transfer_Encoding="chunked", **headers)
    assert _sent_later(server, start, chunked(BODY, 4096)).status == status


def test_a_body_that_is_too_large_is_told_so(server: RunningServer, cast: Cast) -> None:
    body = b"x" * (READ_AWAY_BYTES // 2)
    start = head("POST", PEOPLE, cast.key(), Content_Type=JSON, Content_Length=str(len(body)))

    assert _sent_later(server, start, body).status == 413


def test_the_connection_serves_on(server: RunningServer, cast: Cast) -> None:
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(head("POST", PEOPLE, Content_Type=JSON, Content_Length=str(len(BODY))) + BODY)
        assert hear(line).status == 401
        line.sendall(head("GET", ORGANISATION, cast.key()))
        assert hear(line).status == 200


def test_a_body_that_never_comes_is_not_waited_for_long(server: RunningServer) -> None:
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(head("POST", PEOPLE, Content_Type=JSON, Content_Length=str(len(BODY))))
        assert hear(line).status == 401


def test_who_asks_before_sending_is_answered_at_once(server: RunningServer) -> None:
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(
            head("POST", PEOPLE, Content_Type=JSON, Content_Length=str(len(BODY)), Expect="100-continue"),
        )
        assert hear(line).status == 401

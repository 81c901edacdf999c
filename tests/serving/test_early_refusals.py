"""A refusal before the body was read reaches a client that is still sending the body."""

import socket

import pytest

from mainstay.doors.http import DRAIN_BYTES
from support.cast import Cast
from support.raw_http import ORGANISATION, PEOPLE, RawResponse, format_head, receive_response, to_chunks
from support.servers import RunningServer

BODY = b"x" * 16_384
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def _send_late(server: RunningServer, start: bytes, body: bytes) -> RawResponse:
    """The answer to a request whose body comes after others were served."""
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(start)
        for _ in range(5):
            assert server.request("GET", "/healthz").status_code == 200
        half = len(body) // 2
        line.sendall(body[:half])
        line.sendall(body[half:])
        return receive_response(line)


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
    start = format_head("POST", path, Content_Length=str(len(BODY)), **headers)
    assert _send_late(server, start, BODY).status == status

    start = format_head("POST", path, Transfer_Encoding="chunked", **headers)
    assert _send_late(server, start, to_chunks(BODY, 4096)).status == status


def test_a_body_that_is_too_large_is_told_so(server: RunningServer, cast: Cast) -> None:
    body = b"x" * (DRAIN_BYTES // 2)
    start = format_head("POST", PEOPLE, cast.make_key(), Content_Type=JSON, Content_Length=str(len(body)))

    assert _send_late(server, start, body).status == 413


def test_the_connection_serves_on(server: RunningServer, cast: Cast) -> None:
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(format_head("POST", PEOPLE, Content_Type=JSON, Content_Length=str(len(BODY))) + BODY)
        assert receive_response(line).status == 401
        line.sendall(format_head("GET", ORGANISATION, cast.make_key()))
        assert receive_response(line).status == 200


def test_a_body_that_never_comes_is_not_waited_for_long(server: RunningServer) -> None:
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(format_head("POST", PEOPLE, Content_Type=JSON, Content_Length=str(len(BODY))))
        assert receive_response(line).status == 401


def test_who_asks_before_sending_is_answered_at_once(server: RunningServer) -> None:
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(
            format_head("POST", PEOPLE, Content_Type=JSON, Content_Length=str(len(BODY)), Expect="100-continue"),
        )
        assert receive_response(line).status == 401

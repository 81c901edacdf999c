"""A header that comes in several lines counts as one list: nobody hides a second value behind a first."""

import orjson
import pytest

from support.cast import Cast
from support.mcp_client import make_legacy_call, make_modern_call, make_modern_headers
from support.raw_http import JSON, ORGANISATION, PEOPLE, RawResponse, format_head, send_raw
from support.servers import ServerProcess

CALL = make_legacy_call("tools/call", {"name": "get_me", "arguments": {}})


def send_lines(
    server: ServerProcess, method: str, path: str, *lines: tuple[str, str], body: object = None
) -> RawResponse:
    """A request with these lines, in this order."""
    sent = orjson.dumps(body) if body is not None else b""
    opening = format_head(method, path, Content_Length=str(len(sent))).removesuffix(b"\r\n")
    return send_raw(
        server, opening + b"".join(f"{name}: {value}\r\n".encode() for name, value in lines) + b"\r\n" + sent
    )


def bearer_header(cast: Cast) -> tuple[str, str]:
    return ("Authorization", f"Bearer {cast.make_key()}")


def test_another_organisation_behind_ones_own_is_refused(server: ServerProcess, cast: Cast, other_cast: Cast) -> None:
    named = [("X-Organisation-Id", cast.organisation), ("X-Organisation-Id", other_cast.organisation)]
    for lines in (named, named[::-1]):
        assert send_lines(server, "GET", ORGANISATION, bearer_header(cast), *lines).status == 404
        refused = send_lines(server, "POST", "/mcp", bearer_header(cast), *JSON.items(), *lines, body=CALL)
        assert (refused.status, refused.json()["error"]["code"]) == (403, -32010)


def test_two_credentials_are_none(server: ServerProcess, cast: Cast) -> None:
    assert send_lines(server, "GET", ORGANISATION, bearer_header(cast), ("Authorization", "Bearer x")).status == 401


def test_two_hosts_are_not_ours_and_two_origins_not_welcome(server: ServerProcess, cast: Cast) -> None:
    assert send_lines(server, "GET", ORGANISATION, bearer_header(cast), ("Host", "elsewhere.example")).status in {
        400,
        421,
    }
    origins = ("Origin", "http://localhost"), ("Origin", "https://elsewhere.example")
    assert send_lines(server, "GET", ORGANISATION, bearer_header(cast), *origins).status == 403


def test_what_is_a_list_may_come_in_lines(server: ServerProcess, cast: Cast) -> None:
    for kinds in (("text/event-stream", "application/json"), ("application/json", "text/event-stream")):
        accepted = (("Accept", kind) for kind in kinds)
        assert (
            send_lines(server, "POST", "/mcp", bearer_header(cast), *JSON.items(), *accepted, body=CALL).status == 200
        )
    path = f"{PEOPLE}/{next(iter(cast.people.values()))}"
    versions = ("If-Match", '"999"'), ("If-Match", '"1"')
    assert send_lines(server, "PATCH", path, bearer_header(cast), *JSON.items(), *versions, body={}).status == 200


def test_a_body_of_two_kinds_is_not_json(server: ServerProcess, cast: Cast) -> None:
    kinds = (*JSON.items(), ("Content-Type", "text/plain"))
    assert send_lines(server, "PATCH", ORGANISATION, bearer_header(cast), *kinds, body={}).status == 415
    assert send_lines(server, "POST", "/mcp", bearer_header(cast), *kinds, body=CALL).status == 415


@pytest.mark.parametrize("name", ["Mcp-Method", "Mcp-Name"])
def test_a_second_routing_header_is_a_mismatch(server: ServerProcess, cast: Cast, name: str) -> None:
    call = make_modern_call("tools/call", {"name": "get_me", "arguments": {}})
    lines = [*JSON.items(), *make_modern_headers(call).items(), (name, "remove_person")]
    heard = send_lines(server, "POST", "/mcp", bearer_header(cast), *lines, body=call)
    assert (heard.status, heard.json()["error"]["code"]) == (400, -32020)


def test_a_length_said_twice_is_one_if_both_are_the_same(server: ServerProcess, cast: Cast) -> None:
    length = len(orjson.dumps(CALL))
    for again, status in ((length, 200), (length + 1, 400)):
        lines = (*JSON.items(), ("Content-Length", str(again)))
        assert send_lines(server, "POST", "/mcp", bearer_header(cast), *lines, body=CALL).status == status

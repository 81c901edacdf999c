"""The doors within the test's process answer as the real server does: most tests of doors stand on that."""

import re
from collections.abc import Callable, Iterator

import httpx2
import pytest

from support.cast import Cast
from support.in_process import InProcessServer, run_in_process
from support.raw_http import JSON, ORGANISATION, PEOPLE
from support.servers import RunningServer, ServerProcess

# What tells one answer, one server or one moment from another.
_CHANGING_HEADERS = {"connection", "x-request-id", "date", "ratelimit-remaining", "set-cookie", "server"}
_CSRF = re.compile(r'name="(csrf|once)" value="[^"]*"')


def body_in_pieces() -> Iterator[bytes]:
    yield b'{"name":'
    yield b'"Nora"}'


# Not packed: of what is different each time, the length would be too.
PLAIN = {"Accept": "text/html", "Accept-Encoding": "identity"}
REQUESTS: dict[str, Callable[[RunningServer, str], httpx2.Response]] = {
    "read": lambda server, key: server.request("GET", ORGANISATION, key),
    "head": lambda server, key: server.request("HEAD", ORGANISATION, key),
    "no key": lambda server, _: server.request("GET", ORGANISATION),
    "query": lambda server, key: server.request("GET", f"{PEOPLE}?limit=2&x=%C3%A4&limit=+", key),
    "encoded path": lambda server, key: server.request("GET", "/api/v1/org%61nisation", key),
    "encoded slash": lambda server, key: server.request("GET", f"{PEOPLE}/a%2Fb", key),
    "encoded nothing": lambda server, key: server.request("GET", f"{PEOPLE}/%00", key),
    "not UTF-8": lambda server, key: server.request("GET", f"{PEOPLE}/%FF%C3", key),
    "double slash": lambda server, key: server.request("GET", f"/{ORGANISATION}", key),
    "dots": lambda server, key: server.request("GET", "/api/v1/../v1/organisation", key),
    "no body": lambda server, key: server.request("PATCH", ORGANISATION, key, headers=JSON),
    "empty body": lambda server, key: server.request("PATCH", ORGANISATION, key, headers=JSON, content=b""),
    "wrong body": lambda server, key: server.request("PATCH", ORGANISATION, key, json={"name": 5}),
    "body in pieces": lambda server, key: server.request("POST", PEOPLE, key, headers=JSON, content=body_in_pieces()),
    "body that is large": lambda server, key: server.request("POST", PEOPLE, key, headers=JSON, content=b" " * 17_000),
    "body of a read": lambda server, key: server.request("GET", ORGANISATION, key, content=b"{}"),
    "wrong method": lambda server, key: server.request("DELETE", ORGANISATION, key),
    "unknown method": lambda server, key: server.request("BREW", ORGANISATION, key),
    "options": lambda server, key: server.request("OPTIONS", "/mcp", key, headers={"Origin": "http://localhost"}),
    "foreign host": lambda server, key: server.request("GET", ORGANISATION, key, headers={"Host": "elsewhere.example"}),
    "form": lambda server, _: server.request("POST", "/oauth/token", form={"grant_type": "ä&=+ "}),
    "page": lambda server, _: server.request("GET", "/sign-in", headers=PLAIN),
    "redirect": lambda server, _: server.request("GET", "/", headers={"Accept": "text/html"}),
    "nothing": lambda server, _: server.request("GET", "/nowhere"),
    "probe": lambda server, _: server.request("GET", "/healthz"),
}  # fmt: skip


@pytest.fixture(scope="module")
def inside(server: ServerProcess) -> Iterator[InProcessServer]:
    """The doors to the installation of the real server."""
    with run_in_process(server.settings) as inside:
        yield inside


@pytest.mark.parametrize("asked", REQUESTS)
def test_what_is_answered_within_the_process_is_what_the_server_answers(
    inside: InProcessServer, server: ServerProcess, cast: Cast, asked: str
) -> None:
    key = cast.make_key()
    here, there = (REQUESTS[asked](running, key) for running in (inside, server))
    assert (here.status_code, _lasting_headers(here)) == (there.status_code, _lasting_headers(there))
    assert _CSRF.sub("", here.text) == _CSRF.sub("", there.text)


def _lasting_headers(answer: httpx2.Response) -> list[tuple[str, str]]:
    return sorted((name, value) for name, value in answer.headers.multi_items() if name not in _CHANGING_HEADERS)


def test_a_line_that_comes_twice_and_one_that_is_not_ascii_are_seen_as_the_server_shows_them(
    inside: InProcessServer, server: ServerProcess, cast: Cast
) -> None:
    bearer = ("Authorization", f"Bearer {cast.make_key()}")
    attempts: list[list[tuple[str, str | bytes]]] = [
        [bearer, ("Authorization", "Bearer x")],
        [bearer, ("X-Organisation-Id", cast.organisation), ("X-Organisation-Id", "another")],
        [bearer, ("X-Organisation-Id", b"\xe9")],
        [("Authorization", b"Bearer \xe9")],
        [("AUTHORIZATION", bearer[1])],
    ]
    for lines in attempts:
        heads = [(name.encode(), value if isinstance(value, bytes) else value.encode()) for name, value in lines]
        answers = []
        for running in (inside, server):
            with running.client() as client:
                answers.append(client.get(running.url + ORGANISATION, headers=heads))
        here, there = answers
        assert (here.status_code, here.content) == (there.status_code, there.content)

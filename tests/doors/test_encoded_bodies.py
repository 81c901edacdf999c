"""A body with a Content-Encoding is refused at every door, before anyone reads its bytes as text."""

import gzip
from urllib.parse import urlencode

import orjson
import pytest

from apps import hidden
from cast import Cast
from mainstay.terms.rights import Role
from running import RunningServer
from talking import JSON, NEWCOMER, PEOPLE
from visiting import Visit, visit_as

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ENCODED = "Send the body as it is, without the header Content-Encoding: compressed bodies are not read."
CALL = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, GZIP", "aws-chunked"])
def test_the_http_api_refuses_an_encoded_body(server: RunningServer, cast: Cast, encoding: str) -> None:
    headers = {**JSON, "Content-Encoding": encoding}
    # Also where the bytes are JSON, in spite of what the header says.
    for content in (gzip.compress(orjson.dumps(NEWCOMER)), orjson.dumps(NEWCOMER)):
        answer = server.request("POST", PEOPLE, cast.key(), headers=headers, content=content)
        assert (answer.status_code, answer.json()) == (415, {"error": ENCODED})
        assert answer.headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("encoding", ["identity", "Identity", ""])
def test_a_body_that_is_as_it_is_may_say_so(server: RunningServer, cast: Cast, encoding: str) -> None:
    headers = {**JSON, "Content-Encoding": encoding}
    assert server.request("POST", PEOPLE, cast.key(), headers=headers, json=NEWCOMER).status_code == 201


def test_the_tool_server_refuses_an_encoded_body(server: RunningServer, cast: Cast) -> None:
    headers = {**JSON, "Content-Encoding": "gzip"}
    answer = server.request("POST", "/mcp", cast.key(), headers=headers, content=gzip.compress(orjson.dumps(CALL)))
    assert (answer.status_code, answer.json()["error"]["message"]) == (415, ENCODED)


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke", "/oauth/register"])
def test_oauth_refuses_an_encoded_body(server: RunningServer, path: str) -> None:
    headers = {**(JSON if path.endswith("register") else FORM), "Content-Encoding": "deflate"}
    answer = server.request("POST", path, headers=headers, content=b"grant_type=x")
    assert (answer.status_code, answer.json()["error_description"]) == (415, ENCODED)


def test_the_office_refuses_encoded_forms_and_uploads(server: RunningServer, cast: Cast) -> None:
    for visiting, path in ((Visit(server), "/sign-in"), (visit_as(server, cast, Role.OWNER), "/customers/new")):
        fields = {"csrf": hidden(visiting.get(path).text, "csrf"), "name": "Ann"}
        answer = visiting.send(path, urlencode(fields).encode(), Content_Encoding="gzip", **_named(FORM))
        assert (answer.status_code, ENCODED in answer.text) == (415, True)
    parts = {"Content_Type": "multipart/form-data; boundary=x", "Content_Encoding": "gzip"}
    answer = visit_as(server, cast, Role.OWNER).send("/settings/import", b"--x--", **parts)
    assert (answer.status_code, ENCODED in answer.text) == (415, True)


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in headers.items()}

"""A body with a Content-Encoding is refused at every door, before anyone reads its bytes as text."""

import gzip
from urllib.parse import urlencode

import orjson
import pytest

from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast
from support.cast import Cast
from support.oauth_app import hidden_value
from support.raw_http import JSON, NEW_PERSON, PEOPLE
from support.servers import RunningServer

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ENCODED_MESSAGE = "Send the body as it is, without the header Content-Encoding: compressed bodies are not read."
CALL = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, GZIP", "aws-chunked"])
def test_the_http_api_refuses_an_encoded_body(server: RunningServer, cast: Cast, encoding: str) -> None:
    headers = {**JSON, "Content-Encoding": encoding}
    # Also where the bytes are JSON, in spite of what the header says.
    for content in (gzip.compress(orjson.dumps(NEW_PERSON)), orjson.dumps(NEW_PERSON)):
        answer = server.request("POST", PEOPLE, cast.make_key(), headers=headers, content=content)
        assert (answer.status_code, answer.json()) == (415, {"error": ENCODED_MESSAGE})
        assert answer.headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("encoding", ["identity", "Identity", ""])
def test_a_body_that_is_as_it_is_may_say_so(server: RunningServer, cast: Cast, encoding: str) -> None:
    headers = {**JSON, "Content-Encoding": encoding}
    assert server.request("POST", PEOPLE, cast.make_key(), headers=headers, json=NEW_PERSON).status_code == 201


def test_the_tool_server_refuses_an_encoded_body(server: RunningServer, cast: Cast) -> None:
    headers = {**JSON, "Content-Encoding": "gzip"}
    answer = server.request("POST", "/mcp", cast.make_key(), headers=headers, content=gzip.compress(orjson.dumps(CALL)))
    assert (answer.status_code, answer.json()["error"]["message"]) == (415, ENCODED_MESSAGE)


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke", "/oauth/register"])
def test_oauth_refuses_an_encoded_body(server: RunningServer, path: str) -> None:
    headers = {**(JSON if path.endswith("register") else FORM), "Content-Encoding": "deflate"}
    answer = server.request("POST", path, headers=headers, content=b"grant_type=x")
    assert (answer.status_code, answer.json()["error_description"]) == (415, ENCODED_MESSAGE)


def test_the_office_refuses_encoded_forms_and_uploads(server: RunningServer, cast: Cast) -> None:
    for session, path in (
        (BrowserSession(server), "/sign-in"),
        (sign_in_cast(server, cast, Role.OWNER), "/customers/new"),
    ):
        fields = {"csrf": hidden_value(session.get(path).text, "csrf"), "name": "Ann"}
        answer = session.send_body(path, urlencode(fields).encode(), Content_Encoding="gzip", **_to_keywords(FORM))
        assert (answer.status_code, ENCODED_MESSAGE in answer.text) == (415, True)
    parts = {"Content_Type": "multipart/form-data; boundary=x", "Content_Encoding": "gzip"}
    answer = sign_in_cast(server, cast, Role.OWNER).send_body("/settings/import", b"--x--", **parts)
    assert (answer.status_code, ENCODED_MESSAGE in answer.text) == (415, True)


def _to_keywords(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in headers.items()}

"""A path in another spelling is the same path to every door: it needs the same credential and gets the same answer.

The server tells us only the path as it reads, so a spelling cannot be refused; and it must not get past anything.
"""

import httpx2
import pytest

from mainstay.vocabulary.permissions import Access
from support.cast import Cast
from support.raw_http import JSON, NEW_PERSON
from support.servers import ServerProcess

SPELLINGS = [
    ("/api/v1/me", "/api%2Fv1/me"),
    ("/api/v1/people", "/api%2fv1%2Fpeople"),
    ("/api/v1/people", "/%61pi/v1/people"),
    ("/mcp", "/%6Dcp"),
    ("/oauth/token", "/oauth%2Ftoken"),
    ("/settings/developer/keys", "/settings%2Fdeveloper%2Fkeys"),
]


def describe_answer(answer: httpx2.Response) -> tuple[int, str, str | None]:
    return answer.status_code, answer.text, answer.headers.get("WWW-Authenticate")


@pytest.mark.parametrize(("plain", "spelt"), SPELLINGS)
def test_another_spelling_of_a_path_opens_and_shuts_the_same(
    server: ServerProcess, cast: Cast, plain: str, spelt: str
) -> None:
    reader = cast.make_key(Access.READ)
    for method, key in (("GET", None), ("GET", "svc_sk_x"), ("GET", reader), ("DELETE", reader)):
        first, second = (server.request(method, path, key) for path in (plain, spelt))
        # Where a sign-in comes first, it leads back to where one wanted to go.
        assert describe_answer(first)[::2] == describe_answer(second)[::2]
        assert describe_answer(first) == describe_answer(second) or first.status_code == 303


def test_another_spelling_gets_past_no_right(server: ServerProcess, cast: Cast) -> None:
    reader = cast.make_key(Access.READ)
    refused = server.request("POST", "/api%2Fv1%2Fpeople", reader, json=NEW_PERSON, headers=JSON)
    assert refused.status_code == 403
    assert server.request("POST", "/api%2Fv1%2Fpeople", json=NEW_PERSON, headers=JSON).status_code == 401


def test_dots_lead_nowhere(server: ServerProcess) -> None:
    for path in ("/static%2F..%2Fsettings", "/api%2Fv1%2F..%2F..%2Fsettings", "/%2e%2e/mainstay.db"):
        assert server.request("GET", path).status_code in {401, 404}

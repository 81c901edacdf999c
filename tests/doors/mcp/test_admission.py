"""Who comes in at the tool server, and in which order it is decided."""

import orjson

from mainstay.business.people.roles import change_role, remove_person
from mainstay.identity.keys import list_keys, revoke_key
from mainstay.vocabulary.permissions import Access, Role
from support.cast import Cast
from support.mcp_client import call_tool, make_legacy_call, post_call
from support.servers import RunningServer


def test_without_a_valid_token_the_answer_leads_to_the_sign_in(server: RunningServer, cast: Cast) -> None:
    expected = f'Bearer resource_metadata="{server.url}/.well-known/oauth-protected-resource/mcp"'
    key = cast.make_key()
    for token in (None, "nonsense", key[:-1], key[:-1] + ("A" if key[-1] != "A" else "B"), "svc_at_" + key[7:]):
        answer = post_call(server, token, make_legacy_call("ping"))
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == expected
        assert answer.json()["error"]["code"] == -32009


def test_a_token_in_the_query_or_body_is_ignored(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    assert post_call(server, None, make_legacy_call("ping"), path=f"/mcp?access_token={key}").status_code == 401
    assert post_call(server, None, {**make_legacy_call("ping"), "access_token": key}).status_code == 401


def test_a_revoked_key_is_refused_on_its_next_request(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    assert post_call(server, key, make_legacy_call("ping")).status_code == 200
    cast.perform(revoke_key, keyId=cast.perform(list_keys)["data"][0]["id"])
    assert post_call(server, key, make_legacy_call("ping")).status_code == 401


def test_a_key_dies_when_its_maker_leaves_or_loses_the_role(server: RunningServer, cast: Cast) -> None:
    leaving, demoted = cast.make_key(role=Role.ADMIN), cast.make_key(role=Role.ADMIN)
    cast.perform(change_role, personId=cast.people[Role.ADMIN], role="office", confirmed=True)
    assert post_call(server, demoted, make_legacy_call("ping")).status_code == 401
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    assert post_call(server, leaving, make_legacy_call("ping")).status_code == 401


def test_another_organisations_id_is_refused_and_nothing_done(
    server: RunningServer, cast: Cast, other_cast: Cast
) -> None:
    key = cast.make_key()
    call = make_legacy_call("tools/call", {"name": "update_organisation", "arguments": {"name": "Changed"}})
    for named in (other_cast.organisation, "", "nonsense"):
        answer = post_call(server, key, call, {"X-Organisation-Id": named})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, -32010)
    assert call_tool(server, key, "get_organisation")["structuredContent"]["name"] != "Changed"
    assert post_call(server, key, make_legacy_call("ping"), {"X-Organisation-Id": cast.organisation}).status_code == 200


def test_what_is_not_json_is_refused(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    body = orjson.dumps(make_legacy_call("ping"))
    for kind in ("text/plain", "application/jsonx", ""):
        answer = server.request("POST", "/mcp", key, content=body, headers={"Content-Type": kind})
        assert answer.status_code == 415
    answer = server.request(
        "POST", "/mcp", key, content=body, headers={"Content-Type": "Application/JSON; charset=utf-8"}
    )
    assert answer.status_code == 200


def test_an_accept_header_that_excludes_json_is_not_acceptable(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    for accept, status in (
        ("text/event-stream", 406),
        ("text/html, application/json;q=0", 406),
        ("application/json, text/event-stream", 200),
        ("*/*", 200),
        ("application/*;q=0.5", 200),
        ("application/json;q=0, */*", 406),
        ("*/*;q=0, application/json", 200),
        ("", 200),
    ):
        assert post_call(server, key, make_legacy_call("ping"), {"Accept": accept}).status_code == status


def test_a_body_over_one_megabyte_is_too_large(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    fitting = make_legacy_call("ping", {"text": "x" * 1_048_400})
    assert len(orjson.dumps(fitting)) <= 1_048_576
    assert post_call(server, key, fitting).status_code == 200
    assert post_call(server, key, make_legacy_call("ping", {"text": "x" * 1_048_576})).status_code == 413


def test_the_order_of_checks(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    key = cast.make_key()
    other = {"X-Organisation-Id": other_cast.organisation}
    wrong_type, wrong_accept = {"Content-Type": "text/plain"}, {"Accept": "text/html"}
    huge = b"x" * 1_100_000

    def status(token: str | None, method: str = "POST", **headers: str) -> int:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return server.request(method, "/mcp", token, content=huge, headers=sent).status_code

    assert status(None, "PUT") == 405
    assert status(None, **other, **wrong_type) == 401
    assert status(key, **other, **wrong_type) == 403
    assert status(key, **wrong_type, **wrong_accept) == 415
    assert status(key, **wrong_accept, Content_Type="application/json") == 406
    assert status(key, Content_Type="application/json") == 413


def test_a_key_has_one_limit_for_both_doors(server: RunningServer, cast: Cast) -> None:
    key, another = cast.make_key(), cast.make_key(Access.READ)

    seen = []
    for _ in range(320):
        seen.append(server.request("GET", "/api/v1/organisation", key).status_code)
        seen.append(post_call(server, key, make_legacy_call("ping")).status_code)
    assert seen.count(200) == 600
    assert seen[600:] == [429] * 40
    limited = post_call(server, key, make_legacy_call("ping"))
    assert (limited.status_code, limited.headers["Retry-After"]) == (429, "60")
    assert limited.json()["error"]["code"] == -32011
    assert post_call(server, another, make_legacy_call("ping")).status_code == 200


def test_a_browser_of_any_loopback_page_may_call(server: RunningServer, cast: Cast) -> None:
    request_headers = {
        "Origin": "http://localhost:3000",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, mcp-protocol-version",
    }
    preflight = server.request("OPTIONS", "/mcp", headers=request_headers)
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert preflight.headers["Access-Control-Allow-Headers"] == "authorization, mcp-protocol-version"
    assert "Access-Control-Allow-Credentials" not in preflight.headers
    for token in (cast.make_key(), None):
        answer = post_call(server, token, make_legacy_call("ping"), {"Origin": "http://localhost:3000"})
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "WWW-Authenticate" in answer.headers["Access-Control-Expose-Headers"]
    assert (
        post_call(server, cast.make_key(), make_legacy_call("ping"), {"Origin": "https://evil.example"}).status_code
        == 403
    )

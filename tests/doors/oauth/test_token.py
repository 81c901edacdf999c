"""The token endpoint: codes, refresh tokens, clients that show who they are."""

from typing import Any

import httpx2
import pytest

from support.cast import Cast
from support.mcp_client import make_legacy_call, post_call
from support.oauth_app import CALLBACK, OAuthApp, make_pkce_pair, register_app, sign_in_cast_member
from support.servers import RunningServer

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

METHODS = ("none", "client_secret_post", "client_secret_basic")


def read_error(answer: httpx2.Response) -> tuple[int, Any]:
    assert answer.headers["Cache-Control"] == "no-store"
    assert set(answer.json()) == {"error", "error_description"}
    return answer.status_code, answer.json()["error"]


def is_token_accepted(server: RunningServer, token: str) -> bool:
    return post_call(server, token, make_legacy_call("ping")).status_code == 200


@pytest.mark.parametrize("method", METHODS)
def test_a_code_becomes_tokens_that_open_the_tool_server(server: RunningServer, cast: Cast, method: str) -> None:
    tokens = register_app(server, method).connect(sign_in_cast_member(server, cast), cast.organisation)
    assert tokens["access_token"].startswith("svc_at_")
    assert tokens["refresh_token"].startswith("svc_rt_")
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 3600, "mcp")
    assert is_token_accepted(server, tokens["access_token"])
    assert not is_token_accepted(server, tokens["refresh_token"])


def test_an_access_token_opens_no_other_door(server: RunningServer, cast: Cast) -> None:
    token = register_app(server).connect(sign_in_cast_member(server, cast), cast.organisation)["access_token"]
    assert server.request("GET", "/api/v1/organisation", token).status_code == 401


def test_a_refresh_gives_new_tokens_and_leaves_the_old_access_token_its_hour(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    first = app.connect(sign_in_cast_member(server, cast), cast.organisation)
    second = app.refresh_tokens(first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert is_token_accepted(server, second["access_token"])
    assert is_token_accepted(server, first["access_token"])


def test_an_access_token_is_no_refresh_token(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    tokens = app.connect(sign_in_cast_member(server, cast), cast.organisation)
    assert read_error(app.refresh_tokens(tokens["access_token"])) == (400, "invalid_grant")
    assert is_token_accepted(server, tokens["access_token"])
    assert app.refresh_tokens(tokens["refresh_token"]).status_code == 200


def test_a_second_use_of_a_refresh_token_ends_the_connection(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    first = app.connect(sign_in_cast_member(server, cast), cast.organisation)
    second = app.refresh_tokens(first["refresh_token"]).json()
    assert read_error(app.refresh_tokens(first["refresh_token"])) == (400, "invalid_grant")
    assert not is_token_accepted(server, second["access_token"])
    assert read_error(app.refresh_tokens(second["refresh_token"])) == (400, "invalid_grant")


def test_a_second_use_of_a_code_ends_the_connection(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    code = sign_in_cast_member(server, cast).approve(app.make_authorize_url(), cast.organisation)["code"]
    tokens = app.redeem_code(code).json()
    assert read_error(app.redeem_code(code)) == (400, "invalid_grant")
    assert not is_token_accepted(server, tokens["access_token"])


def test_a_thief_can_neither_burn_a_code_nor_end_the_connection(server: RunningServer, cast: Cast) -> None:
    app, thief = register_app(server), register_app(server)
    code = sign_in_cast_member(server, cast).approve(app.make_authorize_url(), cast.organisation)["code"]
    thief.verifier = app.verifier
    assert read_error(thief.redeem_code(code)) == (400, "invalid_grant")
    assert read_error(app.redeem_code(code, code_verifier=make_pkce_pair()[0])) == (400, "invalid_grant")
    assert read_error(app.redeem_code(code, redirect_uri="http://localhost:9999/other")) == (400, "invalid_grant")
    tokens = app.redeem_code(code).json()
    assert read_error(thief.redeem_code(code)) == (400, "invalid_grant")
    assert read_error(app.redeem_code(code, code_verifier=make_pkce_pair()[0])) == (400, "invalid_grant")
    assert read_error(thief.refresh_tokens(tokens["refresh_token"])) == (400, "invalid_grant")
    assert is_token_accepted(server, tokens["access_token"])
    assert app.refresh_tokens(tokens["refresh_token"]).status_code == 200


@pytest.mark.parametrize("verifier", ["x" * 42, "x" * 129, "x" * 42 + "!", "ä" * 43])
def test_a_verifier_of_the_wrong_form_proves_nothing(server: RunningServer, cast: Cast, verifier: str) -> None:
    app = register_app(server)
    code = sign_in_cast_member(server, cast).approve(app.make_authorize_url(), cast.organisation)["code"]
    assert read_error(app.redeem_code(code, code_verifier=verifier)) == (400, "invalid_grant")


def test_a_foreign_resource_is_refused_before_the_code_is_used(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    code = sign_in_cast_member(server, cast).approve(app.make_authorize_url(), cast.organisation)["code"]
    assert read_error(app.redeem_code(code, resource="https://other.example/mcp")) == (400, "invalid_target")
    tokens = app.redeem_code(code, resource=f"{server.url}/mcp").json()
    assert read_error(app.refresh_tokens(tokens["refresh_token"], resource="https://x.example")) == (
        400,
        "invalid_target",
    )
    assert app.refresh_tokens(tokens["refresh_token"]).status_code == 200


def test_requests_that_are_not_whole_are_invalid(server: RunningServer) -> None:
    app = register_app(server)
    assert read_error(app.request_tokens()) == (400, "invalid_request")
    assert read_error(app.request_tokens(grant_type="password")) == (400, "unsupported_grant_type")
    assert read_error(app.request_tokens(grant_type="authorization_code")) == (400, "invalid_request")
    assert read_error(app.request_tokens(grant_type="authorization_code", code="x")) == (400, "invalid_request")
    assert read_error(app.request_tokens(grant_type="refresh_token")) == (400, "invalid_request")
    assert read_error(app.refresh_tokens("x", scope="admin")) == (400, "invalid_scope")
    assert read_error(app.refresh_tokens("svc_rt_nonsense")) == (400, "invalid_grant")


def test_a_parameter_twice_is_invalid(server: RunningServer) -> None:
    body = f"grant_type=refresh_token&refresh_token=a&refresh_token=b&client_id={register_app(server).client_id}"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = server.request("POST", "/oauth/token", content=body.encode(), headers=headers)
    assert read_error(answer) == (400, "invalid_request")


def test_json_and_get_are_refused(server: RunningServer) -> None:
    answer = server.request("POST", "/oauth/token", json={"grant_type": "refresh_token"})
    assert read_error(answer) == (400, "invalid_request")
    for path in ("/oauth/token", "/oauth/revoke"):
        answer = server.request("GET", path)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_an_unknown_client_is_refused(server: RunningServer) -> None:
    app = OAuthApp(server, "client_nobody")
    assert read_error(app.refresh_tokens("x")) == (401, "invalid_client")
    basic = OAuthApp(server, "client_nobody", "secret", "client_secret_basic")
    answer = basic.refresh_tokens("x")
    assert read_error(answer) == (401, "invalid_client")
    assert answer.headers["WWW-Authenticate"].startswith("Basic")
    answer = server.request("POST", "/oauth/token", form={"grant_type": "refresh_token"})
    assert read_error(answer) == (401, "invalid_client")


@pytest.mark.parametrize("registered", METHODS)
@pytest.mark.parametrize("used", METHODS)
def test_a_client_must_show_itself_in_the_way_it_registered(server: RunningServer, registered: str, used: str) -> None:
    app = register_app(server, registered)
    app.auth_method, app.secret = used, app.secret or "some secret"
    status, error = read_error(app.refresh_tokens("svc_rt_nonsense"))
    assert (status, error) == ((400, "invalid_grant") if used == registered else (401, "invalid_client"))


def test_where_no_method_was_named_either_way_is_fine(server: RunningServer) -> None:
    answer = server.request(
        "POST", "/oauth/register", json={"redirect_uris": [CALLBACK]}, headers={"X-Forwarded-For": "203.0.113.9"}
    ).json()
    for method in ("client_secret_post", "client_secret_basic"):
        app = OAuthApp(server, answer["client_id"], answer["client_secret"], method)
        assert read_error(app.refresh_tokens("svc_rt_nonsense")) == (400, "invalid_grant")
        wrong = OAuthApp(server, answer["client_id"], "wrong", method)
        assert read_error(wrong.refresh_tokens("svc_rt_nonsense")) == (401, "invalid_client")


def test_a_secret_in_two_places_is_invalid(server: RunningServer) -> None:
    app = register_app(server, "client_secret_basic")
    assert app.secret
    assert read_error(app.refresh_tokens("x", client_secret=app.secret)) == (400, "invalid_request")


def test_a_client_that_did_not_register_for_refreshing_cannot(server: RunningServer) -> None:
    app = register_app(server, grant_types=["authorization_code"])
    assert read_error(app.refresh_tokens("x")) == (400, "unauthorized_client")


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_revoking_either_token_ends_the_connection(server: RunningServer, cast: Cast, which: str) -> None:
    app = register_app(server)
    tokens = app.connect(sign_in_cast_member(server, cast), cast.organisation)
    assert app.revoke_token(tokens[which], token_type_hint="nonsense").status_code == 200
    answer = post_call(server, tokens["access_token"], make_legacy_call("ping"))
    assert answer.status_code == 401
    assert "resource_metadata" in answer.headers["WWW-Authenticate"]
    assert read_error(app.refresh_tokens(tokens["refresh_token"])) == (400, "invalid_grant")


def test_revoking_an_unknown_or_foreign_token_is_no_news(server: RunningServer, cast: Cast) -> None:
    app, other = register_app(server), register_app(server)
    token = app.connect(sign_in_cast_member(server, cast), cast.organisation)["access_token"]
    assert other.revoke_token(token).status_code == 200
    assert app.revoke_token("nonsense").status_code == 200
    assert is_token_accepted(server, token)
    assert read_error(app._post("/oauth/revoke", {})) == (400, "invalid_request")


def test_browsers_of_other_origins_may_ask(server: RunningServer) -> None:
    for path in ("/oauth/token", "/oauth/register", "/oauth/revoke"):
        preflight = server.request("OPTIONS", path, headers={"Access-Control-Request-Headers": "authorization"})
        assert preflight.status_code == 204
        assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert register_app(server).refresh_tokens("x").headers["Access-Control-Allow-Origin"] == "*"

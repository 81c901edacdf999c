"""Dynamic client registration: RFC 7591."""

from typing import Any

import httpx2
import pytest

from mainstay.doors.oauth.redirect_uris import is_allowed_redirect
from support.oauth_app import CALLBACK, make_address_header
from support.servers import RunningServer


def send_registration(server: RunningServer, given: Any, headers: dict[str, str] | None = None) -> httpx2.Response:
    return server.request("POST", "/oauth/register", json=given, headers=headers or make_address_header())


@pytest.mark.parametrize("method", ["none", "client_secret_post", "client_secret_basic"])
def test_a_client_is_kept_and_echoed(server: RunningServer, method: str) -> None:
    given = {"client_name": "An app", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": method, "x": 1}
    answer = send_registration(server, given)
    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    kept = answer.json()
    assert kept["client_name"] == "An app"
    assert kept["redirect_uris"] == [CALLBACK]
    assert kept["token_endpoint_auth_method"] == method
    assert kept["grant_types"] == ["authorization_code", "refresh_token"]
    assert kept["scope"] == "mcp"
    assert isinstance(kept["client_id_issued_at"], int)
    assert "x" not in kept
    assert "method_was_named" not in kept
    if method == "none":
        assert "client_secret" not in kept
    else:
        assert kept["client_secret"]
        assert kept["client_secret_expires_at"] == 0


def test_a_client_that_names_no_method_is_confidential(server: RunningServer) -> None:
    kept = send_registration(server, {"redirect_uris": [CALLBACK]}).json()
    assert kept["token_endpoint_auth_method"] == "client_secret_basic"
    assert kept["client_secret"]
    assert kept["client_name"]


@pytest.mark.parametrize(
    "address",
    [
        "https://app.example/callback",
        "https://app.example:8443/cb?x=1",
        "http://localhost:1234/cb",
        "http://127.0.0.1/cb",
        "http://[::1]:9/cb",
        "cursor://anysphere.cursor-mcp/oauth",
        "com.example.app:/callback",
        "vscode://publisher.extension/callback",
        "vscode-insiders://publisher.extension/callback",
        "claude://oauth/callback",
        "windsurf://oauth",
        "msapp.example:/callback",
    ],
)
def test_these_addresses_may_be_answered(address: str) -> None:
    assert is_allowed_redirect(address)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "blob:https://x",
        "vbscript:x",
        "about:blank",
        "mailto:someone@app.example",
        "intent://scan",
        "ms-msdt:/id PCWDiagnostic".replace(" ", "%20"),
        "MS-Settings:about",
        "ms-word:ofe|u|https://x",
        "ms-appinstaller:?source=https://x",
        "search-ms:query=x&crumb=location:%5C%5Cx",
        "search:query=x",
        "shell:startup",
        "jnlp://x/app.jnlp",
        "jnlps://x/app.jnlp",
        "smb://host/share",
        "ldap://host/",
        "microsoft-edge:https://x",
        "vnd.ms.radio:x",
        "x-apple.systempreferences:com.apple.preference",
        "applescript://com.apple.scripteditor?action=new",
        "itms-services://?action=download-manifest",
        "facetime:x",
        "afp://host",
        "vnc://host",
        "ssh://host",
        "telnet://host",
        "apt:package",
        "man:ls",
        "trash:///",
        "market://details",
        "android-app://x",
        "chrome-extension://x/y",
        "http://app.example/cb",
        "http://localhost.evil.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://2130706433/cb",
        "https://user@app.example/cb",
        "https://user:pw@app.example/cb",
        "https://app.example/cb#fragment",
        "https:///cb",
        "https://app.example/c b",
        "https://app.example\\@evil.example",
        "//app.example/cb",
        "/cb",
        "",
        "https://app.example/" + "x" * 2000,
        "https://app.example:port/",
        "https://app.example/\x00",
    ],
)
def test_these_addresses_may_not(address: str) -> None:
    assert not is_allowed_redirect(address)


@pytest.mark.parametrize("redirects", [None, [], "x", [5], ["javascript:alert(1)"], [CALLBACK] * 11])
def test_wrong_redirects_are_refused(server: RunningServer, redirects: Any) -> None:
    answer = send_registration(server, {"redirect_uris": redirects})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize(
    "given",
    [
        [],
        {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "private_key_jwt"},
        {"redirect_uris": [CALLBACK], "grant_types": ["password"]},
        {"redirect_uris": [CALLBACK], "grant_types": ["refresh_token"]},
        {"redirect_uris": [CALLBACK], "response_types": ["token"]},
        {"redirect_uris": [CALLBACK], "client_name": 5},
    ],
)
def test_wrong_metadata_is_refused(server: RunningServer, given: Any) -> None:
    answer = send_registration(server, given)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_a_body_that_is_no_json_is_refused(server: RunningServer) -> None:
    answer = server.request("POST", "/oauth/register", content=b"{", headers=make_address_header())
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_a_name_that_could_deceive_is_cleaned(server: RunningServer) -> None:
    name = "Good\u202e app\u0000\n\u2066 " + "x" * 200
    kept = send_registration(server, {"redirect_uris": [CALLBACK], "client_name": name.replace("\u0000", "")}).json()[
        "client_name"
    ]
    assert kept.startswith("Good app x")
    assert len(kept) == 80


def test_the_31st_registration_in_an_hour_from_one_address_is_refused(server: RunningServer) -> None:
    here, there = make_address_header(), make_address_header()
    given = {"redirect_uris": [CALLBACK]}
    # Those that are refused do not count.
    assert send_registration(server, {"redirect_uris": []}, here).status_code == 400
    assert [send_registration(server, given, here).status_code for _ in range(30)] == [201] * 30
    limited = send_registration(server, given, here)
    assert (limited.status_code, limited.headers["Retry-After"]) == (429, "60")
    assert send_registration(server, given, there).status_code == 201


def test_one_ipv6_household_counts_as_one(server: RunningServer) -> None:
    given = {"redirect_uris": [CALLBACK]}
    household = [{"X-Forwarded-For": f"2001:db8:1:2::{number:x}"} for number in range(31)]
    statuses = [send_registration(server, given, headers).status_code for headers in household]
    assert statuses == [201] * 30 + [429]


def test_get_is_not_allowed(server: RunningServer) -> None:
    answer = server.request("GET", "/oauth/register")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")

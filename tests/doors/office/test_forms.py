"""A form is taken only from a page of ours, and only in the shape that browsers send."""

import httpx2
import pytest

from support.browser_session import BrowserSession, add_new_person, sign_in_new_person
from support.cast import PASSWORD, Cast
from support.oauth_app import hidden_value
from support.servers import RunningServer

KEYS = "/settings/developer/keys"


def submit_key_form(session: BrowserSession, csrf: str | None, **headers: str) -> httpx2.Response:
    fields = {"name": "Forged", "access": "write"} | ({} if csrf is None else {"csrf": csrf})
    return session.post(f"{KEYS}/new", fields, **headers)


def read_csrf(session: BrowserSession) -> str:
    return hidden_value(session.get(f"{KEYS}/new").text, "csrf")


def has_created_nothing(session: BrowserSession) -> bool:
    return "Forged" not in session.get(KEYS).text


def test_a_form_with_its_token_is_taken(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert submit_key_form(session, read_csrf(session)).status_code == 303
    assert not has_created_nothing(session)


@pytest.mark.parametrize("csrf", [None, "", "x" * 43])
def test_a_form_without_its_token_is_refused(server: RunningServer, cast: Cast, csrf: str | None) -> None:
    session = sign_in_new_person(server, cast)
    assert submit_key_form(session, csrf).status_code == 403
    assert has_created_nothing(session)


def test_the_token_of_another_session_is_refused(server: RunningServer, cast: Cast) -> None:
    session, other = sign_in_new_person(server, cast), sign_in_new_person(server, cast)
    assert submit_key_form(session, read_csrf(other)).status_code == 403
    assert has_created_nothing(session)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_a_form_of_another_site_is_refused_even_with_a_token(server: RunningServer, cast: Cast, origin: str) -> None:
    session = sign_in_new_person(server, cast)
    assert submit_key_form(session, read_csrf(session), Origin=origin).status_code == 403
    assert has_created_nothing(session)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_that_the_browser_says_comes_from_elsewhere_is_refused(
    server: RunningServer, cast: Cast, site: str
) -> None:
    session = sign_in_new_person(server, cast)
    assert submit_key_form(session, read_csrf(session), **{"Sec-Fetch-Site": site}).status_code == 403
    assert has_created_nothing(session)


def test_signing_someone_in_from_another_site_is_refused(server: RunningServer, cast: Cast) -> None:
    fields = {"email": add_new_person(cast).email, "password": PASSWORD}
    assert BrowserSession(server).post("/sign-in", fields).status_code == 403
    own, other = BrowserSession(server), BrowserSession(server)
    stolen = hidden_value(other.get("/sign-in").text, "csrf")
    own.get("/sign-in")
    assert own.post("/sign-in", fields | {"csrf": stolen}).status_code == 403


def test_signing_someone_out_from_another_site_is_refused(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert session.post("/sign-out", {"csrf": ""}).status_code == 403
    assert session.is_signed_in


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"email=a&email=b", "application/x-www-form-urlencoded", 400),
        (b"email=%ff", "application/x-www-form-urlencoded", 400),
        (b"email=%00", "application/x-www-form-urlencoded", 400),
        (b"{}", "application/json", 415),
        (b"email=a", "text/plain", 415),
        (b"email=a", "application/x-www-form-urlencoded; charset=utf-16", 415),
        (b"email=" + b"a" * 70_000, "application/x-www-form-urlencoded", 413),
        (b"", "application/x-www-form-urlencoded", 403),
        (b"&&==&", "application/x-www-form-urlencoded", 400),
    ],
)
def test_what_no_browser_sends_is_refused(server: RunningServer, body: bytes, kind: str, status: int) -> None:
    answer = server.request("POST", "/sign-in", headers={"Content-Type": kind}, content=body)
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]

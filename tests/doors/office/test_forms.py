"""A form is taken only from a page of ours, and only in the shape that browsers send."""

import httpx2
import pytest

from apps import hidden
from cast import PASSWORD, Cast
from running import RunningServer
from visiting import Visit, somebody, visit

KEYS = "/settings/developer/keys"


def create(visiting: Visit, csrf: str | None, **headers: str) -> httpx2.Response:
    fields = {"name": "Forged", "access": "write"} | ({} if csrf is None else {"csrf": csrf})
    return visiting.post(f"{KEYS}/new", fields, **headers)


def token(visiting: Visit) -> str:
    return hidden(visiting.get(f"{KEYS}/new").text, "csrf")


def nothing_was_made(visiting: Visit) -> bool:
    return "Forged" not in visiting.get(KEYS).text


def test_a_form_with_its_token_is_taken(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    assert create(visiting, token(visiting)).status_code == 303
    assert not nothing_was_made(visiting)


@pytest.mark.parametrize("csrf", [None, "", "x" * 43])
def test_a_form_without_its_token_is_refused(server: RunningServer, cast: Cast, csrf: str | None) -> None:
    visiting = visit(server, cast)
    assert create(visiting, csrf).status_code == 403
    assert nothing_was_made(visiting)


def test_the_token_of_another_session_is_refused(server: RunningServer, cast: Cast) -> None:
    visiting, other = visit(server, cast), visit(server, cast)
    assert create(visiting, token(other)).status_code == 403
    assert nothing_was_made(visiting)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_a_form_of_another_site_is_refused_even_with_a_token(server: RunningServer, cast: Cast, origin: str) -> None:
    visiting = visit(server, cast)
    assert create(visiting, token(visiting), Origin=origin).status_code == 403
    assert nothing_was_made(visiting)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_that_the_browser_says_comes_from_elsewhere_is_refused(
    server: RunningServer, cast: Cast, site: str
) -> None:
    visiting = visit(server, cast)
    assert create(visiting, token(visiting), **{"Sec-Fetch-Site": site}).status_code == 403
    assert nothing_was_made(visiting)


def test_signing_someone_in_from_another_site_is_refused(server: RunningServer, cast: Cast) -> None:
    fields = {"email": somebody(cast).email, "password": PASSWORD}
    assert Visit(server).post("/sign-in", fields).status_code == 403
    own, other = Visit(server), Visit(server)
    stolen = hidden(other.get("/sign-in").text, "csrf")
    own.get("/sign-in")
    assert own.post("/sign-in", fields | {"csrf": stolen}).status_code == 403


def test_signing_someone_out_from_another_site_is_refused(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    assert visiting.post("/sign-out", {"csrf": ""}).status_code == 403
    assert visiting.is_inside


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

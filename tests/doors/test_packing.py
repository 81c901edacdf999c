import gzip
import re

import pytest

from cast import Cast
from mainstay.doors.packing import SMALLEST, is_worth, packed, takes_gzip
from mainstay.doors.pages.forms import WrongForm, check_csrf, csrf_token, masked
from mainstay.terms.rights import Role
from running import RunningServer
from talking import ORGANISATION, PEOPLE
from visiting import visit

GZIP, PLAIN = {"Accept-Encoding": "gzip"}, {"Accept-Encoding": "identity"}


@pytest.mark.parametrize(
    ("accept", "takes"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("deflate, br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.0, *", False),
        ("*;q=0", False),
        ("", False),
    ],
)
def test_who_takes_gzip(accept: str, *, takes: bool) -> None:
    assert takes_gzip(accept) is takes


def test_what_is_short_or_packed_already_is_left_alone() -> None:
    assert not is_worth("application/json", SMALLEST)
    assert is_worth("application/json", SMALLEST + 1)
    assert not is_worth("font/woff2", 10**6)
    body = b"abc" * 1000
    assert gzip.decompress(packed(body)) == gzip.decompress(packed(body, once=True)) == body


def test_a_long_answer_is_packed_for_those_who_take_it_so(server: RunningServer, cast: Cast) -> None:
    key = cast.key()
    for path in (PEOPLE, "/openapi.json", "/developers"):
        plain = server.request("GET", path, key, headers=PLAIN)
        short = server.request("GET", path, key, headers=GZIP)
        assert len(plain.content) > SMALLEST
        assert (plain.headers.get("Content-Encoding"), short.headers["Content-Encoding"]) == (None, "gzip")
        assert plain.headers["Vary"] == short.headers["Vary"] == "Accept-Encoding"
        assert short.content == plain.content
        assert int(short.headers["Content-Length"]) < len(plain.content) / 2


def test_a_short_answer_is_not(server: RunningServer, cast: Cast) -> None:
    answer = server.request("GET", f"{ORGANISATION}x", cast.key(), headers=GZIP)
    assert "Content-Encoding" not in answer.headers
    assert "Vary" not in answer.headers


def test_pages_and_what_they_are_made_of_are_packed(server: RunningServer, cast: Cast) -> None:
    page = visit(server, cast, Role.OFFICE).get("/jobs", **GZIP)
    assert page.headers["Content-Encoding"] == "gzip"
    for path in re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"', page.text):
        assert server.request("GET", path, headers=GZIP).headers["Content-Encoding"] == "gzip"
        assert "Content-Encoding" not in server.request("GET", path, headers=PLAIN).headers


def test_no_two_pages_carry_the_same_token(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.OFFICE)
    tokens = [re.findall(r'name="csrf" value="([^"]+)"', visiting.get("/jobs").text) for _ in range(2)]
    shown = [token for of_page in tokens for token in of_page]
    assert len({*shown}) == len(shown) >= 4


@pytest.mark.parametrize("sent", ["", "zz", "abc", csrf_token("secret"), masked(csrf_token("other")), "00" * 43])
def test_a_token_is_taken_in_every_mask_and_nothing_else_is(sent: str) -> None:
    token = csrf_token("secret")
    for _ in range(3):
        check_csrf({"csrf": masked(token)}, token)
    with pytest.raises(WrongForm):
        check_csrf({"csrf": sent}, token)

import gzip
import re
from importlib.resources import files

import pytest

from mainstay.doors import pages
from mainstay.doors.compression import MIN_SIZE, accepts_gzip, compress, is_worth_compressing
from mainstay.doors.pages.forms import FormError, check_csrf, csrf_token, mask_token
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person
from support.cast import Cast
from support.raw_http import ORGANISATION, PEOPLE
from support.servers import RunningServer

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
    assert accepts_gzip(accept) is takes


def test_what_is_short_or_packed_already_is_left_alone() -> None:
    assert not is_worth_compressing("application/json", MIN_SIZE)
    assert is_worth_compressing("application/json", MIN_SIZE + 1)
    assert not is_worth_compressing("font/woff2", 10**6)


def test_what_is_sent_often_is_packed_best_and_a_page_better_than_data() -> None:
    body = files(pages).joinpath("static", "office.js").read_bytes()
    kinds = (("application/json", False), ("text/html; charset=utf-8", False), ("application/json", True))
    packed = [compress(body, content_type, reused=reused) for content_type, reused in kinds]
    assert [gzip.decompress(one) == body for one in packed] == [True, True, True]
    data, page, reused = map(len, packed)
    assert data > page > reused


def test_a_long_answer_is_packed_for_those_who_take_it_so(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    for path in (PEOPLE, "/openapi.json", "/developers"):
        plain = server.request("GET", path, key, headers=PLAIN)
        short = server.request("GET", path, key, headers=GZIP)
        assert len(plain.content) > MIN_SIZE
        assert (plain.headers.get("Content-Encoding"), short.headers["Content-Encoding"]) == (None, "gzip")
        assert plain.headers["Vary"] == short.headers["Vary"] == "Accept-Encoding"
        assert short.content == plain.content
        assert int(short.headers["Content-Length"]) < len(plain.content) / 2


def test_a_short_answer_is_not(server: RunningServer, cast: Cast) -> None:
    answer = server.request("GET", f"{ORGANISATION}x", cast.make_key(), headers=GZIP)
    assert "Content-Encoding" not in answer.headers
    assert "Vary" not in answer.headers


def test_pages_and_what_they_are_made_of_are_packed(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast, Role.OFFICE).get("/jobs", **GZIP)
    assert page.headers["Content-Encoding"] == "gzip"
    for path in re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"', page.text):
        assert server.request("GET", path, headers=GZIP).headers["Content-Encoding"] == "gzip"
        assert "Content-Encoding" not in server.request("GET", path, headers=PLAIN).headers


def test_no_two_pages_carry_the_same_token(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    tokens = [re.findall(r'name="csrf" value="([^"]+)"', session.get("/jobs").text) for _ in range(2)]
    shown = [token for of_page in tokens for token in of_page]
    assert len({*shown}) == len(shown) >= 4


@pytest.mark.parametrize("sent", ["", "zz", "abc", csrf_token("secret"), mask_token(csrf_token("other")), "00" * 43])
def test_a_token_is_taken_in_every_mask_and_nothing_else_is(sent: str) -> None:
    token = csrf_token("secret")
    for _ in range(3):
        check_csrf({"csrf": mask_token(token)}, token)
    with pytest.raises(FormError):
        check_csrf({"csrf": sent}, token)

"""Stylesheets and scripts as browsers get them."""

from importlib.resources import files

import pytest

from mainstay.doors import pages
from mainstay.doors.pages.static_files import STATIC_ADDRESSES, STATIC_FILES, strip_comments

CODE = sorted(name for name in STATIC_ADDRESSES if name.endswith((".css", ".js")))


@pytest.mark.parametrize("name", CODE)
def test_code_is_sent_without_comments_and_with_its_lines(name: str) -> None:
    source = files(pages).joinpath("static", name).read_text()
    body = STATIC_FILES[STATIC_ADDRESSES[name]].body
    assert isinstance(body, bytes)
    sent = body.decode()
    assert sent.count("\n") == source.count("\n")
    assert not [line for line in sent.splitlines() if line.lstrip().startswith(("//", "/*"))]


@pytest.mark.parametrize("name", [name for name in CODE if name.endswith(".js")])
def test_no_text_of_a_script_runs_over_several_lines(name: str) -> None:
    """A line of such a text that began like a comment would be lost."""
    lines = files(pages).joinpath("static", name).read_text().splitlines()
    assert [line for line in lines if line.count("`") % 2] == []


def test_what_only_looks_like_a_comment_stays() -> None:
    script = b'// a comment\nconst address = "https://example.com"; // why\n  // another\n'
    assert strip_comments(script, "js") == b'\nconst address = "https://example.com"; // why\n\n'
    style = b"a { /* one\n of two lines */ color: red } /* two */\n"
    assert strip_comments(style, "css") == b"a { \n color: red } \n"
    assert strip_comments(script, "svg") == script

"""What the house could not do is said on the start page, and tried again or dropped under Settings."""

import pytest

from cast import Cast
from mainstay.terms.rights import Role
from parking import PROBLEM, kept, park
from running import RunningServer
from visiting import visit, words

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def test_home_says_it_quietly_to_those_who_can_do_something(server: RunningServer, cast: Cast) -> None:
    admin = visit(server, cast, Role.ADMIN)
    assert "could not do" not in admin.get("/").text
    park(cast)
    assert "One thing the house could not do" in words(admin.get("/").text)
    park(cast)
    assert '<a href="/settings/work">2 things the house could not do</a>' in admin.get("/").text
    member = visit(server, cast, Role.MEMBER)
    assert "could not do" not in member.get("/").text
    assert "Not done" not in words(member.get("/settings").text)
    assert member.get("/settings/work").status_code == 403


def test_it_is_listed_with_its_problem_and_dropped_after_a_warning(server: RunningServer, cast: Cast) -> None:
    work = park(cast)
    visiting = visit(server, cast)
    page = words(visiting.get("/settings/work").text)
    assert f"A fax to x {PROBLEM}" in page
    path = f"/settings/work/{work}"
    assert PROBLEM in words(visiting.get(path).text)
    asked = visiting.get(f"{path}/drop")
    assert "This is never done: A fax to x." in words(asked.text)
    assert kept(cast, work)
    answer = visiting.answer(asked.text, f"{path}/drop", confirmed="yes")
    assert "It is dropped, and never done." in visiting.follow(answer).text
    assert kept(cast, work) is None


def test_it_is_tried_again_by_one_button(server: RunningServer, cast: Cast) -> None:
    work = park(cast)
    visiting = visit(server, cast)
    page = visiting.get(f"/settings/work/{work}").text
    assert f'action="/settings/work/{work}/retry"' in page
    answer = visiting.answer(page, f"/settings/work/{work}/retry")
    assert answer.headers["Location"] == f"/settings/work/{work}?done=retry_work"

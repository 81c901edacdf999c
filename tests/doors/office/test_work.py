"""Failed tasks are named on the start page, and retried or dropped under Settings."""

import pytest

from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.failed_work import PROBLEM, park_new_task, read_task_state
from support.servers import RunningServer

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def test_home_says_it_quietly_to_those_who_can_do_something(server: RunningServer, cast: Cast) -> None:
    admin = sign_in_new_person(server, cast, Role.ADMIN)
    assert "could not do" not in admin.get("/").text
    park_new_task(cast)
    assert "1 task failed" in visible_text(admin.get("/").text)
    park_new_task(cast)
    assert 'href="/settings/work">2 tasks failed</a>' in admin.get("/").text
    member = sign_in_new_person(server, cast, Role.MEMBER)
    assert "could not do" not in member.get("/").text
    assert "Failed tasks" not in visible_text(member.get("/settings").text)
    assert member.get("/settings/work").status_code == 403


def test_it_is_listed_with_its_problem_and_dropped_after_a_warning(server: RunningServer, cast: Cast) -> None:
    work = park_new_task(cast)
    session = sign_in_new_person(server, cast)
    page = visible_text(session.get("/settings/work").text)
    assert f"A fax to x {PROBLEM}" in page
    path = f"/settings/work/{work}"
    assert PROBLEM in visible_text(session.get(path).text)
    confirmation = session.get(f"{path}/drop")
    assert "This task will not be tried again: A fax to x" in visible_text(confirmation.text)
    assert read_task_state(cast, work)
    answer = session.submit_page(confirmation.text, f"{path}/drop", confirmed="yes")
    assert "Task deleted." in session.follow_redirect(answer).text
    assert read_task_state(cast, work) is None


def test_it_is_tried_again_by_one_button(server: RunningServer, cast: Cast) -> None:
    work = park_new_task(cast)
    session = sign_in_new_person(server, cast)
    page = session.get(f"/settings/work/{work}").text
    assert f'action="/settings/work/{work}/retry"' in page
    answer = session.submit_page(page, f"/settings/work/{work}/retry")
    assert answer.headers["Location"] == f"/settings/work/{work}?done=retry_work"

"""The page of the keyboard shortcuts, and the links that they press."""

import re

from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.servers import RunningServer


def test_the_shortcuts_lead_where_the_person_may_go(server: RunningServer, cast: Cast) -> None:
    for role, sees_quotes in ((Role.OFFICE, True), (Role.SUBCONTRACTOR, False)):
        session = sign_in_cast(server, cast, role)
        assert 'href="/shortcuts"' in session.get("/").text
        page = session.get("/shortcuts").text
        assert "Jobs g j" in visible_text(page)
        assert ("Quotes g q" in visible_text(page)) == sees_quotes
        sidebar = page.partition('<header class="side">')[2].partition("</header>")[0]
        keys = [key for key in re.findall(r'data-key="([^"]*)"', sidebar) if key]
        assert len(keys) == len(set(keys))
        assert ("q" in keys) == sees_quotes


def test_the_button_for_a_new_record_has_its_key(server: RunningServer, cast: Cast) -> None:
    session = sign_in_cast(server, cast, Role.OFFICE)
    assert '<p class="buttons" data-key="n"><a class="button primary" href="/jobs/new">' in session.get("/jobs").text

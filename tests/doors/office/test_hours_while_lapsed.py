"""While a subscription is inactive, hours are read on every page of them, and nothing is offered that is refused."""

import re

from doors.office.test_late_forms import end_session, sign_in_again
from mainstay.business.hours.timers import start_timer
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, add_new_person, sign_in_cast, visible_text
from support.cast import Cast
from support.form_fields import read_form
from support.hours import make_time_entry
from support.servers import RunningServer

WEEK, QUEUE = "/hours/week", "/hours/approve"


def today(cast: Cast) -> str:
    return local_date(cast.performer.clock(), "Europe/London").isoformat()


def test_a_week_is_read_and_not_typed_into(server: RunningServer, cast: Cast) -> None:
    make_time_entry(cast, on=today(cast), minutes=61)
    cast.perform(start_timer, Role.MEMBER)
    session = sign_in_cast(server, cast, Role.MEMBER)
    open_page = session.get(WEEK).text
    cast.lapse()
    page = session.get(WEEK).text.partition("<main")[2].partition("</main")[0]
    assert "1:01 draft" in visible_text(page)
    assert "Since" in visible_text(page), "the timer that runs is told"
    assert re.findall(r'<form method="post"|<button class="primary|name="hours ', page) == []
    assert "Stop timer" not in session.get("/").text
    # What was typed before it lapsed is refused, and not lost.
    late = session.submit_page(open_page, "/hours/week/log", time="7:30", day=today(cast), note="Pipes")
    assert (late.status_code, 'value="Pipes"' in late.text) == (402, True)


def test_what_waits_for_approval_is_read_where_home_leads_and_not_decided(server: RunningServer, cast: Cast) -> None:
    make_time_entry(cast, status="submitted", on=today(cast), minutes=61)
    session = sign_in_cast(server, cast, Role.OFFICE)
    open_page = session.get(QUEUE).text
    marked = re.findall(r'name="(entry \w+)"', open_page)
    cast.lapse()
    assert f'href="{QUEUE}?status=submitted"' in session.get("/").text
    page = session.get(QUEUE)
    assert (page.status_code, "1 entry, 1:01" in visible_text(page.text)) == (200, True)
    assert "Approve selected" not in page.text
    assert "checkbox" not in page.text.partition("<main")[2].partition("</main")[0]
    late = session.submit_page(open_page, QUEUE, decision="reject", reason="Which job?", **{marked[0]: "on"})
    assert (late.status_code, ">Which job?</textarea>" in late.text) == (402, True)
    assert sign_in_cast(server, cast, Role.MEMBER).get(QUEUE).status_code == 403


def test_a_reason_that_was_typed_before_a_sign_in_ended_is_still_there(server: RunningServer, cast: Cast) -> None:
    make_time_entry(cast, status="submitted", on=today(cast), minutes=61)
    person, session = add_new_person(cast, Role.OFFICE), BrowserSession(server)
    session.sign_in(person)
    sent = read_form(session.get(QUEUE).text) | {"decision": "reject", "reason": "Which job?"}
    end_session(session)
    cast.lapse()
    late = session.post(QUEUE, sent, Referer=f"{server.url}{QUEUE}")
    back = sign_in_again(session, late, person)
    assert "the form is as you left it" in visible_text(back.text)
    assert ">Which job?</textarea>" in back.text

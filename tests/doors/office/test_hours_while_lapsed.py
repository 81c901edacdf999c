"""While a subscription is inactive, hours are read on every page of them, and nothing is offered that is refused."""

import re

from cast import Cast
from doors.office.test_late_forms import leave, sign_in_again
from filling import as_opened
from labour import logged
from mainstay.business.hours.timers import start_timer
from mainstay.terms.rights import Role
from mainstay.values.moments import local_date
from running import RunningServer
from visiting import Visit, somebody, visit_as, words

WEEK, QUEUE = "/hours/week", "/hours/approve"


def today(cast: Cast) -> str:
    return local_date(cast.stage.clock(), "Europe/London").isoformat()


def test_a_week_is_read_and_not_typed_into(server: RunningServer, cast: Cast) -> None:
    logged(cast, on=today(cast), minutes=61)
    cast.perform(start_timer, Role.MEMBER)
    visiting = visit_as(server, cast, Role.MEMBER)
    open_page = visiting.get(WEEK).text
    cast.lapse()
    page = visiting.get(WEEK).text.partition("<main")[2].partition("</main")[0]
    assert "1:01 draft" in words(page)
    assert "Since" in words(page), "the timer that runs is told"
    assert re.findall(r'<form method="post"|<button class="primary|name="hours ', page) == []
    assert "Stop timer" not in visiting.get("/").text
    # What was typed before it lapsed is refused, and not lost.
    late = visiting.answer(open_page, "/hours/week/log", time="7:30", day=today(cast), note="Pipes")
    assert (late.status_code, 'value="Pipes"' in late.text) == (402, True)


def test_what_waits_for_approval_is_read_where_home_leads_and_not_decided(server: RunningServer, cast: Cast) -> None:
    logged(cast, status="submitted", on=today(cast), minutes=61)
    visiting = visit_as(server, cast, Role.OFFICE)
    open_page = visiting.get(QUEUE).text
    marked = re.findall(r'name="(entry \w+)"', open_page)
    cast.lapse()
    assert f'href="{QUEUE}?status=submitted"' in visiting.get("/").text
    page = visiting.get(QUEUE)
    assert (page.status_code, "1:01 in 1 entry" in words(page.text)) == (200, True)
    assert "Approve marked hours" not in page.text
    assert "checkbox" not in page.text.partition("<main")[2].partition("</main")[0]
    late = visiting.answer(open_page, QUEUE, decision="reject", reason="Which job?", **{marked[0]: "on"})
    assert (late.status_code, ">Which job?</textarea>" in late.text) == (402, True)
    assert visit_as(server, cast, Role.MEMBER).get(QUEUE).status_code == 403


def test_a_reason_that_was_typed_before_a_sign_in_ended_is_still_there(server: RunningServer, cast: Cast) -> None:
    logged(cast, status="submitted", on=today(cast), minutes=61)
    person, visiting = somebody(cast, Role.OFFICE), Visit(server)
    visiting.sign_in(person)
    sent = as_opened(visiting.get(QUEUE).text) | {"decision": "reject", "reason": "Which job?"}
    leave(visiting)
    cast.lapse()
    late = visiting.post(QUEUE, sent, Referer=f"{server.url}{QUEUE}")
    back = sign_in_again(visiting, late, person)
    assert "the form is as you left it" in words(back.text)
    assert ">Which job?</textarea>" in back.text

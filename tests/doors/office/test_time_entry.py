import re

import pytest

from doors.office.test_hours import WEEK, sign_in_new_person, today
from mainstay.business.hours.operations import get_time_entry, list_hours, log_hours
from mainstay.business.hours.timers import start_timer
from mainstay.values.typed_durations import parse_minutes
from mainstay.vocabulary.permissions import Role
from support.browser_session import visible_text
from support.cast import Cast
from support.servers import RunningServer


def list_buttons(page: str) -> list[str]:
    """What can be done on a page of an entry, the next step first."""
    top = re.search(r'<div class="buttons">(.*?)\n</div>\n', page, re.DOTALL)
    return re.findall(r"<(?:button|a)\b[^>]*>([^<]*)</(?:button|a)>", top[1]) if top else []


def test_an_entry_is_submitted_and_decided_on_where_it_stands(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    office, _ = sign_in_new_person(server, cast, Role.OFFICE)
    entry = cast.perform(log_hours, personId=person.id, on=today(cast).isoformat(), minutes=60)
    path = f"/hours/{entry['id']}"
    review = f"{path}/review-hours"

    def status() -> str:
        return str(cast.perform(get_time_entry, timeEntryId=entry["id"])["status"])

    assert list_buttons(session.get(path).text) == ["Submit", "Edit", "Delete hours"]
    assert session.submit_form(path, f"{path}/submit-hours").headers["Location"] == f"{path}?done=submit_hours"
    assert (status(), list_buttons(session.get(path).text)) == ("submitted", [])
    assert list_buttons(office.get(path).text) == ["Approve", "Reject", "Edit", "Delete hours"]
    assert office.submit_form(path, review, decision="approve").headers["Location"] == f"{path}?done=review_hours"
    assert (status(), list_buttons(office.get(path).text)) == ("approved", ["Unapprove"])
    office.submit_form(path, review, decision="unapprove")
    assert status() == "submitted"
    # A rejection needs a reason; the form begins with it.
    form = office.get(review).text
    assert re.findall(r"<option [^>]*>", form) == ['<option value="reject" selected>']
    assert "<h1>Reject hours</h1>" in form
    assert '<button class="primary" type="submit">Reject</button>' in form
    assert re.search(r'<label for="reason">Reason</label>\s*<textarea id="reason"[^>]* required', form)
    unsaid = office.submit_form(review, decision="reject", reason="")
    assert (unsaid.status_code, "Enter a reason." in visible_text(unsaid.text)) == (422, True)
    office.submit_form(review, decision="reject", reason="Which job?")
    assert status() == "rejected"
    assert list_buttons(office.get(path).text)[0] == "Submit"
    # Nothing is left to decide on, so nothing is asked.
    nothing = office.get(review)
    assert (nothing.status_code, "This isn't possible any more." in visible_text(nothing.text)) == (
        409,
        True,
    )
    assert "<option" not in nothing.text.partition("<main")[2]


def test_a_timer_s_own_form_stops_that_one_and_no_other(server: RunningServer, cast: Cast) -> None:
    _, person = sign_in_new_person(server, cast)
    office, reviewer = sign_in_new_person(server, cast, Role.OFFICE)
    theirs, own = (cast.perform(start_timer, personId=one.id) for one in (person, reviewer))
    stopped = office.submit_form(f"/hours/{theirs['id']}/stop-timer", breakMinutes="0")
    assert stopped.headers["Location"] == f"/hours/{theirs['id']}?done=stop_timer"
    after = [cast.perform(get_time_entry, timeEntryId=one["id"])["status"] for one in (theirs, own)]
    assert after == ["draft", "running"]


@pytest.mark.parametrize("typed", ["25", "7.25", "1h30m20", "soon", "7:60"])
def test_a_form_refuses_a_time_in_the_words_of_the_week(server: RunningServer, cast: Cast, typed: str) -> None:
    session, _ = sign_in_new_person(server, cast)
    day = today(cast).isoformat()
    week = session.get(WEEK).text
    page_text = session.submit_page(week, WEEK, **{f"hours new {day}": typed, "job": "none"}).text
    with pytest.raises(ValueError, match=r"^(is not a time such as|could be)") as problem:
        parse_minutes(typed)
    assert f"{problem.value}." in visible_text(page_text)
    refused = session.submit_form("/hours/new", on=day, minutes=typed, breakMinutes="0")
    assert refused.status_code == 422
    assert f"Time {problem.value}." in visible_text(refused.text)
    assert "whole number" not in visible_text(refused.text)


@pytest.mark.parametrize("typed", ["1:30", "1.5", "1,5", "1h 30m", "90m"])
def test_a_form_takes_a_time_as_the_week_does(server: RunningServer, cast: Cast, typed: str) -> None:
    session, person = sign_in_new_person(server, cast)
    assert (
        session.submit_form("/hours/new", on=today(cast).isoformat(), minutes=typed, breakMinutes="0").status_code
        == 303
    )
    [entry] = cast.perform(list_hours, personId=person.id)["data"]
    assert entry["minutes"] == 90

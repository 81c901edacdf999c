"""What the week refuses is said in words of its own fields, and the field that is meant is marked."""

import re
from datetime import timedelta

import httpx2
import pytest

from doors.office.test_hours import WEEK, entries_of, make_job_for, read_grid, sign_in_new_person, today
from mainstay.business.hours.operations import log_hours
from mainstay.business.hours.timers import start_timer
from mainstay.doors.office.work import hours
from mainstay.doors.pages.formatting import format_date
from support.browser_session import visible_text
from support.cast import Cast
from support.servers import RunningServer

LOG, START, STOP = f"{WEEK}/log", "/hours/timer/start", "/hours/timer/stop"


def find_marked_fields(page: str) -> list[str]:
    """The fields that are marked as wrong, by their id or name."""
    return re.findall(r'<(?:input|select)[^>]*?(?:id|name)="([^"]*)"[^>]*aria-invalid="true"', page)


def find_focused_fields(page: str) -> list[str]:
    return re.findall(r'<(?:input|select)[^>]*?id="([^"]*)"[^>]* autofocus', page.partition("<main")[2])


def read_alert(answer: httpx2.Response) -> str:
    """What is said above the page of what was refused."""
    [match] = re.findall(r'(?s)<(p|div) class="notice bad" role="alert"[^>]*>(.*?)</\1>', answer.text)
    return visible_text(match[1])


@pytest.mark.parametrize(
    ("to", "sent", "field"),
    [
        (LOG, {"time": "1", "day": "2026-11-16"}, "log-job"),
        (START, {}, "timer-job"),
        (WEEK, {"hours new 2026-11-16": "1"}, "new-job"),
    ],
)
def test_a_job_that_is_not_found_is_told_as_in_every_form_and_marked_where_it_was_typed(
    server: RunningServer, cast: Cast, monkeypatch: pytest.MonkeyPatch, to: str, sent: dict[str, str], field: str
) -> None:
    # Of more jobs than are listed, one is typed.
    monkeypatch.setattr(hours, "_JOBS", 1)
    session, person = sign_in_new_person(server, cast)
    for _ in range(2):
        make_job_for(cast, person)
    refused = session.submit_form(WEEK, to, job="No such thing", **sent)
    assert (refused.status_code, entries_of(cast, person)) == (422, [])
    assert "Job was not found. Check the spelling, or type more of it." in read_alert(refused)
    assert (find_marked_fields(refused.text), find_focused_fields(refused.text)) == ([field], [field])
    assert refused.text.count('value="No such thing"') == 1


@pytest.mark.parametrize(
    ("typed", "told", "field"),
    [
        ({"time": "abc"}, "Time is not a time such as 7:30, 7.5 or 45m.", "time"),
        ({"time": "0"}, "Time must be 0:01 or more.", "time"),
        ({"time": "25:00"}, "Time must be 24:00 or less.", "time"),
        ({"day": "2100-01-01"}, "Date is in the future; log hours after the work.", "day"),
        ({"day": "1999-12-31"}, "Date is too long ago.", "day"),
        ({"note": "Bell\x07"}, "What was done ", "log-note"),
    ],
)
def test_whatever_is_wrong_with_hours_of_a_day_its_field_is_marked(
    server: RunningServer, cast: Cast, typed: dict[str, str], told: str, field: str
) -> None:
    session, person = sign_in_new_person(server, cast)
    sent = {"job": "none", "time": "1", "day": today(cast).isoformat()} | typed
    refused = session.submit_form(WEEK, LOG, **sent)
    assert (refused.status_code, entries_of(cast, person)) == (422, [])
    assert told in read_alert(refused)
    assert (find_marked_fields(refused.text), find_focused_fields(refused.text)) == ([field], [field])


def test_a_timer_that_would_end_before_it_began_is_told_in_the_words_of_its_form(
    server: RunningServer, cast: Cast
) -> None:
    session, person = sign_in_new_person(server, cast)
    cast.perform(start_timer, personId=person.id)
    yesterday = today(cast) - timedelta(days=1)
    refused = session.submit_form(WEEK, STOP, **{"break": "", "endedAt": f"{yesterday}T08:00"})
    assert refused.status_code == 422
    assert "Ended at is not after the start;" in read_alert(refused)
    assert (find_marked_fields(refused.text), find_focused_fields(refused.text)) == (["ended-at"], ["ended-at"])
    refused = session.submit_form(WEEK, STOP, **{"break": "soon"})
    assert "Break is not a time such as" in read_alert(refused)
    assert find_marked_fields(refused.text) == ["break"]


def test_a_cell_says_what_it_speaks_of(server: RunningServer, cast: Cast) -> None:
    session, _ = sign_in_new_person(server, cast)
    refused = session.submit_form(WEEK, WEEK, job="none", **{f"hours new {today(cast)}": "abc"})
    assert re.findall(r'<p class="fault"[^>]*>([^<]*)</p>', refused.text) == [
        "Time is not a time such as 7:30, 7.5 or 45m."
    ]


def test_a_week_without_drafts_is_told_with_dates_as_people_write_them_and_nothing_is_said_to_be_marked(
    server: RunningServer, cast: Cast
) -> None:
    session, _ = sign_in_new_person(server, cast)
    day = today(cast)
    monday = day - timedelta(days=day.weekday())
    message = read_alert(session.submit_form(WEEK, WEEK, then="submit"))
    assert f"There are no drafts between {format_date(f'{monday}')} and" in message
    assert "marked" not in message


def test_a_full_day_is_told_with_its_date_as_people_write_it(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    day = today(cast).isoformat()
    cast.perform(log_hours, personId=person.id, on=day, minutes=1200, jobId=make_job_for(cast, person)["id"])
    refused = session.submit_form(WEEK, WEEK, job="none", **{f"hours new {day}": "10"})
    [fault] = re.findall(r'<p class="fault"[^>]*>([^<]*)</p>', refused.text)
    assert (format_date(day) in fault, day in fault) == (True, False), fault
    assert "Please correct the marked fields." in read_alert(refused)


def test_a_week_that_is_sent_again_with_something_else_is_told_as_in_every_form(
    server: RunningServer, cast: Cast
) -> None:
    session, _ = sign_in_new_person(server, cast)
    page, cell = session.get(WEEK).text, f"hours new {today(cast)}"
    session.submit_page(page, WEEK, **read_grid(page) | {cell: "1", "job": "none"})
    again = session.submit_page(page, WEEK, **read_grid(page) | {cell: "2", "job": "none"})
    assert "This form was already sent with different content" in visible_text(again.text)
    assert "dempotency" not in again.text

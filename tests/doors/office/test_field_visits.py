"""A visit in the field: one button starts it with the timer, and one page finishes it with hours, note and photos."""

import re
from datetime import timedelta
from typing import Any

import pytest

from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.timers import start_timer, stop_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import get_job
from mainstay.business.organisation.settings import update_settings
from mainstay.business.records.attachments import list_documents
from mainstay.business.records.notes import list_notes
from mainstay.business.schedule.operations import get_visit
from mainstay.values.moments import moment_text
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast
from support.hours import cast_at
from support.images import draw_image
from support.oauth_app import hidden_value
from support.servers import RunningServer
from support.uploads import MULTIPART, make_multipart, make_part
from support.visits import plan_test_visit, read_finish_times

pytestmark = pytest.mark.engines("sqlite")


def start_earlier(cast: Cast, visit: str, minutes: int) -> None:
    """Start a visit of the member with their timer, so many minutes ago."""
    moment = moment_text(cast.performer.clock() - timedelta(minutes=minutes))
    cast_at(cast, moment).perform(set_visit_status, Role.MEMBER, visitId=visit, status="started", timer=True)


def list_entries(cast: Cast) -> list[dict[str, Any]]:
    """Return the member's hours."""
    return list(cast.perform(list_hours, Role.MEMBER)["data"])


@pytest.fixture
def mia(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_cast(server, cast, Role.MEMBER)


def test_start_break_and_finish_are_one_press_each(cast: Cast, mia: BrowserSession) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)
    page = f"/schedule/visits/{visit['id']}"
    started = mia.follow_redirect(mia.submit_form(page, f"{page}/start"))
    text = visible_text(started.text)
    assert all(word in text for word in ("Visit started.", "Undo", "Break", "Finish", "Since"))
    [entry] = list_entries(cast)
    assert (entry["status"], entry["visitId"]) == ("running", visit["id"])
    paused = mia.submit_page(started.text, f"{page}/break", entry=entry["id"])
    text = visible_text(mia.follow_redirect(paused).text)
    assert "On a break. 0:01 logged on this visit." in text
    # After a break, nothing is logged twice.
    finishing = mia.get(f"{page}/finish").text
    assert "0:01 already logged on this visit." in visible_text(finishing)
    assert 'name="startedAt"' not in finishing
    mia.follow_redirect(mia.submit_page(finishing, f"{page}/finish", text="All done"))
    assert cast.perform(get_visit, visitId=visit["id"])["status"] == "done"
    assert [one["status"] for one in list_entries(cast)] == ["draft"]


def test_the_hours_are_filled_in_and_saved_with_the_note_and_the_photos_once(cast: Cast, mia: BrowserSession) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    start_earlier(cast, visit, 96)
    path = f"/schedule/visits/{visit}/finish"
    page = mia.get(path).text
    assert "Finish and log 1:3" in visible_text(page)
    fields = {name: hidden_value(page, name) for name in ("csrf", "once")} | read_finish_times(page)
    parts = [make_part(name, text.encode()) for name, text in fields.items()]
    parts += [make_part("breakMinutes", b"30m"), make_part("text", b"Roots at 3.2 m, cleared.")]
    parts += [make_part("files", draw_image(), "drain.png")]
    for _ in range(2):
        sent = mia.send_body(path, make_multipart(*parts), Content_Type=MULTIPART)
        assert sent.headers["Location"] == f"/schedule/visits/{visit}?done=set_visit_status", sent.text
    [entry] = list_entries(cast)
    assert (entry["status"], entry["breakMinutes"], entry["minutes"] in {65, 66}) == ("draft", 30, True)
    [note] = cast.perform(list_notes, recordId=visit)["data"]
    [photo] = cast.perform(list_documents, recordId=visit)["data"]
    assert (note["text"], photo["name"]) == ("Roots at 3.2 m, cleared.", "drain.png")
    assert cast.perform(get_visit, visitId=visit)["status"] == "done"


def test_a_visit_that_is_done_says_what_was_logged_on_it(cast: Cast, mia: BrowserSession) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    start_earlier(cast, visit, 90)
    path = f"/schedule/visits/{visit}/finish"
    page = mia.get(path).text
    done = mia.follow_redirect(mia.submit_page(page, path, **read_finish_times(page))).text
    assert re.search("1:(30|31) logged on this visit. See your hours", visible_text(done))
    # Nobody works in another time zone here.
    assert "Time zone" not in visible_text(done)


def test_what_is_refused_is_shown_again_and_nothing_of_it_is_saved(cast: Cast, mia: BrowserSession) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    start_earlier(cast, visit, 30)
    path = f"/schedule/visits/{visit}/finish"
    page = mia.get(path).text
    for wrong, problem in (
        ({"breakMinutes": "45m"}, "Break is as long as the time worked"),
        ({"breakMinutes": "soon"}, "Break is not a time such as 7:30, 7.5 or 45m"),
        ({"endedAt": "half past"}, "Finished is not a time such as 14:30"),
    ):
        refused = mia.submit_page(page, path, **{**read_finish_times(page), "text": "Cleared", **wrong})
        assert refused.status_code == 422
        assert problem in visible_text(refused.text)
        assert ">Cleared</textarea>" in refused.text
    assert cast.perform(get_visit, visitId=visit)["status"] == "started"
    assert cast.perform(list_notes, recordId=visit)["data"] == []
    # The start can be corrected.
    earlier = moment_text(cast.performer.clock() - timedelta(minutes=60))[11:16]
    mia.follow_redirect(mia.submit_page(page, path, **{**read_finish_times(page), "startedAt": earlier}))
    assert list_entries(cast)[0]["minutes"] in {59, 60}


def test_a_part_of_the_hours_is_logged_on_other_work_before_or_after_the_visit(cast: Cast, mia: BrowserSession) -> None:
    for place, order, on in (("start", [30, 66], "2038-01-11"), ("end", [66, 30], "2038-01-12")):
        visit = plan_test_visit(cast, Role.MEMBER, on=on)
        started = cast.performer.clock() - timedelta(minutes=96 if place == "start" else 300)
        at = moment_text(started)
        cast_at(cast, at).perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="started", timer=True)
        path = f"/schedule/visits/{visit['id']}/finish"
        page = mia.get(path).text
        times = read_finish_times(page)
        times |= {"endedAt": moment_text(started + timedelta(minutes=96))[11:16]}
        other = {"otherPlace": place, "otherJobId": visit["jobId"], "otherNote": "Travel"}
        refused = mia.submit_page(page, path, **times, **other, otherMinutes="1:36")
        assert "Time on other work is as long as the time worked" in visible_text(refused.text)
        mia.follow_redirect(mia.submit_page(page, path, **times, **other, otherMinutes="30m"))
        entries = sorted((one for one in list_entries(cast) if one["jobId"] == visit["jobId"]), key=_start_of)
        assert [one["minutes"] for one in entries] == order
        assert (entries[0]["startedAt"], entries[0]["endedAt"]) == (at, entries[1]["startedAt"])
        assert sorted((one["visitId"] is None, one["note"]) for one in entries) == [(False, None), (True, "Travel")]


def _start_of(entry: dict[str, Any]) -> str:
    return str(entry["startedAt"])


def test_hours_that_another_phone_has_logged_are_refused_and_the_note_can_still_be_sent(
    cast: Cast, mia: BrowserSession
) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    start_earlier(cast, visit, 90)
    path = f"/schedule/visits/{visit}/finish"
    seen_before = mia.get(path).text
    mia.follow_redirect(mia.submit_form(path, **read_finish_times(seen_before)))
    refused = mia.submit_page(seen_before, path, **read_finish_times(seen_before), text="Cleared")
    assert "already logged" in visible_text(refused.text)
    page = mia.get(path).text
    assert 'name="startedAt"' not in page
    mia.follow_redirect(mia.submit_page(page, path, text="Cleared"))
    assert len(list_entries(cast)) == 1
    assert len(cast.perform(list_notes, recordId=visit)["data"]) == 1


def test_the_visit_begins_with_its_first_timer_also_after_a_break(cast: Cast, mia: BrowserSession) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    start_earlier(cast, visit, 90)
    began = cast.perform(get_visit, visitId=visit)["startedAt"]
    at = moment_text(cast.performer.clock() - timedelta(minutes=60))
    cast.perform(stop_timer, Role.MEMBER, endedAt=at)
    start_earlier(cast, visit, 30)
    path = f"/schedule/visits/{visit}/finish"
    mia.follow_redirect(mia.submit_form(path, **read_finish_times(mia.get(path).text)))
    assert [one["minutes"] for one in list_entries(cast)] == [30, 30]
    assert cast.perform(get_visit, visitId=visit)["startedAt"] == began


def test_the_last_visit_of_a_job_offers_to_finish_the_job(cast: Cast, mia: BrowserSession) -> None:
    first = plan_test_visit(cast, Role.MEMBER)
    last = plan_test_visit(cast, Role.MEMBER, ("12:00", "13:00"), jobId=first["jobId"])
    assert 'name="jobDone"' not in mia.get(f"/schedule/visits/{first['id']}/finish").text
    cast.perform(set_visit_status, Role.MEMBER, visitId=first["id"], status="done")
    start_earlier(cast, last["id"], 10)
    path = f"/schedule/visits/{last['id']}/finish"
    page = mia.get(path).text
    assert 'name="jobDone"' in page
    mia.follow_redirect(mia.submit_page(page, path, **read_finish_times(page), jobDone="on"))
    assert cast.perform(get_job, jobId=first["jobId"])["status"] == "done"


def test_whoever_finishes_can_submit_the_hours_of_the_day(cast: Cast, mia: BrowserSession) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    start_earlier(cast, visit, 30)
    path = f"/schedule/visits/{visit}/finish"
    page = mia.get(path).text
    mia.follow_redirect(mia.submit_page(page, path, **read_finish_times(page), submit="on"))
    assert [one["status"] for one in list_entries(cast)] == ["submitted"]


def test_a_timer_leads_to_its_visit(cast: Cast, mia: BrowserSession) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    start_earlier(cast, visit, 5)
    for path in ("/", "/hours/week"):
        assert f'<a href="/schedule/visits/{visit}">' in mia.get(path).text.partition('class="running"')[2]


def test_a_break_within_a_minute_counts_as_one(cast: Cast, mia: BrowserSession) -> None:
    """A phone sends when a button was pressed, and a start by mistake is stopped at once."""
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    page = f"/schedule/visits/{visit}"
    began = cast.performer.clock() - timedelta(hours=1)
    for seconds, action in ((0, "start"), (5, "break"), (10, "start")):
        at = moment_text(began + timedelta(seconds=seconds))
        mia.follow_redirect(mia.submit_form(page, f"{page}/{action}", at=at))
    running, stopped = list_entries(cast)
    assert (stopped["minutes"], running["startedAt"]) == (1, stopped["endedAt"])


def test_other_work_is_named_before_it_is_stopped(cast: Cast, mia: BrowserSession) -> None:
    visit = plan_test_visit(cast, Role.MEMBER)["id"]
    cast.perform(start_timer, Role.MEMBER, note="Sorting the van")
    page = mia.get(f"/schedule/visits/{visit}").text
    assert "Your timer is running. Starting here stops it." in visible_text(page)
    mia.follow_redirect(mia.submit_page(page, f"/schedule/visits/{visit}/start"))
    assert sorted(one["status"] for one in list_entries(cast)) == ["draft", "running"]


def test_who_logs_no_hours_and_who_is_not_there_start_without_a_timer(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, subcontractorsLogHours=False)
    sam, olga = (sign_in_cast(server, cast, role) for role in (Role.SUBCONTRACTOR, Role.OFFICE))
    visit = plan_test_visit(cast, Role.SUBCONTRACTOR)["id"]
    assert "Start work" not in visible_text(olga.get(f"/schedule/visits/{visit}").text)
    sam.follow_redirect(sam.submit_form(f"/schedule/visits/{visit}", f"/schedule/visits/{visit}/start"))
    assert cast.perform(get_visit, visitId=visit)["status"] == "started"
    sam.follow_redirect(sam.submit_form(f"/schedule/visits/{visit}/finish", text="Done"))
    assert cast.perform(get_visit, visitId=visit)["status"] == "done"
    assert cast.perform(list_hours)["data"] == []

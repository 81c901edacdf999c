import re
from datetime import date, timedelta
from html import unescape

import pytest

from mainstay.business.hours.approval import submit_hours
from mainstay.business.hours.operations import delete_hours, get_time_entry, list_hours, log_hours, update_hours
from mainstay.business.hours.timers import start_timer
from mainstay.doors.office.work import hours_approval
from mainstay.doors.office.work.hours_week import monday_of
from mainstay.doors.pages.formatting import format_date, format_moment
from mainstay.values.ids import new_id
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import USER_AGENT, BrowserSession, NewPerson, add_new_person, visible_text
from support.cast import Cast
from support.form_fields import read_form
from support.hours import make_assigned_job, make_time_entry
from support.oauth_app import begin_session
from support.servers import RunningServer

WEEK = "/hours/week"


def today(cast: Cast) -> date:
    return local_date(cast.performer.clock(), "Europe/London")


def sign_in_new_person(server: RunningServer, cast: Cast, role: Role = Role.MEMBER) -> tuple[BrowserSession, NewPerson]:
    person = add_new_person(cast, role)
    session = BrowserSession(server)
    session.cookies["mainstay"] = begin_session(cast, person.email, USER_AGENT)
    return session, person


def make_job_for(cast: Cast, person: NewPerson, **given: object) -> dict[str, str]:
    return make_assigned_job(cast, assigned=[person.id], **given)


def read_grid(page: str) -> dict[str, str]:
    """What a page's grid would send: the fields and what stands in them."""
    inputs = re.findall(r"<input[^>]*>", page)
    found = [(re.search(r'name="((?:hours|seen) [^"]*)"', one), re.search(r'value="([^"]*)"', one)) for one in inputs]
    return {name[1]: unescape(value[1]) if value else "" for name, value in found if name}


def entries_of(cast: Cast, person: NewPerson) -> list[dict[str, object]]:
    entries = cast.perform(list_hours, personId=person.id, order="oldest")["data"]
    return [{name: entry[name] for name in ("on", "minutes", "jobId", "status")} for entry in entries]


def test_hours_are_typed_into_a_week_and_saved_at_once(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    job = make_job_for(cast, person)
    day = today(cast).isoformat()
    page = session.get(WEEK).text
    saved = session.submit_page(page, WEEK, **read_grid(page) | {f"hours new {day}": "7,5", "job": job["id"]})
    assert saved.headers["Location"] == f"{WEEK}?done=log_hours"
    assert entries_of(cast, person) == [{"on": day, "minutes": 450, "jobId": job["id"], "status": "draft"}]

    # The job has a row of its own now; what is typed over is changed, and what is emptied is deleted.
    page = session.follow_redirect(saved).text
    name = f"hours {job['id']} {day}"
    assert read_grid(page)[name] == "7:30"
    assert session.submit_page(page, WEEK, **read_grid(page) | {name: "8"}).status_code == 303
    assert entries_of(cast, person)[0]["minutes"] == 480
    page = session.get(WEEK).text
    text = visible_text(session.follow_redirect(session.submit_page(page, WEEK, **read_grid(page))).text)
    assert ("No changes to save." in text, "The hours are changed." in text) == (True, False)
    assert session.submit_page(page, WEEK, **read_grid(page) | {name: ""}).status_code == 303
    assert entries_of(cast, person) == []


def test_a_saved_week_is_undone_as_a_whole(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    monday = today(cast) - timedelta(days=today(cast).weekday() + 7)
    path, days = f"{WEEK}?on={monday}", [monday + timedelta(days=number) for number in range(3)]
    for day in days[:2]:
        cast.perform(log_hours, personId=person.id, on=str(day), minutes=60)
    # One cell is typed over, one is emptied and one is new.
    page = session.get(path).text
    texts = {f"hours none {days[0]}": "2", f"hours none {days[1]}": "", f"hours none {days[2]}": "3"}
    page = session.follow_redirect(session.submit_page(page, WEEK, **read_grid(page) | texts, on=str(monday))).text
    assert [entry["minutes"] for entry in entries_of(cast, person)] == [120, 180]
    # Deleted hours cannot be undone, so nothing of the form is.
    assert 'form="undo"' not in page
    texts = {f"hours none {days[0]}": "4", f"hours none {days[1]}": "1", f"hours none {days[2]}": "5"}
    page = session.follow_redirect(session.submit_page(page, WEEK, **read_grid(page) | texts, on=str(monday))).text
    assert [entry["minutes"] for entry in entries_of(cast, person)] == [240, 60, 300]
    session.press_undo(page)
    assert [entry["minutes"] for entry in entries_of(cast, person)] == [120, 180]


def test_a_job_is_picked_by_its_number_its_title_and_its_customer(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    job = make_job_for(cast, person)
    page = session.get(WEEK).text
    called = f"{job['number']} Replace the boiler \N{MIDDLE DOT} Ashdown School"
    assert page.count(f">{called}</option>") == 3


def test_one_day_of_a_week_is_open_on_a_phone(server: RunningServer, cast: Cast) -> None:
    session, _ = sign_in_new_person(server, cast)
    day = today(cast)
    for path, open_day in ((WEEK, day.weekday()), (f"{WEEK}?on=2026-03-05", 0)):
        page = session.get(path).text
        days = re.findall(r'<input type="radio" name="open-day" id="day-(\d)"( checked)?', page)
        assert [(number, bool(checked)) for number, checked in days] == [
            (str(number), number == open_day) for number in range(7)
        ]
        # What picks the day is no part of the form that is saved.
        assert "open-day" not in page.partition('<form method="post" action="/hours/week">')[2]


def test_what_is_wrong_is_said_in_its_cell_and_nothing_is_saved(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    job = make_job_for(cast, person)
    day = today(cast)
    last = f"{WEEK}?on={day - timedelta(days=7)}"
    monday = day - timedelta(days=day.weekday() + 7)
    page = session.get(last).text
    typed = read_grid(page) | {f"hours new {monday}": "7.25", f"hours new {monday + timedelta(days=1)}": "3"}
    answer = session.submit_page(page, WEEK, **typed | {"on": str(monday), "job": job["id"]})
    assert answer.status_code == 422
    assert "could be 7:25 or 7:15; write one of them." in visible_text(answer.text)
    assert read_grid(answer.text)[f"hours new {monday + timedelta(days=1)}"] == "3"
    assert answer.text.count('aria-invalid="true"') == 1
    assert entries_of(cast, person) == []
    # What an operation refuses is said beside the cell just so, and takes the others with it.
    typed = read_grid(page) | {f"hours new {monday}": "25h", f"hours new {monday + timedelta(days=1)}": "3"}
    answer = session.submit_page(page, WEEK, **typed | {"on": str(monday), "job": job["id"]})
    assert (answer.status_code, entries_of(cast, person)) == (422, [])
    assert "Time must be 24:00 or less." in visible_text(answer.text)


def test_a_row_without_a_job_asks_for_one(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    page = session.get(WEEK).text
    day = today(cast).isoformat()
    answer = session.submit_page(page, WEEK, **read_grid(page) | {f"hours new {day}": "1", "job": ""})
    assert "Choose a job for this row." in visible_text(answer.text)
    # That it was none can be said as well.
    assert (
        session.submit_page(page, WEEK, **read_grid(page) | {f"hours new {day}": "1", "job": "none"}).status_code == 303
    )
    assert entries_of(cast, person) == [{"on": day, "minutes": 60, "jobId": None, "status": "draft"}]


def test_the_same_form_sent_twice_counts_once(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    page = session.get(WEEK).text
    fields = read_grid(page) | {f"hours new {today(cast)}": "1", "job": "none"}
    assert [session.submit_page(page, WEEK, **fields).status_code for _ in range(2)] == [303, 303]
    assert len(entries_of(cast, person)) == 1


def test_what_was_changed_meanwhile_is_not_typed_over(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    entry = cast.perform(log_hours, personId=person.id, on=today(cast).isoformat(), minutes=60)
    page = session.get(WEEK).text
    cast.perform(update_hours, timeEntryId=entry["id"], minutes=90)
    answer = session.submit_page(page, WEEK, **read_grid(page) | {f"hours none {today(cast)}": "2"})
    assert "Someone else changed this." in visible_text(answer.text)
    assert entries_of(cast, person)[0]["minutes"] == 90


def test_a_week_is_saved_and_submitted_in_one_click(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    page = session.get(WEEK).text
    fields = read_grid(page) | {f"hours new {today(cast)}": "1", "job": "none", "then": "submit"}
    answer = session.submit_page(page, WEEK, **fields)
    assert answer.headers["Location"] == f"{WEEK}?done=submit_hours"
    assert entries_of(cast, person)[0]["status"] == "submitted"
    # What is submitted is shown, and cannot be typed over any more.
    page = session.follow_redirect(answer).text
    assert "Hours submitted." in page
    assert read_grid(page)[f"hours none {today(cast)}"] == ""
    assert "1:00 submitted" in visible_text(page)
    empty = session.submit_page(page, WEEK, **read_grid(page) | {"then": "submit"})
    assert empty.status_code == 422
    assert "There are no drafts between" in visible_text(empty.text)


def test_a_timer_survives_a_reload_and_is_stopped(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    job = make_job_for(cast, person)
    started = session.submit_form(WEEK, "/hours/timer/start", job=job["id"])
    assert started.headers["Location"] == f"{WEEK}?done=start_timer"
    for _ in range(2):
        page = session.get(WEEK).text
        assert re.search(r'data-since="[^"]+">0:00<', page)
        assert f"{job['number']} Replace the boiler" in page
    again = session.submit_form(WEEK, "/hours/timer/start", job="none")
    assert again.status_code == 409
    assert "Replace the boiler has been running since" in visible_text(again.text)
    switched = session.submit_form(WEEK, "/hours/timer/start", job="none", switch="yes")
    assert switched.status_code == 303
    wrong = session.submit_form(WEEK, "/hours/timer/stop", **{"break": "90"})
    assert (wrong.status_code, "Break is as long as the time worked" in visible_text(wrong.text)) == (422, True)
    stopped = session.submit_form(WEEK, "/hours/timer/stop", note="Flushed the pipes")
    assert stopped.headers["Location"] == f"{WEEK}?done=stop_timer"
    assert [entry["status"] for entry in entries_of(cast, person)] == ["draft", "draft"]


def test_a_timer_is_stopped_on_its_own_page_and_in_the_list(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    office, _ = sign_in_new_person(server, cast, Role.OFFICE)
    for stops, week in ((session, WEEK), (office, f"{WEEK}?person={person.id}")):
        entry = cast.perform(start_timer, personId=person.id)
        page = stops.get(f"/hours/{entry['id']}").text
        assert page.index("Stop timer") < page.index("Delete hours")
        assert re.search(r'<button class="primary" type="submit">Stop timer</button>', page)
        assert "Stop timer" in visible_text(stops.get("/hours?status=running").text)
        fields = {"entry": entry["id"], "person": person.id, "on": entry["on"]}
        assert all(f'name="{name}" value="{value}"' in page for name, value in fields.items())
        stopped = stops.submit_page(page, "/hours/timer/stop", **fields)
        mark = "&" if "?" in week else "?"
        assert stopped.headers["Location"] == f"{week}{mark}done=stop_timer"
        assert cast.perform(get_time_entry, timeEntryId=entry["id"])["status"] == "draft"
        assert "Stop timer" not in stops.get(f"/hours/{entry['id']}").text
        cast.perform(delete_hours, timeEntryId=entry["id"], confirmed=True)


def test_on_the_page_of_a_timer_no_other_is_stopped(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    entry = cast.perform(start_timer, personId=person.id)
    page = session.get(f"/hours/{entry['id']}").text
    other = cast.perform(start_timer, personId=person.id, switch=True)
    fields = {"entry": entry["id"], "person": person.id, "on": entry["on"]}
    refused = session.submit_page(page, "/hours/timer/stop", **fields)
    assert (refused.status_code, "the timer is already stopped" in visible_text(refused.text)) == (409, True)
    assert cast.perform(get_time_entry, timeEntryId=other["id"])["status"] == "running"


def test_home_tells_of_a_timer_that_runs_and_stops_it(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    job = make_job_for(cast, person)
    assert "Your timer is running" not in session.get("/").text
    entry = cast.perform(start_timer, personId=person.id, jobId=job["id"])
    page = session.get("/").text
    text = visible_text(page)
    assert "Your timer is running 0:00" in text
    assert f"{job['number']} Replace the boiler Since {format_moment(entry['startedAt'], 'Europe/London')}" in text
    assert session.submit_page(page, "/hours/timer/stop").status_code == 303
    assert "Your timer is running" not in session.get("/").text


def test_hours_of_a_day_are_logged_quickly(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    job = make_job_for(cast, person)
    day = today(cast).isoformat()
    done = session.submit_form(WEEK, "/hours/week/log", job=job["id"], time="7.30", day=day, note="Pipes")
    assert done.headers["Location"] == f"{WEEK}?done=log_hours"
    assert entries_of(cast, person) == [{"on": day, "minutes": 450, "jobId": job["id"], "status": "draft"}]
    wrong = session.submit_form(WEEK, "/hours/week/log", job=job["id"], time="soon", day=day, note="Kept")
    assert wrong.status_code == 422
    assert 'value="soon"' in wrong.text
    assert 'value="Kept"' in wrong.text
    ahead = session.submit_form(WEEK, "/hours/week/log", job="", time="1", day="2100-01-01")
    assert (ahead.status_code, "is in the future" in visible_text(ahead.text)) == (422, True)


def test_the_office_sees_and_fills_in_another_s_week(server: RunningServer, cast: Cast) -> None:
    session, _ = sign_in_new_person(server, cast, Role.OFFICE)
    mia = cast.people[Role.MEMBER]
    page = session.get(f"{WEEK}?person={mia}").text
    assert "Hours: Mia Member" in visible_text(page)
    fields = read_grid(page) | {f"hours new {today(cast)}": "1", "job": "none", "person": mia}
    assert session.submit_page(page, WEEK, **fields).headers["Location"] == f"{WEEK}?person={mia}&done=log_hours"
    assert session.submit_form(f"{WEEK}?person={mia}", "/hours/timer/start", person=mia, job="none").status_code == 303
    found = cast.perform(list_hours, personId=mia)["data"]
    assert sorted(entry["status"] for entry in found) == ["draft", "running"]


def test_the_field_sees_its_own_week_whatever_the_address_says(server: RunningServer, cast: Cast) -> None:
    make_time_entry(cast, Role.OFFICE, on=today(cast).isoformat(), minutes=61)
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        session, person = sign_in_new_person(server, cast, role)
        cast.perform(log_hours, personId=person.id, on=today(cast).isoformat(), minutes=67)
        page = session.get(f"{WEEK}?person={cast.people[Role.OFFICE]}").text
        assert "1:07" in page
        assert "1:01" not in page
        assert 'id="whose"' not in page
        assert "/hours/approve" not in page
        assert session.get("/hours/approve").status_code == 403


def test_everything_of_a_person_and_week_is_approved_on_one_screen(server: RunningServer, cast: Cast) -> None:
    day = today(cast).isoformat()
    ids = [str(make_time_entry(cast, on=day, minutes=minutes)["id"]) for minutes in (61, 62, 63)]
    cast.perform(submit_hours, Role.MEMBER, timeEntryIds=ids[:2])
    session, _ = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get("/hours/approve").text
    for text in ("Mia Member, week of", "2 entries, 2:03", "1:01", "1:02", "1:03"):
        assert text in visible_text(page)
    assert set(re.findall(r'name="entry (\w+)"', page)) == {*ids[:2]}
    done = session.submit_page(page, "/hours/approve", decision="approve", **{f"entry {ids[0]}": "on"})
    assert done.headers["Location"] == "/hours/approve?done=review_hours&decided=approve&count=1"
    assert "1 entry approved." in visible_text(session.follow_redirect(done).text)
    unsaid = session.submit_form("/hours/approve", decision="reject", **{f"entry {ids[1]}": "on"})
    assert (unsaid.status_code, "Enter a reason" in visible_text(unsaid.text)) == (422, True)
    unmarked = session.submit_form("/hours/approve", decision="approve")
    assert (unmarked.status_code, "Select at least one entry." in visible_text(unmarked.text)) == (422, True)
    session.submit_form("/hours/approve", decision="reject", reason="Which job?", **{f"entry {ids[1]}": "on"})
    found = [cast.perform(get_time_entry, timeEntryId=one)["status"] for one in ids]
    assert found == ["approved", "rejected", "draft"]
    assert "Nothing to approve." in session.get("/hours/approve").text


def test_whole_weeks_wait_however_many_have_submitted_hours(
    server: RunningServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monday = monday_of(today(cast)) - timedelta(days=7)
    for role, day in ((Role.MEMBER, monday), (Role.SUBCONTRACTOR, monday + timedelta(days=1))):
        ids = [make_time_entry(cast, role, on=f"{day}", minutes=2)["id"] for _ in range(55)]
        cast.perform(submit_hours, role, timeEntryIds=ids)
    session, _ = sign_in_new_person(server, cast, Role.OFFICE)
    sams = f"/hours/approve?person={cast.people[Role.SUBCONTRACTOR]}&week={monday}"
    page = session.get(sams).text
    assert f"Sam Subcontractor, week of {format_date(f'{monday}')} 55 entries, 1:50" in visible_text(page)
    assert len(re.findall(r'name="entry \w+"', page)) == 55
    assert visible_text(page).count("55 entries, 1:50") == 3
    # What is not looked through is not told as if it were all there is; of whom it is known, all is shown.
    monkeypatch.setattr(hours_approval, "_MAX_QUEUED_ENTRIES", 100)
    page = session.get(sams).text
    assert len(re.findall(r'name="entry \w+"', page)) == 55
    assert "at least 45 entries, 1:30" in visible_text(page)
    assert "There are more entries." in page


def test_more_of_a_week_than_can_be_decided_at_once_comes_by_and_by(server: RunningServer, cast: Cast) -> None:
    day = today(cast).isoformat()
    ids = [str(make_time_entry(cast, on=day, minutes=2)["id"]) for _ in range(101)]
    cast.perform(submit_hours, Role.MEMBER, timeEntryIds=ids[:100])
    cast.perform(submit_hours, Role.MEMBER, timeEntryIds=ids[100:])
    session, _ = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get("/hours/approve").text
    assert "There are more entries in this week." in page
    session.follow_redirect(session.post("/hours/approve", read_form(page) | {"decision": "approve"}))
    page = session.get("/hours/approve").text
    assert "1 entry, 0:02" in visible_text(page)
    assert "There are more entries in this week" not in page
    session.follow_redirect(session.post("/hours/approve", read_form(page) | {"decision": "approve"}))
    assert {cast.perform(get_time_entry, timeEntryId=one)["status"] for one in ids} == {"approved"}


def test_an_entry_has_a_page_and_is_changed_there(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    day = today(cast).isoformat()
    entry = cast.perform(log_hours, personId=person.id, startedAt=f"{day}T00:00", endedAt=f"{day}T00:10:30")
    path = f"/hours/{entry['id']}"
    assert "0:10 · Sara Someone" in visible_text(session.get(path).text)
    form = session.get(f"{path}/update-hours").text
    assert f'name="startedAt" type="text" value="{today(cast):%d/%m/%Y}"' in form
    assert 'name="startedAt time" type="text" value="00:00"' in form
    changed = session.submit_page(
        form, f"{path}/update-hours", startedAt=f"{day}T00:00", endedAt=f"{day}T00:10", minutes="0:10", note="Pipes",
        breakMinutes="5m", on=day,
    )  # fmt: skip
    assert changed.status_code == 303, visible_text(changed.text)
    kept = cast.perform(get_time_entry, timeEntryId=entry["id"])
    # What the form showed to the minute is kept to the second.
    assert (kept["minutes"], kept["note"], kept["endedAt"]) == (5, "Pipes", entry["endedAt"])
    assert (
        session.submit_form(f"{path}/delete-hours", confirmed="yes").headers["Location"] == "/hours?done=delete_hours"
    )


def test_hours_are_listed_and_narrowed(server: RunningServer, cast: Cast) -> None:
    make_time_entry(cast, on=today(cast).isoformat(), minutes=61)
    cast.perform(start_timer, Role.OFFICE)
    session, _ = sign_in_new_person(server, cast, Role.OFFICE)
    assert "1:01 · Mia Member" in visible_text(session.get("/hours").text)
    assert "Mia Member" not in session.get("/hours?status=running").text.partition("<table")[2]
    assert "1:01 · Mia Member" in visible_text(session.get(f"/hours?personId={cast.people[Role.MEMBER]}").text)
    assert session.get("/hours/export.csv").status_code == 200


@pytest.mark.parametrize(
    "asked", ["on=x", "on=0001-01-01", "on=9999-12-31", "person=person_01M7HWWMGC8YK77YP9EA6KPCC5", "person=x"]
)
def test_an_address_that_makes_no_sense_is_no_fault(server: RunningServer, cast: Cast, asked: str) -> None:
    session, _ = sign_in_new_person(server, cast, Role.OFFICE)
    assert session.get(f"{WEEK}?{asked}").status_code in {200, 404, 422}
    assert session.get(f"/hours/approve?{asked}&week=x").status_code == 200


def test_cells_that_name_nothing_are_refused_and_never_a_fault(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    page = session.get(WEEK).text
    for name in ("hours", "hours x", "hours x y", f"hours {new_id('job')} 2026-99-99", f"hours job_1 {today(cast)}"):
        assert session.submit_page(page, WEEK, **{name: "1"}).status_code in {303, 422}
    for seen in (f"{new_id('entry')} 1 60", f"{new_id('entry')} x", "entry_1 1 60", f"{new_id('entry')}"):
        fields = {f"hours none {today(cast)}": "", f"seen none {today(cast)}": seen}
        assert session.submit_page(page, WEEK, **fields).status_code in {303, 422}
    assert entries_of(cast, person) == []


def test_what_is_refused_in_the_grid_is_told_in_words_for_people(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast)
    job = make_job_for(cast, person)
    day = today(cast).isoformat()
    page = session.get(WEEK).text
    answer = session.submit_page(page, WEEK, **read_grid(page) | {f"hours new {day}": "25:00", "job": job["id"]})
    assert answer.status_code == 422
    faults = re.findall(r'<p class="fault"[^>]*>([^<]*)</p>', answer.text)
    assert [unescape(fault).startswith("Time ") for fault in faults] == [True]
    for name in ("minutes", "jobId", "log_hours"):
        assert name not in visible_text(answer.text)

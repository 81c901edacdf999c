"""Hours in a real browser: on a phone, with the keyboard alone, and without JavaScript."""

import re

from playwright.sync_api import Browser, expect

from mainstay.business.hours.approval import submit_hours
from mainstay.business.hours.operations import list_hours, log_hours
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, TINY, check_page, enter_office, open_page, sign_in
from support.browser_session import add_new_person
from support.cast import Cast
from support.hours import make_assigned_job
from support.servers import RunningServer


def today(cast: Cast) -> str:
    return local_date(cast.performer.clock(), "Europe/London").isoformat()


def test_a_member_times_and_logs_hours_on_a_phone(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    job = make_assigned_job(cast, assigned=[person.id])
    called = f"{job['number']} Replace the boiler · Ashdown School"
    with open_page(browser, server.url, NARROW) as page:
        sign_in(page, person)
        page.get_by_label("Main areas").get_by_role("link", name="Hours").click()
        page.get_by_role("region", name="Timer").get_by_label("Job").select_option(called)
        page.get_by_role("button", name="Start timer").click()
        expect(page.get_by_role("status")).to_have_text(re.compile("Timer started"))
        check_page(page)
        page.reload()
        expect(page.locator("[data-since]")).to_have_text("0:00")
        page.get_by_role("button", name="Stop timer").click()
        expect(page.get_by_role("status")).to_have_text(re.compile("Timer stopped"))
        log = page.get_by_role("region", name="Log hours")
        log.get_by_label("Job").select_option(called)
        log.get_by_label("Time").fill("7.30")
        log.get_by_role("button", name="Log hours").click()
        expect(page.locator(f'input[name="hours {job["id"]} {today(cast)}"]')).to_have_value("7:30")
        page.set_viewport_size({"width": TINY[0], "height": TINY[1]})
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    found = cast.perform(list_hours, personId=person.id)["data"]
    assert sorted(entry["minutes"] for entry in found) == [1, 450]


def test_on_a_phone_a_week_of_many_jobs_is_short_and_any_day_of_it_is_typed(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    jobs = [make_assigned_job(cast, assigned=[person.id], title=f"Replace boiler {number}") for number in range(10)]
    for job in jobs:
        for day in ("2026-03-02", "2026-03-03"):
            cast.perform(log_hours, personId=person.id, on=day, minutes=30, jobId=job["id"])
    with open_page(browser, server.url, NARROW) as page:
        sign_in(page, person)
        page.goto("/hours/week?on=2026-03-05")
        assert page.locator("table.week").evaluate("table => table.offsetHeight") < 900
        monday, tuesday = (page.locator(f'input[name="hours {jobs[3]["id"]} 2026-03-0{day}"]') for day in (2, 3))
        expect(monday).to_be_visible()
        expect(tuesday).to_be_hidden()
        page.get_by_role("radio", name=re.compile("Tue 3")).check()
        expect(monday).to_be_hidden()
        tuesday.fill("2:15")
        check_page(page)
        page.get_by_role("button", name="Save week").click()
        expect(page.get_by_role("status")).to_have_text(re.compile("Hours updated"))
        # What is wrong on a day that is not open is in sight, and says which day it is of.
        tuesday.evaluate("field => { field.value = 'soon' }")
        page.get_by_role("button", name="Save week").click()
        expect(tuesday).to_be_visible()
    found = cast.perform(list_hours, personId=person.id, jobId=jobs[3]["id"], order="oldest")["data"]
    assert [entry["minutes"] for entry in found] == [30, 135]


def test_on_a_phone_hours_of_different_days_are_told_apart(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    for day in ("2026-03-02", "2026-03-03"):
        cast.perform(log_hours, personId=person.id, on=day, minutes=195)
    with open_page(browser, server.url, NARROW) as page:
        sign_in(page, person)
        page.goto("/hours")
        for day in ("2 Mar 2026", "3 Mar 2026"):
            expect(page.get_by_role("row", name="3:15").get_by_text(day).locator("visible=true")).to_have_count(1)
        check_page(page)


def test_the_clock_of_a_timer_runs_on(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    with open_page(browser, server.url) as page:
        page.clock.install()
        sign_in(page, person)
        page.goto("/hours/week")
        page.get_by_role("button", name="Start timer").click()
        expect(page.locator("[data-since]")).to_have_text("0:00")
        page.clock.run_for(62 * 60 * 1000)
        expect(page.locator("[data-since]")).to_have_text(re.compile("1:0[123]"))


def test_a_week_is_typed_with_the_keyboard_alone(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    job = make_assigned_job(cast, assigned=[person.id])
    cast.perform(log_hours, personId=person.id, on=today(cast), minutes=60, jobId=job["id"])
    with open_page(browser, server.url) as page:
        sign_in(page, person)
        page.goto("/hours/week")
        box = page.locator(f'input[name="hours {job["id"]} {today(cast)}"]')
        for _ in range(80):
            page.keyboard.press("Tab")
            if box.evaluate("(box) => box === document.activeElement"):
                break
        expect(box).to_be_focused()
        page.keyboard.type("2,5")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_have_text(re.compile("Hours updated"))
        expect(box).to_have_value("2:30")


def test_the_office_approves_a_week_and_rejects_with_a_reason(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    for minutes in (61, 62):
        cast.perform(log_hours, Role.MEMBER, on=today(cast), minutes=minutes)
    cast.perform(submit_hours, Role.MEMBER, **{"from": today(cast), "until": today(cast)})
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.get_by_label("Areas", exact=True).get_by_role("link", name="Hours").click()
        page.get_by_role("link", name="To approve").click()
        check_page(page)
        page.get_by_role("checkbox", name=re.compile("1:02")).uncheck()
        page.get_by_role("button", name="Approve 1 entry (1:01)").click()
        expect(page.get_by_role("status")).to_contain_text("1 entry approved.")
        page.get_by_text("Reject entries").click()
        page.get_by_label("Reason").fill("Which job?")
        page.get_by_role("button", name="Reject", exact=True).click()
        expect(page.get_by_text("Nothing to approve")).to_be_visible()
    found = cast.perform(list_hours, personId=cast.people[Role.MEMBER])["data"]
    assert {(entry["minutes"], entry["status"]) for entry in found} == {(61, "approved"), (62, "rejected")}


def test_everything_works_without_javascript(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    job = make_assigned_job(cast, assigned=[person.id])
    context = browser.new_context(base_url=server.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, person)
    page.goto("/hours/week")
    page.get_by_role("button", name="Start timer").click()
    page.get_by_role("button", name="Stop timer").click()
    page.get_by_label("Add job").select_option(f"{job['number']} Replace the boiler · Ashdown School")
    page.locator(f'input[name="hours new {today(cast)}"]').fill("45m")
    page.get_by_role("button", name="Save and submit").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("Hours submitted"))
    context.close()
    found = cast.perform(list_hours, personId=person.id)["data"]
    assert sorted((entry["minutes"], entry["status"]) for entry in found) == [(1, "submitted"), (45, "submitted")]

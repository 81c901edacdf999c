"""The field's day on a phone: a visit is done with three taps."""

import re

from playwright.sync_api import Browser, Page, expect

from mainstay.business.hours.operations import list_hours
from mainstay.business.schedule.operations import plan_visit
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, check_page, open_page, sign_in
from support.browser_session import NewPerson, add_new_person
from support.cast import Cast
from support.servers import RunningServer
from support.visits import make_site_job

# The least height of what a thumb presses.
_THUMB = 48


def plan_today(cast: Cast, person: NewPerson) -> str:
    """Plan a visit of a person today; return its address."""
    job = make_site_job(cast, description="Rod from the manhole.", assigned=[person.id])
    day = local_date(cast.performer.clock(), "Europe/London").isoformat()
    visit = cast.perform(plan_visit, jobId=job["id"], personIds=[person.id], on=day)["id"]
    return f"/schedule/visits/{visit}"


def height_of(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box
    return box["height"]


def test_a_visit_is_started_and_finished_with_three_taps(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_today(cast, person)
    with open_page(browser, server.url, NARROW) as page:
        sign_in(page, person)
        page.goto(path)
        title = page.get_by_role("heading", level=1).bounding_box()
        assert title
        assert title["y"] + title["height"] <= 128
        page.get_by_role("button", name="Start work").click()
        expect(page.locator("#content [data-since]")).to_have_text("0:00")
        check_page(page)
        assert min(height_of(page, ".tile"), height_of(page, ".work-buttons button")) >= _THUMB
        page.get_by_role("link", name="Finish").click()
        # The button says what is logged, also when the times are changed.
        expect(page.get_by_role("button", name=re.compile("Finish and log 0:01"))).to_be_visible()
        check_page(page)
        page.get_by_label("Started").fill("08:00")
        page.get_by_label("Finished").fill("09:30")
        page.get_by_label("Break").fill("15m")
        expect(page.get_by_role("button", name="Finish and log 1:15")).to_be_visible()
        page.goto(f"{path}/finish")
        page.get_by_label("Note for the office").fill("Cleared.")
        page.get_by_role("button", name=re.compile("Finish and log")).click()
        expect(page.get_by_text("Visit done.")).to_be_visible()
        expect(page.get_by_text("Cleared.")).to_be_visible()
    [entry] = cast.perform(list_hours, personId=person.id)["data"]
    assert (entry["status"], entry["minutes"]) == ("draft", 1)

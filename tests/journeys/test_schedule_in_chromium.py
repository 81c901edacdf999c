"""The schedule in a real browser: by mouse, by keyboard, without scripts, on a phone."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import create_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import update_person
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import get_visit, list_visits
from mainstay.vocabulary.permissions import Role
from support.browser import (
    NARROW,
    PAPER,
    TABLET,
    TINY,
    check_page,
    enter_office,
    open_page,
    open_page_without_scripts,
    sign_in,
    visit_on_board,
)
from support.browser_session import add_new_person
from support.cast import Cast
from support.customers import make_customer
from support.quotes import accept_quote, issue_quote, make_quote
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit

VIEWS = ("day", "week", "month", "list", "sheet")


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    with open_page(browser, server.url) as page:
        yield page


def fill_day(cast: Cast) -> dict[str, object]:
    """A day with all that a day can have; one visit of it."""
    cast.perform(update_person, personId=cast.people[Role.MEMBER], colour="#9f1853")
    first: dict[str, object] = plan_test_visit(cast, notes="Bring a ladder")
    plan_test_visit(cast, times=("10:30", "12:15"), allowOverlap=True, overlapReason="Next door")
    plan_test_visit(cast, Role.SUBCONTRACTOR, ("14:00", "16:30"))
    plan_test_visit(cast, Role.SUBCONTRACTOR, on=DAY)
    plan_test_visit(cast, None, ("09:00", "10:00"))
    plan_test_visit(cast, None, title="Stocktaking", on=DAY)
    leave = cast.perform(request_time_off, **{"personId": cast.people[Role.OFFICE], "from": DAY, "kind": "sick"})
    cast.perform(decide_time_off, timeOffId=leave["id"], decision="approve")
    return first


def test_every_view_is_fit_for_everyone(cast: Cast, browser: Browser, server: RunningServer) -> None:
    fill_day(cast)
    with open_page(browser, server.url, TINY) as page:
        enter_office(page, cast, Role.OFFICE)
        pages = ("/schedule/free", "/schedule/visits", "/schedule/visits/plan", "/time-off", "/schedule/calendar")
        days = f"from={DAY}&until={DAY}"
        for path in (*(f"/schedule?view={view}&on={DAY}" for view in VIEWS), f"/schedule/change?{days}", *pages):
            page.goto(path)
            check_page(page)


def test_a_visit_is_dragged_to_another_time_and_person(cast: Cast, page: Page) -> None:
    made = plan_test_visit(cast, notes="Bring a ladder")
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    unfold(page)
    row = page.locator(f"[data-person='{cast.people[Role.SUBCONTRACTOR]}']")
    box = row.bounding_box()
    assert box
    # Eleven hours from seven, one before anyone works: two o'clock is seven elevenths of the way.
    page.locator(".booked").drag_to(
        row, source_position={"x": 2, "y": 8}, target_position={"x": box["width"] * 7 / 11 + 3, "y": 12}
    )
    expect(row.locator(".booked")).to_contain_text("14:00")
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["personName"], after["startsAt"]) == ("Sam Subcontractor", f"{DAY}T14:00:00.000Z")
    assert (after["endsAt"], after["notes"]) == (f"{DAY}T15:00:00.000Z", "Bring a ladder")


def test_a_visit_is_planned_where_someone_clicks_or_draws_and_undone(cast: Cast, page: Page) -> None:
    plan_test_visit(cast)
    job, other = make_site_job(cast, title="Clear the gutters"), make_site_job(cast, title="Paint the door")
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    row = page.locator(f"[data-person='{cast.people[Role.MEMBER]}']")
    box = row.bounding_box()
    assert box
    hour, form, notice = box["width"] / 11, page.locator("#new-visit"), page.locator("#told .notice")
    # Drawn from one o'clock to half past two.
    page.mouse.move(box["x"] + 6 * hour + 3, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 7.5 * hour - 3, box["y"] + 20, steps=4)
    page.mouse.up()
    expect(form).to_be_visible()
    check_page(page)
    expect(form.get_by_label("Person")).to_have_value(cast.people[Role.MEMBER])
    expect(form.get_by_label("Start")).to_have_value("13:00")
    expect(form.get_by_label("Duration")).to_have_value("90")
    # The full form begins with what was typed.
    form.get_by_label("Job").fill(str(job["number"]))
    form.get_by_role("link", name="More options").click()
    expect(page.get_by_label("Job")).to_have_value(str(job["number"]))
    page.go_back()
    # A click is an hour.
    page.mouse.click(box["x"] + 6 * hour + 3, box["y"] + 20)
    form.get_by_label("Job").fill(str(job["number"]))
    form.get_by_label("Job").press("Enter")
    expect(notice).to_contain_text("Clear the gutters planned: Mia Member, 11 Jan 2038, 13:00\N{EN DASH}14:00.")
    expect(form).to_be_hidden()
    expect(row.locator(".booked")).to_have_count(2)
    expect(page.locator("#tray .waiting")).to_have_count(1)
    # What clashes is refused in the form; Escape gives up.
    page.mouse.click(box["x"] + 5.5 * hour + 3, box["y"] + 20)
    form.get_by_label("Job").fill(str(other["number"]))
    form.get_by_role("button", name="Plan visit").click()
    expect(form.locator(".notice")).to_contain_text("Mia Member is at")
    page.keyboard.press("Escape")
    expect(form).to_be_hidden()
    expect(page.locator(".drawn")).to_have_count(0)
    page.evaluate("() => { window.isSamePage = true; }")
    notice.get_by_role("button", name="Undo").click()
    expect(notice).to_contain_text("undone")
    assert page.evaluate("() => window.isSamePage")
    expect(row.locator(".booked")).to_have_count(1)
    expect(page.locator("#tray .waiting")).to_have_count(2)
    assert cast.perform(list_visits, jobId=job["id"])["data"] == []


def test_a_job_of_the_tray_is_planned_by_dragging_and_by_keys(cast: Cast, page: Page) -> None:
    there, other = plan_test_visit(cast), make_site_job(cast, title="Paint the door")
    customer = make_customer(cast, email="ann@calder.example")
    job = cast.perform(create_job, customerId=customer, title="Clear the gutters")
    # A visit is as long as what was quoted.
    labour = {"description": "Labour", "quantity": "3", "unit": "h", "unitPrice": "50"}
    accept_quote(cast, issue_quote(cast, make_quote(cast, jobId=job["id"], lines=[labour])))
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    row = page.locator(f"[data-person='{cast.people[Role.MEMBER]}']")
    box = row.bounding_box()
    assert box
    hour, form, notice = box["width"] / 11, page.locator("#new-visit"), page.locator("#told .notice")
    waiting = page.locator(".waiting").filter(has_text="Clear the gutters")
    # What it would clash with is named on the way.
    waiting.hover()
    page.mouse.down()
    for by in range(3):
        page.mouse.move(box["x"] + 2.5 * hour + by, box["y"] + 30)
    expect(page.locator("#dragged")).to_have_text(f"Overlaps {there['jobNumber']} Mend the roof.")
    for by in range(3):
        page.mouse.move(box["x"] + 6 * hour + 3 + by, box["y"] + 30)
    expect(page.locator("#dragged")).to_be_hidden()
    page.mouse.up()
    expect(notice).to_contain_text("Clear the gutters planned: Mia Member, 11 Jan 2038, 13:00\N{EN DASH}16:00.")
    (made,) = cast.perform(list_visits, jobId=job["id"])["data"]
    assert made["startsAt"] == f"{DAY}T13:00:00.000Z"
    # By keys alone.
    page.locator(".waiting .job").focus()
    page.keyboard.press("s")
    expect(form.get_by_label("Job")).to_have_value(re.compile("Paint the door"))
    expect(form.get_by_label("Person")).to_be_focused()
    form.get_by_label("Person").select_option(label="Sam Subcontractor")
    form.get_by_label("Start").fill("09:00")
    form.get_by_label("Start").press("Enter")
    expect(notice).to_contain_text("Paint the door planned: Sam Subcontractor, 11 Jan 2038, 09:00\N{EN DASH}11:00.")
    expect(page.locator("#tray")).to_contain_text("Every job has a visit.")
    (made,) = cast.perform(list_visits, jobId=other["id"])["data"]
    assert made["personName"] == "Sam Subcontractor"
    # In a week, a click asks when.
    page.goto(f"/schedule?view=week&on={DAY}")
    page.locator(f"td[data-person='{cast.people[Role.MEMBER]}'][data-day='2038-01-13']").click()
    form.get_by_label("Job").fill(str(job["number"]))
    form.get_by_label("Start").fill("11:00")
    form.get_by_role("button", name="Plan visit").click()
    expect(page.locator("td[data-day='2038-01-13'] .booked")).to_contain_text("11:00")


def test_a_clash_is_refused_and_named_where_it_was_dropped(cast: Cast, page: Page) -> None:
    made, there = plan_test_visit(cast), plan_test_visit(cast, Role.SUBCONTRACTOR)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=week&on={DAY}")
    cell = page.locator(f"td[data-person='{cast.people[Role.SUBCONTRACTOR]}'][data-day='{DAY}']")
    page.locator(f"[href='/schedule/visits/{made['id']}']").drag_to(cell)
    expect(page.locator("#dragged")).to_contain_text(f"Sam Subcontractor is at {there['jobNumber']} Mend the roof")
    assert cast.perform(get_visit, visitId=made["id"])["personName"] == "Mia Member"
    check_page(page)
    # Where the overlap is allowed is one press away.
    page.locator("#dragged").get_by_role("link", name="Edit the visit").click()
    expect(page).to_have_url(re.compile(f"/schedule/visits/{made['id']}/move#allowOverlap$"))
    expect(page.get_by_label("Allow double booking")).to_be_visible()


# Their forms show 01/11/2038, 2038-01-11, 11/01/2038 and 11.01.2038; the other journeys are British ones.
@pytest.mark.parametrize("country", ["US", "SE", *(pytest.param(one, marks=pytest.mark.long) for one in ("GB", "DE"))])
def test_a_day_of_the_week_keeps_the_time(cast: Cast, page: Page, country: str) -> None:
    cast.perform(update_organisation, country=country)
    made = plan_test_visit(cast)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=week&on={DAY}")
    page.locator(".booked").drag_to(
        page.locator(f"td[data-person='{cast.people[Role.MEMBER]}'][data-day='2038-01-13']")
    )
    expect(page.locator("td[data-day='2038-01-13'] .booked")).to_be_visible()
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["startsAt"], after["endsAt"]) == ("2038-01-13T10:00:00.000Z", "2038-01-13T11:00:00.000Z")


def test_the_edge_of_a_visit_is_dragged_to_another_length(cast: Cast, page: Page) -> None:
    made, later = plan_test_visit(cast, notes="Bring a ladder"), plan_test_visit(cast, times=("12:00", "13:00"))
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    hour = pull_edge(page, made, 0.5)
    page.mouse.up()
    expect(visit_on_board(page, made)).to_contain_text("10:00\N{EN DASH}11:30")
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["startsAt"], after["endsAt"]) == (f"{DAY}T10:00:00.000Z", f"{DAY}T11:30:00.000Z")
    assert (after["personName"], after["notes"]) == ("Mia Member", "Bring a ladder")
    # It was dragged, and not opened.
    assert page.url.endswith(f"view=day&on={DAY}")

    # What is in the way is shown while it is dragged, and refused when it is dropped there.
    assert pull_edge(page, made, 1) == hour
    expect(page.locator("#dragged")).to_have_text(f"Overlaps {later['jobNumber']} Mend the roof.")
    expect(page.locator(".track.clash")).to_have_count(1)
    page.mouse.up()
    expect(page.locator("#dragged")).to_contain_text(f"Mia Member is at {later['jobNumber']} Mend the roof")
    expect(page.locator(".track.clash")).to_have_count(0)
    assert cast.perform(get_visit, visitId=made["id"])["endsAt"] == f"{DAY}T11:30:00.000Z"
    box = visit_on_board(page, made).bounding_box()
    assert box
    assert abs(box["width"] - 1.5 * hour) < hour / 8


def test_a_clash_is_shown_while_a_visit_is_dragged_to_another_person(cast: Cast, page: Page) -> None:
    made, there = plan_test_visit(cast), plan_test_visit(cast, Role.SUBCONTRACTOR, ("10:00", "12:00"))
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    visit_on_board(page, made).hover()
    page.mouse.down()
    box = visit_on_board(page, there).bounding_box()
    assert box
    # Whatever is entered is told so first, and only then of what moves over it.
    for by in range(3):
        page.mouse.move(box["x"] + box["width"] / 2 + by, box["y"] + 8)
    expect(page.locator("#dragged")).to_have_text(f"Overlaps {there['jobNumber']} Mend the roof.")
    page.mouse.up()
    expect(page.locator("#dragged")).to_contain_text(f"Sam Subcontractor is at {there['jobNumber']} Mend the roof")
    assert cast.perform(get_visit, visitId=made["id"])["personName"] == "Mia Member"


def test_by_keyboard_alone_a_visit_becomes_longer_and_shorter(cast: Cast, page: Page) -> None:
    made = plan_test_visit(cast)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    message = page.locator("#dragged")
    visit_on_board(page, made).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(f"Shift+{key}")
    # It waits to be saved, as where it goes does.
    expect(message).to_have_text("Mia Member, 10:00\N{EN DASH}11:30. Press Enter to save or Escape to cancel.")
    assert cast.perform(get_visit, visitId=made["id"])["version"] == made["version"]
    save_move(page)
    expect(visit_on_board(page, made)).to_contain_text("10:00\N{EN DASH}11:30")
    # The page has been loaded again, and the focus is where it was.
    expect(visit_on_board(page, made)).to_be_focused()
    before = visit_on_board(page, made).bounding_box()
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Escape")
    expect(message).to_be_hidden()
    assert visit_on_board(page, made).bounding_box() == before
    assert cast.perform(get_visit, visitId=made["id"])["endsAt"] == f"{DAY}T11:30:00.000Z"


def test_by_keyboard_alone_where_a_visit_goes_and_how_long_it_takes_are_saved_together(cast: Cast, page: Page) -> None:
    made = plan_test_visit(cast)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    visit_on_board(page, made).focus()
    for key in ("ArrowDown", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#dragged")).to_contain_text(", 10:30\N{EN DASH}12:00. Press Enter to save")
    save_move(page)
    expect(visit_on_board(page, made)).to_be_focused()
    assert "/visits/" not in page.url
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["startsAt"], after["endsAt"]) == (f"{DAY}T10:30:00.000Z", f"{DAY}T12:00:00.000Z")
    assert after["personId"] != made["personId"]


def test_by_keyboard_alone_a_visit_ends_with_the_day_that_is_shown(cast: Cast, page: Page) -> None:
    # Whatever is shown of a day, it ends at midnight.
    made = plan_test_visit(cast, times=("22:45", "23:45"))
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    visit_on_board(page, made).focus()
    for _ in range(2):
        page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#dragged")).to_have_text("It can't be longer. The schedule ends here.")
    for _ in range(5):
        page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("#dragged")).to_have_text("It can't be shorter than 15 minutes.")


def test_by_keyboard_alone_a_visit_goes_to_another_time_and_person(cast: Cast, page: Page) -> None:
    made, there = (
        plan_test_visit(cast, notes="Bring a ladder"),
        plan_test_visit(cast, Role.SUBCONTRACTOR, ("10:00", "10:30")),
    )
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    message = page.locator("#dragged")
    visit_on_board(page, made).focus()
    row = page.locator(f"[data-person='{cast.people[Role.MEMBER]}']")
    # Downwards until one is at Sam's, where it clashes; saved there, it is refused and stands where it was.
    down = 0
    while not message.is_visible() or "Overlaps" not in message.inner_text():
        page.keyboard.press("ArrowDown")
        down += 1
    expect(message).to_have_text(f"Overlaps {there['jobNumber']} Mend the roof.")
    expect(visit_on_board(page, made)).to_be_focused()
    page.keyboard.press("Enter")
    expect(message).to_contain_text(f"Sam Subcontractor is at {there['jobNumber']} Mend the roof")
    expect(row.locator(".booked")).to_have_count(1)
    expect(visit_on_board(page, made)).to_be_focused()

    to_sam = ["ArrowDown"] * down + ["ArrowRight"] * 2
    for key in to_sam:
        page.keyboard.press(key)
    expect(message).to_contain_text("Sam Subcontractor, 10:30\N{EN DASH}11:30. Press Enter to save")
    page.keyboard.press("Escape")
    expect(message).to_be_hidden()
    expect(row.locator(".booked")).to_have_count(1)
    assert cast.perform(get_visit, visitId=made["id"])["version"] == made["version"]

    for key in to_sam:
        page.keyboard.press(key)
    save_move(page)
    expect(row.locator(".booked")).to_have_count(0)
    # The page has been loaded again, and the focus is where it was.
    expect(visit_on_board(page, made)).to_be_focused()
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["personName"], after["notes"]) == ("Sam Subcontractor", "Bring a ladder")
    assert (after["startsAt"], after["endsAt"]) == (f"{DAY}T10:30:00.000Z", f"{DAY}T11:30:00.000Z")


def test_by_keyboard_alone_a_visit_goes_to_another_day(cast: Cast, page: Page) -> None:
    made, anytime = plan_test_visit(cast), plan_test_visit(cast, on=DAY)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=week&on={DAY}")
    for visit in (made, anytime):
        visit_on_board(page, visit).focus()
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            page.keyboard.press(key)
        expect(page.locator("#dragged")).to_contain_text("Mia Member, Tuesday 12 January, ")
        save_move(page)
        expect(page.locator("td[data-day='2038-01-12']").locator(visit_on_board(page, visit))).to_be_focused()
    after, any_day = (cast.perform(get_visit, visitId=one["id"]) for one in (made, anytime))
    assert (after["startsAt"], any_day["on"]) == ("2038-01-12T10:00:00.000Z", "2038-01-12")


def test_by_keyboard_alone_what_has_no_time_goes_to_another_person(cast: Cast, page: Page) -> None:
    made = plan_test_visit(cast, Role.SUBCONTRACTOR, on=DAY)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    visit_on_board(page, made).focus()
    # Downwards to those who have no visits, who are folded away.
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    save_move(page)
    expect(page.locator(f"[data-person='{cast.people[Role.SUBCONTRACTOR]}'] .booked")).to_have_count(0)
    after = cast.perform(get_visit, visitId=made["id"])
    assert (after["on"], after["personName"] != "Sam Subcontractor") == (DAY, True)
    # If the person goes on to something else, it stays as it was.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.locator(f"[data-person='{cast.people[Role.SUBCONTRACTOR]}'] .booked")).to_have_count(0)
    assert cast.perform(get_visit, visitId=made["id"])["version"] == after["version"]


def unfold(page: Page) -> None:
    """Show those who have no visits."""
    page.locator(".folded > summary").click()


def save_move(page: Page) -> None:
    """Save where a visit was moved to; then the board has been loaded again, and the page is still the same."""
    page.evaluate("() => { window.isSamePage = true; }")
    page.locator("#told .notice").evaluate_all("notices => notices.forEach((notice) => notice.remove())")
    page.keyboard.press("Enter")
    expect(page.locator("#told .notice")).to_contain_text(" changed: ")
    assert page.evaluate("() => window.isSamePage")


def pull_edge(page: Page, visit: dict[str, object], hours: float) -> float:
    """Take the right edge of a visit and pull it by so many hours; how wide an hour is."""
    box = visit_on_board(page, visit).bounding_box()
    track = page.locator(".track").first.bounding_box()
    assert box
    assert track
    hour = track["width"] / 11
    x, y = box["x"] + box["width"] - 4, box["y"] + 8
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + hour * hours, y, steps=4)
    return hour


def test_by_keyboard_alone_a_visit_is_found_and_moved(cast: Cast, page: Page) -> None:
    made = plan_test_visit(cast)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    page.locator(".booked").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Edit").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Starts, time").fill("15:00")
    page.get_by_label("Starts, time").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Mend the roof changed: Mia Member, 11 Jan 2038, 15:00")
    assert cast.perform(get_visit, visitId=made["id"])["startsAt"] == f"{DAY}T15:00:00.000Z"


def test_a_key_edits_a_visit_whoever_it_is_for(cast: Cast, page: Page) -> None:
    person = add_new_person(cast, Role.OFFICE)
    sign_in(page, person)
    # One's own visit has its actions in another menu.
    for people in ([person.id], [cast.people[Role.MEMBER]]):
        made = plan_test_visit(cast, None, personIds=people)
        page.goto(f"/schedule/visits/{made['id']}")
        page.keyboard.press("e")
        expect(page).to_have_url(re.compile(f"/schedule/visits/{made['id']}/move$"))


def test_without_scripts_a_visit_is_planned_for_whoever_is_free(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    job = make_site_job(cast)
    plan_test_visit(cast, times=("14:00", "15:00"))
    context = browser.new_context(base_url=server.url, java_script_enabled=False)
    page = context.new_page()
    enter_office(page, cast, Role.OFFICE)
    page.goto("/schedule")
    page.get_by_role("link", name="Who is free?").click()
    page.locator("#startsAt").fill("11/01/2038")
    page.get_by_label("Start time, time").fill("14:00")
    page.get_by_role("button", name="Find free times").click()
    page.get_by_role("link", name="Plan Sam Subcontractor").click()
    page.get_by_label("Job").fill(str(job["number"]))
    page.get_by_role("button", name="Plan visit").click()
    expect(page.get_by_role("status")).to_contain_text("Visit planned.")
    (made,) = cast.perform(list_visits, jobId=job["id"])["data"]
    assert (made["personName"], made["startsAt"]) == ("Sam Subcontractor", f"{DAY}T14:00:00.000Z")
    context.close()


def test_without_scripts_a_sick_day_is_approved_and_its_visits_are_moved_in_one_plan(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    first, second = plan_test_visit(cast), plan_test_visit(cast, times=("13:00", "14:00"))
    there = plan_test_visit(cast, Role.SUBCONTRACTOR)
    leave = cast.perform(request_time_off, Role.MEMBER, **{"from": DAY, "kind": "sick"})
    with open_page_without_scripts(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/time-off/{leave['id']}/decide")
        page.get_by_label("Decision").select_option("approve")
        page.get_by_role("button", name="Approve or decline").click()
        page.get_by_role("link", name="Move these visits").click()
        marks = page.get_by_label("Select ")
        expect(marks).to_have_count(2)
        for mark in marks.all():
            mark.check()
        page.get_by_label("Assign to").select_option(label="Sam Subcontractor")
        page.get_by_role("button", name="Apply to selected").click()
        expect(page.locator("tr.changed")).to_have_count(2)
        page.locator(".stuck").get_by_role("button", name="Continue").click()
        # One of them clashes: that one goes to the day after.
        expect(page.get_by_role("alert")).to_contain_text(f"Sam Subcontractor is at {there['jobNumber']} Mend the roof")
        page.get_by_label(f"Date, {first['jobNumber']}").fill("2038-01-12")
        page.locator(".stuck").get_by_role("button", name="Continue").click()
        expect(page.locator(".panel")).to_contain_text("Sam Subcontractor on 12 Jan 2038: 1 visit (1:00 h).")
        page.get_by_role("button", name="Save changes").click()
        expect(page.get_by_role("status")).to_contain_text("Schedule updated.")
        expect(page.get_by_role("link", name="Move these visits")).to_have_count(0)
    for visit, day in ((first, "2038-01-12T10"), (second, f"{DAY}T13")):
        after = cast.perform(get_visit, visitId=visit["id"])
        assert (after["personName"], after["startsAt"][:13]) == ("Sam Subcontractor", day)


def test_on_a_phone_a_day_reads_as_a_list(cast: Cast, browser: Browser, server: RunningServer) -> None:
    fill_day(cast)
    with open_page(browser, server.url, NARROW) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/schedule?view=day&on={DAY}")
        first = page.locator(".booked").first.bounding_box()
        assert first
        assert first["width"] > NARROW[0] / 2


def test_on_a_tablet_and_on_paper_a_week_can_be_read(cast: Cast, browser: Browser, server: RunningServer) -> None:
    fill_day(cast)
    started = plan_test_visit(cast, Role.SUBCONTRACTOR, ("17:00", "18:30"))
    cast.perform(set_visit_status, visitId=started["id"], status="started")
    with open_page(browser, server.url, TABLET) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/schedule?view=week&on={DAY}")
        looks: tuple[tuple[tuple[int, int], Literal["screen", "print"]], ...] = ((TABLET, "screen"), (PAPER, "print"))
        for size, media in looks:
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.emulate_media(media=media)
            assert page.locator(".booked").count() > len(VIEWS)
            assert page.evaluate(_CUT_OFF) == []
            # A time is one line, and what wraps is what is longer.
            when, whole = (visit_on_board(page, started).locator(part).bounding_box() for part in (".when", "strong"))
            assert when
            assert whole
            assert when["height"] < whole["height"]
        # No printer prints the ground on which what has begun is written.
        paper = visit_on_board(page, started).evaluate(
            "(card) => [getComputedStyle(card).color, getComputedStyle(card).backgroundColor]"
        )
        assert paper == ["rgb(27, 35, 32)", "rgba(0, 0, 0, 0)"]


_CUT_OFF = """[...document.querySelectorAll(".booked > strong, .booked > span:not(.mark)")]
    .filter((part) => part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight)
    .map((part) => part.textContent)"""

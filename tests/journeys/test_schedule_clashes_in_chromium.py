"""What is in the way of a visit, shown in a real browser while the visit is on its way."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.business.schedule.leave import request_time_off
from mainstay.vocabulary.permissions import Role
from support.browser import enter_office, open_page, visit_on_board
from support.cast import Cast
from support.servers import RunningServer
from support.visits import DAY, plan_test_visit

SAVES = "Press Enter to save"
# What is dragged is not dragged beyond the window.
TALL_SIZE = (1280, 1200)


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    with open_page(browser, server.url, TALL_SIZE) as page:
        yield page


def plan_obstacles(cast: Cast) -> dict[Role, str | None]:
    """What is told of some people's days where a visit from ten to eleven comes; None where nothing is in its way."""
    there = plan_test_visit(cast, Role.SUBCONTRACTOR, ("10:45", "12:00"))
    request_leave(cast, Role.OWNER, **{"from": DAY, "approved": True})
    # What only touches it, has no time or is not decided is in nobody's way.
    plan_test_visit(cast, Role.OFFICE, ("11:00", "12:00"))
    plan_test_visit(cast, Role.OFFICE, on=DAY)
    request_leave(cast, Role.OFFICE, **{"from": DAY})
    request_leave(cast, Role.ADMIN, startsAt=f"{DAY}T08:00", endsAt=f"{DAY}T10:00", approved=True)
    return {
        Role.SUBCONTRACTOR: f"Overlaps {there['jobNumber']} Mend the roof.",
        Role.OFFICE: None,
        Role.OWNER: "Overlaps time off (sick).",
        Role.ADMIN: None,
    }


def request_leave(cast: Cast, role: Role, **given: object) -> None:
    cast.perform(request_time_off, **{"personId": cast.people[role], "kind": "sick"} | given)


@pytest.mark.parametrize("view", ["day", "week"])
def test_it_is_shown_wherever_a_visit_is_dragged(cast: Cast, page: Page, view: str) -> None:
    made, people = plan_test_visit(cast), plan_obstacles(cast)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view={view}&on={DAY}")
    message, box = page.locator("#dragged"), visit_on_board(page, made).bounding_box()
    assert box
    visit_on_board(page, made).hover()
    page.mouse.down()
    for role, clash in people.items():
        place = page.locator(f"[data-person='{cast.people[role]}'][data-day='{DAY}']").bounding_box()
        assert place
        # Whatever is entered is told so first, and only then of what moves over it.
        for by in range(3):
            page.mouse.move(box["x"] + box["width"] / 2 + by / 4, place["y"] + place["height"] / 2)
        if clash:
            expect(message).to_have_text(clash)
        else:
            expect(message).to_be_hidden()
        expect(page.locator(".clash.over")).to_have_count(1 if clash else 0)
    page.mouse.up()
    expect(
        page.locator(f"[data-person='{cast.people[Role.ADMIN]}']").locator(visit_on_board(page, made))
    ).to_be_visible()


def test_by_keyboard_alone_one_is_told_of_it_in_a_week(cast: Cast, page: Page) -> None:
    made, people = plan_test_visit(cast), plan_obstacles(cast)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=week&on={DAY}")
    visit_on_board(page, made).focus()
    rows, messages = page.locator("tbody tr").count(), {}
    for key in ["ArrowUp"] * rows + ["ArrowDown"] * rows:
        page.keyboard.press(key)
        text = page.locator("#dragged").inner_text()
        messages[page.locator("td", has=visit_on_board(page, made)).get_attribute("data-person")] = text
        expect(page.locator("td.clash")).to_have_count(0 if SAVES in text else 1)
    for role, clash in people.items():
        assert (clash or SAVES) in messages[cast.people[role]]


def test_the_night_before_is_in_the_way_of_a_morning(cast: Cast, page: Page) -> None:
    made = plan_test_visit(cast, times=("01:00", "03:00"))
    night = plan_test_visit(cast, startsAt="2038-01-12T22:00", endsAt="2038-01-13T02:00")
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=week&on={DAY}")
    visit_on_board(page, made).focus()
    message = page.locator("#dragged")
    page.keyboard.press("ArrowRight")
    expect(message).to_contain_text(SAVES)
    page.keyboard.press("ArrowRight")
    expect(message).to_have_text(f"Overlaps {night['jobNumber']} Mend the roof.")

"""The day of a schedule in a real browser: visits go to early and late hours, by mouse and by keyboard."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.business.schedule.operations import get_visit, move_visit
from mainstay.vocabulary.permissions import Role
from support.browser import enter_office, open_page, visit_on_board
from support.cast import Cast
from support.servers import RunningServer
from support.visits import DAY, plan_test_visit

# As wide as a board is still shown by people, and too narrow for all of its hours.
SCROLLED_SIZE = (960, 700)
IS_IN_SIGHT = """one => {
  const [item, day] = [one.getBoundingClientRect(), one.closest(".day").getBoundingClientRect()];
  const named = one.closest(".day").querySelector("h2").getBoundingClientRect();
  return item.left >= named.right - 1 && item.right <= day.right + 1;
}"""


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    with open_page(browser, server.url) as page:
        yield page


def start_of(cast: Cast, visit: dict[str, object]) -> str:
    return str(cast.perform(get_visit, visitId=visit["id"])["startsAt"])


def test_a_visit_is_dragged_to_an_early_hour_and_then_to_an_earlier_one(cast: Cast, page: Page) -> None:
    made = plan_test_visit(cast)
    enter_office(page, cast, Role.OFFICE)
    # Wide enough for all hours, and for the jobs beside them.
    page.set_viewport_size({"width": 2400, "height": 900})
    page.goto(f"/schedule?view=day&on={DAY}&hours=all")
    row = page.locator(f"[data-person='{cast.people[Role.MEMBER]}']")
    visit_on_board(page, made).drag_to(row, source_position={"x": 2, "y": 8}, target_position={"x": 3, "y": 12})
    expect(visit_on_board(page, made)).to_contain_text("00:00")
    # With the hours around the work, there is always one before the earliest visit.
    cast.perform(move_visit, visitId=made["id"], startsAt=f"{DAY}T07:00", endsAt=f"{DAY}T08:00")
    page.goto(f"/schedule?view=day&on={DAY}")
    for hour in ("06:00", "05:00"):
        visit_on_board(page, made).drag_to(row, source_position={"x": 2, "y": 8}, target_position={"x": 3, "y": 12})
        expect(visit_on_board(page, made)).to_contain_text(hour)
    assert start_of(cast, made) == f"{DAY}T05:00:00.000Z"


def test_by_keyboard_alone_a_visit_goes_into_the_evening_and_stays_in_sight(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    made = plan_test_visit(cast, times=("16:00", "17:00"))
    with open_page(browser, server.url, SCROLLED_SIZE) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/schedule?view=day&on={DAY}&hours=all")
        visit_on_board(page, made).focus()
        for _ in range(12):
            page.keyboard.press("ArrowRight")
        expect(page.locator("#dragged")).to_contain_text("19:00\N{EN DASH}20:00")
        assert visit_on_board(page, made).evaluate(IS_IN_SIGHT)
        page.keyboard.press("Enter")
        expect(page.locator("#told .notice")).to_contain_text(" changed: ")
        expect(visit_on_board(page, made)).to_be_focused()
        assert visit_on_board(page, made).evaluate(IS_IN_SIGHT)
    assert start_of(cast, made) == f"{DAY}T19:00:00.000Z"


def test_a_day_that_is_wider_than_the_window_begins_with_its_work(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    made = plan_test_visit(cast, times=("08:00", "09:00"))
    with open_page(browser, server.url, SCROLLED_SIZE) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/schedule?view=day&on={DAY}&hours=all")
        assert page.locator(".day").evaluate("day => day.scrollLeft > 0")
        assert visit_on_board(page, made).evaluate(IS_IN_SIGHT)

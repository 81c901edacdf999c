"""The day of a schedule in a real browser: visits go to early and late hours, by mouse and by keyboard."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from cast import Cast
from chromium import booked, come_in, open_page
from mainstay.business.schedule.operations import get_visit
from mainstay.terms.rights import Role
from running import RunningServer
from scheduling import DAY, plan

# As wide as a board is still shown by people, and too narrow for all of its hours.
SCROLLED = (960, 700)
IN_SIGHT = """one => {
  const [item, day] = [one.getBoundingClientRect(), one.closest(".day").getBoundingClientRect()];
  const named = one.closest(".day").querySelector("h2").getBoundingClientRect();
  return item.left >= named.right - 1 && item.right <= day.right + 1;
}"""


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    with open_page(browser, server.url) as page:
        yield page


def starts_at(cast: Cast, visit: dict[str, object]) -> str:
    return str(cast.perform(get_visit, visitId=visit["id"])["startsAt"])


def test_a_visit_is_dragged_to_an_early_hour_and_then_to_an_earlier_one(cast: Cast, page: Page) -> None:
    made = plan(cast)
    come_in(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=day&on={DAY}")
    row = page.locator(f"[data-person='{cast.people[Role.MEMBER]}']")
    for hour in ("05:00", "02:00"):
        page.locator(".day").evaluate("day => day.scrollLeft = 0")
        booked(page, made).drag_to(row, source_position={"x": 2, "y": 8}, target_position={"x": 3, "y": 12})
        expect(booked(page, made)).to_contain_text(hour)
    assert starts_at(cast, made) == f"{DAY}T02:00:00.000Z"


def test_by_keyboard_alone_a_visit_goes_into_the_evening_and_stays_in_sight(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    made = plan(cast, times=("16:00", "17:00"))
    with open_page(browser, server.url, SCROLLED) as page:
        come_in(page, cast, Role.OFFICE)
        page.goto(f"/schedule?view=day&on={DAY}")
        booked(page, made).focus()
        for _ in range(12):
            page.keyboard.press("ArrowRight")
        expect(page.locator("#dragged")).to_contain_text("19:00\N{EN DASH}20:00")
        assert booked(page, made).evaluate(IN_SIGHT)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect(booked(page, made)).to_be_focused()
        assert booked(page, made).evaluate(IN_SIGHT)
    assert starts_at(cast, made) == f"{DAY}T19:00:00.000Z"


def test_a_day_that_is_wider_than_the_window_begins_with_its_work(
    cast: Cast, browser: Browser, server: RunningServer
) -> None:
    made = plan(cast, times=("08:00", "09:00"))
    with open_page(browser, server.url, SCROLLED) as page:
        come_in(page, cast, Role.OFFICE)
        page.goto(f"/schedule?view=day&on={DAY}")
        assert page.locator(".day").evaluate("day => day.scrollLeft > 0")
        assert booked(page, made).evaluate(IN_SIGHT)

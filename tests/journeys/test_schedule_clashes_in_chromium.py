"""What is in the way of a visit, shown in a real browser while the visit is on its way."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from cast import Cast
from chromium import booked, come_in, open_page
from mainstay.business.schedule.leave import request_time_off
from mainstay.terms.rights import Role
from running import RunningServer
from scheduling import DAY, plan

SAVES = "Enter saves it"
# What is dragged is not dragged beyond the window.
ALL_IN_SIGHT = (1280, 1200)


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    with open_page(browser, server.url, ALL_IN_SIGHT) as page:
        yield page


def in_the_way(cast: Cast) -> dict[Role, str | None]:
    """What is told of some people's days where a visit from ten to eleven comes; None where nothing is in its way."""
    there = plan(cast, Role.SUBCONTRACTOR, ("10:45", "12:00"))
    away(cast, Role.OWNER, **{"from": DAY, "approved": True})
    # What only touches it, has no time or is not decided is in nobody's way.
    plan(cast, Role.OFFICE, ("11:00", "12:00"))
    plan(cast, Role.OFFICE, on=DAY)
    away(cast, Role.OFFICE, **{"from": DAY})
    away(cast, Role.ADMIN, startsAt=f"{DAY}T08:00", endsAt=f"{DAY}T10:00", approved=True)
    return {
        Role.SUBCONTRACTOR: f"Overlaps {there['jobNumber']} Mend the roof.",
        Role.OFFICE: None,
        Role.OWNER: "Overlaps time off (sick).",
        Role.ADMIN: None,
    }


def away(cast: Cast, role: Role, **given: object) -> None:
    cast.perform(request_time_off, **{"personId": cast.people[role], "kind": "sick"} | given)


@pytest.mark.parametrize("view", ["day", "week"])
def test_it_is_shown_wherever_a_visit_is_dragged(cast: Cast, page: Page, view: str) -> None:
    made, people = plan(cast), in_the_way(cast)
    come_in(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view={view}&on={DAY}")
    told, box = page.locator("#dragged"), booked(page, made).bounding_box()
    assert box
    booked(page, made).hover()
    page.mouse.down()
    for role, clash in people.items():
        place = page.locator(f"[data-person='{cast.people[role]}'][data-day='{DAY}']").bounding_box()
        assert place
        # Whatever is entered is told so first, and only then of what moves over it.
        for by in range(3):
            page.mouse.move(box["x"] + box["width"] / 2 + by / 4, place["y"] + place["height"] / 2)
        if clash:
            expect(told).to_have_text(clash)
        else:
            expect(told).to_be_hidden()
        expect(page.locator(".clash.over")).to_have_count(1 if clash else 0)
    page.mouse.up()
    expect(page.locator(f"[data-person='{cast.people[Role.ADMIN]}']").locator(booked(page, made))).to_be_visible()


def test_by_keyboard_alone_one_is_told_of_it_in_a_week(cast: Cast, page: Page) -> None:
    made, people = plan(cast), in_the_way(cast)
    come_in(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=week&on={DAY}")
    booked(page, made).focus()
    rows, told = page.locator("tbody tr").count(), {}
    for key in ["ArrowUp"] * rows + ["ArrowDown"] * rows:
        page.keyboard.press(key)
        text = page.locator("#dragged").inner_text()
        told[page.locator("td", has=booked(page, made)).get_attribute("data-person")] = text
        expect(page.locator("td.clash")).to_have_count(0 if SAVES in text else 1)
    for role, clash in people.items():
        assert (clash or SAVES) in told[cast.people[role]]


def test_the_night_before_is_in_the_way_of_a_morning(cast: Cast, page: Page) -> None:
    made = plan(cast, times=("01:00", "03:00"))
    night = plan(cast, startsAt="2038-01-12T22:00", endsAt="2038-01-13T02:00")
    come_in(page, cast, Role.OFFICE)
    page.goto(f"/schedule?view=week&on={DAY}")
    booked(page, made).focus()
    told = page.locator("#dragged")
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text(SAVES)
    page.keyboard.press("ArrowRight")
    expect(told).to_have_text(f"Overlaps {night['jobNumber']} Mend the roof.")

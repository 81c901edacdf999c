"""The field's day on a phone: a visit is done with three taps, and can be read without a network."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from mainstay.business.hours.operations import list_hours
from mainstay.business.people.roles import remove_person
from mainstay.business.records.attachments import list_documents
from mainstay.business.records.notes import list_notes
from mainstay.business.schedule.operations import cancel_visit, get_visit, move_visit
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, TINY, check_page, open_page, sign_in
from support.browser_session import NewPerson, add_new_person
from support.cast import Cast
from support.images import draw_image, draw_noise
from support.servers import RunningServer
from support.visits import make_customer_and_site, plan_today
from support.waiting import wait_until

# The least height of what a thumb presses.
_THUMB = 48
# Each waits in the page: until a visit is stored with all that it needs, and until nothing is stored any more.
_WAIT_UNTIL_STORED = """async path => {
  const isStored = async one => Boolean(await caches.match(one));
  while (!(await isStored("/complete") && await isStored(path))) await new Promise(done => setTimeout(done, 50));
}"""
_WAIT_UNTIL_EMPTY = """async () => {
  while ((await caches.keys()).length) await new Promise(done => setTimeout(done, 50));
}"""
# Until the page of a visit is stored as it is at this step.
_WAIT_UNTIL_STORED_AT = """async ([path, step]) => {
  const isStored = async () => (await (await caches.match(path))?.text() ?? "").includes(`data-step="${step}"`);
  while (!(await caches.match("/complete") && await isStored())) await new Promise(done => setTimeout(done, 50));
}"""
# Whether a part of a photo has been sent, and whether all of it has.
_IS_SENDING = """() => [...document.querySelectorAll("#waiting progress")].some(
  bar => !bar.hidden && bar.value > 0 && bar.value < bar.max)"""
_HAS_SENT = (
    """() => [...document.querySelectorAll("#waiting progress")].some(bar => !bar.hidden && bar.value === bar.max)"""
)
# In bytes a second: slow enough that a tab is killed while it sends.
_SLOW_UPLOAD = 100_000
# From now on, what the page sends arrives, but no answer comes back.
_LOSE_ANSWERS = """() => {
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (body) {
    const { onerror } = this;
    this.onload = () => onerror();
    send.call(this, body);
  };
}"""


_IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5"
    " Mobile/15E148 Safari/604.1"
)


def plan_work(cast: Cast, person: NewPerson, line: str = "") -> str:
    """Plan a visit of a person today, perhaps at another address; return its own."""
    details: dict[str, Any] = {"description": "Rod from the manhole."}
    if line:
        customer, site = make_customer_and_site(cast, address={"line1": line})
        details |= {"customerId": customer, "siteId": site}
    return plan_today(cast, person.id, **details)


def height_of(page: Page, selector: str) -> float:
    """The height of the lowest of these that can be seen."""
    heights = page.locator(f"{selector} >> visible=true").evaluate_all(
        "found => found.map(one => one.getBoundingClientRect().height)"
    )
    assert heights, selector
    return float(min(heights))


def test_a_visit_is_started_and_finished_with_three_taps(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    with open_page(browser, server.url, NARROW) as page:
        sign_in(page, person)
        page.goto(path)
        title = page.get_by_role("heading", level=1).bounding_box()
        assert title
        assert title["y"] + title["height"] <= 128
        page.get_by_role("button", name="Start work").click()
        expect(page.locator("#content [data-since]")).to_have_text("0:00")
        check_page(page)
        assert min(height_of(page, ".field-tile"), height_of(page, ".work-buttons button")) >= _THUMB
        page.get_by_role("link", name="Finish").click()
        # The button says what is logged, also when the times are changed.
        expect(page.get_by_role("button", name=re.compile("Finish and log 0:01"))).to_be_visible()
        long_day = page.get_by_text("More than 12:00 hours. Check the times.")
        expect(long_day).to_be_hidden()
        page.get_by_label("Started").fill("06:00")
        page.get_by_label("Finished", exact=True).fill("18:30")
        expect(long_day).to_be_visible()
        page.get_by_text("Split hours").click()
        expect(page.get_by_label("Time on other work")).to_be_visible()
        check_page(page)
        fields = ".finish :is(input:not([type=hidden], [type=checkbox]), select, summary, label.kind)"
        assert height_of(page, fields) >= _THUMB
        page.get_by_label("Started").fill("08:00")
        page.get_by_label("Finished", exact=True).fill("09:30")
        expect(long_day).to_be_hidden()
        for written in ("15m", "15", "0:15"):
            page.get_by_label("Break").fill(written)
            expect(page.get_by_role("button", name="Finish and log 1:15")).to_be_visible()
        page.goto(f"{path}/finish")
        page.get_by_label("Note for the office").fill("Cleared.")
        page.get_by_role("button", name=re.compile("Finish and log")).click()
        expect(page.get_by_text("Visit done.")).to_be_visible()
        expect(page.get_by_text("Cleared.")).to_be_visible()
    [entry] = cast.perform(list_hours, personId=person.id)["data"]
    assert (entry["status"], entry["minutes"]) == ("draft", 1)


def test_what_a_thumb_presses_is_high_enough_on_every_page_of_the_field(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        for name in ("Start", "Directions", "Call Carla Contact", "Mend the roof"):
            expect(page.locator("#content").get_by_text(name, exact=True)).to_be_visible()
        assert height_of(page, ".visit.own :is(a, button)") >= _THUMB
        page.goto("/today")
        assert height_of(page, "#content a") >= _THUMB
        page.goto(path)
        page.get_by_label("Actions for").click()
        for where in ("summary", ".sheet :is(a, button)"):
            assert height_of(page, f".field-tiles {where}") >= _THUMB
        for summary in page.locator(".adding > summary").all():
            assert height_of(page, ".adding > summary") >= _THUMB
            summary.click()
        assert height_of(page, ".note :is(button, textarea), .drop :is(button, input)") >= _THUMB
        page.context.set_offline(True)
        page.get_by_role("button", name="Start work").click()
        expect(page.locator("#waiting")).to_be_visible()
        assert height_of(page, "#waiting :is(a, button)") >= _THUMB


def test_routes_open_in_the_map_app_that_the_phone_has(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    for line in ("1 Hill Road", "2 Weir Lane"):
        plan_work(cast, person, line)
    for agent, route, direct in (
        (
            _IPHONE,
            "https://maps.apple.com/directions?waypoint=1+Hill+Road&destination=2+Weir+Lane&mode=driving",
            "https://maps.apple.com/?daddr=1+Hill+Road&dirflg=d",
        ),
        (
            None,
            "https://www.google.com/maps/dir/?api=1&destination=2+Weir+Lane&waypoints=1+Hill+Road&travelmode=driving",
            "https://www.google.com/maps/dir/?api=1&destination=1+Hill+Road&travelmode=driving",
        ),
    ):
        with open_page(browser, server.url, NARROW, is_phone=True, user_agent=agent) as page:
            sign_in(page, person)
            expect(page.get_by_role("link", name="Directions").first).to_have_attribute("href", direct)
            page.goto("/today")
            expect(page.get_by_role("link", name="Open route")).to_have_attribute("href", route)
            assert height_of(page, ".route a") >= _THUMB


def test_the_visits_of_today_are_readable_without_a_network_until_the_person_leaves(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        page.evaluate(_WAIT_UNTIL_STORED, path)
        page.context.set_offline(True)
        page.goto(path)
        expect(page.get_by_text("You're offline.")).to_be_visible()
        for text in ("1 Hill Road", "Key under the mat", "Rod from the manhole."):
            expect(page.get_by_text(text).first).to_be_visible()
        # The stylesheets are stored too.
        assert page.locator(".tabbar").evaluate("bar => getComputedStyle(bar).position") == "fixed"
        page.goto("/")
        expect(page.get_by_role("heading", name="Today and tomorrow")).to_be_visible()
        page.get_by_role("link", name="Mend the roof").click()
        expect(page.get_by_text("Rod from the manhole.")).to_be_visible()
        page.context.set_offline(False)
        page.goto(path)
        expect(page.get_by_text("You're offline.")).to_be_hidden()
        cast.perform(remove_person, personId=person.id, confirmed=True)
        page.goto(path)
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.evaluate(_WAIT_UNTIL_EMPTY)


def cut_off(page: Page, path: str) -> None:
    """Take the network away when the visit is stored, and open the visit."""
    page.evaluate(_WAIT_UNTIL_STORED, path)
    page.context.set_offline(True)
    page.goto(path)
    expect(page.get_by_text("You're offline.")).to_be_visible()


def upload_slowly(page: Page) -> None:
    """Let the page send slowly from now on."""
    tab = page.context.new_cdp_session(page)
    limits = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": _SLOW_UPLOAD}
    tab.send("Network.emulateNetworkConditions", limits)


def waiting(page: Page) -> Locator:
    """Return what waits on the phone to be sent."""
    return page.get_by_role("region", name="Waiting to be sent").get_by_role("listitem")


def drop(row: Locator) -> None:
    """Discard something that waits: a second press confirms it."""
    row.get_by_text("Discard", exact=True).click()
    row.get_by_role("button", name="Discard for good").click()


def finish_with_photo(page: Page) -> None:
    """Finish the visit that the page shows, with a note and a photo."""
    page.get_by_role("link", name="Finish").click()
    send_finish(page)


def send_finish(page: Page) -> None:
    """Fill in and send the page that finishes a visit."""
    page.get_by_label("Note for the office").fill("Cleared.")
    page.get_by_label("Photos").set_input_files({"name": "drain.png", "mimeType": "image/png", "buffer": draw_image()})
    page.get_by_role("button", name=re.compile("Finish and log")).click()


def check_finished(cast: Cast, path: str) -> None:
    """Check that everything of a visit has arrived, and once."""
    visit = path.rpartition("/")[2]
    assert cast.perform(get_visit, visitId=visit)["status"] == "done"
    [entry] = [one for one in cast.perform(list_hours)["data"] if one["visitId"] == visit]
    assert entry["status"] == "draft"
    assert [one["text"] for one in cast.perform(list_notes, recordId=visit)["data"]] == ["Cleared."]
    assert len(cast.perform(list_documents, recordId=visit)["data"]) == 1


def test_what_is_done_without_a_network_arrives_once_and_in_order(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        cut_off(page, path)
        page.get_by_role("button", name="Start work").click()
        expect(waiting(page)).to_contain_text(["Start work"])
        # The tab is killed, and opened again.
        page.reload()
        expect(waiting(page)).to_contain_text(["Start work"])
        finish_with_photo(page)
        expect(waiting(page)).to_have_count(2)
        check_page(page)
        page.goto("/")
        expect(waiting(page)).to_contain_text(["Start work", "drain.png"])
        page.context.set_offline(False)
        expect(waiting(page)).to_have_count(0)
    check_finished(cast, path)


def press(name: str) -> Callable[[Page], None]:
    """Return a step that presses a button of the visit."""
    return lambda page: page.get_by_role("button", name=name, exact=True).click()


def add_note_by_tile(page: Page) -> None:
    """Add a note with the form that the tile opens."""
    page.locator(".field-tiles").get_by_role("link", name="Add note").click()
    expect(page.get_by_label("Write a note")).to_be_focused()
    page.get_by_label("Write a note").fill("Second drain is fine.")
    page.locator("form.note").get_by_role("button", name="Add note").click()


def add_photo_by_tile(page: Page) -> None:
    """Add a photo with the form that the tile opens."""
    page.locator(".field-tiles").get_by_role("link", name="Add photos").click()
    expect(page.get_by_label("Add photos or files")).to_be_in_viewport()
    page.get_by_label("Add photos or files").set_input_files(
        {"name": "trap.png", "mimeType": "image/png", "buffer": draw_image()}
    )
    page.get_by_role("button", name="Add files").click()


# The steps of a visit: what its page is for before it, how many minutes after the start, and what is pressed.
_STEPS: tuple[tuple[str, int, Callable[[Page], None]], ...] = (
    ("ready", 0, press("Start work")),
    ("working", 60, press("Break")),
    ("onBreak", 90, press("Continue work")),
    ("working", 100, add_note_by_tile),
    ("working", 110, add_photo_by_tile),
    ("working", 180, finish_with_photo),
)
# The steps that can be taken on the page of a visit as it was stored before its start.
_STEPS_FROM_THE_START = tuple(step for step in _STEPS if step[2] not in {add_note_by_tile, add_photo_by_tile})


def names_of_files(cast: Cast, path: str) -> list[str]:
    """Return the names of the files of a visit, in alphabetical order."""
    return sorted(one["name"] for one in cast.perform(list_documents, recordId=path.rpartition("/")[2])["data"])


def notes_of(cast: Cast, path: str) -> list[str]:
    """Return the notes of a visit, in alphabetical order."""
    return sorted(one["text"] for one in cast.perform(list_notes, recordId=path.rpartition("/")[2])["data"])


def test_the_network_may_be_cut_at_each_step_of_a_visit_or_for_all_of_it(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    cut_each_time, cut_throughout = plan_work(cast, person), plan_work(cast, person)
    now = cast.performer.clock()
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        page.goto(cut_each_time)
        for step, minutes, take in _STEPS:
            page.evaluate(_WAIT_UNTIL_STORED_AT, [cut_each_time, step])
            page.clock.set_fixed_time(now - timedelta(hours=8) + timedelta(minutes=minutes))
            cut_off(page, cut_each_time)
            take(page)
            expect(waiting(page)).to_have_count(1)
            page.context.set_offline(False)
            expect(waiting(page)).to_have_count(0)
            page.goto(cut_each_time)
        cut_off(page, cut_throughout)
        for number, (_, minutes, take) in enumerate(_STEPS_FROM_THE_START, 1):
            page.clock.set_fixed_time(now - timedelta(hours=4) + timedelta(minutes=minutes))
            take(page)
            expect(waiting(page)).to_have_count(number)
        page.context.set_offline(False)
        expect(waiting(page)).to_have_count(0)
    for path in (cut_each_time, cut_throughout):
        visit = path.rpartition("/")[2]
        assert cast.perform(get_visit, visitId=visit)["status"] == "done"
        entries = [one for one in cast.perform(list_hours)["data"] if one["visitId"] == visit]
        assert sorted((one["status"], one["minutes"]) for one in entries) == [("draft", 60), ("draft", 90)]
    assert notes_of(cast, cut_each_time) == ["Cleared.", "Second drain is fine."]
    assert names_of_files(cast, cut_each_time) == ["drain.png", "trap.png"]
    assert notes_of(cast, cut_throughout) == ["Cleared."]
    assert names_of_files(cast, cut_throughout) == ["drain.png"]


def test_a_finish_that_waits_leaves_no_form_to_send_twice_and_is_named(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    with open_page(browser, server.url, TINY, is_phone=True) as page:
        sign_in(page, person)
        cut_off(page, path)
        page.get_by_role("button", name="Start work").click()
        expect(waiting(page)).to_have_count(1)
        expect(waiting(page).locator(".fault")).to_be_hidden()
        # No button is broken within a word.
        assert height_of(page, ".work-buttons :is(button, .button)") < 1.5 * _THUMB
        finish_with_photo(page)
        page.wait_for_url(f"**{path}")
        expect(waiting(page)).to_have_count(2)
        expect(waiting(page)).to_contain_text(["Mend the roof", "Mend the roof"])
        expect(page.locator(".work-bar")).to_be_hidden()
        # One press throws nothing away.
        waiting(page).last.get_by_text("Discard", exact=True).click()
        check_page(page)
        expect(waiting(page)).to_have_count(2)
        page.goto("/hours/week")
        page.locator(".tabbar summary").click()
        menu = page.locator(".tabbar .sheet")
        expect(menu.get_by_role("link").first).to_be_in_viewport()
        menu.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("Signing out deletes what is waiting here.")).to_be_visible()


def test_a_finish_that_is_refused_is_corrected_in_its_form(server: RunningServer, cast: Cast, browser: Browser) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        page.goto(path)
        page.clock.set_fixed_time(cast.performer.clock() - timedelta(hours=3))
        page.get_by_role("button", name="Start work").click()
        expect(page.get_by_text("Visit started.")).to_be_visible()
        page.get_by_role("link", name="Finish").click()
        page.get_by_label("Break").fill("4h")
        page.get_by_text("Split hours").click()
        page.get_by_label("Time on other work").fill("15m")
        page.get_by_label("Submit the hours").check()
        send_finish(page)
        expect(page.locator(".field.wrong .fault")).to_contain_text("Break is as long as the time worked")
        expect(page.get_by_label("Break")).to_be_focused()
        expect(page.get_by_text("Kept from before: drain.png")).to_be_visible()
        expect(page.locator("#waiting")).to_be_hidden()
        expect(page.get_by_label("Time on other work")).to_be_visible()
        check_page(page)
        page.get_by_label("Break").fill("15")
        page.get_by_role("button", name=re.compile("Finish and log 2:4")).click()
        expect(page.get_by_text("Visit done.")).to_be_visible()
    visit = path.rpartition("/")[2]
    assert names_of_files(cast, path) == ["drain.png"]
    assert notes_of(cast, path) == ["Cleared."]
    entries = [one for one in cast.perform(list_hours)["data"] if one["personId"] == person.id]
    assert sorted(one["status"] for one in entries) == ["submitted", "submitted"]
    assert {one["visitId"] for one in entries} == {visit, None}


def test_two_phones_of_one_person_lose_nothing_and_log_hours_once(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    with (
        open_page(browser, server.url, NARROW, is_phone=True) as first,
        open_page(browser, server.url, NARROW, is_phone=True) as second,
    ):
        for phone, minutes in ((first, 120), (second, 110)):
            sign_in(phone, person)
            cut_off(phone, path)
            phone.clock.set_fixed_time(cast.performer.clock() - timedelta(minutes=minutes))
            phone.get_by_role("button", name="Start work").click()
            expect(waiting(phone)).to_have_count(1)
            phone.clock.set_fixed_time(cast.performer.clock() - timedelta(minutes=minutes - 60))
            finish_with_photo(phone)
            expect(waiting(phone)).to_have_count(2)
        first.context.set_offline(False)
        expect(waiting(first)).to_have_count(0)
        check_finished(cast, path)
        # The visit is done, and its hours are logged: the second phone shows it, and keeps what it has.
        second.context.set_offline(False)
        expect(waiting(second).first).to_contain_text("already logged")
        expect(waiting(second).get_by_text("Choose the photos again")).to_have_count(0)
        drop(waiting(second).first)
        expect(waiting(second)).to_have_count(1)
        expect(waiting(second)).to_contain_text(["already logged"])
        waiting(second).get_by_role("link", name="Correct").click()
        expect(second.get_by_text("already logged on this visit.")).to_be_visible()
        expect(second.get_by_label("Note for the office")).to_have_value("Cleared.")
        second.get_by_role("button", name="Finish visit").click()
        expect(second.get_by_text("Visit done.")).to_be_visible()
        expect(waiting(second)).to_have_count(0)
    visit = path.rpartition("/")[2]
    assert len([one for one in cast.perform(list_hours)["data"] if one["visitId"] == visit]) == 1
    assert notes_of(cast, path) == ["Cleared.", "Cleared."]
    assert names_of_files(cast, path) == ["drain.png", "drain.png"]


def test_a_photo_arrives_once_if_its_tab_is_killed_while_it_is_sent(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    photo: FilePayload = {"name": "drain.png", "mimeType": "image/png", "buffer": draw_noise((400, 400))}
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        page.goto(path)
        page.get_by_role("button", name="Start work").click()
        expect(page.get_by_text("Visit started.")).to_be_visible()
        upload_slowly(page)
        page.locator(".field-tiles").get_by_role("link", name="Add photos").click()
        page.get_by_label("Add photos or files").set_input_files(photo)
        page.get_by_role("button", name="Add files").click(no_wait_after=True)
        page.wait_for_function(_IS_SENDING)
        # The tab is killed, opened again, killed once more at the end of the photo, and opened again.
        second, third = page.context.new_page(), page.context.new_page()
        page.goto("about:blank")
        upload_slowly(second)
        second.goto(path, wait_until="commit")
        second.wait_for_function(_HAS_SENT)
        second.close()
        third.goto(path)
        # Before the page has looked at what waits, it shows nothing either.
        wait_until(lambda: names_of_files(cast, path))
        expect(waiting(third)).to_have_count(0)
    assert names_of_files(cast, path) == ["drain.png"]


def test_a_form_whose_answer_was_lost_is_sent_again_and_counts_once(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)

    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        page.goto(path)
        page.get_by_role("button", name="Start work").click()
        expect(page.get_by_text("Visit started.")).to_be_visible()
        page.get_by_role("link", name="Finish").click()
        page.evaluate(_LOSE_ANSWERS)
        send_finish(page)
        expect(waiting(page)).to_have_count(1)
        # Two tabs send it at once.
        other = page.context.new_page()
        other.goto("/today")
        page.goto("/today")
        expect(waiting(page)).to_have_count(0)
    check_finished(cast, path)


def test_what_is_refused_is_shown_with_what_was_typed_until_the_person_decides(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_work(cast, person)
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        cut_off(page, path)
        page.get_by_role("button", name="Start work").click()
        expect(waiting(page)).to_have_count(1)
        finish_with_photo(page)
        expect(waiting(page)).to_have_count(2)
        # Meanwhile, the office cancels the visit.
        cast.perform(cancel_visit, visitId=path.rpartition("/")[2])
        page.context.set_offline(False)
        page.goto("/today")
        expect(waiting(page)).to_contain_text(["is cancelled", "Cleared."])
        # Signing out would erase it, so it is shown first.
        page.goto("/hours/week")
        page.locator(".tabbar summary").click()
        page.locator(".tabbar").get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/today#sign-out")
        # The office plans it again, and the phone sends both.
        cast.perform(move_visit, visitId=path.rpartition("/")[2], notes="Back on")
        waiting(page).first.get_by_role("button", name="Send again").click()
        expect(waiting(page)).to_have_count(0)
    check_finished(cast, path)

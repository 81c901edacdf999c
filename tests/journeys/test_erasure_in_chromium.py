"""What a phone has stored for times without a network is erased when its person no longer has access."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.business.people.invitations import add_person
from mainstay.business.people.roles import remove_person, sign_out_person
from mainstay.business.schedule.operations import cancel_visit
from mainstay.identity.sessions import choose_organisation, find
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, open_page, sign_in
from support.browser_session import BrowserSession, NewPerson, add_new_person
from support.cast import Cast
from support.servers import RunningServer
from support.visits import plan_today

# Each waits in the page: until a visit is stored with all that it needs.
WAIT_UNTIL_STORED = """async path => {
  const isStored = async one => Boolean(await caches.match(one));
  while (!(await isStored("/complete") && await isStored(path))) await new Promise(done => setTimeout(done, 50));
}"""
# How many pages and forms the phone has stored.
COUNT_STORED = """async () => {
  const names = (await indexedDB.databases()).map((database) => database.name);
  const forms = !names.includes("mainstay") ? 0 : await new Promise((resolve) => {
    const opening = indexedDB.open("mainstay");
    opening.onsuccess = () => {
      const counting = opening.result.transaction("forms").objectStore("forms").count();
      counting.onsuccess = () => { opening.result.close(); resolve(counting.result); };
    };
  });
  return [(await caches.keys()).length, forms];
}"""
WAIT_UNTIL_NO_FORMS = f"""async () => {{
  while ((await ({COUNT_STORED})())[1]) await new Promise(done => setTimeout(done, 50));
}}"""
# What ends the session of a phone from elsewhere.
End = Callable[[RunningServer, Cast, NewPerson], object]


def end_by_owner(server: RunningServer, _cast: Cast, person: NewPerson) -> None:
    """Sign the phone out from the account's page on a computer."""
    computer = sign_in_at_computer(server, person)
    account = computer.get("/settings/account").text
    target = account.partition('action="/settings/account/sessions/')[2].partition('"')[0]
    computer.submit_page(account, f"/settings/account/sessions/{target}")


def change_password(server: RunningServer, _cast: Cast, person: NewPerson) -> None:
    """Change the password on a computer."""
    given = {"password": person.password, "newPassword": "another long password 17"}
    sign_in_at_computer(server, person).submit_form("/settings/account", "/settings/account/password", **given)


def sign_in_at_computer(server: RunningServer, person: NewPerson) -> BrowserSession:
    """Sign in on a computer."""
    computer = BrowserSession(server)
    computer.sign_in(person)
    return computer


ENDS: dict[str, End] = {
    "removed": lambda _, cast, person: cast.perform(remove_person, personId=person.id, confirmed=True),
    "ended by an admin": lambda _, cast, person: cast.perform(sign_out_person, Role.ADMIN, personId=person.id),
    "ended by its owner": end_by_owner,
    "password changed": change_password,
}
SHORT = {"removed", "ended by its owner"}


@pytest.mark.parametrize(
    "end", [name if name in SHORT else pytest.param(name, marks=pytest.mark.long) for name in ENDS]
)
def test_the_first_answer_after_access_has_ended_erases_pages_and_waiting_forms(
    server: RunningServer, cast: Cast, browser: Browser, end: str
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_today(cast, person.id)
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        keep_form(page, path)
        # Nothing of the office is open when access ends.
        page.goto("about:blank")
        ENDS[end](server, cast, person)
        page.context.set_offline(False)
        page.goto("/")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert page.evaluate(COUNT_STORED) == [0, 0]


def test_signing_out_erases_pages_and_forms_that_were_refused(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    path = plan_today(cast, person.id)
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        keep_form(page, path)
        cast.perform(cancel_visit, visitId=path.rpartition("/")[2])
        page.context.set_offline(False)
        page.goto("/today")
        expect(page.get_by_role("region", name="Waiting to be sent")).to_contain_text("is cancelled")
        page.locator(".tabbar summary").click()
        with page.expect_response("**/sign-out") as answer:
            page.locator(".tabbar").get_by_role("button", name="Sign out").click()
        assert answer.value.all_headers()["clear-site-data"] == '"storage"'
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert page.evaluate(COUNT_STORED) == [0, 0]


def test_who_leaves_one_of_two_organisations_keeps_only_what_is_of_the_other(
    server: RunningServer, cast: Cast, other_cast: Cast, browser: Browser
) -> None:
    person = add_new_person(cast, Role.MEMBER)
    elsewhere = {"name": "Sara", "email": person.email, "role": "member", "password": person.password}
    other_cast.perform(add_person, operator_actor(other_cast.organisation), **elsewhere)
    path = plan_today(cast, person.id)
    with open_page(browser, server.url, NARROW, is_phone=True) as page:
        sign_in(page, person)
        keep_form(page, path)
        switch_all_sessions(other_cast, page)
        cast.perform(remove_person, personId=person.id, confirmed=True)
        page.context.set_offline(False)
        page.goto("/")
        expect(page.locator("body.office")).to_be_visible()
        page.evaluate(WAIT_UNTIL_NO_FORMS)


def keep_form(page: Page, path: str) -> None:
    """Take the network away when a visit is stored, and start it: the form waits on the phone."""
    page.evaluate(WAIT_UNTIL_STORED, path)
    page.context.set_offline(True)
    page.goto(path)
    page.get_by_role("button", name="Start work").click()
    expect(page.get_by_role("region", name="Waiting to be sent").get_by_role("listitem")).to_have_count(1)
    assert page.evaluate(COUNT_STORED) == [1, 1]


def switch_all_sessions(other_cast: Cast, page: Page) -> None:
    """Let the phone's session be in another organisation, as if it had been switched in another tab."""
    [secret] = [cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "mainstay"]
    with other_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        session = find(db, secret, other_cast.performer.clock())
        assert session
        choose_organisation(db, session.id, other_cast.organisation)

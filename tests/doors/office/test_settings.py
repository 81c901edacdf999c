import re

from cast import PASSWORD, Cast
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.kernel.rights import Role
from running import RunningServer
from visiting import Somebody, Visit, somebody, visit, wait_for_mails, words

ACCOUNT = "/settings/account"
NEW = "a password for tomorrow"
DETAILS = {"country": "DE", "currency": "EUR", "timeZone": "Europe/Berlin"}


def test_the_organisation_s_details_are_changed(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    answer = visiting.submit("/settings", name="Beam", address="Yard 4\r\nHill", legalName="", **DETAILS)
    assert answer.headers["Location"] == "/settings?done=saved"
    kept = cast.perform(get_organisation)
    assert (kept["name"], kept["address"], kept["legalName"]) == ("Beam", "Yard 4\nHill", None)
    assert (kept["country"], kept["currency"], kept["timeZone"]) == ("DE", "EUR", "Europe/Berlin")
    assert "Your changes are saved." in visiting.get("/settings?done=saved").text


def test_what_someone_else_changed_meanwhile_is_not_overwritten(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    page = visiting.get("/settings").text
    cast.perform(update_organisation, phone="0123")
    given = {"name": "Beam", "country": "GB", "currency": "GBP", "timeZone": "Europe/London"}
    answer = visiting.answer(page, "/settings", **given)
    assert (answer.status_code, "Someone has changed this since you opened it" in answer.text) == (409, True)
    assert cast.perform(get_organisation)["phone"] == "0123"
    assert visiting.answer(answer.text, "/settings", **given).status_code == 303
    assert cast.perform(get_organisation)["phone"] is None


def test_what_is_wrong_is_said_beside_the_fields(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast).submit("/settings", name="", **DETAILS | {"timeZone": "Mars/Base"})
    assert answer.status_code == 422
    assert "Name is empty." in words(answer.text)
    assert "Time zone is not a time zone such as Europe/Berlin." in words(answer.text)
    assert 'value="Mars/Base"' in answer.text


def test_others_see_the_details_without_a_form(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.OFFICE)
    page = visiting.get("/settings").text
    assert "Owners and admins can change this." in page
    assert visiting.answer(page, "/settings", name="Mine", **DETAILS).status_code == 403


def test_a_notice_that_nobody_wrote_is_not_shown(server: RunningServer, cast: Cast) -> None:
    page = visit(server, cast).get("/settings?done=You+were+hacked").text
    assert "hacked" not in page
    assert 'role="status"' not in page


def test_the_password_is_changed_and_every_other_sign_in_ends(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    visiting, other = Visit(server), Visit(server)
    visiting.sign_in(person)
    other.sign_in(person)
    answer = visiting.submit(ACCOUNT, f"{ACCOUNT}/password", password=PASSWORD, newPassword=NEW)
    assert answer.headers["Location"] == f"{ACCOUNT}?done=password"
    assert visiting.is_inside
    assert not other.is_inside
    assert Visit(server).submit("/sign-in", email=person.email, password=PASSWORD).status_code == 422
    Visit(server).sign_in(Somebody(person.id, person.email, NEW))
    assert "has been changed" in wait_for_mails(server, person.email, 1)[-1]


def test_the_password_changes_only_with_the_current_one(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    visiting = Visit(server)
    visiting.sign_in(person)
    wrong = visiting.submit(ACCOUNT, f"{ACCOUNT}/password", password="guess", newPassword=NEW)
    assert wrong.status_code == 422
    assert "Current password is not right." in words(wrong.text)
    short = visiting.submit(ACCOUNT, f"{ACCOUNT}/password", password=PASSWORD, newPassword="short")
    assert "New password has fewer than 10 characters." in words(short.text)
    Visit(server).sign_in(person)


def test_guessing_the_current_password_is_limited(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    tries = [
        visiting.submit(ACCOUNT, f"{ACCOUNT}/password", password="guess", newPassword=NEW).status_code
        for _ in range(21)
    ]
    assert tries == [422] * 20 + [429]


def ends(page: str) -> list[str]:
    return re.findall(rf'"({ACCOUNT}/sessions/ses_\w+/end)"', page)


def test_one_s_own_sessions_are_listed_and_ended(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    visiting, second, third = Visit(server), Visit(server), Visit(server)
    for browser in (visiting, second, third):
        browser.sign_in(person)
    page = visiting.get(ACCOUNT).text
    assert words(page).count("Firefox on Linux") == 3
    assert words(page).count("This one") == 1
    assert len(ends(page)) == 2
    assert visiting.submit(ACCOUNT, ends(page)[0]).headers["Location"] == f"{ACCOUNT}?done=ended"
    assert [second.is_inside, third.is_inside].count(True) == 1
    visiting.submit(ACCOUNT, f"{ACCOUNT}/sessions/end-others")
    assert [browser.is_inside for browser in (visiting, second, third)] == [True, False, False]


def test_nobody_ends_a_session_of_someone_else(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    victim, second = Visit(server), Visit(server)
    victim.sign_in(person)
    second.sign_in(person)
    for path in ends(victim.get(ACCOUNT).text):
        visit(server, cast).submit(ACCOUNT, path)
    assert second.is_inside


def test_while_lapsed_the_office_reads_and_says_so(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    cast.lapse()
    visiting = Visit(server)
    visiting.sign_in(person)
    for path in ("/", "/people", "/settings", ACCOUNT, "/settings/developer/mcp"):
        page = visiting.get(path)
        assert page.status_code == 200
        assert "The subscription is inactive." in page.text
    assert visiting.submit("/settings", name="New", **DETAILS).status_code == 402
    answer = visiting.submit(ACCOUNT, f"{ACCOUNT}/password", password=PASSWORD, newPassword=NEW)
    assert answer.status_code == 303
    cast.renew()
    assert "The subscription is inactive." not in visiting.get("/").text

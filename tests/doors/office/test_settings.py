import re

import pytest

from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.organisation.settings import get_settings
from mainstay.vocabulary.permissions import Role
from support.browser_session import (
    BrowserSession,
    NewPerson,
    add_new_person,
    sign_in_new_person,
    visible_text,
    wait_for_emails,
)
from support.cast import PASSWORD, Cast
from support.servers import RunningServer

ACCOUNT = "/settings/account"
NEW_PASSWORD = "a password for tomorrow"
DETAILS = {"country": "DE", "currency": "EUR", "timeZone": "Europe/Berlin"}


def test_the_organisation_s_details_are_changed(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    address = {"address.line1": "Yard 4", "address.city": "Hill", "address.country": "DE"}
    answer = session.submit_form("/settings/edit", name="Beam", legalName="", **address, **DETAILS)
    assert answer.headers["Location"] == "/settings?done=update_organisation"
    kept = cast.perform(get_organisation)
    assert (kept["name"], kept["legalName"]) == ("Beam", None)
    assert (kept["address"]["line1"], kept["address"]["line2"], kept["address"]["city"]) == ("Yard 4", None, "Hill")
    assert (kept["country"], kept["currency"], kept["timeZone"]) == ("DE", "EUR", "Europe/Berlin")
    page = visible_text(session.get(answer.headers["Location"]).text)
    assert "Settings saved." in page
    # Codes by their names.
    facts = "Address Yard 4 Hill Germany Directions Country Germany Currency Euro (EUR) Time zone Berlin (Europe)"
    assert facts in page
    form = session.get("/settings/edit").text
    for option in (">Germany<", ">Euro (EUR)<", ">Berlin (Europe)<"):
        assert re.search(rf'<option value="[^"]+" selected{re.escape(option)}', form), option
    euro, yen = form.index(">Euro (EUR)<"), form.index(">Japanese Yen (JPY)<")
    assert form.index(">Australian Dollar (AUD)<") < euro < yen, "not by name"


def test_an_address_without_a_word_in_it_is_none(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    cast.perform(update_organisation, address={"line1": "Yard 4"})
    assert 'value="Yard 4"' in session.get("/settings/edit").text
    session.submit_form("/settings/edit", name="Beam", **DETAILS, **{"address.line1": " "})
    assert cast.perform(get_organisation)["address"] is None


def test_working_hours_without_a_time_in_them_are_still_working_hours(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    numbers = {
        f"{kind}Numbers.{part}": value
        for kind in ("job", "purchaseOrder")
        for part, value in (("prefix", "N-"), ("digits", "4"))
    }
    for typed, monday in (("8-12", [{"from": "08:00", "until": "12:00"}]), ("", [])):
        filled_in = numbers | {"materialsMarkupPercent": "0", "workingHours.monday": typed}
        answer = session.submit_form("/settings/work-rules/edit", hoursRoundingMinutes="0", **filled_in)
        assert answer.status_code == 303, visible_text(answer.text)
        assert cast.perform(get_settings)["workingHours"]["monday"] == monday


def test_countries_and_time_zones_are_chosen_by_name(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast).get("/settings/edit").text
    assert '<option value="NZ">New Zealand</option>' in page
    assert re.search(r'<select id="timeZone" [^>]*required', page)
    assert '<option value="Europe/Berlin">' in page
    assert "ISO " not in page


def test_what_someone_else_changed_meanwhile_is_not_overwritten(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get("/settings/edit").text
    cast.perform(update_organisation, phone="0123")
    given = {"name": "Beam", "country": "GB", "currency": "GBP", "timeZone": "Europe/London"}
    answer = session.submit_page(page, "/settings/edit", **given)
    assert (answer.status_code, "Someone else changed this after you opened it" in answer.text) == (409, True)
    assert cast.perform(get_organisation)["phone"] == "0123"
    assert session.submit_page(answer.text, "/settings/edit", **given).status_code == 303
    assert cast.perform(get_organisation)["phone"] is None


def test_what_is_wrong_is_said_beside_the_fields(server: RunningServer, cast: Cast) -> None:
    fields = DETAILS | {"timeZone": "Mars/Base", "address.postalCode": "x" * 30, "address.line1": "Yard 4"}
    answer = sign_in_new_person(server, cast).submit_form("/settings/edit", name="", **fields)
    assert answer.status_code == 422
    text = visible_text(answer.text)
    for said in (
        "Enter a name.",
        "Time zone is not a time zone such as Europe/Berlin.",
        "Postcode must be 20 characters or fewer.",
    ):
        assert text.count(said) == 2
    for field in ("name", "timeZone", "address.postalCode"):
        assert f'href="#{field}"' in answer.text
        assert f'id="{field}"' in answer.text
    for kept in ("Mars/Base", "Yard 4"):
        assert f'value="{kept}"' in answer.text


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_see_the_details_and_nothing_to_do_with_them(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    page = session.get("/settings").text
    assert "/settings/edit" not in page
    assert session.get("/settings/edit").status_code == 403
    assert session.submit_page(page, "/settings/edit", name="Mine", **DETAILS).status_code == 403


def test_nobody_renews_their_own_subscription(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    cast.lapse()
    page = session.get("/settings").text
    assert "change-subscription" not in page
    assert session.get("/settings/change-subscription").status_code == 404
    assert session.submit_page(page, "/settings/change-subscription", status="active").status_code == 404
    assert cast.perform(get_organisation)["subscription"]["status"] == "inactive"
    cast.renew()


def test_a_notice_that_nobody_wrote_is_not_shown(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast).get("/settings?done=You+were+hacked").text
    assert "hacked" not in page
    assert 'class="notice good"' not in page


def test_the_password_is_changed_and_every_other_sign_in_ends(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    session, other = BrowserSession(server), BrowserSession(server)
    session.sign_in(person)
    other.sign_in(person)
    answer = session.submit_form(ACCOUNT, f"{ACCOUNT}/password", password=PASSWORD, newPassword=NEW_PASSWORD)
    assert answer.headers["Location"] == f"{ACCOUNT}?done=password"
    assert session.is_signed_in
    assert not other.is_signed_in
    assert BrowserSession(server).submit_form("/sign-in", email=person.email, password=PASSWORD).status_code == 422
    BrowserSession(server).sign_in(NewPerson(person.id, person.email, NEW_PASSWORD))
    assert "has been changed" in wait_for_emails(server, person.email, 1)[-1]


def test_the_password_changes_only_with_the_current_one(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    session = BrowserSession(server)
    session.sign_in(person)
    wrong = session.submit_form(ACCOUNT, f"{ACCOUNT}/password", password="guess", newPassword=NEW_PASSWORD)
    assert wrong.status_code == 422
    assert "Current password is not correct." in visible_text(wrong.text)
    short = session.submit_form(ACCOUNT, f"{ACCOUNT}/password", password=PASSWORD, newPassword="short")
    assert "New password must have at least 10 characters." in visible_text(short.text)
    BrowserSession(server).sign_in(person)


def test_guessing_the_current_password_is_limited(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    tries = [
        session.submit_form(ACCOUNT, f"{ACCOUNT}/password", password="guess", newPassword=NEW_PASSWORD).status_code
        for _ in range(21)
    ]
    assert tries == [422] * 20 + [429]


def find_end_links(page: str) -> list[str]:
    return re.findall(rf'"({ACCOUNT}/sessions/ses_\w+/end)"', page)


def test_one_s_own_sessions_are_listed_and_ended(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    session, second, third = BrowserSession(server), BrowserSession(server), BrowserSession(server)
    for browser in (session, second, third):
        browser.sign_in(person)
    page = session.get(ACCOUNT).text
    assert visible_text(page).count("Firefox on Linux") == 3
    assert visible_text(page).count("This browser") == 1
    assert len(find_end_links(page)) == 2
    assert session.submit_form(ACCOUNT, find_end_links(page)[0]).headers["Location"] == f"{ACCOUNT}?done=ended"
    assert [second.is_signed_in, third.is_signed_in].count(True) == 1
    session.submit_form(ACCOUNT, f"{ACCOUNT}/sessions/end-others")
    assert [browser.is_signed_in for browser in (session, second, third)] == [True, False, False]


def test_nobody_ends_a_session_of_someone_else(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    victim, second = BrowserSession(server), BrowserSession(server)
    victim.sign_in(person)
    second.sign_in(person)
    for path in find_end_links(victim.get(ACCOUNT).text):
        sign_in_new_person(server, cast).submit_form(ACCOUNT, path)
    assert second.is_signed_in


@pytest.mark.parametrize("role", list(Role))
def test_while_lapsed_everyone_is_told_what_stays_open_and_whom_to_ask(
    server: RunningServer, cast: Cast, role: Role
) -> None:
    session, name = sign_in_new_person(server, cast, role), cast.perform(get_organisation)["name"]
    cast.lapse()
    page = session.get("/jobs")
    text = visible_text(page.text)
    assert "you can't make changes until it's renewed" in text
    assert "You can still see and download everything" in text
    assert session.get("/jobs/export.csv").status_code == 200
    renews = role in {Role.OWNER, Role.ADMIN}
    assert ("To renew, contact your system administrator." in text) is renews
    assert (f"To renew it, ask an owner or admin of {name}." in text) is not renews
    assert ('<a href="/settings/export">Export</a>' in page.text) is renews
    cast.renew()


def test_while_lapsed_the_office_reads_and_says_so(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    cast.lapse()
    session = BrowserSession(server)
    session.sign_in(person)
    for path in ("/", "/people", "/settings", ACCOUNT, "/settings/developer/mcp"):
        page = session.get(path)
        assert page.status_code == 200
        assert "Your subscription is inactive." in page.text
    assert session.get("/settings/edit").status_code == 402
    shown = session.get("/settings").text
    assert "/settings/edit" not in shown
    assert session.submit_page(shown, "/settings/edit", name="New", **DETAILS).status_code == 402
    answer = session.submit_form(ACCOUNT, f"{ACCOUNT}/password", password=PASSWORD, newPassword=NEW_PASSWORD)
    assert answer.status_code == 303
    cast.renew()
    assert "Your subscription is inactive." not in session.get("/").text


@pytest.mark.parametrize("zone", ["UTC", "EST", "Europe/Kiev"])
def test_a_time_zone_that_is_offered_under_another_name_or_none_is_not_changed_by_saving_something_else(
    server: RunningServer, cast: Cast, zone: str
) -> None:
    cast.perform(update_organisation, timeZone=zone)
    form = sign_in_new_person(server, cast).get("/settings/edit").text
    (offered,) = re.findall(r'<select id="timeZone".*?</select>', form, re.DOTALL)
    assert re.findall(r'<option value="([^"]*)" selected>', offered) == [zone]


def test_each_time_zone_is_offered_once_and_utc_too(server: RunningServer, cast: Cast) -> None:
    form = sign_in_new_person(server, cast).get("/settings/edit").text
    (zones,) = re.findall(r'<select id="timeZone".*?</select>', form, re.DOTALL)
    names = re.findall(r'<option value="[^"]+"[^>]*>([^<]*)<', zones)
    assert {"Kyiv (Europe)", "Fernando de Noronha (America)", "UTC"} <= {*names}
    assert len(names) == len({*names})
    assert not [name for name in names if "_" in name or "Kiev" in name or "DeNoronha" in name]


def test_how_you_work_is_told_whole_and_in_words(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page_text = visible_text(session.get("/settings/work-rules").text)
    for text in (
        "Next: PO-0001",
        "Subscription Active",
    ):
        assert text in page_text
    # Settings about money are on another page.
    assert "Books closed up to" not in page_text


def test_a_form_for_something_new_says_so(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    for path, title in (
        ("/sites/new", "New site"),
        ("/contacts/new", "New contact"),
        ("/settings/taxes/new", "New tax rate"),
    ):
        assert f"<h1>{title}</h1>" in session.get(path).text

import re

import pytest

from cast import PASSWORD, Cast
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.organisation.settings import get_settings
from mainstay.terms.rights import Role
from running import RunningServer
from visiting import Somebody, Visit, somebody, visit, wait_for_mails, words

ACCOUNT = "/settings/account"
NEW = "a password for tomorrow"
DETAILS = {"country": "DE", "currency": "EUR", "timeZone": "Europe/Berlin"}


def test_the_organisation_s_details_are_changed(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    address = {"address.line1": "Yard 4", "address.city": "Hill", "address.country": "DE"}
    answer = visiting.submit("/settings/edit", name="Beam", legalName="", **address, **DETAILS)
    assert answer.headers["Location"] == "/settings?done=update_organisation"
    kept = cast.perform(get_organisation)
    assert (kept["name"], kept["legalName"]) == ("Beam", None)
    assert (kept["address"]["line1"], kept["address"]["line2"], kept["address"]["city"]) == ("Yard 4", None, "Hill")
    assert (kept["country"], kept["currency"], kept["timeZone"]) == ("DE", "EUR", "Europe/Berlin")
    page = words(visiting.get(answer.headers["Location"]).text)
    assert "Your changes are saved." in page
    # Codes by their names.
    facts = "Address Yard 4 Hill Germany Country Germany Currency Euro (EUR) Time zone Berlin (Europe)"
    assert facts in page
    form = visiting.get("/settings/edit").text
    for option in (">Germany<", ">Euro (EUR)<", ">Berlin (Europe)<"):
        assert re.search(rf'<option value="[^"]+" selected{re.escape(option)}', form), option
    euro, yen = form.index(">Euro (EUR)<"), form.index(">Japanese Yen (JPY)<")
    assert form.index(">Australian Dollar (AUD)<") < euro < yen, "not by name"


def test_an_address_without_a_word_in_it_is_none(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    cast.perform(update_organisation, address={"line1": "Yard 4"})
    assert 'value="Yard 4"' in visiting.get("/settings/edit").text
    visiting.submit("/settings/edit", name="Beam", **DETAILS, **{"address.line1": " "})
    assert cast.perform(get_organisation)["address"] is None


def test_working_hours_without_a_time_in_them_are_still_working_hours(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    numbers = {
        f"{kind}Numbers.{part}": value
        for kind in ("job", "purchaseOrder")
        for part, value in (("prefix", "N-"), ("digits", "4"))
    }
    for typed, monday in (("8-12", [{"from": "08:00", "until": "12:00"}]), ("", [])):
        filled_in = numbers | {"materialsMarkupPercent": "0", "workingHours.monday": typed}
        answer = visiting.submit("/settings/work-rules/edit", hoursRoundingMinutes="0", **filled_in)
        assert answer.status_code == 303, words(answer.text)
        assert cast.perform(get_settings)["workingHours"]["monday"] == monday


def test_countries_and_time_zones_are_chosen_by_name(server: RunningServer, cast: Cast) -> None:
    page = visit(server, cast).get("/settings/edit").text
    assert '<option value="NZ">New Zealand</option>' in page
    assert re.search(r'<select id="timeZone" [^>]*required', page)
    assert '<option value="Europe/Berlin">' in page
    assert "ISO " not in page


def test_what_someone_else_changed_meanwhile_is_not_overwritten(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    page = visiting.get("/settings/edit").text
    cast.perform(update_organisation, phone="0123")
    given = {"name": "Beam", "country": "GB", "currency": "GBP", "timeZone": "Europe/London"}
    answer = visiting.answer(page, "/settings/edit", **given)
    assert (answer.status_code, "Someone has changed this since you opened it" in answer.text) == (409, True)
    assert cast.perform(get_organisation)["phone"] == "0123"
    assert visiting.answer(answer.text, "/settings/edit", **given).status_code == 303
    assert cast.perform(get_organisation)["phone"] is None


def test_what_is_wrong_is_said_beside_the_fields(server: RunningServer, cast: Cast) -> None:
    fields = DETAILS | {"timeZone": "Mars/Base", "address.postalCode": "x" * 30, "address.line1": "Yard 4"}
    answer = visit(server, cast).submit("/settings/edit", name="", **fields)
    assert answer.status_code == 422
    told = words(answer.text)
    for said in ("Name is empty.", "Time zone is not a time zone such as Europe/Berlin.", "Postcode is longer than 20"):
        assert told.count(said) == 2
    for field in ("name", "timeZone", "address.postalCode"):
        assert f'href="#{field}"' in answer.text
        assert f'id="{field}"' in answer.text
    for kept in ("Mars/Base", "Yard 4"):
        assert f'value="{kept}"' in answer.text


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_see_the_details_and_nothing_to_do_with_them(server: RunningServer, cast: Cast, role: Role) -> None:
    visiting = visit(server, cast, role)
    page = visiting.get("/settings").text
    assert "/settings/edit" not in page
    assert visiting.get("/settings/edit").status_code == 403
    assert visiting.answer(page, "/settings/edit", name="Mine", **DETAILS).status_code == 403


def test_nobody_renews_their_own_subscription(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    cast.lapse()
    page = visiting.get("/settings").text
    assert "change-subscription" not in page
    assert visiting.get("/settings/change-subscription").status_code == 404
    assert visiting.answer(page, "/settings/change-subscription", status="active").status_code == 404
    assert cast.perform(get_organisation)["subscription"]["status"] == "inactive"
    cast.renew()


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


@pytest.mark.parametrize("role", list(Role))
def test_while_lapsed_everyone_is_told_what_stays_open_and_whom_to_ask(
    server: RunningServer, cast: Cast, role: Role
) -> None:
    visiting, name = visit(server, cast, role), cast.perform(get_organisation)["name"]
    cast.lapse()
    page = visiting.get("/jobs")
    told = words(page.text)
    assert "records do not change until it is renewed" in told
    assert "Everything can still be read and taken away: each list as CSV" in told
    assert visiting.get("/jobs/export.csv").status_code == 200
    renews = role in {Role.OWNER, Role.ADMIN}
    assert ("Whoever runs this installation renews it: ask them to." in told) is renews
    assert (f"To have it renewed, ask an owner or admin of {name}." in told) is not renews
    assert ('<a href="/settings/export">everything in one archive</a>' in page.text) is renews
    cast.renew()


def test_while_lapsed_the_office_reads_and_says_so(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    cast.lapse()
    visiting = Visit(server)
    visiting.sign_in(person)
    for path in ("/", "/people", "/settings", ACCOUNT, "/settings/developer/mcp"):
        page = visiting.get(path)
        assert page.status_code == 200
        assert "The subscription is inactive." in page.text
    assert visiting.get("/settings/edit").status_code == 402
    shown = visiting.get("/settings").text
    assert "/settings/edit" not in shown
    assert visiting.answer(shown, "/settings/edit", name="New", **DETAILS).status_code == 402
    answer = visiting.submit(ACCOUNT, f"{ACCOUNT}/password", password=PASSWORD, newPassword=NEW)
    assert answer.status_code == 303
    cast.renew()
    assert "The subscription is inactive." not in visiting.get("/").text


@pytest.mark.parametrize("zone", ["UTC", "EST", "Europe/Kiev"])
def test_a_time_zone_that_is_offered_under_another_name_or_none_is_not_changed_by_saving_something_else(
    server: RunningServer, cast: Cast, zone: str
) -> None:
    cast.perform(update_organisation, timeZone=zone)
    form = visit(server, cast).get("/settings/edit").text
    (offered,) = re.findall(r'<select id="timeZone".*?</select>', form, re.DOTALL)
    assert re.findall(r'<option value="([^"]*)" selected>', offered) == [zone]


def test_each_time_zone_is_offered_once_and_utc_too(server: RunningServer, cast: Cast) -> None:
    form = visit(server, cast).get("/settings/edit").text
    (zones,) = re.findall(r'<select id="timeZone".*?</select>', form, re.DOTALL)
    names = re.findall(r'<option value="[^"]+"[^>]*>([^<]*)<', zones)
    assert {"Kyiv (Europe)", "Fernando de Noronha (America)", "UTC"} <= {*names}
    assert len(names) == len({*names})
    assert not [name for name in names if "_" in name or "Kiev" in name or "DeNoronha" in name]


def test_how_you_work_is_told_whole_and_in_words(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    told = words(visiting.get("/settings/work-rules").text)
    for text in (
        "PO-0001 comes next",
        "Subscription Active",
    ):
        assert text in told
    # Whoever looks for money looks elsewhere.
    assert "Books closed until" not in told


def test_a_form_for_something_new_says_so(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    for path, title in (
        ("/sites/new", "New site"),
        ("/contacts/new", "New contact"),
        ("/settings/taxes/new", "New tax rate"),
    ):
        assert f"<h1>{title}</h1>" in visiting.get(path).text

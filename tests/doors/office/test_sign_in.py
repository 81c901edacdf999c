import re
import secrets
from io import BytesIO
from urllib.parse import quote

import pytest
from PIL import Image

from mainstay.business.people.invitations import add_person
from mainstay.business.people.roles import remove_person
from mainstay.doors.pages.session import MAX_PATH_LENGTH
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Access, Role
from support.browser_session import (
    BrowserSession,
    NewPerson,
    add_new_person,
    cookies_set_by,
    sign_in_new_person,
    visible_text,
    wait_for_link,
)
from support.cast import PASSWORD, Cast, make_cast
from support.oauth_app import hidden_value, make_address_header
from support.servers import RunningServer

WRONG_MESSAGE = "The email or password is wrong."


def test_a_person_signs_in_and_out(server: RunningServer, cast: Cast) -> None:
    session = BrowserSession(server)
    assert not session.is_signed_in
    answer = session.submit_form("/sign-in", email=add_new_person(cast).email, password=PASSWORD)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert "Sara Someone" in session.get("/").text
    kept = session.cookies["mainstay"]
    answer = session.submit_form("/", "/sign-out")
    assert answer.headers["Location"] == "/sign-in?done=signed-out"
    assert "You&#39;ve signed out." in session.get(answer.headers["Location"]).text
    # The session itself is over, not only the cookie gone.
    assert BrowserSession(server).get("/", Cookie=f"mainstay={kept}").status_code == 303


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(server: RunningServer, cast: Cast) -> None:
    answer = BrowserSession(server).submit_form("/sign-in", email=add_new_person(cast).email, password=PASSWORD)
    secret, *flags = cookies_set_by(answer)["mainstay"].split("; ")
    assert len(secret) == 43
    assert flags == ["Path=/", "HttpOnly", "SameSite=Lax"]


def test_a_device_is_kept_signed_in_if_the_person_asks_and_listed_until_it_is_signed_out(
    server: RunningServer, cast: Cast
) -> None:
    person = add_new_person(cast)
    desk, phone = BrowserSession(server), BrowserSession(server)
    desk.sign_in(person)
    answer = phone.submit_form("/sign-in", email=person.email, password=PASSWORD, keep="yes")
    [kept, *_] = answer.headers.get_list("set-cookie")
    assert kept.startswith("mainstay=")
    assert kept.endswith("; Max-Age=7776000")
    page = desk.get("/settings/account").text
    assert "Stays signed in until" in visible_text(page)
    ended = re.search(r'action="(/settings/account/sessions/ses_\w+/end)"', page)
    assert ended
    desk.follow_redirect(desk.submit_page(page, ended[1]))
    assert (desk.is_signed_in, phone.is_signed_in) == (True, False)
    # A refused form keeps the choice.
    refused = phone.submit_form("/sign-in", email=person.email, password="wrong", keep="yes")
    assert 'name="keep" value="yes" checked' in refused.text


def test_the_office_can_be_installed(server: RunningServer) -> None:
    address = re.search(r'rel="manifest" href="([^"]+)"', BrowserSession(server).get("/sign-in").text)
    assert address
    answer = server.request("GET", address[1])
    assert answer.headers["Content-Type"] == "application/manifest+json"
    manifest = answer.json()
    assert (manifest["name"], manifest["start_url"], manifest["display"]) == ("Mainstay", "/", "standalone")
    for icon in manifest["icons"]:
        picture = server.request("GET", icon["src"])
        width, height = Image.open(BytesIO(picture.content)).size
        assert (picture.headers["Content-Type"], f"{width}x{height}") == ("image/png", icon["sizes"])


def test_an_unknown_address_and_a_wrong_password_get_the_same_page(server: RunningServer, cast: Cast) -> None:
    pages = []
    for email in (add_new_person(cast).email, "n" + add_new_person(cast).email):
        session = BrowserSession(server)
        answer = session.submit_form("/sign-in", email=email, password="wrong")
        assert answer.status_code == 422
        assert WRONG_MESSAGE in answer.text
        assert "mainstay" not in cookies_set_by(answer)
        plain = answer.text.replace(email, "E")
        for name in ("csrf", "once"):
            plain = plain.replace(hidden_value(answer.text, name), name)
        pages.append(plain)
    assert pages[0] == pages[1]


@pytest.mark.parametrize("email", ["", "x", "a@b", "\u0130@cast.example", "%00", "' OR 1=1 --", "x" * 5000])
def test_strange_addresses_are_only_unknown(server: RunningServer, email: str) -> None:
    assert BrowserSession(server).submit_form("/sign-in", email=email, password=PASSWORD).status_code == 422


def test_a_new_session_begins_at_every_sign_in(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    session = BrowserSession(server)
    # A cookie that someone else put there is not taken over.
    session.cookies["mainstay"] = "planted" * 7
    session.sign_in(person)
    assert session.cookies["mainstay"] != "planted" * 7
    assert session.is_signed_in


def test_signing_in_again_ends_the_session_before(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    session = BrowserSession(server)
    page = session.get("/sign-in").text
    session.sign_in(person)
    earlier = session.cookies["mainstay"]
    fields = {"csrf": hidden_value(page, "csrf"), "email": person.email, "password": PASSWORD}
    assert session.post("/sign-in", fields).status_code == 303
    assert session.cookies["mainstay"] != earlier
    assert BrowserSession(server).get("/", Cookie=f"mainstay={earlier}").status_code == 303


def test_the_visitor_comes_back_to_exactly_what_they_asked_for(server: RunningServer, cast: Cast) -> None:
    session = BrowserSession(server)
    wanted = "/people?status=left&x=%2F%2Fevil.example&y=a+b"
    first = session.get(wanted)
    ticket = first.headers["Location"]
    assert re.fullmatch(r"/sign-in\?ticket=[\w-]{43}", ticket)
    person = add_new_person(cast)
    # A failed attempt keeps the way.
    failed = session.submit_form(ticket, "/sign-in", email=person.email, password="wrong")
    fields = {name: hidden_value(failed.text, name) for name in ("csrf", "ticket")}
    answer = session.post("/sign-in", fields | {"email": person.email, "password": PASSWORD})
    assert (answer.status_code, answer.headers["Location"]) == (303, wanted)
    # The ticket is used up.
    again = BrowserSession(server).submit_form(ticket, "/sign-in", email=person.email, password=PASSWORD)
    assert again.headers["Location"] == "/"


def test_what_is_too_long_to_come_back_to_is_told_and_not_forgotten(server: RunningServer) -> None:
    kept = BrowserSession(server).get("/people?x=".ljust(MAX_PATH_LENGTH, "x"))
    assert kept.headers["Location"].startswith("/sign-in?ticket=")
    answer = BrowserSession(server).get("/people?x=".ljust(MAX_PATH_LENGTH + 1, "x"))
    assert (answer.status_code, "Sign in first, then open it again." in answer.text) == (414, True)


@pytest.mark.parametrize("name", ["next", "ticket", "return_to", "redirect"])
@pytest.mark.parametrize("address", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_no_address_can_be_handed_to_the_sign_in(server: RunningServer, cast: Cast, name: str, address: str) -> None:
    session = BrowserSession(server)
    path = f"/sign-in?{name}={quote(address)}"
    answer = session.submit_form(path, path, email=add_new_person(cast).email, password=PASSWORD)
    assert answer.headers["Location"] == "/"


def test_whoever_sends_a_form_too_late_is_told_so_and_comes_back_to_its_page(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get("/people/invite").text
    session.cookies.clear()
    sent = {"csrf": hidden_value(page, "csrf") or "", "name": "N", "email": "n@cast.example", "role": "member"}
    answer = session.post("/people/invite", sent, Referer=f"{server.url}/people/invite")
    assert answer.status_code == 303
    sign_in = session.get(answer.headers["Location"])
    assert "Your session ended" in sign_in.text
    person = add_new_person(cast)
    back = session.submit_page(sign_in.text, "/sign-in", email=person.email, password=person.password)
    assert back.headers["Location"] == "/people/invite"


@pytest.mark.parametrize("referer", ["", "https://elsewhere.example/people", "nonsense"])
def test_only_a_page_of_ours_is_come_back_to(server: RunningServer, referer: str) -> None:
    answer = BrowserSession(server).post("/people/invite", {}, Referer=referer)
    assert answer.headers["Location"] == "/sign-in?late=yes"


@pytest.mark.parametrize("path", ["//evil.example/settings", "/\\evil.example/settings", "/\tpeople"])
def test_a_path_that_browsers_take_for_another_site_is_not_gone_back_to(server: RunningServer, path: str) -> None:
    assert BrowserSession(server).get("//evil.example/settings").status_code == 404
    # The page of a form that came too late comes from the browser, or from a site that made it do so.
    answer = BrowserSession(server).post("/people/invite", {}, Referer=f"{server.url}{path}")
    assert answer.headers["Location"] == "/sign-in?late=yes"


def test_one_address_has_300_attempts_whoever_it_tries_to_be(server: RunningServer) -> None:
    session = BrowserSession(server)
    page = session.get("/sign-in").text

    def attempt(number: int, **headers: str) -> int:
        # Too long to be anyone's, so that no time goes into proving it.
        fields = {"csrf": hidden_value(page, "csrf"), "email": f"{number}@nowhere.example", "password": "x" * 300}
        return session.post("/sign-in", fields, **headers).status_code

    assert {attempt(number) for number in range(300)} == {422}
    assert attempt(300) == 429
    assert attempt(300, **make_address_header()) == 422


def test_one_address_is_given_120_tickets_a_minute(server: RunningServer) -> None:
    session = BrowserSession(server)
    assert {session.get("/people").status_code for _ in range(120)} == {303}
    refused = session.get("/people")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert BrowserSession(server).get("/people").status_code == 303


def test_whoever_is_signed_in_does_not_sign_in_again(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert session.get("/sign-in").headers["Location"] == "/"
    ticket = BrowserSession(server).get("/people").headers["Location"]
    assert session.get(ticket).headers["Location"] == "/people"


def test_too_many_failures_for_an_account_are_refused_even_with_the_right_password(
    server: RunningServer, cast: Cast
) -> None:
    person = add_new_person(cast)
    for _ in range(20):
        # From everywhere at once: the account is what is guarded.
        assert BrowserSession(server).submit_form("/sign-in", email=person.email, password="wrong").status_code == 422
    answer = BrowserSession(server).submit_form("/sign-in", email=person.email.upper(), password=PASSWORD)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
    assert "Too many attempts." in answer.text
    assert (
        BrowserSession(server).submit_form("/sign-in", email=add_new_person(cast).email, password=PASSWORD).status_code
        == 303
    )


def lock_out(server: RunningServer, person: NewPerson) -> None:
    """Strangers try passwords until no more are taken."""
    for _ in range(20):
        BrowserSession(server).submit_form("/sign-in", email=person.email, password="wrong")
    assert (
        BrowserSession(server).submit_form("/sign-in", email=person.email, password=person.password).status_code == 429
    )


def test_strangers_cannot_keep_a_browser_out_that_has_signed_in_before(server: RunningServer, cast: Cast) -> None:
    person, other = add_new_person(cast), add_new_person(cast)
    session = BrowserSession(server)
    session.sign_in(person)
    # Known for each of the accounts that sign in on it.
    session.submit_form("/", "/sign-out")
    session.sign_in(other)
    session.submit_form("/", "/sign-out")
    lock_out(server, person)
    session.sign_in(person)
    assert session.is_signed_in


def test_who_is_known_for_one_account_is_a_stranger_to_another(server: RunningServer, cast: Cast) -> None:
    victim, attacker = add_new_person(cast), BrowserSession(server)
    attacker.sign_in(add_new_person(cast))
    attacker.submit_form("/", "/sign-out")
    lock_out(server, victim)
    assert attacker.submit_form("/sign-in", email=victim.email, password=PASSWORD).status_code == 429


def test_a_browser_that_is_known_guesses_no_faster_than_strangers(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    owner, thief = BrowserSession(server), BrowserSession(server)
    owner.sign_in(person)
    thief.cookies["mainstay-device"] = owner.cookies["mainstay-device"]
    lock_out(server, person)
    tried = [thief.submit_form("/sign-in", email=person.email, password="wrong").status_code for _ in range(21)]
    assert tried == [422] * 20 + [429]


def test_a_stolen_device_is_worth_nothing_once_its_owner_signs_in_again(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    owner, thief = BrowserSession(server), BrowserSession(server)
    owner.sign_in(person)
    thief.cookies["mainstay-device"] = owner.cookies["mainstay-device"]
    owner.submit_form("/", "/sign-out")
    owner.sign_in(person)
    lock_out(server, person)
    assert thief.submit_form("/sign-in", email=person.email, password="wrong").status_code == 429


def test_strangers_cannot_keep_out_whoever_has_just_chosen_a_new_password(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    lock_out(server, person)
    session = BrowserSession(server)
    session.submit_form("/forgot-password", email=person.email)
    session.submit_form(wait_for_link(server, person.email), password="a much better password")
    renewed = NewPerson(person.id, person.email, "a much better password")
    # In another browser attempts count from zero; here they do not even count with those of strangers.
    BrowserSession(server).sign_in(renewed)
    lock_out(server, renewed)
    session.sign_in(renewed)


def test_a_changed_password_leaves_only_the_browser_known_that_changed_it(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    here, elsewhere = BrowserSession(server), BrowserSession(server)
    for session in (here, elsewhere):
        session.sign_in(person)
    changed = {"password": PASSWORD, "newPassword": "a much better password"}
    assert here.submit_form("/settings/account", "/settings/account/password", **changed).status_code == 303
    renewed = NewPerson(person.id, person.email, "a much better password")
    lock_out(server, renewed)
    assert elsewhere.submit_form("/sign-in", email=person.email, password=renewed.password).status_code == 429
    here.submit_form("/", "/sign-out")
    here.sign_in(renewed)


def test_strangers_cannot_keep_someone_inside_from_changing_their_password(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    session = BrowserSession(server)
    session.sign_in(person)
    lock_out(server, person)
    changed = {"password": PASSWORD, "newPassword": "a much better password"}
    assert session.submit_form("/settings/account", "/settings/account/password", **changed).status_code == 303


def test_the_device_cookie_lives_for_a_year_out_of_reach_for_scripts(server: RunningServer, cast: Cast) -> None:
    answer = BrowserSession(server).submit_form("/sign-in", email=add_new_person(cast).email, password=PASSWORD)
    secret, *flags = cookies_set_by(answer)["mainstay-device"].split("; ")
    assert len(secret) == 43
    assert flags == ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=31536000"]


@pytest.mark.parametrize("carried", ["", ".", "x", "x" * 43, ".".join(["x" * 43] * 50), "ü" * 43, "x" * 5000])
def test_nonsense_in_the_device_cookie_makes_a_stranger(server: RunningServer, cast: Cast, carried: str) -> None:
    session = BrowserSession(server)
    session.cookies["mainstay-device"] = quote(carried)
    session.sign_in(add_new_person(cast))


def test_an_unknown_address_is_limited_just_the_same(server: RunningServer) -> None:
    email = f"{new_id('n').lower()}@nowhere.example"
    answers = [
        BrowserSession(server).submit_form("/sign-in", email=email, password="wrong").status_code for _ in range(21)
    ]
    assert answers == [422] * 20 + [429]


def test_a_success_starts_the_count_anew(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    for _ in range(19):
        BrowserSession(server).submit_form("/sign-in", email=person.email, password="wrong")
    BrowserSession(server).sign_in(person)
    assert BrowserSession(server).submit_form("/sign-in", email=person.email, password="wrong").status_code == 422
    BrowserSession(server).sign_in(person)


def test_a_key_opens_no_page_of_the_office(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key(Access.WRITE)
    for path in ("/", "/people", "/settings/developer/keys"):
        assert server.request("GET", path, key).status_code == 303
        assert server.request("GET", path, headers={"Cookie": f"mainstay={key}"}).status_code == 303


def test_the_cookie_opens_neither_the_api_nor_the_tool_server(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    cookie = session.cookies["mainstay"]
    for headers in ({"Cookie": f"mainstay={cookie}"}, {"Authorization": f"Bearer {cookie}"}):
        assert server.request("GET", "/api/v1/organisation", headers=headers).status_code == 401
        assert server.request("POST", "/mcp", headers=headers, json={}).status_code == 401


def test_a_person_who_leaves_is_out_at_once(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast, Role.OFFICE)
    session = BrowserSession(server)
    session.sign_in(person)
    assert session.is_signed_in
    cast.perform(remove_person, personId=person.id, confirmed=True)
    assert not session.is_signed_in
    again = BrowserSession(server)
    again.sign_in(NewPerson(person.id, person.email))
    page = again.get("/")
    assert page.status_code == 403
    assert "access to an organisation" in page.text
    assert again.submit_page(page.text, "/sign-out").status_code == 303


def test_one_account_works_in_several_organisations(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    other = make_cast(cast.performer)
    elsewhere = {"name": "Sara", "email": person.email, "role": "office", "password": PASSWORD}
    other.perform(add_person, operator_actor(other.organisation), **elsewhere)
    session = BrowserSession(server)
    session.sign_in(person)
    for place, role in ((other, "Office"), (cast, "Owner"), (other, "Office")):
        answer = session.submit_form("/", "/organisation", organisation=place.organisation)
        assert answer.headers["Location"] == "/"
        assert role in visible_text(session.get("/").text)


def test_nobody_switches_to_an_organisation_they_are_not_in(
    server: RunningServer, cast: Cast, other_cast: Cast
) -> None:
    session = sign_in_new_person(server, cast)
    answer = session.submit_form("/", "/organisation", organisation=other_cast.organisation)
    assert answer.status_code == 404
    assert "Organisation not found. It may have been deleted, or you don&#39;t have access." in answer.text


def test_a_form_of_one_organisation_is_not_taken_in_another(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    other = make_cast(cast.performer)
    elsewhere = {"name": "Sara", "email": person.email, "role": "owner", "password": PASSWORD}
    other.perform(add_person, operator_actor(other.organisation), **elsewhere)
    session = BrowserSession(server)
    session.sign_in(person)
    session.submit_form("/", "/organisation", organisation=cast.organisation)
    page = session.get("/settings/developer/keys/new").text
    session.submit_form("/", "/organisation", organisation=other.organisation)
    fields = {"csrf": hidden_value(page, "csrf"), "name": "Meant for the first", "access": "read"}
    assert session.post("/settings/developer/keys/new", fields).status_code == 403
    assert "Meant for the first" not in session.get("/settings/developer/keys").text


def test_one_household_s_attempts_are_counted_together(server: RunningServer) -> None:
    # Each address of an IPv6 network of 64 bits is free to the owner of any one of them.
    network = "2001:db8:" + ":".join(secrets.token_hex(2) for _ in range(2))
    session = BrowserSession(server)
    for number in range(30):
        came_from = {"X-Forwarded-For": f"{network}::{number:x}"}
        page = session.get("/forgot-password").text
        fields = {"csrf": hidden_value(page, "csrf"), "email": f"{number}@nowhere.example"}
        assert session.post("/forgot-password", fields, **came_from).status_code == 200
    answer = session.post("/forgot-password", fields, **{"X-Forwarded-For": f"{network}::ffff"})
    assert answer.status_code == 429

import re
import secrets
from urllib.parse import quote

import pytest

from apps import from_somewhere, hidden
from cast import PASSWORD, Cast, assemble
from mainstay.business.people.joining import add_person
from mainstay.business.people.standing import remove_person
from mainstay.doors.pages.session import LONGEST_PATH
from mainstay.terms.actor import operator
from mainstay.terms.rights import Access, Role
from mainstay.values.ids import new_id
from running import RunningServer
from visiting import Somebody, Visit, link_for, set_cookies, somebody, visit, words

WRONG = "The e-mail address or the password is not right."


def test_a_person_signs_in_and_out(server: RunningServer, cast: Cast) -> None:
    visiting = Visit(server)
    assert not visiting.is_inside
    answer = visiting.submit("/sign-in", email=somebody(cast).email, password=PASSWORD)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert "Sara Someone" in visiting.get("/").text
    kept = visiting.cookies["mainstay"]
    answer = visiting.submit("/", "/sign-out")
    assert answer.headers["Location"] == "/sign-in?done=signed-out"
    assert "You are signed out." in visiting.get(answer.headers["Location"]).text
    # The session itself is over, not only the cookie gone.
    assert Visit(server).get("/", Cookie=f"mainstay={kept}").status_code == 303


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(server: RunningServer, cast: Cast) -> None:
    answer = Visit(server).submit("/sign-in", email=somebody(cast).email, password=PASSWORD)
    secret, *flags = set_cookies(answer)["mainstay"].split("; ")
    assert len(secret) == 43
    assert flags == ["Path=/", "HttpOnly", "SameSite=Lax"]


def test_an_unknown_address_and_a_wrong_password_get_the_same_page(server: RunningServer, cast: Cast) -> None:
    pages = []
    for email in (somebody(cast).email, "n" + somebody(cast).email):
        visiting = Visit(server)
        answer = visiting.submit("/sign-in", email=email, password="wrong")
        assert answer.status_code == 422
        assert WRONG in answer.text
        assert "mainstay" not in set_cookies(answer)
        plain = answer.text.replace(email, "E")
        for name in ("csrf", "once"):
            plain = plain.replace(hidden(answer.text, name), name)
        pages.append(plain)
    assert pages[0] == pages[1]


@pytest.mark.parametrize("email", ["", "x", "a@b", "\u0130@cast.example", "%00", "' OR 1=1 --", "x" * 5000])
def test_strange_addresses_are_only_unknown(server: RunningServer, email: str) -> None:
    assert Visit(server).submit("/sign-in", email=email, password=PASSWORD).status_code == 422


def test_a_new_session_begins_at_every_sign_in(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    visiting = Visit(server)
    # A cookie that someone else put there is not taken over.
    visiting.cookies["mainstay"] = "planted" * 7
    visiting.sign_in(person)
    assert visiting.cookies["mainstay"] != "planted" * 7
    assert visiting.is_inside


def test_signing_in_again_ends_the_session_before(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    visiting = Visit(server)
    page = visiting.get("/sign-in").text
    visiting.sign_in(person)
    earlier = visiting.cookies["mainstay"]
    fields = {"csrf": hidden(page, "csrf"), "email": person.email, "password": PASSWORD}
    assert visiting.post("/sign-in", fields).status_code == 303
    assert visiting.cookies["mainstay"] != earlier
    assert Visit(server).get("/", Cookie=f"mainstay={earlier}").status_code == 303


def test_the_visitor_comes_back_to_exactly_what_they_asked_for(server: RunningServer, cast: Cast) -> None:
    visiting = Visit(server)
    wanted = "/people?status=left&x=%2F%2Fevil.example&y=a+b"
    first = visiting.get(wanted)
    ticket = first.headers["Location"]
    assert re.fullmatch(r"/sign-in\?ticket=[\w-]{43}", ticket)
    person = somebody(cast)
    # A failed attempt keeps the way.
    failed = visiting.submit(ticket, "/sign-in", email=person.email, password="wrong")
    fields = {name: hidden(failed.text, name) for name in ("csrf", "ticket")}
    answer = visiting.post("/sign-in", fields | {"email": person.email, "password": PASSWORD})
    assert (answer.status_code, answer.headers["Location"]) == (303, wanted)
    # The ticket is used up.
    again = Visit(server).submit(ticket, "/sign-in", email=person.email, password=PASSWORD)
    assert again.headers["Location"] == "/"


def test_what_is_too_long_to_come_back_to_is_told_and_not_forgotten(server: RunningServer) -> None:
    kept = Visit(server).get("/people?x=".ljust(LONGEST_PATH, "x"))
    assert kept.headers["Location"].startswith("/sign-in?ticket=")
    told = Visit(server).get("/people?x=".ljust(LONGEST_PATH + 1, "x"))
    assert (told.status_code, "Sign in first, then open it again." in told.text) == (414, True)


@pytest.mark.parametrize("name", ["next", "ticket", "return_to", "redirect"])
@pytest.mark.parametrize("address", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_no_address_can_be_handed_to_the_sign_in(server: RunningServer, cast: Cast, name: str, address: str) -> None:
    visiting = Visit(server)
    path = f"/sign-in?{name}={quote(address)}"
    answer = visiting.submit(path, path, email=somebody(cast).email, password=PASSWORD)
    assert answer.headers["Location"] == "/"


def test_whoever_sends_a_form_too_late_is_told_so_and_comes_back_to_its_page(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    page = visiting.get("/people/invite").text
    visiting.cookies.clear()
    sent = {"csrf": hidden(page, "csrf") or "", "name": "N", "email": "n@cast.example", "role": "member"}
    answer = visiting.post("/people/invite", sent, Referer=f"{server.url}/people/invite")
    assert answer.status_code == 303
    sign_in = visiting.get(answer.headers["Location"])
    assert "Your sign-in had ended" in sign_in.text
    person = somebody(cast)
    back = visiting.answer(sign_in.text, "/sign-in", email=person.email, password=person.password)
    assert back.headers["Location"] == "/people/invite"


@pytest.mark.parametrize("referer", ["", "https://elsewhere.example/people", "nonsense"])
def test_only_a_page_of_ours_is_come_back_to(server: RunningServer, referer: str) -> None:
    answer = Visit(server).post("/people/invite", {}, Referer=referer)
    assert answer.headers["Location"] == "/sign-in?late=yes"


@pytest.mark.parametrize("path", ["//evil.example/settings", "/\\evil.example/settings", "/\tpeople"])
def test_a_path_that_browsers_take_for_another_site_is_not_gone_back_to(server: RunningServer, path: str) -> None:
    assert Visit(server).get("//evil.example/settings").status_code == 404
    # The page of a form that came too late is told by the browser, or by whoever made it do so.
    answer = Visit(server).post("/people/invite", {}, Referer=f"{server.url}{path}")
    assert answer.headers["Location"] == "/sign-in?late=yes"


def test_one_address_has_300_attempts_whoever_it_tries_to_be(server: RunningServer) -> None:
    visiting = Visit(server)
    page = visiting.get("/sign-in").text

    def attempt(number: int, **headers: str) -> int:
        # Too long to be anyone's, so that no time goes into proving it.
        fields = {"csrf": hidden(page, "csrf"), "email": f"{number}@nowhere.example", "password": "x" * 300}
        return visiting.post("/sign-in", fields, **headers).status_code

    assert {attempt(number) for number in range(300)} == {422}
    assert attempt(300) == 429
    assert attempt(300, **from_somewhere()) == 422


def test_one_address_is_given_120_tickets_a_minute(server: RunningServer) -> None:
    visiting = Visit(server)
    assert {visiting.get("/people").status_code for _ in range(120)} == {303}
    refused = visiting.get("/people")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert Visit(server).get("/people").status_code == 303


def test_whoever_is_signed_in_does_not_sign_in_again(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    assert visiting.get("/sign-in").headers["Location"] == "/"
    ticket = Visit(server).get("/people").headers["Location"]
    assert visiting.get(ticket).headers["Location"] == "/people"


def test_too_many_failures_for_an_account_are_refused_even_with_the_right_password(
    server: RunningServer, cast: Cast
) -> None:
    person = somebody(cast)
    for _ in range(20):
        # From everywhere at once: the account is what is guarded.
        assert Visit(server).submit("/sign-in", email=person.email, password="wrong").status_code == 422
    answer = Visit(server).submit("/sign-in", email=person.email.upper(), password=PASSWORD)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
    assert "There were too many attempts." in answer.text
    assert Visit(server).submit("/sign-in", email=somebody(cast).email, password=PASSWORD).status_code == 303


def lock_out(server: RunningServer, person: Somebody) -> None:
    """Strangers try passwords until no more are taken."""
    for _ in range(20):
        Visit(server).submit("/sign-in", email=person.email, password="wrong")
    assert Visit(server).submit("/sign-in", email=person.email, password=person.password).status_code == 429


def test_strangers_cannot_keep_a_browser_out_that_has_signed_in_before(server: RunningServer, cast: Cast) -> None:
    person, other = somebody(cast), somebody(cast)
    visiting = Visit(server)
    visiting.sign_in(person)
    # Known for each of the accounts that sign in on it.
    visiting.submit("/", "/sign-out")
    visiting.sign_in(other)
    visiting.submit("/", "/sign-out")
    lock_out(server, person)
    visiting.sign_in(person)
    assert visiting.is_inside


def test_who_is_known_for_one_account_is_a_stranger_to_another(server: RunningServer, cast: Cast) -> None:
    victim, attacker = somebody(cast), Visit(server)
    attacker.sign_in(somebody(cast))
    attacker.submit("/", "/sign-out")
    lock_out(server, victim)
    assert attacker.submit("/sign-in", email=victim.email, password=PASSWORD).status_code == 429


def test_a_browser_that_is_known_guesses_no_faster_than_strangers(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    owner, thief = Visit(server), Visit(server)
    owner.sign_in(person)
    thief.cookies["mainstay-device"] = owner.cookies["mainstay-device"]
    lock_out(server, person)
    tried = [thief.submit("/sign-in", email=person.email, password="wrong").status_code for _ in range(21)]
    assert tried == [422] * 20 + [429]


def test_a_stolen_device_is_worth_nothing_once_its_owner_signs_in_again(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    owner, thief = Visit(server), Visit(server)
    owner.sign_in(person)
    thief.cookies["mainstay-device"] = owner.cookies["mainstay-device"]
    owner.submit("/", "/sign-out")
    owner.sign_in(person)
    lock_out(server, person)
    assert thief.submit("/sign-in", email=person.email, password="wrong").status_code == 429


def test_strangers_cannot_keep_out_whoever_has_just_chosen_a_new_password(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    lock_out(server, person)
    visiting = Visit(server)
    visiting.submit("/forgot-password", email=person.email)
    visiting.submit(link_for(server, person.email), password="a much better password")
    renewed = Somebody(person.id, person.email, "a much better password")
    # Elsewhere attempts count anew; here they do not even count with those of strangers.
    Visit(server).sign_in(renewed)
    lock_out(server, renewed)
    visiting.sign_in(renewed)


def test_a_changed_password_leaves_only_the_browser_known_that_changed_it(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    here, elsewhere = Visit(server), Visit(server)
    for visiting in (here, elsewhere):
        visiting.sign_in(person)
    changed = {"password": PASSWORD, "newPassword": "a much better password"}
    assert here.submit("/settings/account", "/settings/account/password", **changed).status_code == 303
    renewed = Somebody(person.id, person.email, "a much better password")
    lock_out(server, renewed)
    assert elsewhere.submit("/sign-in", email=person.email, password=renewed.password).status_code == 429
    here.submit("/", "/sign-out")
    here.sign_in(renewed)


def test_strangers_cannot_keep_someone_inside_from_changing_their_password(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    visiting = Visit(server)
    visiting.sign_in(person)
    lock_out(server, person)
    changed = {"password": PASSWORD, "newPassword": "a much better password"}
    assert visiting.submit("/settings/account", "/settings/account/password", **changed).status_code == 303


def test_the_device_cookie_lives_for_a_year_out_of_reach_for_scripts(server: RunningServer, cast: Cast) -> None:
    answer = Visit(server).submit("/sign-in", email=somebody(cast).email, password=PASSWORD)
    secret, *flags = set_cookies(answer)["mainstay-device"].split("; ")
    assert len(secret) == 43
    assert flags == ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=31536000"]


@pytest.mark.parametrize("carried", ["", ".", "x", "x" * 43, ".".join(["x" * 43] * 50), "ü" * 43, "x" * 5000])
def test_nonsense_in_the_device_cookie_makes_a_stranger(server: RunningServer, cast: Cast, carried: str) -> None:
    visiting = Visit(server)
    visiting.cookies["mainstay-device"] = quote(carried)
    visiting.sign_in(somebody(cast))


def test_an_unknown_address_is_limited_just_the_same(server: RunningServer) -> None:
    email = f"{new_id('n').lower()}@nowhere.example"
    answers = [Visit(server).submit("/sign-in", email=email, password="wrong").status_code for _ in range(21)]
    assert answers == [422] * 20 + [429]


def test_a_success_starts_the_count_anew(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    for _ in range(19):
        Visit(server).submit("/sign-in", email=person.email, password="wrong")
    Visit(server).sign_in(person)
    assert Visit(server).submit("/sign-in", email=person.email, password="wrong").status_code == 422
    Visit(server).sign_in(person)


def test_a_key_opens_no_page_of_the_office(server: RunningServer, cast: Cast) -> None:
    key = cast.key(Access.WRITE)
    for path in ("/", "/people", "/settings/developer/keys"):
        assert server.request("GET", path, key).status_code == 303
        assert server.request("GET", path, headers={"Cookie": f"mainstay={key}"}).status_code == 303


def test_the_cookie_opens_neither_the_api_nor_the_tool_server(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    cookie = visiting.cookies["mainstay"]
    for headers in ({"Cookie": f"mainstay={cookie}"}, {"Authorization": f"Bearer {cookie}"}):
        assert server.request("GET", "/api/v1/organisation", headers=headers).status_code == 401
        assert server.request("POST", "/mcp", headers=headers, json={}).status_code == 401


def test_a_person_who_leaves_is_out_at_once(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast, Role.OFFICE)
    visiting = Visit(server)
    visiting.sign_in(person)
    assert visiting.is_inside
    cast.perform(remove_person, personId=person.id, confirmed=True)
    assert not visiting.is_inside
    again = Visit(server)
    again.sign_in(Somebody(person.id, person.email))
    page = again.get("/")
    assert page.status_code == 403
    assert "You are in no organisation" in page.text
    assert again.answer(page.text, "/sign-out").status_code == 303


def test_one_account_works_in_several_organisations(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    other = assemble(cast.stage)
    elsewhere = {"name": "Sara", "email": person.email, "role": "office", "password": PASSWORD}
    other.perform(add_person, operator(other.organisation), **elsewhere)
    visiting = Visit(server)
    visiting.sign_in(person)
    for place, role in ((other, "Office"), (cast, "Owner"), (other, "Office")):
        answer = visiting.submit("/", "/organisation", organisation=place.organisation)
        assert answer.headers["Location"] == "/"
        assert role in words(visiting.get("/").text)


def test_nobody_switches_to_an_organisation_they_are_not_in(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    visiting = visit(server, cast)
    answer = visiting.submit("/", "/organisation", organisation=stranger.organisation)
    assert answer.status_code == 404
    assert "There is no such organisation, or you are not shown it." in answer.text


def test_a_form_of_one_organisation_is_not_taken_in_another(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    other = assemble(cast.stage)
    elsewhere = {"name": "Sara", "email": person.email, "role": "owner", "password": PASSWORD}
    other.perform(add_person, operator(other.organisation), **elsewhere)
    visiting = Visit(server)
    visiting.sign_in(person)
    visiting.submit("/", "/organisation", organisation=cast.organisation)
    page = visiting.get("/settings/developer/keys/new").text
    visiting.submit("/", "/organisation", organisation=other.organisation)
    fields = {"csrf": hidden(page, "csrf"), "name": "Meant for the first", "access": "read"}
    assert visiting.post("/settings/developer/keys/new", fields).status_code == 403
    assert "Meant for the first" not in visiting.get("/settings/developer/keys").text


def test_one_household_s_attempts_are_counted_together(server: RunningServer) -> None:
    # Each address of an IPv6 network of 64 bits is free to whoever has one of them.
    network = "2001:db8:" + ":".join(secrets.token_hex(2) for _ in range(2))
    visiting = Visit(server)
    for number in range(30):
        came_from = {"X-Forwarded-For": f"{network}::{number:x}"}
        page = visiting.get("/forgot-password").text
        fields = {"csrf": hidden(page, "csrf"), "email": f"{number}@nowhere.example"}
        assert visiting.post("/forgot-password", fields, **came_from).status_code == 200
    answer = visiting.post("/forgot-password", fields, **{"X-Forwarded-For": f"{network}::ffff"})
    assert answer.status_code == 429

from mainstay.business.people.operations import get_person, invite_again, invite_person
from mainstay.identity.keys import list_keys
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from support.browser_session import (
    BrowserSession,
    NewPerson,
    add_new_person,
    sign_in_new_person,
    visible_text,
    wait_for_link,
)
from support.cast import PASSWORD, Cast
from support.servers import RunningServer

NEW_PASSWORD = "a password of my own"


def invite(cast: Cast, email: str) -> str:
    return str(cast.perform(invite_person, name="Nina New", email=email, role="admin")["id"])


def make_email() -> str:
    return f"{new_id('n').lower()}@new.example"


def test_someone_new_comes_in_by_the_link_in_their_mail(server: RunningServer, cast: Cast) -> None:
    email = make_email()
    person = invite(cast, email)
    link = wait_for_link(server, email)
    session = BrowserSession(server)
    page = visible_text(session.get(link).text)
    assert "You're invited with admin access" in page
    assert "Password At least 10 characters" in page
    answer = session.submit_form(link, name="Nina Named", password=NEW_PASSWORD)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert "Nina Named" in session.get("/").text
    assert cast.perform(get_person, personId=person)["status"] == "active"
    BrowserSession(server).sign_in(NewPerson(person, email, NEW_PASSWORD))
    # Once is enough.
    assert BrowserSession(server).get(link).status_code == 410


def test_what_is_wrong_is_said_beside_the_field_and_the_link_still_works(server: RunningServer, cast: Cast) -> None:
    email = make_email()
    invite(cast, email)
    link = wait_for_link(server, email)
    session = BrowserSession(server)
    answer = session.submit_form(link, name=" ", password="short")
    assert answer.status_code == 422
    assert "Enter your name." in visible_text(answer.text)
    answer = session.submit_form(link, name="Nina", password="short")
    assert "Password must have at least 10 characters." in visible_text(answer.text)
    assert session.submit_form(link, name="Nina", password=NEW_PASSWORD).status_code == 303


def test_whoever_has_an_account_uses_its_password(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    person = add_new_person(other_cast)
    invite(cast, person.email)
    link = wait_for_link(server, person.email)
    session = BrowserSession(server)
    assert "Enter its password." in session.get(link).text
    wrong = session.submit_form(link, name="Sara", password=NEW_PASSWORD)
    assert wrong.status_code == 422
    assert "is not the password of your existing account" in wrong.text
    assert session.submit_form(link, name="Sara", password=PASSWORD).status_code == 303
    # In the organisation of the invitation, with the other one to switch to.
    page = session.get("/").text
    assert cast.organisation in page
    assert other_cast.organisation in page


def test_inviting_again_makes_the_earlier_link_dead(server: RunningServer, cast: Cast) -> None:
    email = make_email()
    person = invite(cast, email)
    first = wait_for_link(server, email)
    cast.perform(invite_again, personId=person)
    second = wait_for_link(server, email, count=2)
    assert BrowserSession(server).get(first).status_code == 410
    assert BrowserSession(server).get(second).status_code == 200


def test_an_invitation_is_sent_again_from_the_person_s_page(server: RunningServer, cast: Cast) -> None:
    email = make_email()
    person = invite(cast, email)
    session = sign_in_new_person(server, cast)
    page = session.get(f"/people/{person}").text
    assert "Invited Admin" in visible_text(page)
    assert f'action="/people/{person}/invite-again"' in page
    answer = session.submit_page(page, f"/people/{person}/invite-again")
    assert answer.headers["Location"] == f"/people/{person}?done=invite_again"
    assert "Invitation sent." in session.get(answer.headers["Location"]).text
    wait_for_link(server, email, count=2)


def test_while_lapsed_nobody_joins_and_the_page_says_why(server: RunningServer, cast: Cast) -> None:
    email = make_email()
    invite(cast, email)
    link = wait_for_link(server, email)
    cast.lapse()
    answer = BrowserSession(server).submit_form(link, name="Nina", password=NEW_PASSWORD)
    assert answer.status_code == 402
    assert "The subscription is inactive" in answer.text
    cast.renew()
    assert BrowserSession(server).submit_form(link, name="Nina", password=NEW_PASSWORD).status_code == 303


def test_an_invitation_opens_nothing_but_itself(server: RunningServer, cast: Cast) -> None:
    email = make_email()
    invite(cast, email)
    session = BrowserSession(server)
    session.get(wait_for_link(server, email))
    assert not session.is_signed_in
    assert cast.perform(list_keys, Role.OWNER)["data"] == []

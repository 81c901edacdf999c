from cast import PASSWORD, Cast
from mainstay.business.people.operations import get_person, invite_again, invite_person
from mainstay.identity.keys import list_keys
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from running import RunningServer
from visiting import Somebody, Visit, link_for, somebody, visit, words

NEW = "a password of my own"


def invite(cast: Cast, email: str) -> str:
    return str(cast.perform(invite_person, name="Nina New", email=email, role="admin")["id"])


def new_address() -> str:
    return f"{new_id('n').lower()}@new.example"


def test_someone_new_comes_in_by_the_link_in_their_mail(server: RunningServer, cast: Cast) -> None:
    email = new_address()
    person = invite(cast, email)
    link = link_for(server, email)
    visiting = Visit(server)
    page = words(visiting.get(link).text)
    assert "You are invited as Admin" in page
    assert "Password At least 10 characters" in page
    answer = visiting.submit(link, name="Nina Named", password=NEW)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert "Nina Named" in visiting.get("/").text
    assert cast.perform(get_person, personId=person)["status"] == "active"
    Visit(server).sign_in(Somebody(person, email, NEW))
    # Once is enough.
    assert Visit(server).get(link).status_code == 410


def test_what_is_wrong_is_said_beside_the_field_and_the_link_still_works(server: RunningServer, cast: Cast) -> None:
    email = new_address()
    invite(cast, email)
    link = link_for(server, email)
    visiting = Visit(server)
    answer = visiting.submit(link, name=" ", password="short")
    assert answer.status_code == 422
    assert "Your name is empty." in words(answer.text)
    answer = visiting.submit(link, name="Nina", password="short")
    assert "Password has fewer than 10 characters." in words(answer.text)
    assert visiting.submit(link, name="Nina", password=NEW).status_code == 303


def test_whoever_has_an_account_uses_its_password(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    person = somebody(stranger)
    invite(cast, person.email)
    link = link_for(server, person.email)
    visiting = Visit(server)
    assert "use the same password" in visiting.get(link).text
    wrong = visiting.submit(link, name="Sara", password=NEW)
    assert wrong.status_code == 422
    assert "is not the password of the sign-in you already have" in wrong.text
    assert visiting.submit(link, name="Sara", password=PASSWORD).status_code == 303
    # In the organisation of the invitation, with the other one to switch to.
    page = visiting.get("/").text
    assert cast.organisation in page
    assert stranger.organisation in page


def test_inviting_again_makes_the_earlier_link_dead(server: RunningServer, cast: Cast) -> None:
    email = new_address()
    person = invite(cast, email)
    first = link_for(server, email)
    cast.perform(invite_again, personId=person)
    second = link_for(server, email, count=2)
    assert Visit(server).get(first).status_code == 410
    assert Visit(server).get(second).status_code == 200


def test_an_invitation_is_sent_again_from_the_person_s_page(server: RunningServer, cast: Cast) -> None:
    email = new_address()
    person = invite(cast, email)
    visiting = visit(server, cast)
    page = visiting.get(f"/people/{person}").text
    assert "Invited Admin" in words(page)
    assert f'action="/people/{person}/invite-again"' in page
    answer = visiting.answer(page, f"/people/{person}/invite-again")
    assert answer.headers["Location"] == f"/people/{person}?done=invite_again"
    assert "on its way by mail" in visiting.get(answer.headers["Location"]).text
    link_for(server, email, count=2)


def test_while_lapsed_nobody_joins_and_the_page_says_why(server: RunningServer, cast: Cast) -> None:
    email = new_address()
    invite(cast, email)
    link = link_for(server, email)
    cast.lapse()
    answer = Visit(server).submit(link, name="Nina", password=NEW)
    assert answer.status_code == 402
    assert "The subscription is inactive" in answer.text
    cast.renew()
    assert Visit(server).submit(link, name="Nina", password=NEW).status_code == 303


def test_an_invitation_opens_nothing_but_itself(server: RunningServer, cast: Cast) -> None:
    email = new_address()
    invite(cast, email)
    visiting = Visit(server)
    visiting.get(link_for(server, email))
    assert not visiting.is_inside
    assert cast.perform(list_keys, Role.OWNER)["data"] == []

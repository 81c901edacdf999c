import pytest

from mainstay.values.ids import new_id
from support.browser_session import (
    BrowserSession,
    NewPerson,
    add_new_person,
    emails_to,
    visible_text,
    wait_for_emails,
    wait_for_link,
)
from support.cast import PASSWORD, Cast
from support.servers import RunningServer

NEW_PASSWORD = "a much better password"


def test_a_forgotten_password_is_replaced_by_a_link_in_a_mail(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    signed_in, session = BrowserSession(server), BrowserSession(server)
    signed_in.sign_in(person)
    assert session.submit_form("/forgot-password", email=f" {person.email.upper()} ").status_code == 200
    link = wait_for_link(server, person.email)

    short = session.submit_form(link, password="short")
    assert short.status_code == 422
    assert "New password must have at least 10 characters." in visible_text(short.text)
    answer = session.submit_form(link, password=NEW_PASSWORD)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?done=reset")

    # Sessions that began with the old one have ended, and the link is used up.
    assert not signed_in.is_signed_in
    assert session.get(link).status_code == 410
    assert session.submit_form("/sign-in", email=person.email, password=PASSWORD).status_code == 422
    session.sign_in(NewPerson(person.id, person.email, NEW_PASSWORD))
    assert "has been changed" in wait_for_emails(server, person.email, 2)[-1]


def test_the_answer_is_the_same_for_an_unknown_address(server: RunningServer, cast: Cast) -> None:
    pages = []
    for email in (add_new_person(cast).email, f"{new_id('n').lower()}@nowhere.example"):
        answer = BrowserSession(server).submit_form("/forgot-password", email=email)
        pages.append((answer.status_code, visible_text(answer.text).replace(email, "E")))
    assert pages[0] == pages[1]


def test_at_most_five_mails_an_hour_go_to_one_address(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast)
    for _ in range(7):
        assert BrowserSession(server).submit_form("/forgot-password", email=person.email).status_code == 200
    wait_for_link(server, person.email, count=5)


def test_one_address_asks_for_at_most_thirty(server: RunningServer) -> None:
    session = BrowserSession(server)
    answers = [session.submit_form("/forgot-password", email=f"{number}@nowhere.example") for number in range(31)]
    assert [answer.status_code for answer in answers] == [200] * 30 + [429]
    assert answers[-1].headers["Retry-After"] == "60"


def test_a_link_that_was_never_sent_is_dead(server: RunningServer) -> None:
    for path in ("/reset-password/x", f"/reset-password/{new_id('lnk')}.{'A' * 43}", "/invitation/x"):
        page = BrowserSession(server).get(path)
        assert page.status_code == 410
        assert "This link no longer works" in page.text


def test_no_link_is_ever_written_into_the_log(
    server: RunningServer, cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    person = add_new_person(cast)
    session = BrowserSession(server)
    session.submit_form("/forgot-password", email=person.email)
    link = wait_for_link(server, person.email)
    session.submit_form(link, password="short")
    seal = link.rpartition(".")[2]
    assert len(seal) == 43
    log = capsys.readouterr().err
    assert link.rpartition(".")[0] in log
    assert seal not in log
    assert emails_to(server, person.email)

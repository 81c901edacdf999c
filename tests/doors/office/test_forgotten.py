import pytest

from cast import PASSWORD, Cast
from mainstay.values.ids import new_id
from running import RunningServer
from visiting import Somebody, Visit, link_for, mails_to, somebody, wait_for_mails, words

NEW = "a much better password"


def test_a_forgotten_password_is_replaced_by_a_link_in_a_mail(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    signed_in, visiting = Visit(server), Visit(server)
    signed_in.sign_in(person)
    assert visiting.submit("/forgot-password", email=f" {person.email.upper()} ").status_code == 200
    link = link_for(server, person.email)

    short = visiting.submit(link, password="short")
    assert short.status_code == 422
    assert "New password has fewer than 10 characters." in words(short.text)
    answer = visiting.submit(link, password=NEW)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?done=reset")

    # Whoever was signed in with the old one is out, and the link is used up.
    assert not signed_in.is_inside
    assert visiting.get(link).status_code == 410
    assert visiting.submit("/sign-in", email=person.email, password=PASSWORD).status_code == 422
    visiting.sign_in(Somebody(person.id, person.email, NEW))
    assert "has been changed" in wait_for_mails(server, person.email, 2)[-1]


def test_the_answer_is_the_same_for_an_unknown_address(server: RunningServer, cast: Cast) -> None:
    pages = []
    for email in (somebody(cast).email, f"{new_id('n').lower()}@nowhere.example"):
        answer = Visit(server).submit("/forgot-password", email=email)
        pages.append((answer.status_code, words(answer.text).replace(email, "E")))
    assert pages[0] == pages[1]


def test_at_most_five_mails_an_hour_go_to_one_address(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast)
    for _ in range(7):
        assert Visit(server).submit("/forgot-password", email=person.email).status_code == 200
    link_for(server, person.email, count=5)


def test_one_address_asks_for_at_most_thirty(server: RunningServer) -> None:
    visiting = Visit(server)
    asked = [visiting.submit("/forgot-password", email=f"{number}@nowhere.example") for number in range(31)]
    assert [answer.status_code for answer in asked] == [200] * 30 + [429]
    assert asked[-1].headers["Retry-After"] == "60"


def test_a_link_that_was_never_sent_is_dead(server: RunningServer) -> None:
    for path in ("/reset-password/x", f"/reset-password/{new_id('lnk')}.{'A' * 43}", "/invitation/x"):
        page = Visit(server).get(path)
        assert page.status_code == 410
        assert "This link no longer works" in page.text


def test_no_link_is_ever_written_into_the_log(
    server: RunningServer, cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    person = somebody(cast)
    visiting = Visit(server)
    visiting.submit("/forgot-password", email=person.email)
    link = link_for(server, person.email)
    visiting.submit(link, password="short")
    seal = link.rpartition(".")[2]
    assert len(seal) == 43
    log = capsys.readouterr().err
    assert link.rpartition(".")[0] in log
    assert seal not in log
    assert mails_to(server, person.email)

"""A form counts once, however often it is sent, and leads to the page that it led to first."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from apps import hidden
from cast import Cast, assemble
from evidence import contents, history
from hooking import House
from mainstay.business.people.operations import invite_person
from mainstay.identity.keys import list_keys
from mainstay.values.ids import new_id
from mainstay.webhooks.endpoints import get_webhook, list_webhooks
from running import RunningServer
from telling import make_webhook
from visiting import Visit, link_for, somebody, visit, words

WEBHOOKS = "/settings/developer/webhooks"
KEYS, NEW_WEBHOOK = "/settings/developer/keys/new", f"{WEBHOOKS}/new"
WEBSITE = {"name": "Website", "access": "read"}
ELSEWHERE = {"url": "https://1.1.1.1/"}


@pytest.fixture
def server(house: House) -> RunningServer:
    return house.server


@pytest.fixture
def cast(house: House) -> Cast:
    return assemble(house.stage)


def shown(page: str) -> list[str]:
    """The secrets on a page."""
    return re.findall(r'id="secret">([^<]+)<', page)


def test_every_form_has_a_token_of_its_own(server: RunningServer, cast: Cast) -> None:
    make_webhook(cast)
    (webhook,) = cast.perform(list_webhooks)["data"]
    visiting = visit(server, cast)
    for path in ("/", "/people/invite", "/settings/edit", "/settings/account", KEYS, f"{WEBHOOKS}/{webhook['id']}"):
        page = visiting.get(path).text
        tokens = re.findall(r'name="once" value="([\w-]{22})"', page)
        assert len({*tokens}) == len(re.findall(r'<form [^>]*method="post"', page)) == len(tokens), path
        assert not {*tokens} & {*re.findall(r'name="once" value="([\w-]+)"', visiting.get(path).text)}


def test_a_form_that_is_sent_again_makes_no_second_key_and_shows_the_same(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    page = visiting.get(KEYS).text
    first = visiting.answer(page, KEYS, **WEBSITE)
    second = visiting.answer(page, KEYS, **WEBSITE)
    assert first.headers["Location"] == second.headers["Location"]
    (key,) = shown(visiting.follow(second).text)
    (kept,) = cast.perform(list_keys)["data"]
    assert key.endswith(kept["lastFour"])
    assert server.request("GET", "/api/v1/me", key).status_code == 200


def test_a_new_password_is_set_once_by_a_form_that_is_sent_again(server: RunningServer, cast: Cast) -> None:
    visiting, person = Visit(server), somebody(cast)
    visiting.sign_in(person)
    page = visiting.get("/settings/account").text
    # The same as before, so that the second time the old one is right as well.
    fields = {"password": person.password, "newPassword": person.password}
    for _ in range(2):
        answer = visiting.answer(page, "/settings/account/password", **fields)
        assert answer.headers["Location"] == "/settings/account?done=password"
    assert history(cast, person.id).count("change_password") == 1


def test_an_invitation_is_accepted_once_by_a_form_that_is_sent_again(server: RunningServer, cast: Cast) -> None:
    email = f"{new_id('n').lower()}@new.example"
    person = str(cast.perform(invite_person, name="Nina New", email=email, role="office")["id"])
    link = link_for(server, email)
    visiting = Visit(server)
    page = visiting.get(link).text
    fields = {"name": "Nina New", "password": "a password of my own"}
    assert visiting.answer(page, link, **fields).status_code == 303
    assert visiting.answer(page, link, **fields).status_code == 410
    assert history(cast, person).count("accept_invitation") == 1
    assert visiting.is_inside


def test_of_many_that_are_sent_at_once_one_counts(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    page = visiting.get(KEYS).text
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: visiting.answer(page, KEYS, **WEBSITE), range(8)))
    assert {(answer.status_code, answer.headers["Location"]) for answer in answers} == {
        (303, answers[0].headers["Location"])
    }
    assert len(cast.perform(list_keys)["data"]) == 1


def test_a_secret_is_shown_on_the_next_page_once(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    for path, fields in ((KEYS, WEBSITE), (NEW_WEBHOOK, ELSEWHERE)):
        answer = visiting.submit(path, **fields)
        assert answer.content == b""
        assert len(shown(visiting.follow(answer).text)) == 1
        again = visiting.get(answer.headers["Location"])
        assert shown(again.text) == []


def test_a_page_that_did_not_arrive_can_be_loaded_again(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    answer = visiting.submit(KEYS, **WEBSITE)
    carried = dict(visiting.cookies)
    first = shown(visiting.follow(answer).text)
    visiting.cookies = carried
    assert shown(visiting.follow(answer).text) == first


def test_a_secret_is_shown_to_the_session_that_made_it_only(server: RunningServer, cast: Cast) -> None:
    visiting, other = visit(server, cast), visit(server, cast)
    answer = visiting.submit(KEYS, **WEBSITE)
    (name,) = (name for name in visiting.cookies if "made" in name)
    for value in (visiting.cookies[name], "", "forged"):
        carried = f"mainstay={other.cookies['mainstay']}; {name}={value}"
        page = other.get(answer.headers["Location"], Cookie=carried)
        assert page.status_code == 200
        assert shown(page.text) == []


def test_what_is_kept_for_a_repeat_holds_no_key_and_nothing_to_derive_it_from(
    server: RunningServer, house: House, cast: Cast
) -> None:
    visiting = visit(server, cast)
    page = visiting.get(KEYS).text
    (key,) = shown(visiting.follow(visiting.answer(page, KEYS, **WEBSITE)).text)
    kept = repr(contents(house.stage.database))
    assert cast.organisation in kept
    for secret in (key, key.removeprefix("svc_sk_"), hidden(page, "once")):
        assert secret not in kept


def test_a_form_that_is_sent_again_with_something_else_in_it_is_asked_for_once_more(
    server: RunningServer, cast: Cast
) -> None:
    visiting = visit(server, cast)
    page = visiting.get(KEYS).text
    visiting.answer(page, KEYS, **WEBSITE)
    answer = visiting.answer(page, KEYS, name="Another", access="read")
    assert answer.status_code == 409
    assert "This form was sent before with something else in it" in words(answer.text)
    assert 'value="Another"' in answer.text
    assert visiting.answer(answer.text, KEYS, name="Another", access="read").status_code == 303
    assert [key["name"] for key in cast.perform(list_keys)["data"]] == ["Another", "Website"]


@pytest.mark.parametrize("token", ["", "short", "x" * 22 + "!", "ü" * 22, "x" * 60_000])
def test_a_form_without_a_token_of_ours_is_taken_all_the_same(server: RunningServer, cast: Cast, token: str) -> None:
    visiting = visit(server, cast)
    fields = {"csrf": hidden(visiting.get(KEYS).text, "csrf"), "once": token} | WEBSITE
    assert len(shown(visiting.follow(visiting.post(KEYS, fields)).text)) == 1


def test_the_same_token_of_someone_else_makes_a_key_of_their_own(server: RunningServer, cast: Cast) -> None:
    keys = set()
    for visiting in (visit(server, cast), visit(server, cast)):
        fields = {"csrf": hidden(visiting.get(KEYS).text, "csrf"), "once": "x" * 22} | WEBSITE
        keys.update(shown(visiting.follow(visiting.post(KEYS, fields)).text))
    assert len(keys) == 2


def test_a_webhook_is_made_once_and_its_secret_rotated_once(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    page = visiting.get(NEW_WEBHOOK).text
    made = [visiting.answer(page, NEW_WEBHOOK, **ELSEWHERE) for _ in range(2)]
    assert made[0].headers["Location"] == made[1].headers["Location"]
    (webhook,) = cast.perform(list_webhooks)["data"]
    assert _rotated(visiting, webhook["id"]) == 1
    assert cast.perform(get_webhook, webhookId=webhook["id"])["generation"] == 2


def _rotated(visiting: Visit, webhook: str) -> int:
    """Rotate twice with one form; how many secrets were shown."""
    page = visiting.get(f"{WEBHOOKS}/{webhook}/rotate-secret").text
    sent = [visiting.answer(page, f"{WEBHOOKS}/{webhook}/rotate-secret") for _ in range(2)]
    return len({*(secret for answer in sent for secret in shown(visiting.follow(answer).text))})

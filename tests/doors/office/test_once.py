"""A form counts once, however often it is sent, and leads to the page that it led to first."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from mainstay.business.people.operations import invite_person
from mainstay.identity.keys import list_keys
from mainstay.values.ids import new_id
from mainstay.webhooks.endpoints import get_webhook, list_webhooks
from support.browser_session import BrowserSession, add_new_person, sign_in_new_person, visible_text, wait_for_link
from support.cast import Cast, make_cast
from support.oauth_app import hidden_value
from support.servers import RunningServer
from support.stored_state import operations_on, read_all_rows
from support.webhook_installation import WebhookInstallation
from support.webhooks import make_webhook

WEBHOOKS = "/settings/developer/webhooks"
KEYS, NEW_WEBHOOK = "/settings/developer/keys/new", f"{WEBHOOKS}/new"
KEY_FIELDS = {"name": "Website", "access": "read"}
WEBHOOK_FIELDS = {"url": "https://1.1.1.1/"}


@pytest.fixture
def server(webhook_installation: WebhookInstallation) -> RunningServer:
    return webhook_installation.server


@pytest.fixture
def cast(webhook_installation: WebhookInstallation) -> Cast:
    return make_cast(webhook_installation.performer)


def read_secrets(page: str) -> list[str]:
    """The secrets on a page."""
    return re.findall(r'id="secret">([^<]+)<', page)


def test_every_form_has_a_token_of_its_own(server: RunningServer, cast: Cast) -> None:
    make_webhook(cast)
    (webhook,) = cast.perform(list_webhooks)["data"]
    session = sign_in_new_person(server, cast)
    for path in ("/", "/people/invite", "/settings/edit", "/settings/account", KEYS, f"{WEBHOOKS}/{webhook['id']}"):
        page = session.get(path).text
        tokens = re.findall(r'name="once" value="([\w-]{22})"', page)
        assert len({*tokens}) == len(re.findall(r'<form [^>]*method="post"', page)) == len(tokens), path
        assert not {*tokens} & {*re.findall(r'name="once" value="([\w-]+)"', session.get(path).text)}


def test_a_form_that_is_sent_again_makes_no_second_key_and_shows_the_same(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get(KEYS).text
    first = session.submit_page(page, KEYS, **KEY_FIELDS)
    second = session.submit_page(page, KEYS, **KEY_FIELDS)
    assert first.headers["Location"] == second.headers["Location"]
    (key,) = read_secrets(session.follow_redirect(second).text)
    (kept,) = cast.perform(list_keys)["data"]
    assert key.endswith(kept["lastFour"])
    assert server.request("GET", "/api/v1/me", key).status_code == 200


def test_a_new_password_is_set_once_by_a_form_that_is_sent_again(server: RunningServer, cast: Cast) -> None:
    session, person = BrowserSession(server), add_new_person(cast)
    session.sign_in(person)
    page = session.get("/settings/account").text
    # The same as before, so that the second time the old one is right as well.
    fields = {"password": person.password, "newPassword": person.password}
    for _ in range(2):
        answer = session.submit_page(page, "/settings/account/password", **fields)
        assert answer.headers["Location"] == "/settings/account?done=password"
    assert operations_on(cast, person.id).count("change_password") == 1


def test_an_invitation_is_accepted_once_by_a_form_that_is_sent_again(server: RunningServer, cast: Cast) -> None:
    email = f"{new_id('n').lower()}@new.example"
    person = str(cast.perform(invite_person, name="Nina New", email=email, role="office")["id"])
    link = wait_for_link(server, email)
    session = BrowserSession(server)
    page = session.get(link).text
    fields = {"name": "Nina New", "password": "a password of my own"}
    assert session.submit_page(page, link, **fields).status_code == 303
    assert session.submit_page(page, link, **fields).status_code == 410
    assert operations_on(cast, person).count("accept_invitation") == 1
    assert session.is_signed_in


def test_of_many_that_are_sent_at_once_one_counts(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get(KEYS).text
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: session.submit_page(page, KEYS, **KEY_FIELDS), range(8)))
    assert {(answer.status_code, answer.headers["Location"]) for answer in answers} == {
        (303, answers[0].headers["Location"])
    }
    assert len(cast.perform(list_keys)["data"]) == 1


def test_a_secret_is_shown_on_the_next_page_once(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    for path, fields in ((KEYS, KEY_FIELDS), (NEW_WEBHOOK, WEBHOOK_FIELDS)):
        answer = session.submit_form(path, **fields)
        assert answer.content == b""
        assert len(read_secrets(session.follow_redirect(answer).text)) == 1
        again = session.get(answer.headers["Location"])
        assert read_secrets(again.text) == []


def test_a_page_that_did_not_arrive_can_be_loaded_again(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    answer = session.submit_form(KEYS, **KEY_FIELDS)
    carried = dict(session.cookies)
    first = read_secrets(session.follow_redirect(answer).text)
    session.cookies = carried
    assert read_secrets(session.follow_redirect(answer).text) == first


def test_a_secret_is_shown_to_the_session_that_made_it_only(server: RunningServer, cast: Cast) -> None:
    session, other = sign_in_new_person(server, cast), sign_in_new_person(server, cast)
    answer = session.submit_form(KEYS, **KEY_FIELDS)
    (name,) = (name for name in session.cookies if "made" in name)
    for value in (session.cookies[name], "", "forged"):
        carried = f"mainstay={other.cookies['mainstay']}; {name}={value}"
        page = other.get(answer.headers["Location"], Cookie=carried)
        assert page.status_code == 200
        assert read_secrets(page.text) == []


def test_what_is_kept_for_a_repeat_holds_no_key_and_nothing_to_derive_it_from(
    server: RunningServer, webhook_installation: WebhookInstallation, cast: Cast
) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get(KEYS).text
    (key,) = read_secrets(session.follow_redirect(session.submit_page(page, KEYS, **KEY_FIELDS)).text)
    kept = repr(read_all_rows(webhook_installation.performer.database))
    assert cast.organisation in kept
    for secret in (key, key.removeprefix("svc_sk_"), hidden_value(page, "once")):
        assert secret not in kept


def test_a_form_that_is_sent_again_with_something_else_in_it_is_asked_for_once_more(
    server: RunningServer, cast: Cast
) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get(KEYS).text
    session.submit_page(page, KEYS, **KEY_FIELDS)
    answer = session.submit_page(page, KEYS, name="Another", access="read")
    assert answer.status_code == 409
    assert "This form was already sent with different content" in visible_text(answer.text)
    assert 'value="Another"' in answer.text
    assert session.submit_page(answer.text, KEYS, name="Another", access="read").status_code == 303
    assert [key["name"] for key in cast.perform(list_keys)["data"]] == ["Another", "Website"]


@pytest.mark.parametrize("token", ["", "short", "x" * 22 + "!", "ü" * 22, "x" * 60_000])
def test_a_form_without_a_token_of_ours_is_taken_all_the_same(server: RunningServer, cast: Cast, token: str) -> None:
    session = sign_in_new_person(server, cast)
    fields = {"csrf": hidden_value(session.get(KEYS).text, "csrf"), "once": token} | KEY_FIELDS
    assert len(read_secrets(session.follow_redirect(session.post(KEYS, fields)).text)) == 1


def test_the_same_token_of_someone_else_makes_a_key_of_their_own(server: RunningServer, cast: Cast) -> None:
    keys = set()
    for session in (sign_in_new_person(server, cast), sign_in_new_person(server, cast)):
        fields = {"csrf": hidden_value(session.get(KEYS).text, "csrf"), "once": "x" * 22} | KEY_FIELDS
        keys.update(read_secrets(session.follow_redirect(session.post(KEYS, fields)).text))
    assert len(keys) == 2


def test_a_webhook_is_made_once_and_its_secret_rotated_once(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get(NEW_WEBHOOK).text
    made = [session.submit_page(page, NEW_WEBHOOK, **WEBHOOK_FIELDS) for _ in range(2)]
    assert made[0].headers["Location"] == made[1].headers["Location"]
    (webhook,) = cast.perform(list_webhooks)["data"]
    assert _rotate_twice(session, webhook["id"]) == 1
    assert cast.perform(get_webhook, webhookId=webhook["id"])["generation"] == 2


def _rotate_twice(session: BrowserSession, webhook: str) -> int:
    """Rotate twice with one form; how many secrets were shown."""
    page = session.get(f"{WEBHOOKS}/{webhook}/rotate-secret").text
    sent = [session.submit_page(page, f"{WEBHOOKS}/{webhook}/rotate-secret") for _ in range(2)]
    return len({*(secret for answer in sent for secret in read_secrets(session.follow_redirect(answer).text))})

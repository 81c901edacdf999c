import re
from datetime import UTC, datetime
from html import unescape

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_signer
from mainstay.vocabulary.permissions import Role
from mainstay.webhooks.endpoints import get_webhook, list_webhooks, pause_webhook, update_webhook
from support.browser_session import BrowserSession, add_new_person, sign_in_new_person, visible_text
from support.cast import Cast, make_cast
from support.dispatchers import insert_deliveries
from support.servers import RunningServer
from support.waiting import wait_until
from support.webhook_installation import (
    DELIVERIES,
    HOSTILE,
    WEBHOOKS,
    WebhookInstallation,
    WebhookReceiver,
    make_quiet_webhook,
    newest_delivery_path,
    wait_for_deliveries,
    webhook_path,
)


@pytest.fixture
def server(webhook_installation: WebhookInstallation) -> RunningServer:
    return webhook_installation.server


@pytest.fixture
def cast(webhook_installation: WebhookInstallation) -> Cast:
    return make_cast(webhook_installation.performer)


@pytest.fixture
def other_cast(webhook_installation: WebhookInstallation) -> Cast:
    return make_cast(webhook_installation.performer)


NEW_WEBHOOK = f"{WEBHOOKS}/new"


def read_secret(page: str) -> str:
    found = re.search(r'id="secret">(whsec_[^<]+)<', page)
    assert found, page
    return unescape(found[1])


def test_a_webhook_is_made_and_its_secret_shown_once(
    server: RunningServer, cast: Cast, receiver: WebhookReceiver, capsys: pytest.CaptureFixture[str]
) -> None:
    session = sign_in_new_person(server, cast, Role.ADMIN)
    assert "No webhooks yet" in session.get(WEBHOOKS).text
    answer = session.follow_redirect(session.submit_form(NEW_WEBHOOK, url=receiver.url, description="Our accounting"))
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    secret = read_secret(answer.text)
    (made,) = cast.perform(list_webhooks)["data"]
    assert secret == open_signer(server.settings).reveal_secret(made["id"], 1)
    assert (made["url"], made["description"], made["events"]) == (receiver.url, "Our accounting", None)
    assert made["createdBy"]["via"]["door"] == "office"

    assert f"Our accounting {receiver.url} Active" in visible_text(session.get(WEBHOOKS).text)
    page = visible_text(session.get(webhook_path(made["id"])).text)
    assert f"URL {receiver.url} Events All" in page
    assert (
        session.submit_form(webhook_path(made["id"]), f"{webhook_path(made['id'])}/send-test-event").status_code == 303
    )
    wait_for_deliveries(session, made["id"], "webhook.test Delivered")
    delivery = newest_delivery_path(session, made["id"])
    for path in (WEBHOOKS, webhook_path(made["id"]), f"{webhook_path(made['id'])}/delete", delivery):
        assert "whsec_" not in session.get(path).text
    log = capsys.readouterr().err
    assert WEBHOOKS in log
    assert "whsec_" not in log


def test_the_snippet_verifies_what_arrives(
    server: RunningServer, cast: Cast, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sign_in_new_person(server, cast)
    page = session.follow_redirect(session.submit_form(NEW_WEBHOOK, url=receiver.url)).text
    assert 'import { Webhook } from "standardwebhooks"' in unescape(page)
    snippet = re.search(r'<pre id="snippet-1">(.*?)</pre>', page, re.DOTALL)
    assert snippet
    (made,) = cast.perform(list_webhooks)["data"]
    session.submit_form(webhook_path(made["id"]), f"{webhook_path(made['id'])}/send-test-event")
    arrived = wait_until(lambda: receiver.received[-1] if receiver.received else None)

    monkeypatch.setenv("WEBHOOK_SECRET", read_secret(page))
    names = {"body": arrived.body, "headers": arrived.headers}
    exec(unescape(snippet[1]), names)
    assert names["event"] == orjson.loads(arrived.body)
    with pytest.raises(Exception, match="No matching signature"):
        exec(unescape(snippet[1]), {"body": arrived.body + b" ", "headers": arrived.headers})


def list_ticked_events(page: str) -> list[str]:
    return re.findall(r'name="events ([\w.]+)" checked', page)


def test_kinds_are_chosen_from_those_there_are(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page = visible_text(session.get(NEW_WEBHOOK).text)
    for event in CATALOGUE.events:
        assert f"{event.__doc__} {event.name}" in page
    fields = {"url": "https://1.1.1.1/", "events person.joined": "on", "events person.left": "on"}
    session.submit_form(NEW_WEBHOOK, **fields)
    (made,) = cast.perform(list_webhooks)["data"]
    assert made["events"] == ["person.joined", "person.left"]
    assert list_ticked_events(session.get(f"{webhook_path(made['id'])}/edit").text) == ["person.joined", "person.left"]
    page = session.get(webhook_path(made["id"])).text
    assert "Events A person joined the organisation. A person left the organisation." in visible_text(page)
    assert "person.joined" not in visible_text(page), "people are told in words"


def test_what_is_wrong_with_a_webhook_is_said_beside_the_field(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    fields = {"url": "https://user@1.1.1.1/", "description": "Kept", "events person.left": "on"}
    answer = session.submit_form(NEW_WEBHOOK, **fields)
    assert answer.status_code == 422
    assert visible_text(answer.text).count("URL must look like https://host/path") == 2
    assert 'aria-invalid="true"' in answer.text
    for kept in ('value="https://user@1.1.1.1/"', 'value="Kept"'):
        assert kept in answer.text
    assert list_ticked_events(answer.text) == ["person.left"]
    # A kind that there is not was never on the form, so it is not taken from it.
    assert session.submit_form(NEW_WEBHOOK, url="no address", **{"events person.flew": "on"}).status_code == 422
    assert cast.perform(list_webhooks)["data"] == []


def test_an_organisation_has_at_most_ten(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    for _ in range(10):
        make_quiet_webhook(cast)
    answer = session.submit_form(NEW_WEBHOOK, url="https://1.1.1.1/", description="Eleventh")
    assert answer.status_code == 409
    assert "You can have up to 10 webhooks. Delete one first." in answer.text
    assert 'value="Eleventh"' in answer.text


def test_a_webhook_is_changed(server: RunningServer, cast: Cast) -> None:
    webhook = make_quiet_webhook(cast)
    edit = f"{webhook_path(webhook)}/edit"
    session = sign_in_new_person(server, cast)
    assert 'value="https://1.1.1.1/webhooks"' in session.get(edit).text
    fields = {"url": "https://1.0.0.1/new", "events job.created": "on", "description": "New"}
    answer = session.submit_form(edit, **fields)
    assert answer.headers["Location"] == f"{webhook_path(webhook)}?done=update_webhook"
    changed = cast.perform(get_webhook, webhookId=webhook)
    assert (changed["url"], changed["description"], changed["events"]) == (
        "https://1.0.0.1/new",
        "New",
        ["job.created"],
    )
    answer = session.submit_form(edit, url="no address")
    assert answer.status_code == 422
    assert "URL is not an address such as" in visible_text(answer.text)
    assert 'value="no address"' in answer.text
    assert list_ticked_events(answer.text) == []
    assert cast.perform(get_webhook, webhookId=webhook) == changed
    session.submit_form(edit, url="https://1.0.0.1/new", description="")
    changed = cast.perform(get_webhook, webhookId=webhook)
    assert (changed["description"], changed["events"]) == (None, None)


def test_what_someone_else_changed_meanwhile_is_not_overwritten(server: RunningServer, cast: Cast) -> None:
    webhook = make_quiet_webhook(cast)
    session = sign_in_new_person(server, cast)
    one = session.get(webhook_path(webhook)).text
    page = session.get(f"{webhook_path(webhook)}/edit").text
    confirmation = session.get(f"{webhook_path(webhook)}/delete").text
    cast.perform(update_webhook, webhookId=webhook, description="Changed elsewhere")
    answer = session.submit_page(page, f"{webhook_path(webhook)}/edit", url="https://1.0.0.1/")
    assert answer.status_code == 409
    assert "Someone else changed this after you opened it" in answer.text
    assert session.submit_page(confirmation, f"{webhook_path(webhook)}/delete", confirmed="yes").status_code == 409
    # A button that asks nothing knows the version it stands beside too.
    assert session.submit_page(one, f"{webhook_path(webhook)}/pause").status_code == 409
    kept = cast.perform(get_webhook, webhookId=webhook)
    assert (kept["description"], kept["status"]) == ("Changed elsewhere", "active")


def test_a_rotated_secret_is_shown_once_and_the_old_one_signs_on(
    server: RunningServer, cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    webhook = make_quiet_webhook(cast)
    rotate = f"{webhook_path(webhook)}/rotate-secret"
    session = sign_in_new_person(server, cast)
    page = session.get(webhook_path(webhook)).text
    assert "The previous secret also works until" not in page
    assert f'action="{rotate}"' not in page, "done at once, without a word of what it means"
    answer = session.follow_redirect(session.submit_form(rotate))
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert read_secret(answer.text) == open_signer(server.settings).reveal_secret(webhook, 2)
    page = session.get(webhook_path(webhook)).text
    assert "The previous secret also works until" in visible_text(page)
    assert "whsec_" not in page
    log = capsys.readouterr().err
    assert f"{webhook}/rotate-secret" in log
    assert "whsec_" not in log


def test_deleting_asks_first_with_what_would_happen(server: RunningServer, cast: Cast) -> None:
    webhook = make_quiet_webhook(cast)
    cast.perform(pause_webhook, webhookId=webhook)
    insert_deliveries(cast, webhook, 2, datetime.now(UTC))
    session = sign_in_new_person(server, cast)
    page = visible_text(session.get(f"{webhook_path(webhook)}/delete").text)
    assert "Nothing has changed yet." in page
    assert "The webhook to https://1.1.1.1/webhooks will be deleted, with its delivery log." in page
    assert "2 waiting events will not be delivered." in page
    assert "Nothing has changed yet." in session.submit_form(f"{webhook_path(webhook)}/delete").text
    assert cast.perform(get_webhook, webhookId=webhook)["id"] == webhook
    answer = session.submit_form(f"{webhook_path(webhook)}/delete", confirmed="yes")
    assert answer.headers["Location"] == f"{WEBHOOKS}?done=delete_webhook"
    assert "Webhook deleted." in session.get(answer.headers["Location"]).text
    assert session.get(webhook_path(webhook)).status_code == 404
    assert cast.perform(list_webhooks)["data"] == []


def paths_of(webhook: str, delivery: str) -> tuple[list[str], list[str]]:
    """Every page about a webhook, and every address that a form of one is sent to."""
    one, sent = webhook_path(webhook), f"{DELIVERIES}/{delivery}"
    acts = [f"{one}/{act}" for act in ("edit", "redeliver-failed", "rotate-secret", "delete")]
    clicks = [f"{one}/{act}" for act in ("pause", "resume", "send-test-event")]
    pages = [one, f"{one}/deliveries", sent, f"{sent}/attempts", *acts]
    return pages, [*acts, *clicks, f"{sent}/redeliver-event"]


def make_paused_webhook(cast: Cast) -> tuple[str, str]:
    """A paused webhook and a delivery that waits for it."""
    webhook = make_quiet_webhook(cast)
    cast.perform(pause_webhook, webhookId=webhook)
    return webhook, insert_deliveries(cast, webhook, 1, datetime.now(UTC))[0]


WEBHOOK_FIELDS = {"url": "https://1.0.0.1/", "since": "2026-01-01T00:00", "confirmed": "yes"}


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_webhooks_are_for_owners_and_admins_only(server: RunningServer, cast: Cast, role: Role) -> None:
    webhook, delivery = make_paused_webhook(cast)
    before = cast.perform(list_webhooks)["data"]
    session = sign_in_new_person(server, cast, role)
    pages, forms = paths_of(webhook, delivery)
    for path in [WEBHOOKS, NEW_WEBHOOK, *pages]:
        page = session.get(path)
        assert page.status_code == 403, path
        assert "Ask an owner or admin." in page.text
    home = session.get("/").text
    for path in [NEW_WEBHOOK, *forms]:
        assert session.submit_page(home, path, **WEBHOOK_FIELDS).status_code == 403, path
    assert WEBHOOKS not in home
    assert WEBHOOKS in sign_in_new_person(server, cast, Role.ADMIN).get("/settings/developer/mcp").text
    assert cast.perform(list_webhooks)["data"] == before


def test_a_webhook_of_another_organisation_is_not_there(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    webhook, delivery = make_paused_webhook(other_cast)
    before = other_cast.perform(get_webhook, webhookId=webhook)
    session = sign_in_new_person(server, cast)
    assert webhook not in session.get(WEBHOOKS).text
    pages, forms = paths_of(webhook, delivery)
    for path in pages:
        assert session.get(path).status_code == 404, path
    home = session.get("/").text
    for path in forms:
        answer = session.submit_page(home, path, **WEBHOOK_FIELDS | {"since": f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"})
        assert answer.status_code == 404, path
        assert "whsec_" not in answer.text
    assert other_cast.perform(get_webhook, webhookId=webhook) == before


def test_nothing_is_done_without_the_token_of_the_form(server: RunningServer, cast: Cast) -> None:
    webhook, delivery = make_paused_webhook(cast)
    before = cast.perform(list_webhooks)["data"]
    session = sign_in_new_person(server, cast)
    for path in [NEW_WEBHOOK, *paths_of(webhook, delivery)[1]]:
        assert session.post(path, WEBHOOK_FIELDS).status_code == 403, path
        assert session.post(path, WEBHOOK_FIELDS | {"csrf": "guessed"}).status_code == 403, path
    assert cast.perform(list_webhooks)["data"] == before


def test_while_lapsed_webhooks_are_seen_and_deleted_but_not_changed(server: RunningServer, cast: Cast) -> None:
    webhook, delivery = make_paused_webhook(cast)
    person = add_new_person(cast)
    cast.lapse()
    session = BrowserSession(server)
    session.sign_in(person)
    one = webhook_path(webhook)
    for path in (WEBHOOKS, one, f"{one}/deliveries", f"{DELIVERIES}/{delivery}", f"{one}/delete"):
        assert session.get(path).status_code == 200, path
    page = session.get(one).text
    assert "Your subscription is inactive." in page
    assert set(re.findall(rf'="({one}/[\w-]+)"', page)) == {f"{one}/delete", f"{one}/deliveries"}
    assert NEW_WEBHOOK not in session.get(WEBHOOKS).text
    assert f"{DELIVERIES}/{delivery}/redeliver-event" not in session.get(f"{DELIVERIES}/{delivery}").text
    since = {"since": f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"}
    for path in [NEW_WEBHOOK, *paths_of(webhook, delivery)[1]]:
        if not path.endswith("/delete"):
            assert session.submit_page(page, path, **WEBHOOK_FIELDS | since).status_code == 402, path
    assert session.submit_form(f"{one}/delete", confirmed="yes").status_code == 303
    assert cast.perform(list_webhooks)["data"] == []


def test_what_people_type_is_shown_as_text(server: RunningServer, cast: Cast) -> None:
    hostile = "https://1.1.1.1/?" + HOSTILE.replace(" ", "")
    webhook = make_quiet_webhook(cast, description=HOSTILE, url=hostile)
    session = sign_in_new_person(server, cast)
    one = webhook_path(webhook)
    for path in (WEBHOOKS, one, f"{one}/edit", f"{one}/delete", f"{one}/rotate-secret"):
        page = session.get(path).text
        assert "<script>alert" not in page
        assert "<img" not in page.replace('<img src="/static/', "")
        assert HOSTILE in unescape(page)
    answer = session.follow_redirect(session.submit_form(f"{one}/rotate-secret")).text
    assert "<script>alert" not in answer
    assert hostile in unescape(answer)

import re
from datetime import UTC, datetime
from html import unescape

import orjson
import pytest

from cast import Cast, assemble
from dispatching import put_deliveries
from hooking import (
    DELIVERIES,
    HOSTILE,
    WEBHOOKS,
    House,
    Receiver,
    address,
    delivery_of,
    quiet_webhook,
    see_list,
)
from mainstay.catalogue import CATALOGUE
from mainstay.staging import open_signer
from mainstay.terms.rights import Role
from mainstay.webhooks.endpoints import get_webhook, list_webhooks, pause_webhook, update_webhook
from running import RunningServer
from visiting import Visit, somebody, visit, words
from waiting import wait_until


@pytest.fixture
def server(house: House) -> RunningServer:
    return house.server


@pytest.fixture
def cast(house: House) -> Cast:
    return assemble(house.stage)


@pytest.fixture
def stranger(house: House) -> Cast:
    return assemble(house.stage)


NEW = f"{WEBHOOKS}/new"


def shown_secret(page: str) -> str:
    found = re.search(r'id="secret">(whsec_[^<]+)<', page)
    assert found, page
    return unescape(found[1])


def test_a_webhook_is_made_and_its_secret_shown_once(
    server: RunningServer, cast: Cast, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    visiting = visit(server, cast, Role.ADMIN)
    assert "No webhooks yet" in visiting.get(WEBHOOKS).text
    answer = visiting.follow(visiting.submit(NEW, url=receiver.url, description="Our accounting"))
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    secret = shown_secret(answer.text)
    (made,) = cast.perform(list_webhooks)["data"]
    assert secret == open_signer(server.settings).shown(made["id"], 1)
    assert (made["url"], made["description"], made["events"]) == (receiver.url, "Our accounting", None)
    assert made["createdBy"]["via"]["door"] == "office"

    assert f"Our accounting {receiver.url} Active" in words(visiting.get(WEBHOOKS).text)
    page = words(visiting.get(address(made["id"])).text)
    assert f"Address {receiver.url} Events All" in page
    assert visiting.submit(address(made["id"]), f"{address(made['id'])}/send-test-event").status_code == 303
    see_list(visiting, made["id"], "webhook.test Delivered")
    delivery = delivery_of(visiting, made["id"])
    for path in (WEBHOOKS, address(made["id"]), f"{address(made['id'])}/delete", delivery):
        assert "whsec_" not in visiting.get(path).text
    log = capsys.readouterr().err
    assert WEBHOOKS in log
    assert "whsec_" not in log


def test_the_snippet_verifies_what_arrives(
    server: RunningServer, cast: Cast, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    visiting = visit(server, cast)
    page = visiting.follow(visiting.submit(NEW, url=receiver.url)).text
    assert 'import { Webhook } from "standardwebhooks"' in unescape(page)
    snippet = re.search(r'<pre id="snippet-1">(.*?)</pre>', page, re.DOTALL)
    assert snippet
    (made,) = cast.perform(list_webhooks)["data"]
    visiting.submit(address(made["id"]), f"{address(made['id'])}/send-test-event")
    arrived = wait_until(lambda: receiver.arrived[-1] if receiver.arrived else None)

    monkeypatch.setenv("WEBHOOK_SECRET", shown_secret(page))
    names = {"body": arrived.body, "headers": arrived.headers}
    exec(unescape(snippet[1]), names)
    assert names["event"] == orjson.loads(arrived.body)
    with pytest.raises(Exception, match="No matching signature"):
        exec(unescape(snippet[1]), {"body": arrived.body + b" ", "headers": arrived.headers})


def ticked(page: str) -> list[str]:
    return re.findall(r'name="events ([\w.]+)" checked', page)


def test_kinds_are_chosen_from_those_there_are(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    page = words(visiting.get(NEW).text)
    for event in CATALOGUE.events:
        assert f"{event.__doc__} {event.name}" in page
    fields = {"url": "https://1.1.1.1/", "events person.joined": "on", "events person.left": "on"}
    visiting.submit(NEW, **fields)
    (made,) = cast.perform(list_webhooks)["data"]
    assert made["events"] == ["person.joined", "person.left"]
    assert ticked(visiting.get(f"{address(made['id'])}/edit").text) == ["person.joined", "person.left"]
    page = visiting.get(address(made["id"])).text
    assert "Events A person became active. A person left the organisation." in words(page)
    assert "person.joined" not in words(page), "people are told in words"


def test_what_is_wrong_with_a_webhook_is_said_beside_the_field(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    fields = {"url": "https://user@1.1.1.1/", "description": "Kept", "events person.left": "on"}
    answer = visiting.submit(NEW, **fields)
    assert answer.status_code == 422
    assert words(answer.text).count("Address is not written https://host/path") == 2
    assert 'aria-invalid="true"' in answer.text
    for kept in ('value="https://user@1.1.1.1/"', 'value="Kept"'):
        assert kept in answer.text
    assert ticked(answer.text) == ["person.left"]
    # A kind that there is not was never on the form, so it is not taken from it.
    assert visiting.submit(NEW, url="no address", **{"events person.flew": "on"}).status_code == 422
    assert cast.perform(list_webhooks)["data"] == []


def test_an_organisation_has_at_most_ten(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    for _ in range(10):
        quiet_webhook(cast)
    assert "There are at most 10." in visiting.get(WEBHOOKS).text
    answer = visiting.submit(NEW, url="https://1.1.1.1/", description="Eleventh")
    assert answer.status_code == 409
    assert "at most 10 webhooks. Delete one first." in answer.text
    assert 'value="Eleventh"' in answer.text


def test_a_webhook_is_changed(server: RunningServer, cast: Cast) -> None:
    webhook = quiet_webhook(cast)
    edit = f"{address(webhook)}/edit"
    visiting = visit(server, cast)
    assert 'value="https://1.1.1.1/webhooks"' in visiting.get(edit).text
    fields = {"url": "https://1.0.0.1/new", "events job.created": "on", "description": "New"}
    answer = visiting.submit(edit, **fields)
    assert answer.headers["Location"] == f"{address(webhook)}?done=update_webhook"
    changed = cast.perform(get_webhook, webhookId=webhook)
    assert (changed["url"], changed["description"], changed["events"]) == (
        "https://1.0.0.1/new",
        "New",
        ["job.created"],
    )
    answer = visiting.submit(edit, url="no address")
    assert answer.status_code == 422
    assert "Address is not an address such as" in words(answer.text)
    assert 'value="no address"' in answer.text
    assert ticked(answer.text) == []
    assert cast.perform(get_webhook, webhookId=webhook) == changed
    visiting.submit(edit, url="https://1.0.0.1/new", description="")
    changed = cast.perform(get_webhook, webhookId=webhook)
    assert (changed["description"], changed["events"]) == (None, None)


def test_what_someone_else_changed_meanwhile_is_not_overwritten(server: RunningServer, cast: Cast) -> None:
    webhook = quiet_webhook(cast)
    visiting = visit(server, cast)
    one = visiting.get(address(webhook)).text
    page = visiting.get(f"{address(webhook)}/edit").text
    asked = visiting.get(f"{address(webhook)}/delete").text
    cast.perform(update_webhook, webhookId=webhook, description="Changed elsewhere")
    answer = visiting.answer(page, f"{address(webhook)}/edit", url="https://1.0.0.1/")
    assert answer.status_code == 409
    assert "Someone has changed this since you opened it" in answer.text
    assert visiting.answer(asked, f"{address(webhook)}/delete", confirmed="yes").status_code == 409
    # A button that asks nothing knows the version it stands beside too.
    assert visiting.answer(one, f"{address(webhook)}/pause").status_code == 409
    kept = cast.perform(get_webhook, webhookId=webhook)
    assert (kept["description"], kept["status"]) == ("Changed elsewhere", "active")


def test_a_rotated_secret_is_shown_once_and_the_old_one_signs_on(
    server: RunningServer, cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    webhook = quiet_webhook(cast)
    rotate = f"{address(webhook)}/rotate-secret"
    visiting = visit(server, cast)
    page = visiting.get(address(webhook)).text
    assert "signs as well until" not in page
    assert f'action="{rotate}"' not in page, "done at once, without a word of what it means"
    answer = visiting.follow(visiting.submit(rotate))
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert shown_secret(answer.text) == open_signer(server.settings).shown(webhook, 2)
    page = visiting.get(address(webhook)).text
    assert "signs as well until" in words(page)
    assert "whsec_" not in page
    log = capsys.readouterr().err
    assert f"{webhook}/rotate-secret" in log
    assert "whsec_" not in log


def test_deleting_asks_first_with_what_would_happen(server: RunningServer, cast: Cast) -> None:
    webhook = quiet_webhook(cast)
    cast.perform(pause_webhook, webhookId=webhook)
    put_deliveries(cast, webhook, 2, datetime.now(UTC))
    visiting = visit(server, cast)
    page = words(visiting.get(f"{address(webhook)}/delete").text)
    assert "Nothing has happened yet." in page
    assert "The webhook to https://1.1.1.1/webhooks is deleted, with its delivery log." in page
    assert "still to be delivered there, and will not be: 2." in page
    assert "Nothing has happened yet." in visiting.submit(f"{address(webhook)}/delete").text
    assert cast.perform(get_webhook, webhookId=webhook)["id"] == webhook
    answer = visiting.submit(f"{address(webhook)}/delete", confirmed="yes")
    assert answer.headers["Location"] == f"{WEBHOOKS}?done=delete_webhook"
    assert "The webhook is deleted." in visiting.get(answer.headers["Location"]).text
    assert visiting.get(address(webhook)).status_code == 404
    assert cast.perform(list_webhooks)["data"] == []


def paths(webhook: str, delivery: str) -> tuple[list[str], list[str]]:
    """Every page about a webhook, and every address that a form of one is sent to."""
    one, sent = address(webhook), f"{DELIVERIES}/{delivery}"
    acts = [f"{one}/{act}" for act in ("edit", "redeliver-failed", "rotate-secret", "delete")]
    clicks = [f"{one}/{act}" for act in ("pause", "resume", "send-test-event")]
    pages = [one, f"{one}/deliveries", sent, f"{sent}/attempts", *acts]
    return pages, [*acts, *clicks, f"{sent}/redeliver-event"]


def furnished(cast: Cast) -> tuple[str, str]:
    """A paused webhook and a delivery that waits for it."""
    webhook = quiet_webhook(cast)
    cast.perform(pause_webhook, webhookId=webhook)
    return webhook, put_deliveries(cast, webhook, 1, datetime.now(UTC))[0]


SENT = {"url": "https://1.0.0.1/", "since": "2026-01-01T00:00", "confirmed": "yes"}


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_webhooks_are_for_owners_and_admins_only(server: RunningServer, cast: Cast, role: Role) -> None:
    webhook, delivery = furnished(cast)
    before = cast.perform(list_webhooks)["data"]
    visiting = visit(server, cast, role)
    pages, forms = paths(webhook, delivery)
    for path in [WEBHOOKS, NEW, *pages]:
        page = visiting.get(path)
        assert page.status_code == 403, path
        assert f"The role {role} may not do this" in page.text
    home = visiting.get("/").text
    for path in [NEW, *forms]:
        assert visiting.answer(home, path, **SENT).status_code == 403, path
    assert WEBHOOKS not in home
    assert WEBHOOKS in visit(server, cast, Role.ADMIN).get("/settings/developer/mcp").text
    assert cast.perform(list_webhooks)["data"] == before


def test_a_webhook_of_another_organisation_is_not_there(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    webhook, delivery = furnished(stranger)
    before = stranger.perform(get_webhook, webhookId=webhook)
    visiting = visit(server, cast)
    assert webhook not in visiting.get(WEBHOOKS).text
    pages, forms = paths(webhook, delivery)
    for path in pages:
        assert visiting.get(path).status_code == 404, path
    home = visiting.get("/").text
    for path in forms:
        answer = visiting.answer(home, path, **SENT | {"since": f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"})
        assert answer.status_code == 404, path
        assert "whsec_" not in answer.text
    assert stranger.perform(get_webhook, webhookId=webhook) == before


def test_nothing_is_done_without_the_token_of_the_form(server: RunningServer, cast: Cast) -> None:
    webhook, delivery = furnished(cast)
    before = cast.perform(list_webhooks)["data"]
    visiting = visit(server, cast)
    for path in [NEW, *paths(webhook, delivery)[1]]:
        assert visiting.post(path, SENT).status_code == 403, path
        assert visiting.post(path, SENT | {"csrf": "guessed"}).status_code == 403, path
    assert cast.perform(list_webhooks)["data"] == before


def test_while_lapsed_webhooks_are_seen_and_deleted_but_not_changed(server: RunningServer, cast: Cast) -> None:
    webhook, delivery = furnished(cast)
    person = somebody(cast)
    cast.lapse()
    visiting = Visit(server)
    visiting.sign_in(person)
    one = address(webhook)
    for path in (WEBHOOKS, one, f"{one}/deliveries", f"{DELIVERIES}/{delivery}", f"{one}/delete"):
        assert visiting.get(path).status_code == 200, path
    page = visiting.get(one).text
    assert "The subscription is inactive." in page
    assert set(re.findall(rf'="({one}/[\w-]+)"', page)) == {f"{one}/delete", f"{one}/deliveries"}
    assert NEW not in visiting.get(WEBHOOKS).text
    assert f"{DELIVERIES}/{delivery}/redeliver-event" not in visiting.get(f"{DELIVERIES}/{delivery}").text
    since = {"since": f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"}
    for path in [NEW, *paths(webhook, delivery)[1]]:
        if not path.endswith("/delete"):
            assert visiting.answer(page, path, **SENT | since).status_code == 402, path
    assert visiting.submit(f"{one}/delete", confirmed="yes").status_code == 303
    assert cast.perform(list_webhooks)["data"] == []


def test_what_people_type_is_shown_as_text(server: RunningServer, cast: Cast) -> None:
    hostile = "https://1.1.1.1/?" + HOSTILE.replace(" ", "")
    webhook = quiet_webhook(cast, description=HOSTILE, url=hostile)
    visiting = visit(server, cast)
    one = address(webhook)
    for path in (WEBHOOKS, one, f"{one}/edit", f"{one}/delete", f"{one}/rotate-secret"):
        page = visiting.get(path).text
        assert "<script>alert" not in page
        assert "<img" not in page.replace('<img src="/static/', "")
        assert HOSTILE in unescape(page)
    answer = visiting.follow(visiting.submit(f"{one}/rotate-secret")).text
    assert "<script>alert" not in answer
    assert hostile in unescape(answer)

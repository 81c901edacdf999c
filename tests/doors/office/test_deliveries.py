import re
from datetime import UTC, datetime, timedelta
from html import unescape
from zoneinfo import ZoneInfo

import orjson
import pytest

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import update_person
from mainstay.doors.pages.display import EMPTY_TEXT
from mainstay.vocabulary.permissions import Role
from mainstay.webhooks.endpoints import pause_webhook
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast, make_cast
from support.dispatchers import insert_deliveries
from support.servers import RunningServer
from support.webhook_installation import (
    HOSTILE,
    WEBHOOKS,
    WebhookInstallation,
    WebhookReceiver,
    make_quiet_webhook,
    newest_delivery_path,
    wait_for_deliveries,
    webhook_path,
)
from support.webhooks import make_webhook


@pytest.fixture
def server(webhook_installation: WebhookInstallation) -> RunningServer:
    return webhook_installation.server


@pytest.fixture
def cast(webhook_installation: WebhookInstallation) -> Cast:
    return make_cast(webhook_installation.performer)


def cause_event(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone=str(datetime.now(UTC)))


def test_a_delivery_is_shown_with_every_attempt_and_sent_again(
    server: RunningServer, cast: Cast, receiver: WebhookReceiver
) -> None:
    webhook = make_webhook(cast, url=receiver.url, events=["person.updated"])
    session = sign_in_new_person(server, cast)
    receiver.status, receiver.answer = 500, HOSTILE.encode()
    answer = session.submit_form(webhook_path(webhook), f"{webhook_path(webhook)}/send-test-event")
    assert answer.headers["Location"] == f"{webhook_path(webhook)}?done=send_test_event"
    assert "Test event sent." in session.get(answer.headers["Location"]).text
    wait_for_deliveries(session, webhook, "Test event webhook.test Retrying", "500 Internal Server Error", " ms, ")
    assert re.search(r"Failing since \d+ \w+ \d{4}, \d\d:\d\d", visible_text(session.get(webhook_path(webhook)).text))
    assert re.search(r"Failing \d+ \w+ \d{4}, \d\d:\d\d", visible_text(session.get(WEBHOOKS).text))

    receiver.status = 200
    path = newest_delivery_path(session, webhook)
    page = session.get(path).text
    assert "<script>alert" not in page
    assert HOSTILE in unescape(page)
    body = re.search(r'<pre id="body">(.*?)</pre>', page, re.DOTALL)
    assert body
    assert orjson.loads(unescape(body[1])) == orjson.loads(receiver.received[0].body)
    assert f"webhook-id: {receiver.received[0].headers['webhook-id']}" in page, "the headers that were sent"
    assert f'href="{webhook_path(webhook)}"' in page

    answer = session.submit_form(path, f"{path}/redeliver-event")
    assert answer.headers["Location"] == f"{path}?done=redeliver_event"
    assert "Event queued to be sent again." in session.get(answer.headers["Location"]).text
    wait_for_deliveries(session, webhook, "webhook.test Delivered", "200 OK")
    page = visible_text(session.get(f"{path}/attempts").text)
    assert page.startswith("Delivered")
    assert page.index("200 OK") < page.index("500 Internal Server Error")
    assert "Failing since" not in session.get(webhook_path(webhook)).text


def test_a_paused_webhook_gets_later_what_happened_meanwhile(
    server: RunningServer, cast: Cast, receiver: WebhookReceiver
) -> None:
    webhook = make_webhook(cast, url=receiver.url, events=["person.updated"])
    session = sign_in_new_person(server, cast)
    answer = session.submit_form(webhook_path(webhook), f"{webhook_path(webhook)}/pause")
    assert answer.headers["Location"] == f"{webhook_path(webhook)}?done=pause_webhook"
    cause_event(cast)
    # Nothing is tried next while it is paused.
    wait_for_deliveries(session, webhook, f"person.updated Waiting 0 {EMPTY_TEXT} {EMPTY_TEXT}")
    page = session.get(answer.headers["Location"]).text
    assert "Webhook paused." in page
    assert "send-test-event" not in page
    refused = session.submit_form(webhook_path(webhook), f"{webhook_path(webhook)}/send-test-event")
    assert (refused.status_code, "The webhook is paused. Resume it first." in refused.text) == (409, True)

    answer = session.submit_form(webhook_path(webhook), f"{webhook_path(webhook)}/resume")
    assert answer.headers["Location"] == f"{webhook_path(webhook)}?done=resume_webhook"
    wait_for_deliveries(session, webhook, "person.updated Delivered", "200 OK")


def test_a_disabled_webhook_is_revived_and_gets_what_it_missed(
    server: RunningServer, cast: Cast, receiver: WebhookReceiver
) -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    cast.perform(update_organisation, timeZone="Asia/Tokyo")
    webhook = make_webhook(cast, url=receiver.url, events=["person.updated"])
    session = sign_in_new_person(server, cast)
    receiver.status = 410
    cause_event(cast)
    wait_for_deliveries(session, webhook, "person.updated Failed", "410 Gone")
    page = session.get(webhook_path(webhook)).text
    assert "It answered 410 Gone" in visible_text(page)
    assert "redeliver-failed" not in page
    path = newest_delivery_path(session, webhook)
    refused = session.submit_form(path, f"{path}/redeliver-event")
    assert (refused.status_code, "The webhook is disabled. Resume it first." in refused.text) == (409, True)

    receiver.status = 200
    assert session.submit_form(webhook_path(webhook), f"{webhook_path(webhook)}/resume").status_code == 303
    again = f"{webhook_path(webhook)}/redeliver-failed"
    now = datetime.now(UTC)
    ahead, ago = ((now + timedelta(hours=hours)).astimezone(tokyo).strftime("%Y-%m-%dT%H:%M") for hours in (1, -1))
    early = session.submit_form(again, since=ahead)
    assert (early.status_code, "Since is in the future." in visible_text(early.text)) == (422, True)
    answer = session.submit_form(again, since=ago)
    assert answer.headers["Location"] == f"{webhook_path(webhook)}?done=redeliver_failed"
    wait_for_deliveries(session, webhook, "person.updated Delivered", "200 OK")


def test_the_time_since_when_is_checked_and_kept(server: RunningServer, cast: Cast) -> None:
    again = f"{webhook_path(make_quiet_webhook(cast))}/redeliver-failed"
    session = sign_in_new_person(server, cast)
    for since, problem in (
        ("2020-01-01T10:00", "Since is more than 30 days ago; older events are deleted."),
        ("yesterday", "Since is not a moment"),
        ("", "Since is required."),
    ):
        answer = session.submit_form(again, since=since)
        assert answer.status_code == 422
        assert problem in visible_text(answer.text)
        assert f'value="{since.partition("T")[0]}"' in answer.text


def test_deliveries_are_counted_filtered_and_paged(server: RunningServer, cast: Cast) -> None:
    webhook = make_quiet_webhook(cast)
    cast.perform(pause_webhook, webhookId=webhook)
    made = insert_deliveries(cast, webhook, 27, datetime.now(UTC))
    session = sign_in_new_person(server, cast)

    def shown(path: str) -> set[str]:
        return set(re.findall(r'id="(delivery_\w+)"', session.get(path).text))

    def way(page: str, which: str) -> str:
        found = re.search(rf'id="{which}-page" href="{webhook_path(webhook)}(\?[^"]+)"', page)
        assert found
        return unescape(found[1])

    assert '<span class="count">27</span>' in session.get(webhook_path(webhook)).text
    for path in (webhook_path(webhook), f"{webhook_path(webhook)}/deliveries"):
        behind = way(session.get(f"{path}?status=waiting").text, "next")
        assert "status=waiting" in behind
        earlier = shown(path + behind)
        assert (len(shown(path)), len(earlier), shown(path) | earlier) == (25, 2, set(made))
        assert shown(path + way(session.get(path + behind).text, "previous")) == shown(path)
        assert shown(f"{path}?status=failed") == set()
        assert "No deliveries with this status." in session.get(f"{path}?status=failed").text
        assert session.get(f"{path}?status=lost").status_code == 422


def test_the_live_part_is_a_part_only_and_closed_to_strangers(server: RunningServer, cast: Cast) -> None:
    webhook = make_quiet_webhook(cast)
    session = sign_in_new_person(server, cast)
    part = session.get(f"{webhook_path(webhook)}/deliveries")
    assert part.text.lstrip().startswith('<div class="empty">')
    assert part.headers["Cache-Control"] == "no-store"
    assert BrowserSession(server).get(f"{webhook_path(webhook)}/deliveries").status_code == 303
    # It asks for exactly what the page around it shows.
    page = session.get(f"{webhook_path(webhook)}?status=failed").text
    assert f'data-live="{webhook_path(webhook)}/deliveries?status=failed"' in page

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from zoneinfo import ZoneInfo

import orjson
import pytest

from cast import Cast, assemble
from dispatching import put_deliveries
from hooking import HOSTILE, WEBHOOKS, House, Receiver, address, delivery_of, quiet_webhook, see_list
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import update_person
from mainstay.kernel.rights import Role
from mainstay.webhooks.endpoints import update_webhook
from running import RunningServer
from telling import make_webhook
from visiting import Visit, visit, words


@pytest.fixture
def server(house: House) -> RunningServer:
    return house.server


@pytest.fixture
def cast(house: House) -> Cast:
    return assemble(house.stage)


def something_happens(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone=str(datetime.now(UTC)))


def test_a_delivery_is_shown_with_every_attempt_and_sent_again(
    server: RunningServer, cast: Cast, receiver: Receiver
) -> None:
    webhook = make_webhook(cast, url=receiver.url, events=["person.updated"])
    visiting = visit(server, cast)
    receiver.status, receiver.answer = 500, HOSTILE.encode()
    answer = visiting.submit(address(webhook), f"{address(webhook)}/test")
    assert answer.headers["Location"] == f"{address(webhook)}?done=tested"
    assert "The test event is on its way." in visiting.get(f"{address(webhook)}?done=tested").text
    see_list(visiting, webhook, "webhook.test", "Waiting", "500 Internal Server Error", " ms, ")
    assert "Every attempt has failed since" in words(visiting.get(address(webhook)).text)
    assert re.search(r"Active \d+ \w+ \d{4}, \d\d:\d\d", words(visiting.get(WEBHOOKS).text))

    receiver.status = 200
    path = delivery_of(visiting, webhook)
    page = visiting.get(path).text
    assert "<script>alert" not in page
    assert HOSTILE in unescape(page)
    body = re.search(r'<pre id="body">(.*?)</pre>', page, re.DOTALL)
    assert body
    assert orjson.loads(unescape(body[1])) == orjson.loads(receiver.arrived[0].body)
    assert receiver.arrived[0].headers["webhook-id"] in page

    answer = visiting.submit(path, f"{path}/redeliver")
    assert answer.headers["Location"] == f"{path}?done=sent-again"
    assert "The event is on its way again." in visiting.get(f"{path}?done=sent-again").text
    see_list(visiting, webhook, "webhook.test", "Delivered", "200 OK")
    page = words(visiting.get(f"{path}/attempts").text)
    assert page.index("200 OK") < page.index("500 Internal Server Error")
    assert "Every attempt has failed" not in visiting.get(address(webhook)).text


def test_a_paused_webhook_gets_later_what_happened_meanwhile(
    server: RunningServer, cast: Cast, receiver: Receiver
) -> None:
    webhook = make_webhook(cast, url=receiver.url, events=["person.updated"])
    visiting = visit(server, cast)
    answer = visiting.submit(address(webhook), f"{address(webhook)}/pause")
    assert answer.headers["Location"] == f"{address(webhook)}?done=paused"
    something_happens(cast)
    see_list(visiting, webhook, "person.updated", "Waiting", "When resumed")
    page = visiting.get(f"{address(webhook)}?done=paused").text
    assert "The webhook is paused." in page
    assert "Send a test event" not in page
    refused = visiting.submit(address(webhook), f"{address(webhook)}/test")
    assert (refused.status_code, "The webhook is paused. Set it active first." in refused.text) == (409, True)

    answer = visiting.submit(address(webhook), f"{address(webhook)}/resume")
    assert answer.headers["Location"] == f"{address(webhook)}?done=resumed"
    see_list(visiting, webhook, "person.updated", "Delivered", "200 OK")


def test_a_disabled_webhook_is_revived_and_gets_what_it_missed(
    server: RunningServer, cast: Cast, receiver: Receiver
) -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    cast.perform(update_organisation, timeZone="Asia/Tokyo")
    webhook = make_webhook(cast, url=receiver.url, events=["person.updated"])
    visiting = visit(server, cast)
    receiver.status = 410
    something_happens(cast)
    see_list(visiting, webhook, "person.updated", "Failed", "410 Gone")
    page = words(visiting.get(address(webhook)).text)
    assert "It answered 410 Gone. Nothing is sent there" in page
    assert "Send again what did not arrive" not in page
    path = delivery_of(visiting, webhook)
    refused = visiting.submit(path, f"{path}/redeliver")
    assert (refused.status_code, "The webhook is disabled. Set it active first." in refused.text) == (409, True)

    receiver.status = 200
    answer = visiting.submit(address(webhook), f"{address(webhook)}/revive")
    assert answer.headers["Location"] == f"{address(webhook)}?done=revived"

    def send_again(since: datetime) -> str:
        fields = {"since": since.astimezone(tokyo).strftime("%Y-%m-%dT%H:%M")}
        answer = visiting.submit(address(webhook), f"{address(webhook)}/redeliver", **fields)
        return answer.headers["Location"].partition("done=")[2]

    now = datetime.now(UTC)
    fields = {"since": (now + timedelta(hours=1)).astimezone(tokyo).strftime("%Y-%m-%dT%H:%M")}
    early = visiting.submit(address(webhook), f"{address(webhook)}/redeliver", **fields)
    assert (early.status_code, "Since lies in the future." in words(early.text)) == (422, True)
    assert send_again(now - timedelta(hours=1)) == "all-sent-again"
    see_list(visiting, webhook, "person.updated", "Delivered", "200 OK")
    assert send_again(now - timedelta(hours=1)) == "none-missed"


def test_the_time_since_when_is_checked_and_begins_a_day_ago(server: RunningServer, cast: Cast) -> None:
    webhook = quiet_webhook(cast)
    visiting = visit(server, cast)
    suggested = re.search(r'name="since" type="datetime-local" value="([^"]+)"', visiting.get(address(webhook)).text)
    assert suggested
    ago = datetime.now(UTC) - datetime.fromisoformat(suggested[1]).replace(tzinfo=UTC)
    assert timedelta(days=1) <= ago < timedelta(days=1, minutes=2)
    for since, problem in (
        ("2020-01-01T10:00", "Since is more than 30 days ago; events are kept no longer."),
        ("yesterday", "Since is not a date with a time of day."),
        ("", "Since is not a date with a time of day."),
    ):
        answer = visiting.submit(address(webhook), f"{address(webhook)}/redeliver", since=since)
        assert answer.status_code == 422
        assert problem in words(answer.text)
        assert f'value="{since}"' in answer.text


def test_deliveries_are_filtered_and_paged(server: RunningServer, cast: Cast) -> None:
    webhook = quiet_webhook(cast)
    cast.perform(update_webhook, webhookId=webhook, status="paused")
    made = put_deliveries(cast, webhook, 27, datetime.now(UTC))
    visiting = visit(server, cast)

    def shown(path: str) -> set[str]:
        return set(re.findall(r'id="(delivery_\w+)"', visiting.get(path).text))

    for path in (address(webhook), f"{address(webhook)}/deliveries"):
        page = visiting.get(f"{path}?status=waiting").text
        behind = re.search(rf'href="{address(webhook)}(\?[^"]+)">Earlier deliveries', page)
        assert behind
        earlier = shown(path + unescape(behind[1]))
        assert (len(shown(path)), len(earlier), shown(path) | earlier) == (25, 2, set(made))
        assert "status=waiting" in behind[1]
        assert shown(f"{path}?status=failed") == set()
        assert "No delivery is failed." in visiting.get(f"{path}?status=failed").text
        assert visiting.get(f"{path}?status=lost").status_code == 422


def test_the_live_part_is_a_part_only_and_closed_to_strangers(server: RunningServer, cast: Cast) -> None:
    webhook = quiet_webhook(cast)
    part = visit(server, cast).get(f"{address(webhook)}/deliveries")
    assert part.text.lstrip().startswith('<div class="empty">')
    assert part.headers["Cache-Control"] == "no-store"
    assert Visit(server).get(f"{address(webhook)}/deliveries").status_code == 303

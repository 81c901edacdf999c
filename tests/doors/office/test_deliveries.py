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
from mainstay.doors.pages.showing import NOTHING
from mainstay.terms.rights import Role
from mainstay.webhooks.endpoints import pause_webhook
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
    answer = visiting.submit(address(webhook), f"{address(webhook)}/send-test-event")
    assert answer.headers["Location"] == f"{address(webhook)}?done=send_test_event"
    assert "The test event is on its way." in visiting.get(answer.headers["Location"]).text
    see_list(visiting, webhook, "A test event webhook.test Retrying", "500 Internal Server Error", " ms, ")
    assert re.search(r"Failing since \d+ \w+ \d{4}, \d\d:\d\d", words(visiting.get(address(webhook)).text))
    assert re.search(r"Failing \d+ \w+ \d{4}, \d\d:\d\d", words(visiting.get(WEBHOOKS).text))

    receiver.status = 200
    path = delivery_of(visiting, webhook)
    page = visiting.get(path).text
    assert "<script>alert" not in page
    assert HOSTILE in unescape(page)
    body = re.search(r'<pre id="body">(.*?)</pre>', page, re.DOTALL)
    assert body
    assert orjson.loads(unescape(body[1])) == orjson.loads(receiver.arrived[0].body)
    assert f"webhook-id: {receiver.arrived[0].headers['webhook-id']}" in page, "the headers that were sent"
    assert f'href="{address(webhook)}"' in page

    answer = visiting.submit(path, f"{path}/redeliver-event")
    assert answer.headers["Location"] == f"{path}?done=redeliver_event"
    assert "The event is on its way again." in visiting.get(answer.headers["Location"]).text
    see_list(visiting, webhook, "webhook.test Delivered", "200 OK")
    page = words(visiting.get(f"{path}/attempts").text)
    assert page.startswith("Delivered")
    assert page.index("200 OK") < page.index("500 Internal Server Error")
    assert "Failing since" not in visiting.get(address(webhook)).text


def test_a_paused_webhook_gets_later_what_happened_meanwhile(
    server: RunningServer, cast: Cast, receiver: Receiver
) -> None:
    webhook = make_webhook(cast, url=receiver.url, events=["person.updated"])
    visiting = visit(server, cast)
    answer = visiting.submit(address(webhook), f"{address(webhook)}/pause")
    assert answer.headers["Location"] == f"{address(webhook)}?done=pause_webhook"
    something_happens(cast)
    # Nothing is tried next while it is paused.
    see_list(visiting, webhook, f"person.updated Waiting 0 {NOTHING} {NOTHING}")
    page = visiting.get(answer.headers["Location"]).text
    assert "The webhook is paused." in page
    assert "send-test-event" not in page
    refused = visiting.submit(address(webhook), f"{address(webhook)}/send-test-event")
    assert (refused.status_code, "The webhook is paused. Resume it first." in refused.text) == (409, True)

    answer = visiting.submit(address(webhook), f"{address(webhook)}/resume")
    assert answer.headers["Location"] == f"{address(webhook)}?done=resume_webhook"
    see_list(visiting, webhook, "person.updated Delivered", "200 OK")


def test_a_disabled_webhook_is_revived_and_gets_what_it_missed(
    server: RunningServer, cast: Cast, receiver: Receiver
) -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    cast.perform(update_organisation, timeZone="Asia/Tokyo")
    webhook = make_webhook(cast, url=receiver.url, events=["person.updated"])
    visiting = visit(server, cast)
    receiver.status = 410
    something_happens(cast)
    see_list(visiting, webhook, "person.updated Failed", "410 Gone")
    page = visiting.get(address(webhook)).text
    assert "It answered 410 Gone" in words(page)
    assert "redeliver-failed" not in page
    path = delivery_of(visiting, webhook)
    refused = visiting.submit(path, f"{path}/redeliver-event")
    assert (refused.status_code, "The webhook is disabled. Resume it first." in refused.text) == (409, True)

    receiver.status = 200
    assert visiting.submit(address(webhook), f"{address(webhook)}/resume").status_code == 303
    again = f"{address(webhook)}/redeliver-failed"
    now = datetime.now(UTC)
    ahead, ago = ((now + timedelta(hours=hours)).astimezone(tokyo).strftime("%Y-%m-%dT%H:%M") for hours in (1, -1))
    early = visiting.submit(again, since=ahead)
    assert (early.status_code, "Since lies in the future." in words(early.text)) == (422, True)
    answer = visiting.submit(again, since=ago)
    assert answer.headers["Location"] == f"{address(webhook)}?done=redeliver_failed"
    see_list(visiting, webhook, "person.updated Delivered", "200 OK")


def test_the_time_since_when_is_checked_and_kept(server: RunningServer, cast: Cast) -> None:
    again = f"{address(quiet_webhook(cast))}/redeliver-failed"
    visiting = visit(server, cast)
    for since, problem in (
        ("2020-01-01T10:00", "Since is more than 30 days ago; events are kept no longer."),
        ("yesterday", "Since is not a moment"),
        ("", "Since is not a moment"),
    ):
        answer = visiting.submit(again, since=since)
        assert answer.status_code == 422
        assert problem in words(answer.text)
        assert f'value="{since}"' in answer.text


def test_deliveries_are_counted_filtered_and_paged(server: RunningServer, cast: Cast) -> None:
    webhook = quiet_webhook(cast)
    cast.perform(pause_webhook, webhookId=webhook)
    made = put_deliveries(cast, webhook, 27, datetime.now(UTC))
    visiting = visit(server, cast)

    def shown(path: str) -> set[str]:
        return set(re.findall(r'id="(delivery_\w+)"', visiting.get(path).text))

    def way(page: str, which: str) -> str:
        found = re.search(rf'id="{which}-page" href="{address(webhook)}(\?[^"]+)"', page)
        assert found
        return unescape(found[1])

    assert '<span class="count">27</span>' in visiting.get(address(webhook)).text
    for path in (address(webhook), f"{address(webhook)}/deliveries"):
        behind = way(visiting.get(f"{path}?status=waiting").text, "next")
        assert "status=waiting" in behind
        earlier = shown(path + behind)
        assert (len(shown(path)), len(earlier), shown(path) | earlier) == (25, 2, set(made))
        assert shown(path + way(visiting.get(path + behind).text, "previous")) == shown(path)
        assert shown(f"{path}?status=failed") == set()
        assert "None of these" in visiting.get(f"{path}?status=failed").text
        assert visiting.get(f"{path}?status=lost").status_code == 422


def test_the_live_part_is_a_part_only_and_closed_to_strangers(server: RunningServer, cast: Cast) -> None:
    webhook = quiet_webhook(cast)
    visiting = visit(server, cast)
    part = visiting.get(f"{address(webhook)}/deliveries")
    assert part.text.lstrip().startswith('<div class="empty">')
    assert part.headers["Cache-Control"] == "no-store"
    assert Visit(server).get(f"{address(webhook)}/deliveries").status_code == 303
    # It asks for exactly what the page around it shows.
    page = visiting.get(f"{address(webhook)}?status=failed").text
    assert f'data-live="{address(webhook)}/deliveries?status=failed"' in page

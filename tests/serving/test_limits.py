"""600 requests a minute for each key, exact over all workers."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from mainstay.composition import open_performer
from mainstay.doors.http import BODY_SECONDS
from mainstay.identity.keys import list_keys, revoke_key
from mainstay.settings import Settings
from mainstay.vocabulary.permissions import Access
from support.cast import Cast, make_cast
from support.raw_http import JSON, ORGANISATION, check_refusal, format_head, read_error, send_raw
from support.servers import ServerProcess, make_tls_context, start_server

CLIENTS = 20


def request_many(server: ServerProcess, key: str, times: int) -> list[httpx2.Response]:
    """Many requests at once, on many connections that every worker has some of."""

    def client(share: int) -> list[httpx2.Response]:
        headers = {"Authorization": f"Bearer {key}"}
        with httpx2.Client(headers=headers, timeout=30, verify=make_tls_context()) as connection:
            return [connection.get(server.url + ORGANISATION) for _ in range(share)]

    shares = [len(range(number, times, CLIENTS)) for number in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as clients:
        return [answer for answers in clients.map(client, shares) for answer in answers]


@pytest.mark.engines("sqlite", "postgresql")
def test_of_601_quick_requests_600_are_accepted(server: ServerProcess, cast: Cast) -> None:
    key, other = cast.make_key(Access.READ), cast.make_key()

    answers = request_many(server, key, 601)

    accepted = [answer for answer in answers if answer.status_code == 200]
    [limited] = [answer for answer in answers if answer.status_code != 200]
    assert len(accepted) == 600
    # Each accepted request was counted once: no two were told the same.
    assert sorted(int(answer.headers["RateLimit-Remaining"]) for answer in accepted) == list(range(600))

    _check_limited(limited)
    _check_limited(server.request("GET", ORGANISATION, key))
    assert server.request("GET", ORGANISATION, other).headers["RateLimit-Remaining"] == "599"

    # 429 comes before everything but 401.
    _check_limited(server.request("GET", "/api/v1/nowhere", key))
    _check_limited(server.request("PUT", ORGANISATION, key))
    _check_limited(server.request("PATCH", ORGANISATION, key, headers=JSON, content=b"{"))
    _check_limited(server.request("GET", ORGANISATION, key, headers={"X-Organisation-Id": "another"}))
    [_, exhausted] = cast.perform(list_keys)["data"]
    cast.perform(revoke_key, keyId=exhausted["id"])
    check_refusal(server.request("GET", ORGANISATION, key), 401)


def _check_limited(answer: httpx2.Response) -> None:
    assert check_refusal(answer, 429) == "More than 600 requests in a minute. Wait a minute, then try again."
    assert answer.headers["Retry-After"] == "60"
    assert answer.headers["RateLimit-Limit"] == "600"
    assert answer.headers["RateLimit-Remaining"] == "0"


def test_a_key_was_last_used_when_it_was(fresh_settings: Settings) -> None:
    performer = open_performer(fresh_settings)
    cast = make_cast(performer)
    used, unused = cast.make_key(), cast.make_key()
    with start_server(fresh_settings) as server:
        began = datetime.now(UTC)
        for _ in range(10):
            assert server.request("GET", ORGANISATION, used).status_code == 200
        check_refusal(server.request("GET", ORGANISATION, unused + "x"), 401)
        # What the workers have seen and not yet written is written when they end.
        assert server.stop() == 0

    # Newest first: the unused one was made last.
    idle, busy = cast.perform(list_keys)["data"]
    performer.database.close()
    assert idle["lastUsedAt"] is None
    assert abs(datetime.fromisoformat(busy["lastUsedAt"]) - began) < timedelta(minutes=1)


def test_a_body_that_does_not_arrive_in_10_seconds_is_waited_for_no_longer(fresh_settings: Settings) -> None:
    assert BODY_SECONDS == 10
    performer = open_performer(fresh_settings)
    key = make_cast(performer).make_key()
    performer.database.close()
    start = format_head("PATCH", ORGANISATION, key, Content_Type="application/json", Content_Length="2")

    # One of ten is waited for alike.
    with start_server(
        replace(fresh_settings, workers=1), constants={"mainstay.doors.http.BODY_SECONDS": 1.0}
    ) as server:
        heard = send_raw(server, start, b"{")

        assert (heard.status, read_error(heard.body)) == (408, "The body did not arrive in time. Send it again.")
        assert heard.headers["ratelimit-limit"] == "600"
        assert server.request("GET", ORGANISATION, key).json()["version"] == 1

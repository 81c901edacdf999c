"""What one organisation does holds up no other one: seen through the doors."""

from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from itertools import islice

import httpx2
import pytest

from mainstay.doors import turns
from mainstay.vocabulary.permissions import Access
from support.cast import Cast
from support.raw_http import check_refusal
from support.servers import RunningServer

WAITING = 40
MAX_WAITING = 5
ORGANISATION = "/api/v1/organisation"


@pytest.mark.engines("postgresql")
def test_forty_changes_that_wait_for_one_organisation_stop_nobody_else(
    server: RunningServer, cast: Cast, other_cast: Cast
) -> None:
    ours, theirs = cast.make_key(Access.WRITE), other_cast.make_key(Access.WRITE)

    def change(number: int) -> httpx2.Response:
        return server.request("PATCH", ORGANISATION, ours, json={"phone": f"+44 7700 9000{number:02}"})

    with ThreadPoolExecutor(WAITING) as clients, ExitStack() as lock:
        # All other changes of the organisation wait until this one is over.
        lock.enter_context(cast.performer.database.write_transaction(cast.organisation))
        waiting: list[Future[httpx2.Response]] = [clients.submit(change, number) for number in range(WAITING)]
        assert server.request("GET", ORGANISATION, theirs).status_code == 200
        assert server.request("PATCH", ORGANISATION, theirs, json={"phone": "+44 7700 900999"}).status_code == 200
        assert server.request("GET", "/readyz").status_code == 200
        # Those of the same organisation read as well.
        assert server.request("GET", ORGANISATION, ours).status_code == 200
        assert not any(one.done() for one in waiting)
        lock.close()
        assert {one.result().status_code for one in waiting} == {200}
    # A bystander is as it was changed, and not as the others are.
    assert server.request("GET", ORGANISATION, theirs).json()["phone"] == "+44 7700 900999"


def test_changes_beyond_those_that_may_wait_are_refused_safe_to_retry(
    server: RunningServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MAX_WAITING", MAX_WAITING)
    key = cast.make_key(Access.WRITE)

    def change(number: int) -> httpx2.Response:
        return server.request("PATCH", ORGANISATION, key, json={"phone": f"+44 7700 9000{number:02}"})

    with ThreadPoolExecutor(WAITING) as clients, ExitStack() as lock:
        lock.enter_context(cast.performer.database.write_transaction(cast.organisation))
        asked = [clients.submit(change, number) for number in range(WAITING)]
        # One has the turn, and waits for the lock.
        refused = list(islice(as_completed(asked), WAITING - MAX_WAITING - 1))
        assert {check_refusal(one.result(), 500) for one in refused} == {
            "Something went wrong on our side; it is safe to try again."
        }
        lock.close()
        assert [one.result().status_code for one in asked if one not in refused] == [200] * (MAX_WAITING + 1)

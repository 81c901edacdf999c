"""Name servers that are silent, slow or odd, when an address is saved or posted to."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from mainstay.infrastructure.address_guard import MAX_LOOKUPS, AddressDenied, AddressGuard
from mainstay.infrastructure.webhook_client import WebhookClient
from support.blocked_posts import TLS, post_and_get_failure
from support.waiting import wait_until

ORG = "org_1"
PUBLIC = "93.184.216.34"


class SilentResolver:
    """A name server that does not answer before the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def __call__(self, _host: str, _port: int) -> list[str]:
        self.over.wait()
        return [PUBLIC]


@pytest.fixture
def silent_resolver() -> Iterator[SilentResolver]:
    await_lookups()
    server = SilentResolver()
    yield server
    server.over.set()
    await_lookups()


def list_lookup_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "lookup"]


def await_lookups() -> None:
    for thread in list_lookup_threads():
        thread.join()


def test_a_silent_name_server_does_not_keep_a_url_from_being_saved(
    silent_resolver: SilentResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainstay.infrastructure.address_guard._CHECK_TIMEOUT_SECONDS", 0.01)

    AddressGuard(allow_private=False, resolve=silent_resolver).check("https://slow.example.com/", ORG)


def test_names_of_a_silent_name_server_hold_two_places_for_each_and_four_for_all(
    silent_resolver: SilentResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainstay.infrastructure.address_guard._CHECK_TIMEOUT_SECONDS", 3600)
    guard = AddressGuard(allow_private=False, resolve=silent_resolver)
    with ThreadPoolExecutor(12) as threads, ExitStack() as at_the_end:
        at_the_end.callback(silent_resolver.over.set)

        def start_checks(organisation: str) -> list[Future[None]]:
            """Start four checks of an organisation, and return those that wait; the others found no free place."""
            free = 0 if len(list_lookup_threads()) == 4 else 2
            checks = [threads.submit(guard.check, "https://slow.example.com/", organisation) for _ in range(4)]
            wait_until(lambda: sum(check.done() for check in checks) == 4 - free)
            return [check for check in checks if not check.done()]

        waiting = [*start_checks("one"), *start_checks("two"), *start_checks("three")]
        assert len(list_lookup_threads()) == len(waiting) == 4

        silent_resolver.over.set()
        for check in waiting:
            check.result(30)
    await_lookups()

    # The places are free again.
    assert guard._running_checks.total() == 0


def test_a_look_up_that_dies_of_anything_admits_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def die(_host: str, _port: int) -> list[str]:
        raise UnicodeError("label empty or too long")

    guard = AddressGuard(allow_private=False, resolve=die)

    with pytest.raises(AddressDenied, match="has an invalid host name"):
        guard.check("https://odd.example.com/", ORG)
    assert post_and_get_failure(guard, "https://odd.example.com/") == "address refused"
    assert capsys.readouterr().err.count("look-up failed") == 2


def test_a_silent_name_server_is_no_answer_in_time(silent_resolver: SilentResolver) -> None:
    assert (
        post_and_get_failure(
            AddressGuard(allow_private=False, resolve=silent_resolver), "https://slow.example.com/", 0.05
        )
        == "no answer in time"
    )


def test_threads_that_wait_for_a_silent_name_server_are_bounded(silent_resolver: SilentResolver) -> None:
    async def list_faults() -> list[str]:
        async with WebhookClient(
            AddressGuard(allow_private=False, resolve=silent_resolver), tls=TLS, deadline=0.2
        ) as web:
            posts = (web.post(f"https://{number}.example.com/", {}, b"{}") for number in range(MAX_LOOKUPS + 50))
            return [str(fault) for fault in await asyncio.gather(*posts, return_exceptions=True)]

    kinds = asyncio.run(list_faults())

    assert len(list_lookup_threads()) == kinds.count("no answer in time") == MAX_LOOKUPS
    assert kinds.count("name not found") == 50


def test_a_lookup_that_ends_makes_room_for_another(silent_resolver: SilentResolver) -> None:
    guard = AddressGuard(allow_private=False, resolve=silent_resolver)
    lookups_begun = [guard.start_lookup(f"{number}.example.com", 443) for number in range(MAX_LOOKUPS)]
    with pytest.raises(OSError, match="too many"):
        guard.start_lookup("one.more.example.com", 443)

    silent_resolver.over.set()
    assert [lookup.result() for lookup in lookups_begun] == [[PUBLIC]] * MAX_LOOKUPS
    await_lookups()

    assert guard.start_lookup("one.more.example.com", 443).result() == [PUBLIC]

"""Name servers that are silent, slow or odd, seen by whoever saves an address or posts to it."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from mainstay.backing.guard import MOST_LOOKUPS, Denied, Guard
from mainstay.backing.web import Web
from posting import TLS, post
from waiting import wait_until

ORG = "org_1"
PUBLIC = "93.184.216.34"


class Silent:
    """A name server that does not answer before the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def __call__(self, _host: str, _port: int) -> list[str]:
        self.over.wait()
        return [PUBLIC]


@pytest.fixture
def silent() -> Iterator[Silent]:
    await_lookups()
    server = Silent()
    yield server
    server.over.set()
    await_lookups()


def lookups() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "lookup"]


def await_lookups() -> None:
    for thread in lookups():
        thread.join()


def test_a_silent_name_server_does_not_keep_a_url_from_being_saved(
    silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainstay.backing.guard._PATIENCE_SECONDS", 0.01)

    Guard(allow_private=False, resolve=silent).check("https://slow.example.com/", ORG)


def test_names_of_a_silent_name_server_hold_two_places_for_each_and_four_for_all(
    silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainstay.backing.guard._PATIENCE_SECONDS", 3600)
    guard = Guard(allow_private=False, resolve=silent)
    with ThreadPoolExecutor(12) as threads, ExitStack() as at_the_end:
        at_the_end.callback(silent.over.set)

        def held(whose: str) -> list[Future[None]]:
            """Of four checks of an organisation, those that wait; who finds no place does not."""
            free = 0 if len(lookups()) == 4 else 2
            checks = [threads.submit(guard.check, "https://slow.example.com/", whose) for _ in range(4)]
            wait_until(lambda: sum(check.done() for check in checks) == 4 - free)
            return [check for check in checks if not check.done()]

        waiting = [*held("one"), *held("two"), *held("three")]
        assert len(lookups()) == len(waiting) == 4

        silent.over.set()
        for check in waiting:
            check.result(30)
    await_lookups()

    # The places are free again.
    assert guard._checking.total() == 0


def test_a_look_up_that_dies_of_anything_admits_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def die(_host: str, _port: int) -> list[str]:
        raise UnicodeError("label empty or too long")

    guard = Guard(allow_private=False, resolve=die)

    with pytest.raises(Denied, match="cannot be"):
        guard.check("https://odd.example.com/", ORG)
    assert post(guard, "https://odd.example.com/") == "address refused"
    assert capsys.readouterr().err.count("look-up failed") == 2


def test_a_silent_name_server_is_no_answer_in_time(silent: Silent) -> None:
    assert post(Guard(allow_private=False, resolve=silent), "https://slow.example.com/", 0.05) == "no answer in time"


def test_threads_that_wait_for_a_silent_name_server_are_bounded(silent: Silent) -> None:
    async def told() -> list[str]:
        async with Web(Guard(allow_private=False, resolve=silent), tls=TLS, deadline=0.2) as web:
            posts = (web.post(f"https://{number}.example.com/", {}, b"{}") for number in range(MOST_LOOKUPS + 50))
            return [str(fault) for fault in await asyncio.gather(*posts, return_exceptions=True)]

    kinds = asyncio.run(told())

    assert len(lookups()) == kinds.count("no answer in time") == MOST_LOOKUPS
    assert kinds.count("name not found") == 50


def test_a_lookup_that_ends_makes_room_for_another(silent: Silent) -> None:
    guard = Guard(allow_private=False, resolve=silent)
    asked = [guard.lookup(f"{number}.example.com", 443) for number in range(MOST_LOOKUPS)]
    with pytest.raises(OSError, match="too many"):
        guard.lookup("one.more.example.com", 443)

    silent.over.set()
    assert [lookup.result() for lookup in asked] == [[PUBLIC]] * MOST_LOOKUPS
    await_lookups()

    assert guard.lookup("one.more.example.com", 443).result() == [PUBLIC]

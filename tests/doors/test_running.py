"""Where work runs: what takes long leaves the event loop, and those who are quick find a thread."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from threading import Event, Semaphore
from time import monotonic

import pytest

from mainstay.business.people.operations import get_me
from mainstay.doors.runner import CONTENT_THREADS, Runner, Threads
from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.infrastructure.deadline import WAIT_SECONDS, current_deadline, use_deadline
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.settings import MAX_POOL_SIZE, MIN_POOL_SIZE
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Permission, Role
from mainstay.vocabulary.schemas import Input, Output
from support.cast import Cast
from support.waiting import wait_until

TIMEOUT_SECONDS = 60


class TellSlowly(Input):
    """Nothing."""


class ToldOut(Output):
    """What it waited for."""

    noun = "told"

    came: bool


def make_slow_operation(event: Event, begun: Event) -> Operation:
    @operation(permission=Permission.ME_READ, effect=Effect.READ, is_slow=True)
    def tell_slowly(_ctx: Context, _given: TellSlowly) -> ToldOut:
        """Tell slowly."""
        begun.set()
        return ToldOut(object=ToldOut.noun, came=event.wait(TIMEOUT_SECONDS))

    return tell_slowly


@pytest.fixture
def runner() -> Iterator[Runner]:
    # As on SQLite: what is read, is read on the event loop.
    runner = Runner(reads_inline=True)
    yield runner
    runner.threads.close()


@pytest.mark.parametrize("pool_size", range(MIN_POOL_SIZE, MAX_POOL_SIZE + 1))
def test_the_threads_that_use_the_database_have_a_connection_each(pool_size: int) -> None:
    threads = Threads(pool_size)
    kinds = (
        threads.quick,
        threads.changes,
        threads.long,
        threads.background,
        threads.archives,
        threads.probes,
    )
    sizes = [executor._max_workers for executor in kinds]
    threads.close()
    assert min(sizes) >= 1
    assert sum(sizes) <= pool_size
    assert pool_size < MAX_POOL_SIZE or sum(sizes) == MAX_POOL_SIZE


def test_a_long_reading_leaves_the_event_loop_to_others(cast: Cast, runner: Runner) -> None:
    event, begun = Event(), Event()
    slow = make_slow_operation(event, begun)

    async def both() -> tuple[bytes, bytes]:
        perform = _background_performer(runner, cast)
        first = perform(slow)
        await runner.run(begun.wait, TIMEOUT_SECONDS)
        # Answered on the event loop, while the other one waits for what comes after it.
        second = await perform(get_me)
        event.set()
        return await first, second

    slow_answer, me = asyncio.run(both())
    assert slow_answer == b'{"object":"told","came":true}'
    assert b'"object":"me"' in me


def test_however_many_take_long_there_is_a_thread_for_the_quick(cast: Cast, runner: Runner) -> None:
    event, begun = Event(), Event()
    slow = make_slow_operation(event, begun)

    async def crowd() -> list[bytes]:
        perform = _background_performer(runner, cast)
        waiting = [perform(slow) for _ in range(3)]
        await runner.run(begun.wait, TIMEOUT_SECONDS)
        await runner.run(event.set)
        return await asyncio.gather(*waiting)

    assert asyncio.run(crowd()) == [b'{"object":"told","came":true}'] * 3


def test_how_long_it_waits_for_others_begins_with_it(runner: Runner) -> None:
    async def late() -> tuple[float, float]:
        with use_deadline(monotonic() - 1):
            return await runner.run(current_deadline), await runner.run_long("ours", current_deadline)

    before = monotonic()
    quick, slow = asyncio.run(late())
    assert quick < before
    assert slow >= before + WAIT_SECONDS


async def _hold_threads(runner: Runner, owner: str, number: int) -> tuple[Event, list[asyncio.Task[bool]]]:
    """Have changes of an owner that wait for an event; the first has begun."""
    event, begun = Event(), Event()

    def wait() -> bool:
        begun.set()
        return event.wait(TIMEOUT_SECONDS)

    held = [asyncio.ensure_future(runner.run_change(owner, wait)) for _ in range(number)]
    await runner.run(begun.wait, TIMEOUT_SECONDS)
    return event, held


@pytest.mark.parametrize("other", ["a change", "a read", "a probe", "a report"])
def test_however_many_changes_of_one_organisation_wait_another_finds_a_thread(runner: Runner, other: str) -> None:
    reader = replace(runner, reads_inline=False)
    ways: dict[str, Callable[[], Coroutine[None, None, str]]] = {
        "a change": lambda: runner.run_change("theirs", str, other),
        "a read": lambda: reader.run_read(str, other),
        "a probe": lambda: runner.run_probe(str, other),
        "a report": lambda: runner.run_long("theirs", str, other),
    }

    async def crowd() -> str:
        event, held = await _hold_threads(runner, "ours", 40)
        found = await ways[other]()
        assert not any(one.done() for one in held)
        event.set()
        assert all(await asyncio.gather(*held))
        return found

    assert asyncio.run(crowd()) == other


@pytest.mark.parametrize("kind", ["files", "prints"])
def test_one_file_or_print_waits_for_one_of_those_of_organisations_with_many(runner: Runner, kind: str) -> None:
    run = {"files": runner.run_content_work, "prints": runner.run_print}[kind]
    order, may_end = list[str](), Semaphore(0)

    def work(owner: str) -> None:
        order.append(owner)
        may_end.acquire(timeout=TIMEOUT_SECONDS)

    async def crowd() -> None:
        many = [asyncio.ensure_future(run(owner, work, owner)) for owner in ("ours", "theirs") for _ in range(5)]
        await runner.run(wait_until, lambda: len(order) == CONTENT_THREADS)
        one = asyncio.ensure_future(run("third", work, "third"))
        await asyncio.sleep(0)
        may_end.release()
        await runner.run(wait_until, lambda: len(order) > CONTENT_THREADS)
        may_end.release(len(many))
        await asyncio.gather(*many, one)

    asyncio.run(crowd())
    assert sorted(order[:CONTENT_THREADS]) == ["ours", "theirs"]
    assert order[CONTENT_THREADS] == "third"


@pytest.mark.parametrize(("kind", "slow_kind"), [("a file", "prints"), ("a report", "archives")])
def test_what_a_person_waits_for_has_threads_of_its_own(runner: Runner, kind: str, slow_kind: str) -> None:
    run = {"a file": runner.run_content_work, "a report": runner.run_long}[kind]
    run_slow = {"prints": runner.run_print, "archives": runner.run_archive}[slow_kind]
    event = Event()

    async def crowd() -> str:
        slow = [asyncio.ensure_future(run_slow(owner, event.wait, TIMEOUT_SECONDS)) for owner in "abcd"]
        found = await asyncio.wait_for(run("theirs", str, kind), TIMEOUT_SECONDS / 2)
        event.set()
        await asyncio.gather(*slow)
        return found

    assert asyncio.run(crowd()) == kind


def test_a_change_that_waits_too_long_for_its_turn_is_refused_without_being_begun(runner: Runner) -> None:
    done: list[str] = []

    async def crowd() -> None:
        event, held = await _hold_threads(runner, "ours", 1)
        with use_deadline(monotonic() - 1), pytest.raises(DatabaseUnavailable):
            await runner.run_change("ours", done.append, "done")
        event.set()
        await asyncio.gather(*held)

    asyncio.run(crowd())
    assert done == []


def _background_performer(runner: Runner, cast: Cast) -> Callable[[Operation], asyncio.Future[bytes]]:
    async def perform(operation: Operation) -> bytes:
        actor = cast.actor(Role.OWNER)
        return (await runner.perform(cast.performer, operation, actor, b"{}", RequestDetails(new_id("req")))).body

    return lambda operation: asyncio.ensure_future(perform(operation))

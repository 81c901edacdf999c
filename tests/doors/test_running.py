"""Where work runs: what takes long leaves the event loop, and those who are quick find a thread."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from threading import Event
from time import monotonic

import pytest

from mainstay.business.people.operations import get_me
from mainstay.doors.runner import Runner
from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.infrastructure.deadline import WAIT_SECONDS, current_deadline, use_deadline
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Permission, Role
from mainstay.vocabulary.schemas import Input, Output
from support.cast import Cast

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

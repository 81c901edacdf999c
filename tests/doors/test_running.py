"""Where work runs: what takes long leaves the event loop, and those who are quick find a thread."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from threading import Event
from time import monotonic

import pytest

from cast import Cast
from mainstay.backing.database import Unreachable
from mainstay.backing.deadline import WAIT_SECONDS, deadline, under
from mainstay.business.people.operations import get_me
from mainstay.doors.running import Runner
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.terms.rights import Right, Role
from mainstay.terms.shapes import Input, Shown
from mainstay.values.ids import new_id

PATIENCE_SECONDS = 60


class TellSlowly(Input):
    """Nothing."""


class ToldOut(Shown):
    """What it waited for."""

    noun = "told"

    came: bool


def waiting_for(event: Event, begun: Event) -> Operation:
    @operation(right=Right.ME_READ, effect=Effect.READ, takes_long=True)
    def tell_slowly(_ctx: Context, _given: TellSlowly) -> ToldOut:
        """Tell slowly."""
        begun.set()
        return ToldOut(object=ToldOut.noun, came=event.wait(PATIENCE_SECONDS))

    return tell_slowly


@pytest.fixture
def runner() -> Iterator[Runner]:
    # As on SQLite: what is read, is read on the event loop.
    runner = Runner(reads_inline=True)
    yield runner
    runner.threads.close()


def test_a_long_reading_leaves_the_event_loop_to_others(cast: Cast, runner: Runner) -> None:
    event, begun = Event(), Event()
    slow = waiting_for(event, begun)

    async def both() -> tuple[bytes, bytes]:
        perform = _performing(runner, cast)
        first = perform(slow)
        await runner.run(begun.wait, PATIENCE_SECONDS)
        # Answered on the event loop, while the other one waits for what comes after it.
        second = await perform(get_me)
        event.set()
        return await first, second

    told, me = asyncio.run(both())
    assert told == b'{"object":"told","came":true}'
    assert b'"object":"me"' in me


def test_however_many_take_long_there_is_a_thread_for_the_quick(cast: Cast, runner: Runner) -> None:
    event, begun = Event(), Event()
    slow = waiting_for(event, begun)

    async def crowd() -> list[bytes]:
        perform = _performing(runner, cast)
        waiting = [perform(slow) for _ in range(3)]
        await runner.run(begun.wait, PATIENCE_SECONDS)
        await runner.run(event.set)
        return await asyncio.gather(*waiting)

    assert asyncio.run(crowd()) == [b'{"object":"told","came":true}'] * 3


def test_how_long_it_waits_for_others_begins_with_it(runner: Runner) -> None:
    async def late() -> tuple[float, float]:
        with under(monotonic() - 1):
            return await runner.run(deadline), await runner.take_long("ours", deadline)

    before = monotonic()
    quick, slow = asyncio.run(late())
    assert quick < before
    assert slow >= before + WAIT_SECONDS


async def _hold_all(runner: Runner, owner: str, number: int) -> tuple[Event, list[asyncio.Task[bool]]]:
    """Have changes of an owner that wait for an event; the first has begun."""
    event, begun = Event(), Event()

    def wait() -> bool:
        begun.set()
        return event.wait(PATIENCE_SECONDS)

    held = [asyncio.ensure_future(runner.change(owner, wait)) for _ in range(number)]
    await runner.run(begun.wait, PATIENCE_SECONDS)
    return event, held


@pytest.mark.parametrize("other", ["a change", "a read", "a probe", "a report"])
def test_however_many_changes_of_one_organisation_wait_another_finds_a_thread(runner: Runner, other: str) -> None:
    reader = replace(runner, reads_inline=False)
    ways: dict[str, Callable[[], Coroutine[None, None, str]]] = {
        "a change": lambda: runner.change("theirs", str, other),
        "a read": lambda: reader.read(str, other),
        "a probe": lambda: runner.probe(str, other),
        "a report": lambda: runner.take_long("theirs", str, other),
    }

    async def crowd() -> str:
        event, held = await _hold_all(runner, "ours", 40)
        found = await ways[other]()
        assert not any(one.done() for one in held)
        event.set()
        assert all(await asyncio.gather(*held))
        return found

    assert asyncio.run(crowd()) == other


def test_a_change_that_waits_too_long_for_its_turn_is_refused_without_being_begun(runner: Runner) -> None:
    done: list[str] = []

    async def crowd() -> None:
        event, held = await _hold_all(runner, "ours", 1)
        with under(monotonic() - 1), pytest.raises(Unreachable):
            await runner.change("ours", done.append, "done")
        event.set()
        await asyncio.gather(*held)

    asyncio.run(crowd())
    assert done == []


def _performing(runner: Runner, cast: Cast) -> Callable[[Operation], asyncio.Future[bytes]]:
    async def perform(doing: Operation) -> bytes:
        actor = cast.actor(Role.OWNER)
        return (await runner.perform(cast.stage, doing, actor, b"{}", Envelope(new_id("req")))).body

    return lambda doing: asyncio.ensure_future(perform(doing))

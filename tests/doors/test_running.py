"""Where work runs: what takes long leaves the event loop, and those who are quick find a thread."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic

import pytest

from cast import Cast
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
    with ThreadPoolExecutor(1) as threads, ThreadPoolExecutor(1) as long_threads:
        # As on SQLite: what is read, is read on the event loop.
        yield Runner(reads_inline=True, threads=threads, long_threads=long_threads, looking_thread=threads)


def test_a_long_reading_leaves_the_event_loop_to_others(cast: Cast, runner: Runner) -> None:
    event, begun = Event(), Event()
    slow = waiting_for(event, begun)

    async def both() -> tuple[bytes, bytes]:
        perform = _performing(runner, cast)
        first = perform(slow)
        await runner.change(begun.wait, PATIENCE_SECONDS)
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
        await runner.change(begun.wait, PATIENCE_SECONDS)
        await runner.change(event.set)
        return await asyncio.gather(*waiting)

    assert asyncio.run(crowd()) == [b'{"object":"told","came":true}'] * 3


def test_how_long_it_waits_for_others_begins_with_it(runner: Runner) -> None:
    async def late() -> tuple[float, float]:
        with under(monotonic() - 1):
            return await runner.change(deadline), await runner.take_long(deadline)

    before = monotonic()
    quick, slow = asyncio.run(late())
    assert quick < before
    assert slow >= before + WAIT_SECONDS


def _performing(runner: Runner, cast: Cast) -> Callable[[Operation], asyncio.Future[bytes]]:
    async def perform(doing: Operation) -> bytes:
        actor = cast.actor(Role.OWNER)
        return (await runner.perform(cast.stage, doing, actor, b"{}", Envelope(new_id("req")))).body

    return lambda doing: asyncio.ensure_future(perform(doing))

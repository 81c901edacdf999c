"""Turns: what one organisation asks for waits for its own, and for nobody else's."""

import asyncio
from math import inf
from time import monotonic

import pytest

from mainstay.backing.database import Unreachable
from mainstay.doors.turns import Turns


async def _settle() -> None:
    """Let everything go on that can."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_one_at_a_time_in_the_order_in_which_they_came() -> None:
    async def play() -> list[str]:
        turns, order = Turns(), list[str]()

        async def take(name: str) -> None:
            await turns.begin("ours", inf)
            order.append(name)

        await take("first")
        waiting = [asyncio.ensure_future(take(name)) for name in ("second", "third")]
        await _settle()
        order.append("end")
        turns.end("ours")
        await _settle()
        order.append("end")
        turns.end("ours")
        await asyncio.gather(*waiting)
        turns.end("ours")
        return order

    assert asyncio.run(play()) == ["first", "end", "second", "end", "third"]


def test_another_organisation_does_not_wait() -> None:
    async def play() -> None:
        turns = Turns()
        await turns.begin("ours", inf)
        await asyncio.wait_for(turns.begin("theirs", inf), 60)

    asyncio.run(play())


def test_as_many_at_once_as_it_may() -> None:
    async def play() -> bool:
        turns = Turns(at_once=2)
        await turns.begin("ours", inf)
        await turns.begin("ours", inf)
        third = asyncio.ensure_future(turns.begin("ours", inf))
        await _settle()
        waited = not third.done()
        turns.end("ours")
        await third
        return waited

    assert asyncio.run(play())


def test_whose_time_is_over_is_refused_and_counted_and_the_next_one_has_the_turn() -> None:
    async def play() -> int:
        given_up: list[None] = []
        turns = Turns(on_timeout=lambda: given_up.append(None))
        await turns.begin("ours", inf)
        with pytest.raises(Unreachable, match="takes too long"):
            await turns.begin("ours", monotonic() - 1)
        waiting = asyncio.ensure_future(turns.begin("ours", inf))
        await _settle()
        turns.end("ours")
        await waiting
        return len(given_up)

    assert asyncio.run(play()) == 1


def test_one_that_is_cancelled_passes_its_turn_on() -> None:
    async def play() -> None:
        turns = Turns()
        await turns.begin("ours", inf)
        cancelled, after = (asyncio.ensure_future(turns.begin("ours", inf)) for _ in range(2))
        await _settle()
        turns.end("ours")
        # Its turn has come, but it was not told of it yet.
        cancelled.cancel()
        await asyncio.wait_for(after, 60)
        turns.end("ours")
        # Nothing of them is left.
        await asyncio.wait_for(turns.begin("ours", monotonic() - 1), 60)

    asyncio.run(play())

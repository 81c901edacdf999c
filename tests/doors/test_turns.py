"""Turns: what one organisation asks for waits for its own, and for nobody else's."""

import asyncio
from math import inf
from time import monotonic

import pytest

from mainstay.doors.turns import ACTIVE_SECONDS, FEW_WAITING, MAX_WAITING, Turns
from mainstay.infrastructure.database import DatabaseUnavailable


async def _settle() -> None:
    """Let everything go on that can."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_one_at_a_time_in_the_order_in_which_they_came() -> None:
    async def play() -> list[str]:
        turns, order = Turns(), list[str]()

        async def take(name: str) -> None:
            await turns.begin_turn("ours", inf)
            order.append(name)

        await take("first")
        waiting = [asyncio.ensure_future(take(name)) for name in ("second", "third")]
        await _settle()
        order.append("end")
        turns.end_turn("ours")
        await _settle()
        order.append("end")
        turns.end_turn("ours")
        await asyncio.gather(*waiting)
        turns.end_turn("ours")
        return order

    assert asyncio.run(play()) == ["first", "end", "second", "end", "third"]


def test_another_organisation_does_not_wait() -> None:
    async def play() -> None:
        turns = Turns()
        await turns.begin_turn("ours", inf)
        await asyncio.wait_for(turns.begin_turn("theirs", inf), 60)

    asyncio.run(play())


def test_as_many_at_once_as_it_may() -> None:
    async def play() -> bool:
        turns = Turns(at_once=2)
        await turns.begin_turn("ours", inf)
        await turns.begin_turn("ours", inf)
        third = asyncio.ensure_future(turns.begin_turn("ours", inf))
        await _settle()
        waited = not third.done()
        turns.end_turn("ours")
        await third
        return waited

    assert asyncio.run(play())


def test_whose_time_is_over_is_refused_and_counted_and_the_next_one_has_the_turn() -> None:
    async def play() -> int:
        given_up: list[None] = []
        turns = Turns(on_refusal=lambda: given_up.append(None))
        await turns.begin_turn("ours", inf)
        with pytest.raises(DatabaseUnavailable, match="takes too long"):
            await turns.begin_turn("ours", monotonic() - 1)
        waiting = asyncio.ensure_future(turns.begin_turn("ours", inf))
        await _settle()
        turns.end_turn("ours")
        await waiting
        return len(given_up)

    assert asyncio.run(play()) == 1


def test_more_than_may_wait_are_refused_at_once_and_counted_and_the_others_get_their_turns() -> None:
    async def play() -> tuple[int, int]:
        refused, turns_begun = list[None](), list[None]()
        turns = Turns(on_refusal=lambda: refused.append(None))

        async def take() -> None:
            await turns.begin_turn("ours", inf)
            turns_begun.append(None)
            turns.end_turn("ours")

        await turns.begin_turn("ours", inf)
        waiting = [asyncio.ensure_future(take()) for _ in range(MAX_WAITING)]
        await _settle()
        with pytest.raises(DatabaseUnavailable, match="waits already"):
            await asyncio.wait_for(take(), 60)
        # Another organisation is not refused, and whoever gives up makes room.
        await asyncio.wait_for(turns.begin_turn("theirs", inf), 60)
        waiting.pop().cancel()
        await _settle()
        waiting.append(asyncio.ensure_future(take()))
        await _settle()
        turns.end_turn("ours")
        await asyncio.wait_for(asyncio.gather(*waiting), 60)
        return len(refused), len(turns_begun)

    assert asyncio.run(play()) == (1, MAX_WAITING)


def test_one_that_is_cancelled_passes_its_turn_on() -> None:
    async def play() -> None:
        turns = Turns()
        await turns.begin_turn("ours", inf)
        cancelled, after = (asyncio.ensure_future(turns.begin_turn("ours", inf)) for _ in range(2))
        await _settle()
        turns.end_turn("ours")
        # Its turn has come, but it was not told of it yet.
        cancelled.cancel()
        await asyncio.wait_for(after, 60)
        turns.end_turn("ours")
        # Nothing of them is left.
        await asyncio.wait_for(turns.begin_turn("ours", monotonic() - 1), 60)

    asyncio.run(play())


async def _play_between_changes(
    *, waiting: int, other: str = "theirs", idle_seconds: float = 0.0, longest_rest: float = 60.0
) -> list[str]:
    """Let four changes follow a request of someone else, while so many of ours wait; return whose turns came."""
    seconds, order = 0.0, list[str]()
    turns = Turns(longest_rest=longest_rest, clock=lambda: seconds)

    async def change(owner: str) -> None:
        await turns.begin_turn(owner, inf)
        order.append(owner)
        turns.end_turn(owner)

    if other:
        await change(other)
    seconds += idle_seconds
    await turns.begin_turn("ours", inf)
    ours = [asyncio.ensure_future(change("ours")) for _ in range(waiting)]
    await _settle()
    seconds += 0.5
    turns.end_turn("ours")
    for _ in range(4):
        await _settle()
        await change("theirs")
    if longest_rest < 60:
        await asyncio.gather(*ours)
    for task in ours:
        task.cancel()
    return order


def test_a_busy_organisation_rests_while_another_makes_several_changes() -> None:
    order = asyncio.run(_play_between_changes(waiting=FEW_WAITING + 1))
    assert order == ["theirs"] * 5


def test_after_its_rest_a_busy_organisation_goes_on() -> None:
    order = asyncio.run(_play_between_changes(waiting=FEW_WAITING + 1, longest_rest=0.001))
    assert order.count("ours") == FEW_WAITING + 1


def test_an_organisation_of_which_few_changes_wait_never_rests() -> None:
    order = asyncio.run(_play_between_changes(waiting=FEW_WAITING))
    assert order[:2] == ["theirs", "ours"]


@pytest.mark.parametrize(("other", "idle_seconds"), [("", 0.0), ("theirs", ACTIVE_SECONDS * 2)])
def test_nobody_rests_while_no_other_organisation_is_active(other: str, idle_seconds: float) -> None:
    order = asyncio.run(_play_between_changes(waiting=FEW_WAITING + 1, other=other, idle_seconds=idle_seconds))
    assert order[len(other and "1") :][0] == "ours"

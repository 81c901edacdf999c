import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson
import pytest
from redis import Redis

from mainstay.infrastructure.rate_limits import MachineRateLimits, RateLimitResult
from mainstay.infrastructure.redis_rate_limits import RedisRateLimits
from support.redis_server import RedisServer

Result = TypeVar("Result")


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with tempfile.TemporaryDirectory() as folder:  # shorter than tmp_path: a socket's path holds 108 bytes
        server = RedisServer(Path(folder))
        server.start()
        yield server
        server.kill()


@dataclass(slots=True)
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[list[MachineRateLimits]]:
    """Two machines, each with a window of its own."""
    machines = []
    for name in ("one", "two"):
        MachineRateLimits.create(tmp_path / name)
        machines.append(MachineRateLimits(tmp_path / name))
    yield machines
    for machine in machines:
        machine.close()


def run_with_limits(limits: RedisRateLimits, story: Callable[[RedisRateLimits], Awaitable[Result]]) -> Result:
    async def run_and_close() -> Result:
        try:
            return await story(limits)
        finally:
            await limits.close()

    return asyncio.run(run_and_close())


async def count_accepted(limits: RedisRateLimits, name: str, times: int) -> int:
    return sum([(await limits.take(name)).accepted for _ in range(times)])


async def wait_for_look(limits: RedisRateLimits) -> None:
    """Wait until the check whether Redis is back has ended."""
    assert limits._retrying is not None
    await limits._retrying


def read_logged_events(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [orjson.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]


def test_of_601_quick_requests_exactly_600_are_accepted(server: RedisServer, machines: list[MachineRateLimits]) -> None:
    async def story(limits: RedisRateLimits) -> list[RateLimitResult]:
        return [await limits.take("quick") for _ in range(601)]

    verdicts = run_with_limits(RedisRateLimits(server.url, machines[0]), story)

    assert [verdict.accepted for verdict in verdicts] == [True] * 600 + [False]
    assert [verdict.remaining for verdict in verdicts] == [*range(599, -1, -1), 0]
    assert {verdict.limit for verdict in verdicts} == {600}


def test_two_machines_share_one_window_but_names_do_not(server: RedisServer, machines: list[MachineRateLimits]) -> None:
    async def story(one: RedisRateLimits) -> list[int]:
        two = RedisRateLimits(server.url, machines[1])
        together = await asyncio.gather(*(count_accepted(limits, "shared", 400) for limits in (one, two)))
        other = await count_accepted(two, "other", 1)
        await two.close()
        return [sum(together), other]

    assert run_with_limits(RedisRateLimits(server.url, machines[0]), story) == [600, 1]


def test_the_window_moves(server: RedisServer, machines: list[MachineRateLimits]) -> None:
    async def story(limits: RedisRateLimits) -> list[tuple[float, float]]:
        taken: list[tuple[float, float]] = []
        for _ in range(100_000):
            before = time.monotonic()
            verdict = await limits.take("moving", limit=5, window=0.05)
            taken += [(before, time.monotonic())] * verdict.accepted
            if len(taken) == 20:
                return taken
        pytest.fail("The window does not move.")

    taken = run_with_limits(RedisRateLimits(server.url, machines[0]), story)

    assert all(later[1] - earlier[0] > 0.05 for earlier, later in zip(taken, taken[5:], strict=False))


def test_refused_requests_are_not_counted(server: RedisServer, machines: list[MachineRateLimits]) -> None:
    async def story(limits: RedisRateLimits) -> int:
        return sum([(await limits.take("name", limit=5)).accepted for _ in range(50)])

    assert run_with_limits(RedisRateLimits(server.url, machines[0]), story) == 5
    with Redis.from_url(server.url) as redis:
        assert redis.llen("mainstay:limit:name") == 5


def test_redis_forgets_a_name_when_its_window_has_passed(
    server: RedisServer, machines: list[MachineRateLimits]
) -> None:
    async def story(limits: RedisRateLimits) -> None:
        await limits.take("hourly", limit=30, window=3600)

    run_with_limits(RedisRateLimits(server.url, machines[0]), story)

    with Redis.from_url(server.url) as redis:
        assert 3_590_000 < int(str(redis.pttl("mainstay:limit:hourly"))) <= 3_601_000


def test_when_redis_is_killed_the_machine_holds_to_its_own_window(
    server: RedisServer, machines: list[MachineRateLimits], capsys: pytest.CaptureFixture[str]
) -> None:
    async def story(limits: RedisRateLimits) -> list[int]:
        before = await count_accepted(limits, "name", 400)
        server.kill()
        return [before, await count_accepted(limits, "name", 400), await count_accepted(limits, "other", 601)]

    assert run_with_limits(RedisRateLimits(server.url, machines[0]), story) == [400, 200, 600]
    assert read_logged_events(capsys) == ["redis_away"]


def test_when_redis_is_back_it_is_used_again(
    server: RedisServer, machines: list[MachineRateLimits], capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()

    async def story(limits: RedisRateLimits) -> list[int]:
        server.kill()
        away = 0
        for _ in range(3):
            clock.now += 1
            away += await count_accepted(limits, "name", 1)
        server.start()
        too_soon = await count_accepted(limits, "name", 5)
        clock.now += 1
        first = await count_accepted(limits, "name", 1)
        await wait_for_look(limits)
        return [away, too_soon, first, await count_accepted(limits, "name", 7)]

    assert run_with_limits(RedisRateLimits(server.url, machines[0], clock), story) == [3, 5, 1, 7]
    assert read_logged_events(capsys) == ["redis_away", "redis_back"]
    with Redis.from_url(server.url) as redis:
        assert redis.llen("mainstay:limit:name") == 7


def test_a_redis_that_does_not_answer_costs_one_request_and_is_looked_at_once_a_second_beside_the_others(
    machines: list[MachineRateLimits],
) -> None:
    clock = Clock()

    async def story() -> list[int]:
        connections = 0

        async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            await reader.read(-1)
            writer.close()

        seen = []
        async with await asyncio.start_server(deaf, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            limits = RedisRateLimits(f"redis://127.0.0.1:{port}", machines[0], clock)
            for step in (0, 0, 0.9, 1, 1):
                clock.now += step
                takes = [limits.take("name") for _ in range(5 if step else 1)]
                assert all(verdict.accepted for verdict in await asyncio.gather(*takes))
                if step == 1:
                    # Nobody waited for the one who looks.
                    assert limits._retrying is not None
                    assert not limits._retrying.done()
                    await wait_for_look(limits)
                seen.append(connections)
            await limits.close()
        return seen

    assert asyncio.run(story()) == [1, 1, 1, 2, 3]


def test_a_redis_that_forgets_everything_opens_no_second_window(
    server: RedisServer, machines: list[MachineRateLimits]
) -> None:
    async def story(limits: RedisRateLimits) -> list[int]:
        before = await count_accepted(limits, "name", 400)
        with Redis.from_url(server.url) as redis:
            redis.flushall()
        return [before, await count_accepted(limits, "name", 400)]

    assert run_with_limits(RedisRateLimits(server.url, machines[0]), story) == [400, 200]
    # Those who were refused were not counted.
    with Redis.from_url(server.url) as redis:
        assert redis.llen("mainstay:limit:name") == 600


def test_a_redis_that_forgets_everything_is_told_what_the_machines_last_saw(
    server: RedisServer, machines: list[MachineRateLimits]
) -> None:
    async def in_turn(all_limits: list[RedisRateLimits], times: int) -> int:
        return sum([await count_accepted(limits, "name", 1) for _ in range(times) for limits in all_limits])

    # The first has not seen the very last request of the second.
    async def story(one: RedisRateLimits) -> list[int]:
        both = [one, RedisRateLimits(server.url, machines[1])]
        before = await in_turn(both, 250)
        with Redis.from_url(server.url) as redis:
            redis.flushall()
        after = await in_turn(both, 250)
        await both[1].close()
        return [before, after]

    assert run_with_limits(RedisRateLimits(server.url, machines[0]), story) == [500, 101]


def test_what_a_machine_saw_before_its_window_is_not_counted_again(
    server: RedisServer, machines: list[MachineRateLimits]
) -> None:
    async def story(limits: RedisRateLimits) -> list[bool]:
        first = await limits.take("name", limit=1, window=0.05)
        with Redis.from_url(server.url) as redis:
            redis.flushall()
        while not (second := await limits.take("name", limit=1, window=0.05)).accepted:
            pass
        return [first.accepted, second.accepted]

    assert run_with_limits(RedisRateLimits(server.url, machines[0]), story) == [True, True]


def test_a_redis_that_answers_with_an_error_counts_as_away(
    server: RedisServer, machines: list[MachineRateLimits], capsys: pytest.CaptureFixture[str]
) -> None:
    with Redis.from_url(server.url) as redis:
        redis.set("mainstay:limit:name", "not a list")

    assert (
        run_with_limits(RedisRateLimits(server.url, machines[0]), lambda limits: count_accepted(limits, "name", 601))
        == 600
    )
    assert read_logged_events(capsys) == ["redis_away"]

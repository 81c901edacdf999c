import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mainstay.infrastructure.rate_limits import CAPACITY, WINDOW_SECONDS, MachineRateLimits, RateLimitResult


@dataclass(slots=True)
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True, slots=True)
class Machine:
    limits: MachineRateLimits
    clock: Clock

    def take(
        self, name: str, times: int = 1, limit: int = CAPACITY, window: float = WINDOW_SECONDS
    ) -> list[RateLimitResult]:
        async def all_of_them() -> list[RateLimitResult]:
            return [await self.limits.take(name, limit, window) for _ in range(times)]

        return asyncio.run(all_of_them())

    def count_accepted(self, name: str, times: int = 1, limit: int = CAPACITY, window: float = WINDOW_SECONDS) -> int:
        return sum(verdict.accepted for verdict in self.take(name, times, limit, window))

    def names_of_one_bucket(self, how_many: int) -> list[str]:
        found: dict[int, list[str]] = {}
        for number in count():
            names = found.setdefault(self.limits._locate(str(number)).bucket, [])
            names.append(str(number))
            if len(names) == how_many:
                return names
        raise AssertionError


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    path = tmp_path_factory.mktemp("limits") / "limits"
    MachineRateLimits.create(path)
    clock = Clock()
    limits = MachineRateLimits(path, clock)
    yield Machine(limits, clock)
    limits.close()


def test_of_601_quick_requests_exactly_600_are_accepted(machine: Machine) -> None:
    verdicts = machine.take("quick", times=601)

    assert [verdict.accepted for verdict in verdicts] == [True] * 600 + [False]
    assert [verdict.remaining for verdict in verdicts] == [*range(599, -1, -1), 0]
    assert {verdict.limit for verdict in verdicts} == {600}


def test_a_request_is_accepted_only_when_the_600th_before_it_is_older_than_a_minute(machine: Machine) -> None:
    begin = machine.clock.now
    machine.take("edge")
    machine.clock.now = begin + 30
    machine.take("edge", times=599)

    machine.clock.now = begin + 60
    at_the_edge = machine.count_accepted("edge")
    machine.clock.now = begin + 60.001
    after_it = machine.count_accepted("edge", times=2)

    assert (at_the_edge, after_it) == (0, 1)


def test_refused_requests_are_not_counted(machine: Machine) -> None:
    machine.take("refused", times=600)
    machine.clock.now += 59
    assert machine.count_accepted("refused", times=1000) == 0

    machine.clock.now += 1.5

    assert machine.count_accepted("refused", times=601) == 600


def test_names_do_not_affect_each_other(machine: Machine) -> None:
    machine.take("one", times=700)

    assert machine.count_accepted("another", times=601) == 600


# Half seconds are exact numbers, so arrivals fall on the very edges of windows too.
bursts = st.tuples(st.integers(0, 140).map(lambda halves: halves / 2), st.integers(1, 400))
fresh_names = (f"fresh {number}" for number in count())


@settings(deadline=None, max_examples=100)
@given(arrivals=st.lists(bursts, max_size=20))
def test_no_minute_holds_more_than_600_and_none_is_refused_below_that(
    machine: Machine, arrivals: list[tuple[float, int]]
) -> None:
    name = next(fresh_names)
    accepted: list[float] = []
    for gap, burst in arrivals:
        machine.clock.now += gap
        used = sum(at >= machine.clock.now - 60 for at in accepted)
        expected = [RateLimitResult(used + i < 600, 600, max(0, 599 - used - i)) for i in range(burst)]
        assert machine.take(name, times=burst) == expected
        accepted += [machine.clock.now] * sum(verdict.accepted for verdict in expected)

    assert all(later - earlier > 60 for earlier, later in zip(accepted, accepted[600:], strict=False))


@settings(deadline=None, max_examples=100)
@given(limit=st.integers(1, 40), window=st.sampled_from([1.0, 10.0, 3600.0]), gaps=st.lists(st.integers(0, 4)))
def test_any_other_limit_and_window_hold_as_well(machine: Machine, limit: int, window: float, gaps: list[int]) -> None:
    name = next(fresh_names)
    accepted: list[float] = []
    for gap in gaps * 3:
        machine.clock.now += gap * window / 8
        used = sum(at >= machine.clock.now - window for at in accepted)
        # Who only looks sees the same, and changes nothing.
        assert machine.limits.has_room(name, limit, window) == (used < limit)
        [verdict] = machine.take(name, 1, limit, window)
        assert verdict == RateLimitResult(accepted=used < limit, limit=limit, remaining=max(0, limit - 1 - used))
        accepted += [machine.clock.now] * verdict.accepted


@pytest.mark.parametrize("limit", [0, 601])
def test_a_limit_that_the_ring_cannot_hold_is_an_error(machine: Machine, limit: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 600"):
        machine.take("odd", limit=limit)


def test_in_a_full_bucket_the_longest_idle_name_is_forgotten_and_no_other(machine: Machine) -> None:
    machine.clock.now += 100_000
    *names, newcomer = machine.names_of_one_bucket(33)
    for name in names:
        machine.take(name, limit=2)
    idle_longest = names.pop(7)
    for name in names:
        machine.clock.now += 1
        machine.take(name, limit=2)

    assert machine.count_accepted(newcomer, times=2, limit=2) == 2

    assert [machine.count_accepted(name, limit=2) for name in [*names, newcomer]] == [0] * 32
    assert machine.count_accepted(idle_longest, limit=1) == 1


def test_a_name_that_no_longer_counts_makes_room_before_one_that_does(machine: Machine) -> None:
    machine.clock.now += 100_000
    *hourly, brief, newcomer = machine.names_of_one_bucket(33)
    for name in hourly:
        machine.take(name, limit=1, window=3600)
    machine.take(brief, limit=1, window=60)
    machine.clock.now += 61

    assert machine.count_accepted(newcomer, limit=1) == 1

    assert [machine.count_accepted(name, limit=1, window=3600) for name in hourly] == [0] * 31


def test_a_slot_taken_over_brings_nothing_of_its_earlier_name(machine: Machine) -> None:
    machine.clock.now += 100_000
    *names, newcomer = machine.names_of_one_bucket(33)
    for name in names:
        machine.take(name, times=600)

    assert machine.count_accepted(newcomer, times=601) == 600


def test_four_processes_together_accept_exactly_600_of_each_name(tmp_path: Path) -> None:
    path = tmp_path / "limits"
    MachineRateLimits.create(path)
    script = """
import asyncio, sys
from pathlib import Path
from mainstay.infrastructure.rate_limits import MachineRateLimits
limits = MachineRateLimits(Path(sys.argv[1]))
async def main():
    accepted = [0] * 20
    for _ in range(400):
        for name in range(20):
            accepted[name] += (await limits.take(str(name))).accepted
    print(*accepted)
print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main())
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    accepted = [[int(number) for number in process.communicate()[0].split()] for process in processes]

    assert [sum(of_name) for of_name in zip(*accepted, strict=True)] == [600] * 20


def test_limits_hold_on_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "limits"
    MachineRateLimits.create(path)
    script = """
import asyncio, resource, sys
from pathlib import Path
from mainstay.infrastructure import rate_limits as module
limits = module.MachineRateLimits(Path(sys.argv[1]))
room = module._RINGS_AT + module._BUCKETS * module._RING_BYTES
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
async def main():
    for name in range(3000):
        await limits.take(str(name))
    print(sum([(await limits.take("last")).accepted for _ in range(601)]))
asyncio.run(main())
"""
    blocks = path.stat().st_blocks
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)

    assert (done.stderr, done.stdout) == ("", "600\n")
    assert path.stat().st_blocks == blocks


def test_a_fresh_file_is_private_sparse_and_empty_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    path = tmp_path / "limits"
    MachineRateLimits.create(path)
    earlier = Machine(MachineRateLimits(path, Clock()), Clock())
    earlier.take("name", times=600)

    MachineRateLimits.create(path)
    later = Machine(MachineRateLimits(path, Clock()), Clock())

    assert (earlier.count_accepted("name"), later.count_accepted("name")) == (0, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_blocks * 512 < path.stat().st_size / 10
    assert list(tmp_path.iterdir()) == [path]
    earlier.limits.close()
    later.limits.close()


def test_a_file_made_for_something_else_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"mainstay limits0" * 1000)

    with pytest.raises(ValueError, match="has another purpose or version"):
        MachineRateLimits(tmp_path / "other")


def test_a_file_cut_short_is_not_opened(tmp_path: Path) -> None:
    MachineRateLimits.create(tmp_path / "limits")
    os.truncate(tmp_path / "limits", 100_000)

    with pytest.raises(ValueError, match="has another purpose or version"):
        MachineRateLimits(tmp_path / "limits")

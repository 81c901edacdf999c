"""Child processes for foreign and heavy content: whatever happens in one, this process lives and goes on."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mainstay.infrastructure.child_pool import ChildFailed, ChildLimits, ChildPool
from mainstay.infrastructure.child_process import BadContent

TASKS = Path(__file__).parents[1] / "support"
# A busy machine gives a child little of its time.
SMALL_LIMITS = ChildLimits(memory_bytes=300_000_000, cpu_seconds=1, seconds=180)


@pytest.fixture(autouse=True)
def _find_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TASKS))


@pytest.fixture
def pool() -> ChildPool:
    return ChildPool(1, SMALL_LIMITS)


def find_child_process(pool: ChildPool) -> int:
    return int(pool.run("child_tasks:return_process_id").result)


def test_a_task_gets_values_and_bytes_and_gives_them(pool: ChildPool) -> None:
    large = os.urandom(3_000_000)
    made = pool.run("child_tasks:echo", {"a": [1, "ü", None]}, blobs=(b"", large, b"x\n"))
    assert made.result == {"a": [1, "ü", None]}
    assert made.blobs == [b"", large, b"x\n"]


def test_a_child_does_several_tasks(pool: ChildPool) -> None:
    assert find_child_process(pool) == find_child_process(pool) != os.getpid()


def test_what_a_library_prints_is_no_answer(pool: ChildPool) -> None:
    assert pool.run("child_tasks:print_something").result == "answered"


def test_content_that_is_at_fault_is_refused_in_its_own_words_by_a_child_that_goes_on(pool: ChildPool) -> None:
    before = find_child_process(pool)
    with pytest.raises(BadContent, match=r"^It is empty\.$"):
        pool.run("child_tasks:refuse")
    assert find_child_process(pool) == before


@pytest.mark.parametrize(
    ("task", "given", "problem"),
    [
        ("fail", (), "a fault of ours"),
        ("crash", (), f"ended with {-signal.SIGABRT}"),
        ("use_memory", (400,), "out of memory"),
        ("compute_forever", (), f"ended with {-signal.SIGXCPU}"),
    ],
)
def test_a_task_that_fails_in_any_way_fails_alone(
    pool: ChildPool, task: str, given: tuple[int, ...], problem: str
) -> None:
    before = find_child_process(pool)
    with pytest.raises(ChildFailed, match=problem):
        pool.run(f"child_tasks:{task}", *given)
    assert find_child_process(pool) != before


def test_a_task_that_waits_for_ever_is_ended() -> None:
    pool = ChildPool(1, ChildLimits(seconds=1))
    with pytest.raises(ChildFailed, match=r"took longer than 1 seconds|ended with"):
        pool.run("child_tasks:wait_forever")
    assert find_child_process(pool)


def test_memory_below_the_limit_is_given(pool: ChildPool) -> None:
    assert pool.run("child_tasks:use_memory", 100).result == 100_000_000


def test_a_child_is_replaced_after_so_many_tasks() -> None:
    pool = ChildPool(1, ChildLimits(tasks=2))
    first, second, third = (find_child_process(pool) for _ in range(3))
    assert first == second != third


def test_a_child_that_keeps_memory_is_replaced() -> None:
    pool = ChildPool(1, ChildLimits(resident_bytes=100_000_000))
    assert find_child_process(pool) == (grown := pool.run("child_tasks:keep_memory", 200).result)
    assert find_child_process(pool) != grown


def test_a_child_that_ended_while_it_rested_is_no_failure(pool: ChildPool) -> None:
    idle = find_child_process(pool)
    os.kill(idle, signal.SIGKILL)
    assert find_child_process(pool) != idle


def test_a_child_has_no_secrets_and_writes_no_files(
    pool: ChildPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAINSTAY_SECRET", "s" * 40)
    assert "MAINSTAY_SECRET" not in pool.run("child_tasks:read_environment").result
    with pytest.raises(ChildFailed, match=f"too large|ended with {-signal.SIGXFSZ}"):
        pool.run("child_tasks:write_file", str(tmp_path / "file"))


def test_several_threads_have_a_child_each_and_no_more_than_there_may_be() -> None:
    two = ChildPool(2, SMALL_LIMITS)
    with ThreadPoolExecutor(6) as threads:
        found = set(threads.map(lambda _: find_child_process(two), range(30)))
    assert 1 <= len(found) <= 2


def test_children_end_with_their_pool() -> None:
    pool = ChildPool(1, SMALL_LIMITS)
    child = find_child_process(pool)
    del pool
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)

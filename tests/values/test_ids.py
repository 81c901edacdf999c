import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mainstay.values.ids import Ulids, is_id, new_id

GOOD = "job_01JCDZ8Q4X0V9M2T6W3B7K5N1R"
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def test_an_id_is_its_prefix_and_a_ulid() -> None:
    made = new_id("job")

    assert made.startswith("job_")
    assert len(made) == len("job_") + 26
    assert is_id(made, "job")


def test_an_id_holds_the_millisecond_it_was_made_in() -> None:
    before = time.time_ns() // 1_000_000
    ulid = new_id("job").removeprefix("job_")
    after = time.time_ns() // 1_000_000

    milliseconds = 0
    for character in ulid[:10]:
        milliseconds = milliseconds * 32 + ALPHABET.index(character)
    # Earlier tests may have made so many ids that the time part runs ahead by a millisecond or two.
    assert before <= milliseconds <= after + 5


def test_ids_of_one_thread_rise() -> None:
    made = [new_id("job") for _ in range(20_000)]

    assert all(earlier < later for earlier, later in pairwise(made))


def test_ids_of_many_threads_rise_and_never_repeat() -> None:
    with ThreadPoolExecutor(8) as threads:
        batches = list(threads.map(lambda _: [new_id("job") for _ in range(2_000)], range(16)))

    made = [an_id for batch in batches for an_id in batch]
    assert len(set(made)) == len(made)
    assert all(is_id(an_id, "job") for an_id in made)
    for batch in batches:
        assert all(earlier < later for earlier, later in pairwise(batch))


@given(st.lists(st.integers(min_value=1, max_value=2**48 - 2), min_size=2))
def test_numbers_rise_whatever_the_clock_does(readings: list[int]) -> None:
    clock = iter(readings)
    ulids = Ulids(lambda: next(clock))

    made = [ulids.next() for _ in readings]

    assert all(earlier < later for earlier, later in pairwise(made))


def test_a_number_is_made_while_other_threads_wait() -> None:
    waiting = []

    def clock() -> int:
        waiting.append(ulids._lock.locked())
        return 1_763_200_000_000

    ulids = Ulids(clock)
    ulids.next()

    assert waiting == [True]


def test_a_standing_clock_still_leaves_ids_apart_by_more_than_one() -> None:
    ulids = Ulids(lambda: 1_763_200_000_000)

    made = [ulids.next() for _ in range(1_000)]

    assert min(later - earlier for earlier, later in pairwise(made)) > 1_000_000


def test_two_makers_that_stand_at_the_same_number_part_ways() -> None:
    parent = Ulids(lambda: 1_763_200_000_000)
    child = Ulids(lambda: 1_763_200_000_000)
    child._last = parent._last = parent.next()

    assert parent.next() != child.next()


def test_a_well_formed_id_is_one() -> None:
    assert is_id(GOOD, "job")
    assert is_id("job_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "job")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "job",
        "job_",
        GOOD.removeprefix("job_"),
        GOOD.lower(),
        GOOD[:-1],
        GOOD + "0",
        GOOD + "\n",
        " " + GOOD,
        "jobs_" + GOOD.removeprefix("job_"),
        "JOB_" + GOOD.removeprefix("job_"),
        "job-" + GOOD.removeprefix("job_"),
        "job_8" + GOOD[5:],
        *(f"{GOOD[:-1]}{letter}" for letter in "ILOUilou_-\u0663\0\ud800"),
    ],
)
def test_anything_else_is_not_an_id(text: str) -> None:
    assert not is_id(text, "job")


def test_an_id_of_another_kind_is_not_one_of_this() -> None:
    assert not is_id(GOOD, "org")
    assert not is_id(GOOD, "jo")
    assert not is_id(GOOD, "")


@settings(max_examples=300)
@given(st.text(st.characters()), st.text(max_size=4))
def test_any_text_can_be_asked_about(text: str, prefix: str) -> None:
    rest = text.removeprefix(f"{prefix}_")
    shaped = rest != text and len(rest) == 26 and rest[0] in "01234567" and set(rest) <= set(ALPHABET)

    assert is_id(text, prefix) == shaped


@given(st.text(ALPHABET, min_size=25, max_size=25), st.sampled_from("01234567"))
def test_every_ulid_is_taken(rest: str, first: str) -> None:
    assert is_id(f"inv_{first}{rest}", "inv")

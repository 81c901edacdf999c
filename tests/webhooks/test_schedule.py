"""When a delivery is tried again, and when a webhook is given up."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainstay.webhooks.retry_schedule import (
    FAILING,
    GONE,
    MAX_FAILING,
    MAX_REQUESTED_WAIT,
    WAITS,
    find_next_try,
    reason_to_disable,
    requested_wait_of,
)

NOW = datetime(2026, 11, 15, 10, 30, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def waiting_time(failed: int, chance: float = 0.0, retry_after: str | None = None) -> timedelta:
    again = find_next_try(NOW, failed, chance, retry_after)
    assert again is not None
    return again - NOW


def test_there_are_ten_attempts_over_three_days() -> None:
    waits = [waiting_time(failed) for failed in range(1, 10)]
    assert waits == [
        timedelta(seconds=5),
        timedelta(minutes=5),
        timedelta(minutes=30),
        *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
    ]
    assert WAITS[0] == timedelta()
    assert sum(waits, timedelta()) > timedelta(days=3)


@pytest.mark.parametrize("failed", [10, 11, 1000])
def test_after_the_tenth_it_is_given_up(failed: int) -> None:
    assert find_next_try(NOW, failed, 0.0) is None
    assert find_next_try(NOW, failed, 1.0, "60") is None


@given(st.integers(1, 9), st.floats(-1, 1))
def test_chance_moves_a_wait_by_a_fifth_at_most(failed: int, chance: float) -> None:
    assert WAITS[failed] * 0.8 <= waiting_time(failed, chance) <= WAITS[failed] * 1.2


def test_chance_goes_all_the_way() -> None:
    assert [waiting_time(2, chance) for chance in (-1, 0, 1)] == [
        timedelta(minutes=4),
        timedelta(minutes=5),
        timedelta(minutes=6),
    ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("120", timedelta(seconds=120)),
        (" 120 ", timedelta(seconds=120)),
        ("0000000000120", timedelta(seconds=120)),
        # Not sooner than by ourselves.
        ("3", timedelta(seconds=5)),
        ("0", timedelta(seconds=5)),
        # Not later than in a day.
        ("86400", timedelta(hours=24)),
        ("86401", timedelta(hours=24)),
        ("9" * 5000, timedelta(hours=24)),
        (format_datetime(NOW + 90 * SECOND, usegmt=True), timedelta(seconds=90)),
        (format_datetime(NOW + timedelta(days=9), usegmt=True), timedelta(hours=24)),
        (format_datetime(NOW - timedelta(days=9), usegmt=True), timedelta(seconds=5)),
        ("Sun, 15 Nov 2026 10:31:30 -0000", timedelta(seconds=90)),
        # What cannot be read is as if it were not there.
        ("soon", timedelta(seconds=5)),
        ("-1", timedelta(seconds=5)),
        ("1e9", timedelta(seconds=5)),
        ("Sun, 15 Nov 99999999999999999999 10:31:30 GMT", timedelta(seconds=5)),
        ("Sun, 15 Nov 2026 10:31:30 +99999999999999999999", timedelta(seconds=5)),
        ("٣٠٠", timedelta(seconds=5)),
        ("", timedelta(seconds=5)),
        (None, timedelta(seconds=5)),
    ],
)
def test_a_receiver_may_ask_for_a_longer_wait_within_bounds(asked: str | None, expected: timedelta) -> None:
    assert waiting_time(1, retry_after=asked) == expected


def test_our_own_wait_may_be_longer_than_a_receiver_can_ask_for() -> None:
    assert waiting_time(9, 1.0, "9999999") == timedelta(hours=28.8)


@given(st.text() | st.integers().map(str) | st.datetimes(timezones=st.just(UTC)).map(format_datetime))
def test_whatever_is_asked_the_wait_is_within_bounds(asked: str) -> None:
    assert WAITS[1] <= waiting_time(1, retry_after=asked) <= MAX_REQUESTED_WAIT


@pytest.mark.parametrize("status", [429, 503])
def test_a_receiver_that_is_busy_is_asked_how_long(status: int) -> None:
    assert requested_wait_of(status, "60") == "60"


@pytest.mark.parametrize("status", [500, 502, 301, 404, 410, None])
def test_any_other_is_not(status: int | None) -> None:
    assert requested_wait_of(status, "60") is None


def test_410_disables_at_once() -> None:
    assert reason_to_disable(410, NOW, NOW) == GONE


@pytest.mark.parametrize("status", [None, 301, 404, 429, 500, 503])
def test_five_days_of_failures_disable(status: int | None) -> None:
    assert reason_to_disable(status, NOW, NOW + MAX_FAILING - SECOND) is None
    assert reason_to_disable(status, NOW, NOW + MAX_FAILING) == FAILING
    assert timedelta(days=5) == MAX_FAILING

from datetime import timedelta

import pytest

from mainstay.values.durations import hours_text
from mainstay.values.lifetimes import describe_lifetime
from mainstay.values.typed_durations import parse_break_minutes, parse_minutes


@pytest.mark.parametrize(
    ("written", "minutes"),
    [
        ("7:30", 450),
        ("07:05", 425),
        ("7.30", 450),
        ("7,5", 450),
        ("7.5", 450),
        (",5", 30),
        ("0730", 450),
        ("7", 420),
        ("24", 1440),
        ("0", 0),
        ("7h", 420),
        ("7h30", 450),
        ("7h 30m", 450),
        ("45m", 45),
        ("90 min", 90),
        (" 7:30 ", 450),
        ("7.75", 465),
        ("7,00", 420),
        ("7.45", 465),
        ("7.1", 426),
    ],
)
def test_what_people_write_is_understood(written: str, minutes: int) -> None:
    assert parse_minutes(written) == minutes


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("7.25", "could be 7:25 or 7:15; write one of them"),
        ("7,50", "could be 7:50 or 7:30; write one of them"),
        ("45", "could be hours or minutes; write 45m for minutes"),
        ("", "is not a time such as"),
        ("x", "is not a time such as"),
        ("7:60", "is not a time such as"),
        ("7.60", "is not a time such as"),
        ("-1", "is not a time such as"),
        ("7.333", "is not a time such as"),
        ("\u0667", "is not a time such as"),
    ],
)
def test_what_could_mean_two_things_or_none_is_asked_for(written: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}"):
        parse_minutes(written)


def test_minutes_are_written_as_hours() -> None:
    assert [hours_text(minutes) for minutes in (0, 5, 60, 450, 1440)] == ["0:00", "0:05", "1:00", "7:30", "24:00"]


def test_how_long_something_is_good_for_is_told_in_whole_days_or_hours() -> None:
    spans = (timedelta(days=7), timedelta(hours=12), timedelta(hours=1))
    assert [str(describe_lifetime(span)) for span in spans] == ["7 days", "12 hours", "an hour"]


@pytest.mark.parametrize(
    ("written", "minutes"), [("20", 20), (" 45 ", 45), ("120", 120), ("1", 60), ("0.5", 30), ("30m", 30), ("0", 0)]
)
def test_a_break_of_ten_or_more_is_in_minutes(written: str, minutes: int) -> None:
    assert parse_break_minutes(written) == minutes

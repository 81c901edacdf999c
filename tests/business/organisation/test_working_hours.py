"""Working hours that continue over midnight, and on nights when the clocks change."""

from datetime import date

import pytest

from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.values.moments import moment_text

LONDON = "Europe/London"
# A Monday.
DAY = date(2038, 1, 11)


def spans_between(first: date, last: date, zone: str = LONDON, **days: list[tuple[str, str]]) -> list[tuple[str, str]]:
    spans = {day: [{"from": begin, "until": end} for begin, end in of_day] for day, of_day in days.items()}
    hours = WorkingHours.model_validate(spans)
    return [
        (moment_text(one.starts_at)[5:16], moment_text(one.ends_at)[5:16])
        for one in hours.periods_between(first, last, zone)
    ]


@pytest.mark.parametrize("monday", [[("22:00", "06:00")], [("22:00", "24:00")], [("22:00", "00:00")]])
def test_a_night_shift_is_one_stretch(monday: list[tuple[str, str]]) -> None:
    tuesday = [] if monday[0][1] == "06:00" else [("00:00", "06:00")]
    night = [("01-11T22:00", "01-12T06:00")]
    assert spans_between(DAY, DAY, monday=monday, tuesday=tuesday) == night
    assert spans_between(date(2038, 1, 12), date(2038, 1, 12), monday=monday, tuesday=tuesday) == night
    assert spans_between(date(2038, 1, 13), date(2038, 1, 13), monday=monday, tuesday=tuesday) == []


def test_spans_that_touch_or_overlap_are_one_stretch() -> None:
    assert spans_between(
        DAY, DAY, monday=[("13:00", "17:00"), ("08:00", "13:00"), ("16:00", "18:00"), ("19:00", "20:00")]
    ) == [
        ("01-11T08:00", "01-11T18:00"),
        ("01-11T19:00", "01-11T20:00"),
    ]


def test_from_a_time_until_the_same_is_a_whole_day() -> None:
    assert spans_between(DAY, DAY, monday=[("08:00", "08:00")]) == [("01-11T08:00", "01-12T08:00")]


@pytest.mark.parametrize(
    ("sunday", "night"),
    [
        # The clocks of London go forward on 28 March 2038 at one: seven hours. They go back on 31 October: nine.
        (date(2038, 3, 28), ("03-27T22:00", "03-28T05:00")),
        (date(2038, 10, 31), ("10-30T21:00", "10-31T06:00")),
    ],
)
def test_a_night_in_which_the_clocks_change_is_shorter_or_longer(sunday: date, night: tuple[str, str]) -> None:
    assert spans_between(sunday, sunday, saturday=[("22:00", "06:00")]) == [night]
    assert spans_between(sunday, sunday, saturday=[("22:00", "24:00")], sunday=[("00:00", "06:00")]) == [night]


def test_where_the_clocks_skip_midnight_the_night_is_still_one_stretch() -> None:
    # In Cairo the clocks go from midnight to one on the last Friday of April.
    friday = date(2026, 4, 24)
    both = spans_between(friday, friday, "Africa/Cairo", thursday=[("22:00", "24:00")], friday=[("00:00", "06:00")])
    assert (
        both
        == spans_between(friday, friday, "Africa/Cairo", thursday=[("22:00", "06:00")])
        == [("04-23T20:00", "04-24T03:00")]
    )

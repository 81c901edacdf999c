"""Hours of a visit: what the times of a form mean around midnight."""

import pytest

from mainstay.doors.office.work.visit_hours import read_hours


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        # The end is the next day if it comes before the start.
        (("22:00", "22:00", "00:30"), ("2026-11-19T22:00", "2026-11-20T00:30")),
        (("22:00", "21:30", "00:30"), ("2026-11-19T21:30", "2026-11-20T00:30")),
        # A start shortly after midnight is corrected to one before it.
        (("00:05", "23:35", "00:35"), ("2026-11-18T23:35", "2026-11-19T00:35")),
        (("00:05", "00:01", "00:35"), ("2026-11-19T00:01", "2026-11-19T00:35")),
    ],
)
def test_times_around_midnight_are_of_the_day_that_was_meant(
    times: tuple[str, str, str], expected: tuple[str, str]
) -> None:
    seen, started, ended = times
    hours = read_hours({"on": "2026-11-19", "seenStart": seen, "startedAt": started, "endedAt": ended})
    assert (hours.of_visit["startedAt"], hours.of_visit["endedAt"]) == expected

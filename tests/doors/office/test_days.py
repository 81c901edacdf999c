from datetime import date

import pytest

from mainstay.business.schedule.board import ScheduleOut
from mainstay.doors.office.work.schedule_days import ScheduleDay
from mainstay.vocabulary.typed_records import to_record

ON = "2038-01-11"
WORKING_HOURS = ("08:00", "17:00")


def find_shown_hours(works: tuple[str, str] | None, *visits: tuple[str, str], on: str = ON) -> tuple[str, str, int]:
    """The first and the last hour that is shown of a day, and how many there are."""

    def times(begins: str, ends: str) -> dict[str, str]:
        return {"startsAt": f"{on}T{begins}:00.000Z", "endsAt": f"{on}T{ends}:00.000Z"}

    people = [{"id": "person_1", "works": [times(*works)] if works else [], "away": [], "name": "Mia", "colour": None}]
    found = [{"personId": "person_2", **times(*visit)} for visit in visits]
    schedule = to_record(ScheduleOut, {"timeZone": "Europe/London", "people": people, "visits": found})
    shown = ScheduleDay(schedule, date.fromisoformat(on)).build_grid()
    return shown["clocks"][0], shown["clocks"][-1], shown["hours"]


@pytest.mark.parametrize(
    ("works", "visits", "shown"),
    [
        # Room before and behind what is worked, for visits to be moved into.
        (WORKING_HOURS, [], ("05:00", "19:00", 15)),
        # Whatever stands there has room around it again: so every hour of the day is reached.
        (WORKING_HOURS, [("05:00", "06:00")], ("02:00", "19:00", 18)),
        (WORKING_HOURS, [("19:00", "20:30")], ("05:00", "23:00", 19)),
        # But no other day is shown.
        (WORKING_HOURS, [("01:15", "02:00"), ("22:00", "23:00")], ("00:00", "23:00", 24)),
        # Where nobody works.
        (None, [], ("05:00", "19:00", 15)),
        (None, [("12:00", "12:30")], ("09:00", "15:00", 7)),
    ],
)
def test_what_is_worked_and_planned_is_shown_with_room_around(
    works: tuple[str, str] | None, visits: list[tuple[str, str]], shown: tuple[str, str, int]
) -> None:
    assert find_shown_hours(works, *visits) == shown


@pytest.mark.parametrize(("on", "hours"), [("2027-03-28", 23), ("2027-10-31", 25)])
def test_a_day_on_which_the_clocks_change_is_shown_whole(on: str, hours: int) -> None:
    assert find_shown_hours(("00:30", "23:00"), on=on)[2] == hours

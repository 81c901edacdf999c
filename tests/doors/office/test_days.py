from datetime import date

import pytest

from mainstay.business.schedule.board import ScheduleOut
from mainstay.doors.office.work.schedule_days import ScheduleDay
from mainstay.values.moments import ONE_DAY, parse_moment
from mainstay.vocabulary.typed_records import to_record

ON = "2038-01-11"
WORKING_HOURS = ("08:00", "17:00")
NOON = parse_moment(f"{ON}T12:00:00.000Z")


def find_shown_hours(works: tuple[str, str] | None, *visits: tuple[str, str], on: str = ON) -> tuple[str, str, int]:
    """The first and the last hour that is shown of a day, and how many there are."""

    def times(begins: str, ends: str) -> dict[str, str]:
        return {"startsAt": f"{on}T{begins}:00.000Z", "endsAt": f"{on}T{ends}:00.000Z"}

    people = [{"id": "person_1", "works": [times(*works)] if works else [], "away": [], "name": "Mia", "colour": None}]
    found = [{"personId": "person_2", **times(*visit)} for visit in visits]
    schedule = to_record(ScheduleOut, {"timeZone": "Europe/London", "people": people, "visits": found})
    shown = ScheduleDay(schedule, date.fromisoformat(on), NOON).build_grid()
    return shown["clocks"][0], shown["clocks"][-1], shown["hours"]


@pytest.mark.parametrize(
    ("works", "visits", "shown"),
    [
        # Room before and behind what is worked, for visits to be moved into.
        (WORKING_HOURS, [], ("07:00", "17:00", 11)),
        # Whatever stands there has room around it again: so every hour of the day is reached.
        (WORKING_HOURS, [("05:00", "06:00")], ("04:00", "17:00", 14)),
        (WORKING_HOURS, [("19:00", "20:30")], ("07:00", "21:00", 15)),
        # But no other day is shown.
        (WORKING_HOURS, [("00:15", "02:00"), ("22:00", "23:30")], ("00:00", "23:00", 24)),
        # Where nobody works.
        (None, [], ("07:00", "17:00", 11)),
        (None, [("12:00", "12:30")], ("07:00", "17:00", 11)),
        (None, [("06:00", "07:30")], ("05:00", "17:00", 13)),
    ],
)
def test_what_is_worked_and_planned_is_shown_with_room_around(
    works: tuple[str, str] | None, visits: list[tuple[str, str]], shown: tuple[str, str, int]
) -> None:
    assert find_shown_hours(works, *visits) == shown


@pytest.mark.parametrize(("on", "hours"), [("2027-03-28", 23), ("2027-10-31", 25)])
def test_a_day_on_which_the_clocks_change_is_shown_whole(on: str, hours: int) -> None:
    assert find_shown_hours(("00:30", "23:00"), on=on)[2] == hours


@pytest.mark.parametrize(
    ("status", "times", "words"),
    [
        ("planned", ("11:55", "13:00"), None),
        ("planned", ("10:45", "13:00"), "1:15 late"),
        ("started", ("10:45", "13:00"), None),
        ("started", ("10:45", "11:40"), "0:20 over"),
        ("done", ("10:45", "11:40"), None),
    ],
)
def test_what_should_have_begun_or_ended_by_now_is_late(status: str, times: tuple[str, str], words: str | None) -> None:
    begins, ends = (f"{ON}T{clock}:00.000Z" for clock in times)
    visit = {
        "id": "visit_1",
        "kind": "work",
        "title": "Round",
        "timeZone": "Europe/London",
        "personId": "person_1",
        "status": status,
        "startsAt": begins,
        "endsAt": ends,
    }
    person = {"id": "person_1", "name": "Mia", "works": [], "away": []}
    schedule = to_record(ScheduleOut, {"timeZone": "Europe/London", "people": [person], "visits": [visit]})
    day = date.fromisoformat(ON)
    grid = ScheduleDay(schedule, day, NOON).build_grid()
    assert [item["late"] for row in grid["rows"] for item in row["items"]] == [words]
    assert grid["now"] == {"at": 21, "clock": "12:00"}
    # On other days nothing is late, and it is not now.
    other = ScheduleDay(schedule, day, NOON + ONE_DAY).build_grid()
    assert [item["late"] for row in other["rows"] for item in row["items"]] == [None]
    assert other["now"] is None

"""Visits keep their local time at the site: gaps, folds, long and short days, midnight, two zones, repetitions."""

import pytest

from mainstay.business.schedule.operations import list_visits, plan_visit
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Invalid
from support.cast import Cast
from support.visits import make_site_job

SPRING, AUTUMN = "2038-03-28", "2038-10-31"


def plan_times(cast: Cast, starts: str, ends: str, zone: str | None = None, **given: object) -> tuple[str, str]:
    people = [cast.people[Role.MEMBER]]
    visit = cast.perform(
        plan_visit,
        **{"title": "Work", "personIds": people, "startsAt": starts, "endsAt": ends, "timeZone": zone} | given,
    )
    return visit["startsAt"], visit["endsAt"]


def test_a_time_in_the_gap_is_refused_with_what_to_send(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        plan_times(cast, f"{SPRING}T01:30", f"{SPRING}T03:00")
    assert refusal.value.text == (
        "startsAt: is skipped when the clocks in Europe/London go forward, send 2038-03-28T00:30:00+00:00 or"
        " 2038-03-28T02:30:00+01:00"
    )
    assert plan_times(cast, f"{SPRING}T02:30:00+01:00", f"{SPRING}T03:00")[0] == f"{SPRING}T01:30:00.000Z"


def test_a_time_in_the_fold_is_refused_with_what_to_send(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        plan_times(cast, f"{AUTUMN}T00:30", f"{AUTUMN}T01:30")
    assert refusal.value.text == (
        "endsAt: occurs twice when the clocks in Europe/London go back, send 2038-10-31T01:30:00+01:00 or"
        " 2038-10-31T01:30:00+00:00"
    )
    assert plan_times(cast, f"{AUTUMN}T01:30:00+01:00", f"{AUTUMN}T01:30:00+00:00") == (
        f"{AUTUMN}T00:30:00.000Z",
        f"{AUTUMN}T01:30:00.000Z",
    )


def test_a_long_day_has_25_hours_and_a_short_one_23(cast: Cast) -> None:
    with pytest.raises(Invalid, match="more than 24 hours"):
        plan_times(cast, f"{AUTUMN}T00:00", "2038-11-01T00:00")
    assert plan_times(cast, f"{SPRING}T00:00", "2038-03-29T00:00") == (
        "2038-03-28T00:00:00.000Z",
        "2038-03-28T23:00:00.000Z",
    )


def test_a_shift_over_midnight_clashes_with_the_next_morning(cast: Cast) -> None:
    plan_times(cast, "2038-01-11T22:00", "2038-01-12T06:00")
    with pytest.raises(Blocked, match="on 2038-01-11 from 22:00 to 06:00 on 2038-01-12"):
        plan_times(cast, "2038-01-12T05:00", "2038-01-12T07:00")
    plan_times(cast, "2038-01-12T06:00", "2038-01-12T07:00")


def test_local_times_are_read_at_the_site_else_at_home_else_where_one_says(cast: Cast) -> None:
    far = make_site_job(cast, zone="America/New_York")["id"]
    assert (
        plan_times(cast, "2038-01-11T10:00", "2038-01-11T11:00", title=None, jobId=far)[0] == "2038-01-11T15:00:00.000Z"
    )
    assert plan_times(cast, "2038-01-11T10:00", "2038-01-11T11:00", "Europe/Berlin")[0] == "2038-01-11T09:00:00.000Z"
    with pytest.raises(Blocked, match=r"from 10:00 to 11:00 .America/New_York"):
        plan_times(cast, "2038-01-11T15:30", "2038-01-11T16:00")


def test_repetitions_keep_the_time_of_the_clocks(cast: Cast) -> None:
    visit = cast.perform(
        plan_visit,
        title="Round",
        startsAt="2038-03-22T09:00",
        durationMinutes=60,
        repeat={"unit": "week", "count": 3},
    )
    rows = cast.perform(list_visits, seriesId=visit["seriesId"])["data"]
    assert [one["startsAt"] for one in rows] == [
        "2038-03-22T09:00:00.000Z",
        "2038-03-29T08:00:00.000Z",
        "2038-04-05T08:00:00.000Z",
    ]
    assert {one["seriesId"] for one in rows} == {visit["seriesId"]}


def test_a_month_that_is_shorter_gives_its_last_day(cast: Cast) -> None:
    visit = cast.perform(
        plan_visit, title="Round", on="2038-01-31", repeat={"unit": "month", "until": "2038-04-30", "every": 1}
    )
    rows = cast.perform(list_visits, seriesId=visit["seriesId"])["data"]
    assert [one["on"] for one in rows] == ["2038-01-31", "2038-02-28", "2038-03-31", "2038-04-30"]


@pytest.mark.parametrize(
    ("repeat", "fault"),
    [
        ({"unit": "week"}, "repeat: needs either repeat.count or repeat.until"),
        ({"unit": "week", "count": 3, "until": "2038-03-01"}, "repeat: needs either repeat.count or repeat.until"),
        ({"unit": "month", "count": 14}, "repeat.count: is too many, at most 13 fit into a year"),
        ({"unit": "week", "until": "2039-03-01"}, "repeat.until: is not within a year of the first visit"),
        ({"unit": "week", "until": "2037-03-01"}, "repeat.until: is not within a year of the first visit"),
        ({"unit": "day", "count": 0}, "repeat.count: is below 2"),
        ({"unit": "year", "count": 2}, "repeat.unit: is not one of"),
    ],
)
def test_what_does_not_repeat_is_refused(cast: Cast, repeat: dict[str, object], fault: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(plan_visit, title="Round", on="2038-01-11", repeat=repeat)
    assert refusal.value.text.startswith(fault)


def test_a_repetition_in_the_gap_names_the_date(cast: Cast) -> None:
    with pytest.raises(
        Invalid, match=r"^startsAt: is not possible on 2038-03-28, because the clocks change then"
    ) as refusal:
        cast.perform(
            plan_visit,
            title="Night",
            startsAt="2038-03-27T01:30",
            durationMinutes=60,
            repeat={"unit": "day", "count": 3},
        )
    assert refusal.value.text.endswith("plan that visit separately, and repeat again from the day after")


def test_a_clash_of_one_repetition_refuses_all(cast: Cast) -> None:
    plan_times(cast, "2038-01-18T09:30", "2038-01-18T10:00")
    with pytest.raises(Blocked, match="on 2038-01-18 from 09:30"):
        plan_times(cast, "2038-01-11T09:00", "2038-01-11T10:00", repeat={"unit": "week", "count": 2})
    assert len(cast.perform(list_visits, **{"from": "2038-01-01"})["data"]) == 1

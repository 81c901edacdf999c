"""The database keeps one person's hours from overlapping, also if many write them at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from mainstay.business.hours.operations import list_hours, log_hours
from mainstay.business.hours.timers import start_timer
from mainstay.infrastructure.database import OverlapViolation
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict
from support.cast import Cast
from support.hours import cast_at, make_time_entry

RACERS = 10


def run_at_once(cast: Cast, act: object) -> list[str | None]:
    actor = cast.actor(Role.MEMBER)

    def run(_: int) -> str | None:
        try:
            act(actor)  # type: ignore[operator]
        except Conflict as conflict:
            return conflict.text
        return None

    with ThreadPoolExecutor(RACERS) as pool:
        return list(pool.map(run, range(RACERS)))


def test_of_ten_who_log_the_same_hour_one_does_and_the_others_are_told_of_it(cast: Cast) -> None:
    cast = cast_at(cast)
    span = {"startedAt": "2026-11-16T08:00", "endedAt": "2026-11-16T09:00"}
    result = run_at_once(cast, lambda actor: cast.perform(log_hours, actor, **span))
    assert result.count(None) == 1
    named = "Mia Member already logged 2026-11-16 from 08:00 to 09:00 (Europe/London)."
    assert sum((text or "").startswith(named) for text in result) == RACERS - 1
    assert len(cast.perform(list_hours)["data"]) == 1


def test_of_ten_timers_one_runs(cast: Cast) -> None:
    result = run_at_once(cast, lambda actor: cast.perform(start_timer, actor))
    assert result.count(None) == 1
    assert (
        sum((text or "").startswith("A timer without a job has been running since ") for text in result) == RACERS - 1
    )
    assert len(cast.perform(list_hours, status="running")["data"]) == 1


def insert_entry(cast: Cast, started: str, ended: str, person: str) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "INSERT INTO time_entry (organisation_id, id, created_at, created_by, updated_at, updated_by, version,"
            " person_id, on_date, started_at, ended_at, break_minutes, minutes, billable, status)"
            " VALUES (:organisation, :id, 'x', '{}', 'x', '{}', 1, :person, '2026-11-16', :started, :ended, 0, 60, 0,"
            " 'draft')",
            id=new_id("entry"),
            person=person,
            started=started,
            ended=ended,
        )


@pytest.mark.parametrize(
    ("started", "ended"),
    [
        ("2026-11-16T07:00:00.000Z", "2026-11-16T08:00:00.001Z"),
        ("2026-11-16T08:30:00.000Z", "2026-11-16T08:31:00.000Z"),
        ("2026-11-16T08:59:59.999Z", "2026-11-16T10:00:00.000Z"),
        ("2026-11-15T09:00:00.001Z", "2026-11-16T09:00:00.000Z"),
        # Longer than anything may be, so that nothing behind the horizon is missed.
        ("2026-11-14T08:00:00.000Z", "2026-11-15T08:00:00.001Z"),
    ],
)
def test_what_overlaps_is_refused_whoever_writes_it(cast: Cast, started: str, ended: str) -> None:
    entry = make_time_entry(cast_at(cast), startedAt="2026-11-16T08:00", endedAt="2026-11-16T09:00")
    with pytest.raises(OverlapViolation):
        insert_entry(cast, started, ended, cast.people[Role.MEMBER])
    other = make_time_entry(cast_at(cast), startedAt="2026-11-16T03:00", endedAt="2026-11-16T04:00")
    with pytest.raises(OverlapViolation), cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE time_entry SET started_at = :started, ended_at = :ended"
            " WHERE organisation_id = :organisation AND id = :id",
            started=started,
            ended=ended,
            id=other["id"],
        )
    assert entry["id"] != other["id"]


@pytest.mark.parametrize(
    ("started", "ended"),
    [
        ("2026-11-16T07:00:00.000Z", "2026-11-16T08:00:00.000Z"),
        ("2026-11-16T09:00:00.000Z", "2026-11-16T10:00:00.000Z"),
        ("2026-11-15T08:00:00.000Z", "2026-11-16T08:00:00.000Z"),
    ],
)
def test_what_touches_and_what_is_another_s_is_let_in(cast: Cast, started: str, ended: str) -> None:
    make_time_entry(cast_at(cast), startedAt="2026-11-16T08:00", endedAt="2026-11-16T09:00")
    insert_entry(cast, started, ended, cast.people[Role.MEMBER])
    insert_entry(cast, "2026-11-16T08:00:00.000Z", "2026-11-16T09:00:00.000Z", cast.people[Role.OFFICE])


def test_an_entry_that_began_nearly_a_day_ago_still_takes_its_time(cast: Cast) -> None:
    make_time_entry(cast_at(cast), startedAt="2026-11-15T09:45", endedAt="2026-11-16T09:30")
    with pytest.raises(OverlapViolation):
        insert_entry(cast, "2026-11-16T09:15:00.000Z", "2026-11-16T09:20:00.000Z", cast.people[Role.MEMBER])
    with pytest.raises(Conflict, match="Choose times that do not overlap"):
        make_time_entry(cast_at(cast), startedAt="2026-11-16T09:15", endedAt="2026-11-16T09:20")

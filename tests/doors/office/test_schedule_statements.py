"""However many visits and people the schedule shows, it is read with the same statements."""

from dataclasses import replace

import pytest

from mainstay.business.schedule.board import get_schedule
from mainstay.business.schedule.month import get_schedule_month
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.recorded_statements import RecordingDatabase
from support.visits import DAY, insert_colleagues, plan_test_visit

WEEK = {"from": DAY, "until": "2038-01-17"}


def count_statements(cast: Cast, operation: Operation) -> int:
    database = RecordingDatabase(cast.performer.database)
    recording = replace(cast, performer=replace(cast.performer, database=database))
    recording.perform(operation, recording.actor(Role.OFFICE, door=Door.OFFICE), **WEEK)
    return len(database.statements)


@pytest.mark.parametrize("operation", [get_schedule, get_schedule_month], ids=lambda one: one.name)
def test_many_visits_and_people_take_no_more_statements(cast: Cast, operation: Operation) -> None:
    plan_test_visit(cast)
    few = count_statements(cast, operation)
    insert_colleagues(cast, "active", 30)
    for hour in range(12):
        plan_test_visit(cast, Role.SUBCONTRACTOR, (f"{hour:02}:00", f"{hour:02}:30"))
    plan_test_visit(cast, None, on="2038-01-14")
    assert count_statements(cast, operation) == few

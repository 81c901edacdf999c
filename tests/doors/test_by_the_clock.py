"""The clock of the machine jumps: what goes by it stays sane, and what it has put off is not put off for long."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from cast import Cast, assemble
from commanding import command
from dispatching import Clock, put_deliveries, trusted_webhook
from inside import open_inside
from installations import Installations
from mainstay.backing.database import EVERY
from mainstay.backing.folder import DataFolder
from mainstay.business.people.operations import invite_person
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.values.moments import moment_text, system_clock
from mainstay.working import open_worker
from talking import NEWCOMER, ORGANISATION, PEOPLE
from telling import set_columns

JUMPS = ({"days": 40}, {"days": -40}, {"hours": -3}, {"hours": 3}, {"days": 400}, {"days": -400})


@pytest.fixture
def clock() -> Clock:
    return Clock(system_clock())


@pytest.fixture
def settings(engine: str, installations: Installations, tmp_path: Path) -> Settings:
    return installations.furnished(engine, tmp_path)


@pytest.fixture
def cast(settings: Settings, clock: Clock) -> Iterator[Cast]:
    stage = open_stage(settings, clock)
    yield assemble(stage)
    stage.database.close()


def due(cast: Cast, table: str, column: str) -> set[str]:
    with cast.stage.database.reading(EVERY) as rows:
        return {str(at) for (at,) in rows.all(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL")}


@pytest.mark.engines("sqlite", "postgresql")
def test_what_a_clock_that_ran_ahead_has_put_off_is_done_once_it_is_right(
    settings: Settings, cast: Cast, clock: Clock
) -> None:
    worker, webhook = open_worker(settings, cast.stage), trusted_webhook(cast)
    while worker.step():
        pass
    clock.forward(days=365)
    worker.tidy()
    cast.perform(invite_person, name="Ida Invited", email="ida@new.example", role="member")
    put_deliveries(cast, webhook, 2, clock.now)
    # As a dispatcher leaves it that has nothing else to send.
    set_columns(cast, "webhook", webhook, due_at=moment_text(clock.now))
    worker.begin_days()
    clock.forward(days=-365)
    assert not worker.step()
    waiting = (("outbox", "due_at"), ("delivery", "due_at"), ("webhook", "due_at"), ("organisation", "day_begins_at"))
    soon = moment_text(clock.now + timedelta(days=2))
    assert all(max(due(cast, table, column)) > soon for table, column in waiting)

    worker.tidy()
    while worker.step():
        pass
    worker.begin_days()

    [mail] = DataFolder(settings.data).mails.glob("*.eml")
    assert "ida@new.example" in mail.read_text()
    assert all(at < soon for table, column in waiting for at in due(cast, table, column))
    assert due(cast, "delivery", "due_at") >= {moment_text(clock.now)}


def test_limits_do_not_know_the_clock(settings: Settings, clock: Clock, cast: Cast) -> None:
    key = cast.key()
    with open_inside(settings, clock) as inside:
        statuses = []
        for jump in JUMPS:
            statuses += [inside.request("GET", ORGANISATION, key).status_code for _ in range(101)]
            clock.forward(**jump)
        assert statuses == [200] * 600 + [429] * 6


@pytest.mark.engines("sqlite", "postgresql")
def test_the_books_are_sound_however_the_clock_jumps(settings: Settings, clock: Clock, cast: Cast) -> None:
    key = cast.key()
    with open_inside(settings, clock) as inside:
        for number, jump in enumerate(JUMPS * 2):
            body = NEWCOMER | {"email": f"jump{number}@new.example"}
            made = inside.request("POST", PEOPLE, key, json=body)
            assert made.status_code == 201
            changed = inside.request("PATCH", f"{PEOPLE}/{made.json()['id']}", key, json={"phone": "+44 20 7946 0000"})
            assert changed.status_code == 200
            clock.forward(**jump)
    assert command(settings, "check", "--json").outcome["sound"] is True

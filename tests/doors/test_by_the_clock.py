"""What the worker does by the clock: it removes what lives no longer, and stays sane where the clock jumps."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from cast import EMAILS, Cast, assemble
from commanding import command
from dispatching import Clock, put_deliveries, trusted_webhook
from inside import open_inside
from installations import Installations
from mainstay.backing.database import EVERY
from mainstay.backing.folder import DataFolder
from mainstay.business.people.operations import invite_person
from mainstay.identity import links, sessions, tickets
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.terms.rights import Role
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


@pytest.mark.engines("sqlite", "postgresql")
def test_sessions_links_and_tickets_are_removed_once_they_live_no_longer(
    settings: Settings, cast: Cast, clock: Clock
) -> None:
    worker = open_worker(settings, cast.stage)

    def begin() -> None:
        with cast.stage.database.changing(cast.organisation) as rows:
            row = rows.one("SELECT id FROM account WHERE email = :email", email=EMAILS[Role.OWNER])
            assert row
            sessions.begin(rows, str(row[0]), None, "Firefox", clock())
            links.make_reset(rows, str(row[0]), EMAILS[Role.OWNER], clock())
            tickets.issue(rows, "/people", clock())

    def left() -> list[int]:
        worker.tidy()
        with cast.stage.database.reading(EVERY) as rows:
            return [len(rows.all(f"SELECT 1 FROM {table}")) for table in ("session", "one_time_link", "return_ticket")]

    begin()
    assert left() == [1, 1, 1]
    clock.forward(minutes=11)
    begin()
    assert left() == [2, 2, 1]
    clock.forward(minutes=50)
    assert left() == [2, 1, 0]
    clock.forward(hours=11)
    assert left() == [1, 0, 0]
    clock.forward(hours=1)
    assert left() == [0, 0, 0]

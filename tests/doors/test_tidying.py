"""What the worker removes of sign-ins once it lives no longer; what lives, stays."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from cast import EMAILS, Cast, assemble
from dispatching import Clock
from installations import Installations
from mainstay.backing.database import EVERY
from mainstay.identity import links, sessions, tickets
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.terms.rights import Role
from mainstay.values.moments import system_clock
from mainstay.working import open_worker

pytestmark = pytest.mark.engines("sqlite", "postgresql")


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
    clock.now += timedelta(hours=1)
    assert left() == [0, 0, 0]

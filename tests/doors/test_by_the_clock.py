"""What the worker does by the clock: it removes what lives no longer, and stays sane where the clock jumps."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from mainstay.business.people.operations import invite_person
from mainstay.composition import open_performer
from mainstay.identity import links, return_tickets, sessions
from mainstay.identity.sessions import NewSession
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.settings import Settings
from mainstay.values.moments import moment_text, system_clock
from mainstay.vocabulary.permissions import Role
from mainstay.worker_command import open_worker
from support.cast import EMAILS, Cast, make_cast
from support.command_line import run_command
from support.dispatchers import ManualClock, insert_deliveries, make_trusted_webhook
from support.in_process import run_in_process
from support.installations import Installations
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE
from support.webhooks import set_columns

JUMPS = ({"days": 40}, {"days": -40}, {"hours": -3}, {"hours": 3}, {"days": 400}, {"days": -400})


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(system_clock())


@pytest.fixture
def settings(engine: str, installations: Installations, tmp_path: Path) -> Settings:
    return installations.make_with_accounts(engine, tmp_path)


@pytest.fixture
def cast(settings: Settings, clock: ManualClock) -> Iterator[Cast]:
    performer = open_performer(settings, clock)
    yield make_cast(performer)
    performer.database.close()


def read_times(cast: Cast, table: str, column: str) -> set[str]:
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return {str(at) for (at,) in db.all(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL")}


@pytest.mark.engines("sqlite", "postgresql")
def test_what_a_clock_that_ran_ahead_has_put_off_is_done_once_it_is_right(
    settings: Settings, cast: Cast, clock: ManualClock
) -> None:
    worker, webhook = open_worker(settings, cast.performer), make_trusted_webhook(cast)
    while worker.run_next_tasks():
        pass
    clock.advance(days=365)
    worker.remove_old()
    cast.perform(invite_person, name="Ida Invited", email="ida@new.example", role="member")
    insert_deliveries(cast, webhook, 2, clock.now)
    # As a dispatcher leaves it that has nothing else to send.
    set_columns(cast, "webhook", webhook, due_at=moment_text(clock.now))
    worker.begin_days()
    clock.advance(days=-365)
    assert not worker.run_next_tasks()
    waiting = (("outbox", "due_at"), ("delivery", "due_at"), ("webhook", "due_at"), ("organisation", "day_begins_at"))
    soon = moment_text(clock.now + timedelta(days=2))
    assert all(max(read_times(cast, table, column)) > soon for table, column in waiting)

    worker.remove_old()
    while worker.run_next_tasks():
        pass
    worker.begin_days()

    [mail] = DataFolder(settings.data).emails.glob("*.eml")
    assert "ida@new.example" in mail.read_text()
    assert all(at < soon for table, column in waiting for at in read_times(cast, table, column))
    assert read_times(cast, "delivery", "due_at") >= {moment_text(clock.now)}


def test_limits_do_not_know_the_clock(settings: Settings, clock: ManualClock, cast: Cast) -> None:
    key = cast.make_key()
    with run_in_process(settings, clock) as inside:
        statuses = []
        for jump in JUMPS:
            statuses += [inside.request("GET", ORGANISATION, key).status_code for _ in range(101)]
            clock.advance(**jump)
        assert statuses == [200] * 600 + [429] * 6


@pytest.mark.engines("sqlite", "postgresql")
def test_the_books_are_sound_however_the_clock_jumps(settings: Settings, clock: ManualClock, cast: Cast) -> None:
    key = cast.make_key()
    with run_in_process(settings, clock) as inside:
        for number, jump in enumerate(JUMPS * 2):
            body = NEW_PERSON | {"email": f"jump{number}@new.example"}
            made = inside.request("POST", PEOPLE, key, json=body)
            assert made.status_code == 201
            changed = inside.request("PATCH", f"{PEOPLE}/{made.json()['id']}", key, json={"phone": "+44 20 7946 0000"})
            assert changed.status_code == 200
            clock.advance(**jump)
    proofs = orjson.loads(run_command(settings, "check", "--json").output)["proofs"]
    # The clock itself is named as long as it is behind the newest entry.
    assert [proof["name"] for proof in proofs if proof["flaws"]] == ["clock"]


@pytest.mark.engines("sqlite", "postgresql")
def test_sessions_links_and_tickets_are_removed_once_they_live_no_longer(
    settings: Settings, cast: Cast, clock: ManualClock
) -> None:
    worker = open_worker(settings, cast.performer)

    def begin() -> None:
        with cast.performer.database.write_transaction(cast.organisation) as db:
            row = db.one("SELECT id FROM account WHERE email = :email", email=EMAILS[Role.OWNER])
            assert row
            sessions.begin_session(db, NewSession(str(row[0]), None, "Firefox"), clock())
            links.create_reset_link(db, str(row[0]), EMAILS[Role.OWNER], clock())
            return_tickets.issue_ticket(db, "/people", clock())

    def left() -> list[int]:
        worker.remove_old()
        with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return [len(db.all(f"SELECT 1 FROM {table}")) for table in ("session", "one_time_link", "return_ticket")]

    begin()
    assert left() == [1, 1, 1]
    clock.advance(minutes=11)
    begin()
    assert left() == [2, 2, 1]
    clock.advance(minutes=50)
    assert left() == [2, 1, 0]
    clock.advance(hours=12)
    assert left() == [2, 0, 0]
    # Sessions that have expired are known as such for 90 days.
    clock.advance(days=89, hours=10, minutes=48)
    assert left() == [2, 0, 0]
    clock.advance(minutes=11)
    assert left() == [1, 0, 0]
    clock.advance(minutes=11)
    assert left() == [0, 0, 0]

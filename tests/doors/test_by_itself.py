"""What the system does by itself: each reaction once, each timer once a day; it keeps tasks it does not know."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from mainstay.business.organisation.failed_work import list_failed_work, retry_work
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.events import PersonInvited
from mainstay.business.people.operations import invite_person
from mainstay.catalogue import CATALOGUE
from mainstay.changes import outbox
from mainstay.changes.outbox import OutboxTask
from mainstay.changes.outbox_queue import LEASE, RETRIES
from mainstay.composition import open_performer
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable, Row, Value
from mainstay.kernel.context import Context
from mainstay.kernel.perform import Performer
from mainstay.kernel.reaction import DailyTimer, Reaction, ReactionEvent, TaskKind
from mainstay.settings import Settings
from mainstay.values.moments import moment_text
from mainstay.worker.start_of_day import schedule_days
from mainstay.worker.worker import Worker
from support.cast import Cast, make_cast
from support.dispatchers import ManualClock
from support.outbox_tasks import list_tasks
from support.recorded_statements import RecordingDatabase, RecordingHandle
from support.stored_state import read_trail
from support.webhooks import list_stored_deliveries, make_webhook

# A day before clocks go forward in London, and one on which they go forward at midnight in Santiago.
NOON = datetime(2038, 3, 26, 12, tzinfo=UTC)


@dataclass
class ClockedInstallation:
    """An installation with a clock that is set by hand, and whatever its catalogue is made to do."""

    performer: Performer
    clock: ManualClock
    cast: Cast

    def make_worker(self, *, reactions: tuple[Reaction, ...] = (), timers: tuple[DailyTimer, ...] = ()) -> Worker:
        """Make a worker with these reactions and timers."""
        catalogue = replace(CATALOGUE, reactions=reactions, timers=timers)
        return Worker(replace(self.performer, catalogue=catalogue), {}, ())

    def invite(self) -> None:
        """Let something happen, and nothing else be waiting."""
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            db.run("DELETE FROM outbox")
        self.cast.perform(invite_person, name="N", email=f"{self.clock.now.timestamp()}@new.example", role="office")

    def list_tasks(self) -> list[Row]:
        """The work in the outbox: its kind, when it is due, and why it waits."""
        return list_tasks(self.cast)


@pytest.fixture
def installation(fresh_settings: Settings) -> Iterator[ClockedInstallation]:
    clock = ManualClock(NOON)
    performer = open_performer(fresh_settings, clock)
    yield ClockedInstallation(performer, clock, make_cast(performer))
    performer.database.close()


def run_all_tasks(worker: Worker) -> None:
    while worker.run_next_tasks():
        pass


def read_phone(cast: Cast) -> Value:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT phone FROM organisation WHERE id = :organisation")
    return row[0] if row else None


def count_up(ctx: Context, _: object) -> None:
    """Leave a trace in the database: one more each time."""
    ctx.db.run(
        "UPDATE organisation SET phone = CAST(CAST(coalesce(phone, '0') AS int) + 1 AS text) WHERE id = :organisation"
    )
    ctx.writer.touch(ctx.actor.organisation)


def fail(_ctx: Context, _: object) -> None:
    raise ZeroDivisionError("no luck")


def test_a_reaction_follows_once_and_the_trail_tells_of_it(installation: ClockedInstallation) -> None:
    installation.invite()
    worker = installation.make_worker(reactions=(Reaction(PersonInvited, count_up, "Counted"),))
    run_all_tasks(worker)
    assert read_phone(installation.cast) == "1"
    assert installation.list_tasks() == []
    entry = read_trail(installation.cast)[-1]
    assert (entry["operation"], entry["actor"]["kind"], list(entry["given"])) == ("count_up", "house", ["event"])


class DyingDatabase(RecordingDatabase):
    """Goes away as soon as a piece of work is to be finished."""

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Change all or nothing."""
        with super().write_transaction(organisation, keep=keep) as db:
            yield db
            if any(sql.startswith("DELETE FROM outbox") for sql, *_ in self.statements):
                raise DatabaseUnavailable("killed")


@dataclass
class CountingDatabase(RecordingDatabase):
    """Counts its changes."""

    changes: int = 0

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Change all or nothing."""
        self.changes += 1
        with super().write_transaction(organisation, keep=keep) as db:
            yield db


def test_a_worker_that_dies_between_the_reaction_and_its_end_repeats_nothing(installation: ClockedInstallation) -> None:
    installation.invite()
    worker = installation.make_worker(reactions=(Reaction(PersonInvited, count_up, "Counted"),))
    dying = replace(
        worker, performer=replace(worker.performer, database=DyingDatabase(installation.performer.database))
    )
    with pytest.raises(DatabaseUnavailable):
        dying.run_next_tasks()
    assert read_phone(installation.cast) == "1"
    assert [kind for kind, *_ in installation.list_tasks()] == ["event"]
    installation.clock.now += LEASE
    run_all_tasks(worker)
    assert read_phone(installation.cast) == "1"
    assert installation.list_tasks() == []


def test_a_reaction_that_fails_repeats_no_other_and_holds_up_none(installation: ClockedInstallation) -> None:
    webhook = make_webhook(installation.cast)
    installation.invite()
    failing: list[bool] = [True]

    def fail_at_first(ctx: Context, happening: ReactionEvent) -> None:
        if failing:
            fail(ctx, happening)

    worker = installation.make_worker(
        reactions=(Reaction(PersonInvited, fail_at_first, "Counted"), Reaction(PersonInvited, count_up, "Counted"))
    )
    run_all_tasks(worker)
    again = moment_text(installation.clock.now + RETRIES[0])
    assert installation.list_tasks() == [("event", again, "ZeroDivisionError: no luck")]
    # What follows besides has followed, and the webhooks were told.
    assert read_phone(installation.cast) == "1"
    assert len(list_stored_deliveries(installation.cast, webhook)) == 1

    failing.clear()
    installation.clock.now += RETRIES[0]
    run_all_tasks(worker)
    assert read_phone(installation.cast) == "1"
    assert len(list_stored_deliveries(installation.cast, webhook)) == 1
    assert installation.list_tasks() == []


def test_work_that_nobody_knows_is_parked_with_its_reason_and_stays(installation: ClockedInstallation) -> None:
    installation.invite()
    with installation.performer.database.write_transaction(installation.cast.organisation) as db:
        outbox.add_task(db, OutboxTask("fax", {"to": "x"}), moment_text(installation.clock.now))
    worker = installation.make_worker()
    run_all_tasks(worker)
    parked = [("fax", None, "This version of Mainstay does not know tasks of the kind fax.")]
    assert installation.list_tasks() == parked
    installation.clock.now += timedelta(days=1000)
    run_all_tasks(worker)
    assert installation.list_tasks() == parked


def make_recording_worker(installation: ClockedInstallation) -> tuple[Worker, list[tuple[str, str]]]:
    """Make a worker that records which organisation begins which day."""
    found: list[tuple[str, str]] = []

    def visit(ctx: Context, day: date) -> None:
        found.append((ctx.actor.organisation, day.isoformat()))

    return installation.make_worker(timers=(DailyTimer(visit, "Visited"),)), found


def move_to_zone(cast: Cast, zone: str) -> str:
    cast.perform(update_organisation, timeZone=zone)
    return cast.organisation


def run_until(installation: ClockedInstallation, worker: Worker, end: datetime) -> Iterator[datetime]:
    """Let time pass, and have the worker look every quarter of an hour."""
    while installation.clock.now < end:
        installation.clock.now += timedelta(minutes=15)
        worker.begin_days()
        yield installation.clock.now


def test_a_timer_runs_once_in_each_organisation_when_its_own_day_begins(installation: ClockedInstallation) -> None:
    london, auckland = (
        move_to_zone(installation.cast, "Europe/London"),
        move_to_zone(make_cast(installation.performer), "Pacific/Auckland"),
    )
    worker, found = make_recording_worker(installation)
    worker.begin_days()
    # On the day on which it began, too.
    assert sorted(found) == sorted([(london, "2038-03-26"), (auckland, "2038-03-27")])
    found.clear()
    began: dict[tuple[str, str], datetime] = {}
    for now in run_until(installation, worker, NOON + timedelta(days=3)):
        for visit in found:
            began.setdefault(visit, now)
    assert len(found) == len({*found}) == 6
    # In London summer begins on the 28th at one in the morning: that day and the ones after begin an hour earlier.
    assert {moment_text(now)[:16] for (who, _), now in began.items() if who == london} == {
        "2038-03-27T00:00",
        "2038-03-28T00:00",
        "2038-03-28T23:00",
    }
    assert {moment_text(now)[11:16] for (who, _), now in began.items() if who == auckland} == {"11:00"}


def test_a_day_that_has_no_midnight_begins_when_it_begins(installation: ClockedInstallation) -> None:
    installation.clock.now = datetime(2038, 9, 4, 12, tzinfo=UTC)
    santiago = move_to_zone(installation.cast, "America/Santiago")
    worker, found = make_recording_worker(installation)
    worker.begin_days()
    began = [
        now for now in run_until(installation, worker, installation.clock.now + timedelta(hours=20)) if len(found) == 2
    ]
    assert found == [(santiago, "2038-09-04"), (santiago, "2038-09-05")]
    # Midnight is skipped: the clock goes from 23:59 to 01:00, which is four in the morning in London.
    assert moment_text(began[0])[:16] == "2038-09-05T04:00"


def test_two_workers_and_one_that_died_run_it_once(installation: ClockedInstallation) -> None:
    first, second = (installation.make_worker(timers=(DailyTimer(count_up, "Counted"),)) for _ in range(2))
    first.begin_days()
    second.begin_days()
    assert read_phone(installation.cast) == "1"
    # One died after the act and before it was known to be over.
    with installation.performer.database.write_transaction(installation.cast.organisation) as db:
        db.run("UPDATE organisation SET day_begins_at = '' WHERE id = :organisation")
    second.begin_days()
    assert read_phone(installation.cast) == "1"
    installation.clock.now += timedelta(days=1)
    second.begin_days()
    assert read_phone(installation.cast) == "2"
    assert read_trail(installation.cast)[-1]["given"] == {"on": "2038-03-27"}


def test_a_timer_that_fails_keeps_no_other_from_running(
    installation: ClockedInstallation, capfd: pytest.CaptureFixture[str]
) -> None:
    other = make_cast(installation.performer)
    installation.make_worker(timers=(DailyTimer(fail, "Failed"), DailyTimer(count_up, "Counted"))).begin_days()
    assert [read_phone(cast) for cast in (installation.cast, other)] == ["1", "1"]
    assert capfd.readouterr().err.count('"timer failed"') == 2


@pytest.mark.only_on("sqlite")
def test_several_organisations_begin_their_day_in_one_transaction(installation: ClockedInstallation) -> None:
    other = make_cast(installation.performer)
    worker = installation.make_worker(timers=(DailyTimer(count_up, "Counted"),))
    while schedule_days(installation.performer):
        pass
    counted = CountingDatabase(installation.performer.database)
    replace(worker, performer=replace(worker.performer, database=counted)).begin_days()
    assert [read_phone(cast) for cast in (installation.cast, other)] == ["1", "1"]
    # The tasks are taken in one, and done and finished in another.
    assert counted.changes == 2
    assert [read_trail(cast)[-1]["operation"] for cast in (installation.cast, other)] == ["count_up", "count_up"]


@pytest.mark.engines("sqlite", "postgresql")
def test_an_organisation_whose_day_cannot_be_looked_at_keeps_no_other_from_its_own(
    installation: ClockedInstallation,
) -> None:
    other = make_cast(installation.performer)

    def is_due(ctx: Context) -> bool:
        if ctx.actor.organisation == installation.cast.organisation:
            raise ZeroDivisionError("no luck")
        return True

    installation.make_worker(timers=(DailyTimer(count_up, "Counted", is_due),)).begin_days()
    assert [read_phone(cast) for cast in (installation.cast, other)] == [None, "1"]
    assert installation.list_tasks() == [
        ("day", moment_text(installation.clock.now + RETRIES[0]), "ZeroDivisionError: no luck")
    ]


def test_a_timer_that_fails_is_tried_again_with_growing_pauses_and_then_parked(
    installation: ClockedInstallation,
) -> None:
    failing: list[bool] = [True]

    def fail_at_first(ctx: Context, day: date) -> None:
        if failing:
            fail(ctx, day)
        count_up(ctx, day)

    worker = installation.make_worker(timers=(DailyTimer(fail_at_first, "Counted"),))
    run_all_tasks(worker)
    worker.begin_days()
    assert installation.list_tasks() == [("timer", moment_text(installation.clock.now + RETRIES[0]), None)]
    for wait in RETRIES:
        installation.clock.now += wait
        run_all_tasks(worker)
    installation.clock.now += timedelta(days=30)
    run_all_tasks(worker)
    assert installation.list_tasks() == [("timer", None, "ZeroDivisionError: no luck")]
    assert read_phone(installation.cast) is None

    failing.clear()
    [work] = installation.cast.perform(list_failed_work)["data"]
    assert work["about"] == "What is due each day, for 2038-03-26"
    installation.cast.perform(retry_work, workId=work["id"])
    run_all_tasks(worker)
    assert installation.list_tasks() == []
    assert read_phone(installation.cast) == "1"
    assert read_trail(installation.cast)[-1]["given"] == {"on": "2038-03-26"}


def test_a_timer_that_failed_and_that_nobody_knows_any_more_is_parked(installation: ClockedInstallation) -> None:
    run_all_tasks(installation.make_worker())
    installation.make_worker(timers=(DailyTimer(fail, "Failed"),)).begin_days()
    installation.clock.now += RETRIES[0]
    run_all_tasks(installation.make_worker())
    assert installation.list_tasks() == [("timer", None, "This version of Mainstay does not know the timer fail.")]


def test_what_changes_nothing_leaves_no_trace_in_the_trail(installation: ClockedInstallation) -> None:
    worker, found = make_recording_worker(installation)
    written = len(read_trail(installation.cast))
    worker.begin_days()
    assert (len(found), len(read_trail(installation.cast))) == (1, written)


@pytest.mark.parametrize("kind", ["reword_records_of_job", "event", "timer", "mail"])
def test_two_who_would_do_the_same_kind_of_work_are_refused(installation: ClockedInstallation, kind: str) -> None:
    catalogue = replace(
        CATALOGUE, task_kinds=(*CATALOGUE.task_kinds, TaskKind(kind, lambda _ctx, _told: None, "Nothing done"))
    )
    with pytest.raises(ValueError, match=f"^Work of the kind {kind} would be done by two, of whom only one is asked"):
        Worker(replace(installation.performer, catalogue=catalogue), {"mail": lambda _work: None}, ())


def names_of(acts: tuple[Any, ...]) -> list[str]:
    return [act.name for act in acts]


def test_the_house_does_these_by_itself() -> None:
    assert names_of(CATALOGUE.reactions) == [
        "mail_invitation",
        "unassign_visits",
        "draft_deposit",
        "close_paid_job",
        "tell_office_of_acceptance",
        "confirm_acceptance",
        "delete_private_views",
        "delete_conversations_of_person",
    ]
    assert names_of(CATALOGUE.timers) == ["forget_old_events", "expire_quotes", "became_overdue"]
    assert names_of(CATALOGUE.task_kinds) == [
        "reword_records_of_supplier",
        "reword_records_of_job",
        "price_materials_anew",
        "tell_of_moved_jobs",
        "tell_of_moved_quotes",
        "reckon_days_anew",
        "tell_of_schedule",
        "reword_records_of_customer",
        "tell_of_moved_invoices",
        "settle_job_billed_anew",
    ]

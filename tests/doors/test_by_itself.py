"""What the house does by itself: each reaction once, each timer once a day, and what it does not know it keeps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from cast import Cast, assemble
from dispatching import Clock
from evidence import trail
from mainstay.backing.database import EVERY, Row, Unreachable, Value
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.work import list_failed_work, retry_work
from mainstay.business.people.events import PersonInvited
from mainstay.business.people.operations import invite_person
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.context import Context
from mainstay.kernel.perform import Stage
from mainstay.kernel.reaction import Chore, Happening, Reaction, Timer
from mainstay.ledger import outbox
from mainstay.ledger.outbox import Letter
from mainstay.ledger.outbox_queue import LEASE, RETRIES
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.values.moments import moment_text
from mainstay.worker.worker import Worker
from recording import RecordingDatabase, RecordingHandle
from telling import deliveries, make_webhook

# A day before clocks go forward in London, and one on which they go forward at midnight in Santiago.
NOON = datetime(2038, 3, 26, 12, tzinfo=UTC)


@dataclass
class Desk:
    """An installation with a clock that is set by hand, and whatever its catalogue is made to do."""

    stage: Stage
    clock: Clock
    cast: Cast

    def doing(self, *, reactions: tuple[Reaction, ...] = (), timers: tuple[Timer, ...] = ()) -> Worker:
        """A worker of a house that does these by itself."""
        catalogue = replace(CATALOGUE, reactions=reactions, timers=timers)
        return Worker(replace(self.stage, catalogue=catalogue), {}, ())

    def invite(self) -> None:
        """Let something happen, and nothing else be waiting."""
        with self.stage.database.changing(EVERY) as rows:
            rows.run("DELETE FROM outbox")
        self.cast.perform(invite_person, name="N", email=f"{self.clock.now.timestamp()}@new.example", role="office")

    def waiting(self) -> list[Row]:
        """The work in the outbox: its kind, when it is due, and why it waits."""
        with self.stage.database.reading(EVERY) as rows:
            return [*rows.all("SELECT kind, due_at, problem FROM outbox ORDER BY id")]


@pytest.fixture
def desk(fresh_settings: Settings) -> Iterator[Desk]:
    clock = Clock(NOON)
    stage = open_stage(fresh_settings, clock)
    yield Desk(stage, clock, assemble(stage))
    stage.database.close()


def work_off(worker: Worker) -> None:
    while worker.step():
        pass


def phones(cast: Cast) -> Value:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one("SELECT phone FROM organisation WHERE id = :organisation")
    return row[0] if row else None


def count_up(ctx: Context, _: object) -> None:
    """Leave a trace in the database: one more each time."""
    ctx.rows.run(
        "UPDATE organisation SET phone = CAST(CAST(coalesce(phone, '0') AS int) + 1 AS text) WHERE id = :organisation"
    )
    ctx.pen.touch(ctx.actor.organisation)


def fail(_ctx: Context, _: object) -> None:
    raise ZeroDivisionError("no luck")


def test_a_reaction_follows_once_and_the_trail_tells_of_it(desk: Desk) -> None:
    desk.invite()
    worker = desk.doing(reactions=(Reaction(PersonInvited, count_up),))
    work_off(worker)
    assert phones(desk.cast) == "1"
    assert desk.waiting() == []
    entry = trail(desk.cast)[-1]
    assert (entry["operation"], entry["actor"]["kind"], list(entry["given"])) == ("count_up", "house", ["event"])


class Dying(RecordingDatabase):
    """Goes away as soon as a piece of work is to be finished."""

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Change all or nothing."""
        with super().changing(organisation, keep=keep) as rows:
            yield rows
            if any(sql.startswith("DELETE FROM outbox") for sql, *_ in self.statements):
                raise Unreachable("killed")


def test_a_worker_that_dies_between_the_reaction_and_its_end_repeats_nothing(desk: Desk) -> None:
    desk.invite()
    worker = desk.doing(reactions=(Reaction(PersonInvited, count_up),))
    dying = replace(worker, stage=replace(worker.stage, database=Dying(desk.stage.database)))
    with pytest.raises(Unreachable):
        dying.step()
    assert phones(desk.cast) == "1"
    assert [kind for kind, *_ in desk.waiting()] == ["event"]
    desk.clock.now += LEASE
    work_off(worker)
    assert phones(desk.cast) == "1"
    assert desk.waiting() == []


def test_a_reaction_that_fails_repeats_no_other_and_holds_up_none(desk: Desk) -> None:
    webhook = make_webhook(desk.cast)
    desk.invite()
    failing: list[bool] = [True]

    def fail_at_first(ctx: Context, happening: Happening) -> None:
        if failing:
            fail(ctx, happening)

    worker = desk.doing(reactions=(Reaction(PersonInvited, fail_at_first), Reaction(PersonInvited, count_up)))
    work_off(worker)
    again = moment_text(desk.clock.now + RETRIES[0])
    assert desk.waiting() == [("event", again, "ZeroDivisionError: no luck")]
    # What follows besides has followed, and the webhooks were told.
    assert phones(desk.cast) == "1"
    assert len(deliveries(desk.cast, webhook)) == 1

    failing.clear()
    desk.clock.now += RETRIES[0]
    work_off(worker)
    assert phones(desk.cast) == "1"
    assert len(deliveries(desk.cast, webhook)) == 1
    assert desk.waiting() == []


def test_work_that_nobody_knows_is_parked_with_its_reason_and_stays(desk: Desk) -> None:
    desk.invite()
    with desk.stage.database.changing(desk.cast.organisation) as rows:
        outbox.put(rows, Letter("fax", {"to": "x"}), moment_text(desk.clock.now))
    worker = desk.doing()
    work_off(worker)
    parked = [("fax", None, "This Mainstay does not know work of the kind fax.")]
    assert desk.waiting() == parked
    desk.clock.now += timedelta(days=1000)
    work_off(worker)
    assert desk.waiting() == parked


def visits(desk: Desk) -> tuple[Worker, list[tuple[str, str]]]:
    """A worker that writes down whose day begins, and which day it is there."""
    found: list[tuple[str, str]] = []

    def visit(ctx: Context, day: date) -> None:
        found.append((ctx.actor.organisation, day.isoformat()))

    return desk.doing(timers=(Timer(visit),)), found


def place(cast: Cast, zone: str) -> str:
    cast.perform(update_organisation, timeZone=zone)
    return cast.organisation


def run_until(desk: Desk, worker: Worker, end: datetime) -> Iterator[datetime]:
    """Let time pass, and have the worker look every quarter of an hour."""
    while desk.clock.now < end:
        desk.clock.now += timedelta(minutes=15)
        worker.begin_days()
        yield desk.clock.now


def test_a_timer_runs_once_in_each_organisation_when_its_own_day_begins(desk: Desk) -> None:
    london, auckland = place(desk.cast, "Europe/London"), place(assemble(desk.stage), "Pacific/Auckland")
    worker, found = visits(desk)
    worker.begin_days()
    # On the day on which it began, too.
    assert sorted(found) == sorted([(london, "2038-03-26"), (auckland, "2038-03-27")])
    found.clear()
    began: dict[tuple[str, str], datetime] = {}
    for now in run_until(desk, worker, NOON + timedelta(days=3)):
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


def test_a_day_that_has_no_midnight_begins_when_it_begins(desk: Desk) -> None:
    desk.clock.now = datetime(2038, 9, 4, 12, tzinfo=UTC)
    santiago = place(desk.cast, "America/Santiago")
    worker, found = visits(desk)
    worker.begin_days()
    began = [now for now in run_until(desk, worker, desk.clock.now + timedelta(hours=20)) if len(found) == 2]
    assert found == [(santiago, "2038-09-04"), (santiago, "2038-09-05")]
    # Midnight is skipped: the clock goes from 23:59 to 01:00, which is four in the morning in London.
    assert moment_text(began[0])[:16] == "2038-09-05T04:00"


def test_two_workers_and_one_that_died_run_it_once(desk: Desk) -> None:
    first, second = (desk.doing(timers=(Timer(count_up),)) for _ in range(2))
    first.begin_days()
    second.begin_days()
    assert phones(desk.cast) == "1"
    # One died after the act and before it was known to be over.
    with desk.stage.database.changing(desk.cast.organisation) as rows:
        rows.run("UPDATE organisation SET day_begins_at = '' WHERE id = :organisation")
    second.begin_days()
    assert phones(desk.cast) == "1"
    desk.clock.now += timedelta(days=1)
    second.begin_days()
    assert phones(desk.cast) == "2"
    assert trail(desk.cast)[-1]["given"] == {"on": "2038-03-27"}


def test_a_timer_that_fails_keeps_no_other_from_running(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    other = assemble(desk.stage)
    desk.doing(timers=(Timer(fail), Timer(count_up))).begin_days()
    assert [phones(cast) for cast in (desk.cast, other)] == ["1", "1"]
    assert capfd.readouterr().err.count('"timer failed"') == 2


def test_a_timer_that_fails_is_tried_again_with_growing_pauses_and_then_parked(desk: Desk) -> None:
    failing: list[bool] = [True]

    def fail_at_first(ctx: Context, day: date) -> None:
        if failing:
            fail(ctx, day)
        count_up(ctx, day)

    worker = desk.doing(timers=(Timer(fail_at_first),))
    work_off(worker)
    worker.begin_days()
    assert desk.waiting() == [("timer", moment_text(desk.clock.now + RETRIES[0]), None)]
    for wait in RETRIES:
        desk.clock.now += wait
        work_off(worker)
    desk.clock.now += timedelta(days=30)
    work_off(worker)
    assert desk.waiting() == [("timer", None, "ZeroDivisionError: no luck")]
    assert phones(desk.cast) is None

    failing.clear()
    [work] = desk.cast.perform(list_failed_work)["data"]
    assert work["about"] == "What is due each day, for 2038-03-26"
    desk.cast.perform(retry_work, workId=work["id"])
    work_off(worker)
    assert desk.waiting() == []
    assert phones(desk.cast) == "1"
    assert trail(desk.cast)[-1]["given"] == {"on": "2038-03-26"}


def test_a_timer_that_failed_and_that_nobody_knows_any_more_is_parked(desk: Desk) -> None:
    work_off(desk.doing())
    desk.doing(timers=(Timer(fail),)).begin_days()
    desk.clock.now += RETRIES[0]
    work_off(desk.doing())
    assert desk.waiting() == [("timer", None, "This Mainstay does not know the timer fail.")]


def test_what_changes_nothing_leaves_no_trace_in_the_trail(desk: Desk) -> None:
    worker, found = visits(desk)
    written = len(trail(desk.cast))
    worker.begin_days()
    assert (len(found), len(trail(desk.cast))) == (1, written)


@pytest.mark.parametrize("kind", ["reword_records_of_job", "event", "timer", "mail"])
def test_two_who_would_do_the_same_kind_of_work_are_refused(desk: Desk, kind: str) -> None:
    catalogue = replace(CATALOGUE, chores=(*CATALOGUE.chores, Chore(kind, lambda _ctx, _told: None)))
    with pytest.raises(ValueError, match=f"^Work of the kind {kind} would be done by two, of whom only one is asked"):
        Worker(replace(desk.stage, catalogue=catalogue), {"mail": lambda _work: None}, ())


def names(acts: tuple[Any, ...]) -> list[str]:
    return [act.name for act in acts]


def test_the_house_does_these_by_itself() -> None:
    assert names(CATALOGUE.reactions) == [
        "mail_invitation",
        "unassign_visits",
        "draft_deposit",
        "close_paid_job",
        "tell_office_of_acceptance",
        "confirm_acceptance",
    ]
    assert names(CATALOGUE.timers) == ["forget_old_events", "expire_quotes", "became_overdue"]
    assert names(CATALOGUE.chores) == [
        "reword_records_of_customer",
        "reword_record",
        "reword_records_of_supplier",
        "reword_records_of_job",
        "price_materials_anew",
        "tell_of_moved_jobs",
        "tell_of_moved_quotes",
        "tell_of_moved_invoices",
        "reckon_days_anew",
        "tell_of_schedule",
        "settle_job_billed_anew",
    ]

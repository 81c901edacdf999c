"""Tasks are taken in order, by turns, for a lease, and by any number of workers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta

import pytest

from mainstay.changes import outbox, outbox_queue
from mainstay.changes.outbox import Lane
from mainstay.changes.outbox_queue import LEASE, MAX_LOST_LEASES, RETRIES, LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.moments import moment_text
from support.cast import Cast, make_cast
from support.outbox_tasks import (
    NOW,
    empty_outbox,
    finish_tasks,
    list_tasks,
    make_task,
    park_task,
    postpone_task,
    put_task,
    put_tasks,
    take_task,
    take_tasks,
)
from support.query_plans import explain
from support.recorded_statements import RecordingDatabase, RecordingHandle

STOPPED = "The worker stopped 3 times while doing this. It is not retried automatically, because it may be the cause."


@pytest.fixture
def idle_cast(only_cast: Cast) -> Cast:
    """An organisation whose outbox is empty."""
    empty_outbox(only_cast)
    return only_cast


def take_in_order(cast: Cast, number: int, lane: Lane = Lane.EVENTS) -> list[str]:
    """Take and finish so many tasks as one worker does; return their kinds."""
    kinds, last_served = [], ""
    for _ in range(number):
        task = take_task(cast, lane=lane, after=last_served)
        finish_tasks(cast, task)
        kinds.append(task.kind)
        last_served = task.organisation
    return kinds


def test_what_has_been_due_the_longest_comes_first(idle_cast: Cast) -> None:
    put_task(idle_cast, "second", NOW - timedelta(seconds=1))
    put_task(idle_cast, "first", NOW - timedelta(seconds=2))
    put_task(idle_cast, "third", NOW)
    assert take_in_order(idle_cast, 3) == ["first", "second", "third"]


def test_what_is_due_at_the_same_time_comes_in_the_order_in_which_it_was_put(idle_cast: Cast) -> None:
    for number in range(5):
        put_task(idle_cast, str(number))
    assert take_in_order(idle_cast, 5) == ["0", "1", "2", "3", "4"]


def test_what_is_not_yet_due_is_not_taken(idle_cast: Cast) -> None:
    put_task(idle_cast, "later", wait=timedelta(milliseconds=1))
    # The clock of the server that added the task is ahead.
    put_task(idle_cast, "ahead", NOW + timedelta(milliseconds=1))
    assert take_tasks(idle_cast) == []
    after = NOW + timedelta(milliseconds=1)
    assert {take_task(idle_cast, after, lane=Lane.EVENTS).kind} <= {"later", "ahead"}


def test_a_lane_gets_only_its_own_tasks(idle_cast: Cast) -> None:
    put_task(idle_cast, "slow", lane=Lane.PDFS)
    put_task(idle_cast, "quick", lane=Lane.EMAILS)
    assert take_tasks(idle_cast) == []
    assert take_task(idle_cast, lane=Lane.EMAILS).kind == "quick"
    assert take_tasks(idle_cast, lane=Lane.EMAILS) == []
    assert take_task(idle_cast, lane=Lane.PDFS).kind == "slow"


@pytest.mark.parametrize("lane", [Lane.EMAILS, Lane.PDFS])
def test_a_bystander_with_one_task_is_served_second_beside_a_thousand(idle_cast: Cast, lane: Lane) -> None:
    busy, bystander = sorted([idle_cast, make_cast(idle_cast.performer)], key=lambda cast: cast.organisation)
    empty_outbox(idle_cast)
    put_tasks(busy, 1000, lane)
    put_task(bystander, "of the bystander", lane=lane)
    assert take_in_order(idle_cast, 4, lane) == ["0", "of the bystander", "1", "2"]


def test_a_bystander_is_served_second_also_when_it_was_made_before_the_busy_one(idle_cast: Cast) -> None:
    bystander, busy = sorted([idle_cast, make_cast(idle_cast.performer)], key=lambda cast: cast.organisation)
    empty_outbox(idle_cast)
    put_tasks(busy, 1000, Lane.EMAILS)
    first = take_task(idle_cast, lane=Lane.EMAILS)
    finish_tasks(idle_cast, first)
    put_task(bystander, "of the bystander", lane=Lane.EMAILS)
    assert take_task(idle_cast, lane=Lane.EMAILS, after=first.organisation).kind == "of the bystander"


def test_an_organisation_has_one_task_in_progress_in_each_lane(idle_cast: Cast) -> None:
    other = make_cast(idle_cast.performer)
    empty_outbox(idle_cast)
    for cast in (idle_cast, other):
        put_tasks(cast, 3, Lane.PDFS)
    tasks = [take_task(idle_cast, lane=Lane.PDFS), take_task(idle_cast, lane=Lane.PDFS)]
    assert {work.organisation for work in tasks} == {idle_cast.organisation, other.organisation}
    assert take_tasks(idle_cast, lane=Lane.PDFS) == []
    finish_tasks(idle_cast, tasks[0])
    assert take_task(idle_cast, lane=Lane.PDFS).organisation == tasks[0].organisation
    assert take_tasks(idle_cast, lane=Lane.PDFS) == []


def test_events_are_taken_together_and_other_tasks_alone(idle_cast: Cast) -> None:
    for kind in ("event", "chore", "event", "event"):
        put_task(idle_cast, kind)
    tasks = take_tasks(idle_cast)
    assert [work.kind for work in tasks] == ["event"] * 3
    assert take_tasks(idle_cast) == []
    finish_tasks(idle_cast, *tasks)
    for _ in range(2):
        put_task(idle_cast, "event")
    assert [work.kind for work in take_tasks(idle_cast)] == ["chore"]


def test_the_events_of_an_organisation_are_taken_in_bounded_numbers(
    idle_cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_queue, "EVENTS_AT_ONCE", 4)
    for _ in range(6):
        put_task(idle_cast, "event")
    assert len(take_tasks(idle_cast)) == 4


def test_days_of_several_organisations_are_taken_together(idle_cast: Cast) -> None:
    other = make_cast(idle_cast.performer)
    empty_outbox(idle_cast)
    for cast in (idle_cast, other):
        put_task(cast, "day", lane=Lane.DAYS)
    assert {work.organisation for work in take_tasks(idle_cast, lane=Lane.DAYS)} == {
        idle_cast.organisation,
        other.organisation,
    }


def hurry_task(cast: Cast, kind: str) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        outbox.prioritise_task(db, cast.organisation, make_task(kind, Lane.PDFS), NOW)


def test_what_someone_waits_for_comes_before_all_else_of_its_lane(idle_cast: Cast) -> None:
    others = make_cast(idle_cast.performer)
    empty_outbox(idle_cast)
    for cast, kind in [(others, "theirs"), (idle_cast, "oldest"), (idle_cast, "hurried")]:
        put_task(cast, kind, lane=Lane.PDFS)
    hurry_task(idle_cast, "hurried")
    assert take_in_order(idle_cast, 3, Lane.PDFS)[0] == "hurried"


def test_organisations_take_turns_also_where_someone_waits(idle_cast: Cast) -> None:
    busy, bystander = sorted([idle_cast, make_cast(idle_cast.performer)], key=lambda cast: cast.organisation)
    empty_outbox(idle_cast)
    for kind in ("0", "1", "2"):
        put_task(busy, kind, lane=Lane.PDFS)
        hurry_task(busy, kind)
    put_task(bystander, "waited for", lane=Lane.PDFS)
    hurry_task(bystander, "waited for")
    assert take_in_order(idle_cast, 2, Lane.PDFS) == ["0", "waited for"]


def test_work_that_is_not_due_is_not_hurried(idle_cast: Cast) -> None:
    put_task(idle_cast, "taken", lane=Lane.PDFS)
    taken = take_task(idle_cast, lane=Lane.PDFS)
    put_task(idle_cast, "tomorrow", lane=Lane.PDFS, wait=timedelta(days=1))
    for kind in ("taken", "tomorrow"):
        hurry_task(idle_cast, kind)
    finish_tasks(idle_cast, taken)
    put_task(idle_cast, "due", lane=Lane.PDFS)
    assert take_task(idle_cast, lane=Lane.PDFS).kind == "due"


def test_a_task_that_is_taken_falls_due_again_when_the_lease_runs_out(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    first = take_task(idle_cast)
    assert take_tasks(idle_cast, NOW + LEASE - timedelta(milliseconds=1)) == []
    again = take_task(idle_cast, NOW + LEASE)
    assert (again.id, again.payload, first.attempts, again.attempts) == (first.id, first.payload, 1, 2)


def test_a_lease_that_is_renewed_runs_out_later(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    work = take_task(idle_cast)
    with idle_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        outbox_queue.renew_leases(db, [work], NOW + LEASE / 2)
    assert take_tasks(idle_cast, NOW + LEASE) == []
    assert take_task(idle_cast, NOW + LEASE * 1.5).id == work.id


def test_a_worker_that_lost_its_lease_changes_nothing_any_more(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    lost, held = take_task(idle_cast), take_task(idle_cast, NOW + LEASE)
    until = moment_text(NOW + LEASE * 2)
    assert list_tasks(idle_cast) == [("x", until, None)]
    with idle_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        outbox_queue.renew_leases(db, [lost], NOW + LEASE * 9)
        outbox_queue.return_tasks(db, [lost], NOW + LEASE)
        outbox_queue.move_task(db, lost, Lane.EMAILS, NOW + LEASE)
        outbox_queue.postpone_task(db, lost, NOW + LEASE, "late")
        outbox_queue.park_task(db, lost, NOW + LEASE, "late", "late")
    assert list_tasks(idle_cast) == [("x", until, None)]
    finish_tasks(idle_cast, held)
    assert list_tasks(idle_cast) == []


def lose_tasks(cast: Cast, times: int) -> None:
    """Let workers take what is due and die, so many times."""
    for number in range(times):
        take_tasks(cast, NOW + LEASE * number)


def test_a_task_that_kills_the_worker_again_and_again_is_parked(idle_cast: Cast) -> None:
    other = make_cast(idle_cast.performer)
    empty_outbox(idle_cast)
    put_task(idle_cast, "killer")
    lose_tasks(idle_cast, MAX_LOST_LEASES)
    put_task(other, "harmless", NOW + LEASE * MAX_LOST_LEASES)
    assert take_task(idle_cast, NOW + LEASE * MAX_LOST_LEASES).kind == "harmless"
    assert list_tasks(idle_cast)[0] == ("killer", None, STOPPED)
    assert take_tasks(idle_cast, NOW + timedelta(days=1000), after=other.organisation)[0].kind == "harmless"


def test_a_task_that_killed_the_worker_less_often_is_tried_again(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    lose_tasks(idle_cast, MAX_LOST_LEASES - 1)
    assert take_task(idle_cast, NOW + LEASE * (MAX_LOST_LEASES - 1)).kind == "x"


def test_failures_are_no_lost_leases(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    now = NOW
    for _ in range(MAX_LOST_LEASES + 1):
        again = postpone_task(idle_cast, take_task(idle_cast, now), now)
        assert again is not None
        now = again
    assert take_task(idle_cast, now).kind == "x"


def test_a_task_that_is_put_back_has_lost_no_lease(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    lose_tasks(idle_cast, MAX_LOST_LEASES + 1)
    [(_, due, _)] = list_tasks(idle_cast)
    assert due is None
    with idle_cast.performer.database.write_transaction(idle_cast.organisation) as db:
        [(record_id,)] = db.all("SELECT id FROM outbox")
        outbox.restart_task(db, str(record_id), moment_text(NOW), "id")
    lose_tasks(idle_cast, MAX_LOST_LEASES - 1)
    assert take_task(idle_cast, NOW + LEASE * (MAX_LOST_LEASES - 1)).kind == "x"


def test_a_task_that_is_given_back_is_taken_at_once_and_has_lost_no_lease(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    for _ in range(MAX_LOST_LEASES + 1):
        work = take_task(idle_cast)
        with idle_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            outbox_queue.return_tasks(db, [work], NOW)
    assert take_task(idle_cast).kind == "x"


def test_a_task_that_goes_on_in_another_lane_is_new_there(idle_cast: Cast) -> None:
    put_task(idle_cast, "x", lane=Lane.PDFS)
    work = take_task(idle_cast, lane=Lane.PDFS)
    with idle_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        outbox_queue.move_task(db, work, Lane.EMAILS, NOW)
    assert take_tasks(idle_cast, NOW + timedelta(days=1), lane=Lane.PDFS) == []
    moved = take_task(idle_cast, lane=Lane.EMAILS)
    assert (moved.id, moved.payload, moved.attempts, moved.lane) == (work.id, work.payload, 1, Lane.EMAILS)


def test_a_task_that_is_done_is_gone(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    put_task(idle_cast, "y")
    finish_tasks(idle_cast, take_task(idle_cast))
    assert [kind for kind, *_ in list_tasks(idle_cast)] == ["y"]


def retry_delays(cast: Cast) -> Iterator[timedelta | None]:
    now = NOW
    while True:
        task = take_task(cast, now)
        retry_at = postpone_task(cast, task, now)
        if retry_at is None:
            yield None
            return
        yield retry_at - now
        assert take_tasks(cast, retry_at - timedelta(milliseconds=1)) == []
        now = retry_at


def test_a_task_that_fails_waits_longer_each_time_and_is_parked_at_last(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    assert [*retry_delays(idle_cast)] == [*RETRIES, None]
    assert take_tasks(idle_cast, NOW + timedelta(days=1000)) == []
    assert list_tasks(idle_cast) == [("x", None, f"attempt {len(RETRIES) + 1} failed")]


def test_while_it_waits_one_can_read_why(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    again = postpone_task(idle_cast, take_task(idle_cast), NOW)
    assert again is not None
    assert list_tasks(idle_cast) == [("x", moment_text(again), "attempt 1 failed")]


def test_what_is_parked_stays_with_its_problem_and_is_never_taken(idle_cast: Cast) -> None:
    put_task(idle_cast, "x")
    put_task(idle_cast, "y")
    park_task(idle_cast, take_task(idle_cast), "r" * 5000)
    assert [work.kind for work in take_tasks(idle_cast, NOW + timedelta(days=1000))] == ["y"]
    assert list_tasks(idle_cast)[0] == ("x", None, "r" * 1000)


def test_upkeep_brings_forward_only_what_a_wrong_clock_has_put_off(idle_cast: Cast) -> None:
    for kind, wait in (("parked", 0), ("due", 0), ("soon", 1), ("lost", 400)):
        put_task(idle_cast, kind, NOW + timedelta(days=wait))
    park_task(idle_cast, next(work for work in take_tasks(idle_cast) if work.kind == "parked"))
    before = {str(kind): due for kind, due, _ in list_tasks(idle_cast)}
    with idle_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        outbox.bring_forward(db, NOW)
    assert {str(kind): due for kind, due, _ in list_tasks(idle_cast)} == before | {"lost": moment_text(NOW)}
    assert before["parked"] is None


def test_no_two_workers_take_the_same_task(idle_cast: Cast) -> None:
    casts = [idle_cast, *(make_cast(idle_cast.performer) for _ in range(3))]
    empty_outbox(idle_cast)
    for cast in casts:
        put_tasks(cast, 15, Lane.EMAILS)

    def work_off(_: int) -> list[str]:
        mine: list[str] = []
        served = ""
        while True:
            with idle_cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
                if not outbox_queue.is_due(db, Lane.EMAILS, NOW):
                    return mine
            # Comes away with nothing while others do the tasks of all organisations.
            for work in take_tasks(idle_cast, lane=Lane.EMAILS, after=served):
                mine.append(f"{work.organisation} {work.kind}")
                served = work.organisation
                finish_tasks(idle_cast, work)

    with ThreadPoolExecutor(4) as threads:
        shares = [*threads.map(work_off, range(4))]
    everything = sorted(task for share in shares for task in share)
    assert everything == sorted(f"{cast.organisation} {number}" for cast in casts for number in range(15))


@pytest.mark.only_on("postgresql")
def test_a_worker_does_not_wait_for_one_that_is_about_to_take(idle_cast: Cast) -> None:
    other = make_cast(idle_cast.performer)
    empty_outbox(idle_cast)
    for cast in (idle_cast, other):
        put_tasks(cast, 2, Lane.EMAILS)
    taken: list[LeasedTask] = []
    # None of the transactions is over before the last one has taken.
    with ExitStack() as stack:
        for _ in range(3):
            db = stack.enter_context(idle_cast.performer.database.write_transaction(ALL_ORGANISATIONS))
            taken += outbox_queue.take_tasks(db, Lane.EMAILS, NOW)
    assert sorted(work.organisation for work in taken) == sorted([idle_cast.organisation, other.organisation])


def test_taking_walks_indexes_however_much_waits(idle_cast: Cast) -> None:
    watched = RecordingDatabase(idle_cast.performer.database)
    put_task(idle_cast, "event")
    put_task(idle_cast, "print", lane=Lane.PDFS)
    with watched.write_transaction(ALL_ORGANISATIONS) as db:
        _use_every_query(db)
    statements = [statement for statement in watched.statements if "outbox" in statement.sql]
    assert len(statements) > 10
    for statement in statements:
        steps = explain(idle_cast.performer.database, statement)
        read = [step for step in steps if step.startswith("SCAN outbox") or "Seq Scan on outbox" in step]
        assert read == [], "\n".join([statement.sql, *steps])


def _use_every_query(db: RecordingHandle) -> None:
    for lane in Lane:
        outbox_queue.is_due(db, lane, NOW)
        outbox_queue.take_tasks(db, lane, NOW, "org_0")
    outbox.is_waiting(db, make_task("print", Lane.PDFS))
    outbox.prioritise_task(db, "org_0", make_task("print", Lane.PDFS), NOW)
    outbox.bring_forward(db, NOW)

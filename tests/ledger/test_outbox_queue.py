"""Taking tasks: in order, by turns, for a lease, and by any number of workers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta

import pytest

from cast import Cast, assemble
from mainstay.backing.database import EVERY
from mainstay.ledger import outbox, outbox_queue
from mainstay.ledger.outbox import Lane
from mainstay.ledger.outbox_queue import LEASE, MOST_LOST_LEASES, RETRIES, Work
from mainstay.values.moments import moment_text
from planning import plan
from queueing import NOW, empty_outbox, finish, left, letter, park, postpone, put, put_many, take, take_one
from recording import RecordingDatabase, RecordingHandle

STOPPED = "The worker stopped 3 times while doing this. It is not tried again by itself: this may be what stopped it."


@pytest.fixture
def empty(alone: Cast) -> Cast:
    """An organisation whose outbox was emptied."""
    empty_outbox(alone)
    return alone


def take_in_order(cast: Cast, number: int, lane: Lane = Lane.EVENTS) -> list[str]:
    """The kinds of so many tasks, as one worker does them."""
    kinds, served = [], ""
    for _ in range(number):
        work = take_one(cast, lane=lane, after=served)
        finish(cast, work)
        kinds.append(work.kind)
        served = work.organisation
    return kinds


def test_what_has_been_due_the_longest_comes_first(empty: Cast) -> None:
    put(empty, "second", NOW - timedelta(seconds=1))
    put(empty, "first", NOW - timedelta(seconds=2))
    put(empty, "third", NOW)
    assert take_in_order(empty, 3) == ["first", "second", "third"]


def test_what_is_due_at_the_same_time_comes_in_the_order_in_which_it_was_put(empty: Cast) -> None:
    for number in range(5):
        put(empty, str(number))
    assert take_in_order(empty, 5) == ["0", "1", "2", "3", "4"]


def test_what_is_not_yet_due_is_not_taken(empty: Cast) -> None:
    put(empty, "later", wait=timedelta(milliseconds=1))
    # The clock of whoever put it is ahead.
    put(empty, "ahead", NOW + timedelta(milliseconds=1))
    assert take(empty) == []
    after = NOW + timedelta(milliseconds=1)
    assert {take_one(empty, after, lane=Lane.EVENTS).kind} <= {"later", "ahead"}


def test_a_lane_gets_only_its_own_tasks(empty: Cast) -> None:
    put(empty, "slow", lane=Lane.PRINTS)
    put(empty, "quick", lane=Lane.EMAILS)
    assert take(empty) == []
    assert take_one(empty, lane=Lane.EMAILS).kind == "quick"
    assert take(empty, lane=Lane.EMAILS) == []
    assert take_one(empty, lane=Lane.PRINTS).kind == "slow"


@pytest.mark.parametrize("lane", [Lane.EMAILS, Lane.PRINTS])
def test_a_bystander_with_one_task_is_served_second_beside_a_thousand(empty: Cast, lane: Lane) -> None:
    busy, bystander = sorted([empty, assemble(empty.stage)], key=lambda cast: cast.organisation)
    empty_outbox(empty)
    put_many(busy, 1000, lane)
    put(bystander, "of the bystander", lane=lane)
    assert take_in_order(empty, 4, lane) == ["0", "of the bystander", "1", "2"]


def test_a_bystander_is_served_second_also_when_it_was_made_before_the_busy_one(empty: Cast) -> None:
    bystander, busy = sorted([empty, assemble(empty.stage)], key=lambda cast: cast.organisation)
    empty_outbox(empty)
    put_many(busy, 1000, Lane.EMAILS)
    first = take_one(empty, lane=Lane.EMAILS)
    finish(empty, first)
    put(bystander, "of the bystander", lane=Lane.EMAILS)
    assert take_one(empty, lane=Lane.EMAILS, after=first.organisation).kind == "of the bystander"


def test_an_organisation_has_one_task_in_progress_in_each_lane(empty: Cast) -> None:
    other = assemble(empty.stage)
    empty_outbox(empty)
    for cast in (empty, other):
        put_many(cast, 3, Lane.PRINTS)
    works = [take_one(empty, lane=Lane.PRINTS), take_one(empty, lane=Lane.PRINTS)]
    assert {work.organisation for work in works} == {empty.organisation, other.organisation}
    assert take(empty, lane=Lane.PRINTS) == []
    finish(empty, works[0])
    assert take_one(empty, lane=Lane.PRINTS).organisation == works[0].organisation
    assert take(empty, lane=Lane.PRINTS) == []


def test_events_are_taken_together_and_other_tasks_alone(empty: Cast) -> None:
    for kind in ("event", "chore", "event", "event"):
        put(empty, kind)
    works = take(empty)
    assert [work.kind for work in works] == ["event"] * 3
    assert take(empty) == []
    finish(empty, *works)
    for _ in range(2):
        put(empty, "event")
    assert [work.kind for work in take(empty)] == ["chore"]


def test_the_events_of_an_organisation_are_taken_in_bounded_numbers(
    empty: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_queue, "EVENTS_AT_ONCE", 4)
    for _ in range(6):
        put(empty, "event")
    assert len(take(empty)) == 4


def test_days_of_several_organisations_are_taken_together(empty: Cast) -> None:
    other = assemble(empty.stage)
    empty_outbox(empty)
    for cast in (empty, other):
        put(cast, "day", lane=Lane.DAYS)
    assert {work.organisation for work in take(empty, lane=Lane.DAYS)} == {empty.organisation, other.organisation}


def hurry(cast: Cast, kind: str) -> None:
    with cast.stage.database.changing(cast.organisation) as rows:
        outbox.hurry(rows, cast.organisation, letter(kind, Lane.PRINTS), NOW)


def test_what_someone_waits_for_comes_before_all_else_of_its_lane(empty: Cast) -> None:
    others = assemble(empty.stage)
    empty_outbox(empty)
    for cast, kind in [(others, "theirs"), (empty, "oldest"), (empty, "hurried")]:
        put(cast, kind, lane=Lane.PRINTS)
    hurry(empty, "hurried")
    assert take_in_order(empty, 3, Lane.PRINTS)[0] == "hurried"


def test_organisations_take_turns_also_where_someone_waits(empty: Cast) -> None:
    busy, bystander = sorted([empty, assemble(empty.stage)], key=lambda cast: cast.organisation)
    empty_outbox(empty)
    for kind in ("0", "1", "2"):
        put(busy, kind, lane=Lane.PRINTS)
        hurry(busy, kind)
    put(bystander, "waited for", lane=Lane.PRINTS)
    hurry(bystander, "waited for")
    assert take_in_order(empty, 2, Lane.PRINTS) == ["0", "waited for"]


def test_work_that_is_not_due_is_not_hurried(empty: Cast) -> None:
    put(empty, "taken", lane=Lane.PRINTS)
    taken = take_one(empty, lane=Lane.PRINTS)
    put(empty, "tomorrow", lane=Lane.PRINTS, wait=timedelta(days=1))
    for kind in ("taken", "tomorrow"):
        hurry(empty, kind)
    finish(empty, taken)
    put(empty, "due", lane=Lane.PRINTS)
    assert take_one(empty, lane=Lane.PRINTS).kind == "due"


def test_a_task_that_is_taken_falls_due_again_when_the_lease_runs_out(empty: Cast) -> None:
    put(empty, "x")
    first = take_one(empty)
    assert take(empty, NOW + LEASE - timedelta(milliseconds=1)) == []
    again = take_one(empty, NOW + LEASE)
    assert (again.id, again.payload, first.attempts, again.attempts) == (first.id, first.payload, 1, 2)


def test_a_lease_that_is_renewed_runs_out_later(empty: Cast) -> None:
    put(empty, "x")
    work = take_one(empty)
    with empty.stage.database.changing(EVERY) as rows:
        outbox_queue.renew(rows, [work], NOW + LEASE / 2)
    assert take(empty, NOW + LEASE) == []
    assert take_one(empty, NOW + LEASE * 1.5).id == work.id


def test_a_worker_that_lost_its_lease_changes_nothing_any_more(empty: Cast) -> None:
    put(empty, "x")
    lost, held = take_one(empty), take_one(empty, NOW + LEASE)
    until = moment_text(NOW + LEASE * 2)
    assert left(empty) == [("x", until, None)]
    with empty.stage.database.changing(EVERY) as rows:
        outbox_queue.renew(rows, [lost], NOW + LEASE * 9)
        outbox_queue.give_back(rows, [lost], NOW + LEASE)
        outbox_queue.move(rows, lost, Lane.EMAILS, NOW + LEASE)
        outbox_queue.postpone(rows, lost, NOW + LEASE, "late")
        outbox_queue.park(rows, lost, NOW + LEASE, "late", "late")
    assert left(empty) == [("x", until, None)]
    finish(empty, held)
    assert left(empty) == []


def lose(cast: Cast, times: int) -> None:
    """Let workers take what is due and die."""
    for number in range(times):
        take(cast, NOW + LEASE * number)


def test_a_task_that_kills_the_worker_again_and_again_is_parked(empty: Cast) -> None:
    other = assemble(empty.stage)
    empty_outbox(empty)
    put(empty, "killer")
    lose(empty, MOST_LOST_LEASES)
    put(other, "harmless", NOW + LEASE * MOST_LOST_LEASES)
    assert take_one(empty, NOW + LEASE * MOST_LOST_LEASES).kind == "harmless"
    assert left(empty)[0] == ("killer", None, STOPPED)
    assert take(empty, NOW + timedelta(days=1000), after=other.organisation)[0].kind == "harmless"


def test_a_task_that_killed_the_worker_less_often_is_tried_again(empty: Cast) -> None:
    put(empty, "x")
    lose(empty, MOST_LOST_LEASES - 1)
    assert take_one(empty, NOW + LEASE * (MOST_LOST_LEASES - 1)).kind == "x"


def test_failures_are_no_lost_leases(empty: Cast) -> None:
    put(empty, "x")
    now = NOW
    for _ in range(MOST_LOST_LEASES + 1):
        again = postpone(empty, take_one(empty, now), now)
        assert again is not None
        now = again
    assert take_one(empty, now).kind == "x"


def test_a_task_that_is_put_back_has_lost_no_lease(empty: Cast) -> None:
    put(empty, "x")
    lose(empty, MOST_LOST_LEASES + 1)
    [(_, due, _)] = left(empty)
    assert due is None
    with empty.stage.database.changing(empty.organisation) as rows:
        [(identity,)] = rows.all("SELECT id FROM outbox")
        outbox.put_back(rows, str(identity), moment_text(NOW), "id")
    lose(empty, MOST_LOST_LEASES - 1)
    assert take_one(empty, NOW + LEASE * (MOST_LOST_LEASES - 1)).kind == "x"


def test_a_task_that_is_given_back_is_taken_at_once_and_has_lost_no_lease(empty: Cast) -> None:
    put(empty, "x")
    for _ in range(MOST_LOST_LEASES + 1):
        work = take_one(empty)
        with empty.stage.database.changing(EVERY) as rows:
            outbox_queue.give_back(rows, [work], NOW)
    assert take_one(empty).kind == "x"


def test_a_task_that_goes_on_in_another_lane_is_new_there(empty: Cast) -> None:
    put(empty, "x", lane=Lane.PRINTS)
    work = take_one(empty, lane=Lane.PRINTS)
    with empty.stage.database.changing(EVERY) as rows:
        outbox_queue.move(rows, work, Lane.EMAILS, NOW)
    assert take(empty, NOW + timedelta(days=1), lane=Lane.PRINTS) == []
    moved = take_one(empty, lane=Lane.EMAILS)
    assert (moved.id, moved.payload, moved.attempts, moved.lane) == (work.id, work.payload, 1, Lane.EMAILS)


def test_a_task_that_is_done_is_gone(empty: Cast) -> None:
    put(empty, "x")
    put(empty, "y")
    finish(empty, take_one(empty))
    assert [kind for kind, *_ in left(empty)] == ["y"]


def attempts(cast: Cast) -> Iterator[timedelta | None]:
    now = NOW
    while True:
        work = take_one(cast, now)
        again = postpone(cast, work, now)
        if again is None:
            yield None
            return
        yield again - now
        assert take(cast, again - timedelta(milliseconds=1)) == []
        now = again


def test_a_task_that_fails_waits_longer_each_time_and_is_parked_at_last(empty: Cast) -> None:
    put(empty, "x")
    assert [*attempts(empty)] == [*RETRIES, None]
    assert take(empty, NOW + timedelta(days=1000)) == []
    assert left(empty) == [("x", None, f"attempt {len(RETRIES) + 1} failed")]


def test_while_it_waits_one_can_read_why(empty: Cast) -> None:
    put(empty, "x")
    again = postpone(empty, take_one(empty), NOW)
    assert again is not None
    assert left(empty) == [("x", moment_text(again), "attempt 1 failed")]


def test_what_is_parked_stays_with_its_problem_and_is_never_taken(empty: Cast) -> None:
    put(empty, "x")
    put(empty, "y")
    park(empty, take_one(empty), "r" * 5000)
    assert [work.kind for work in take(empty, NOW + timedelta(days=1000))] == ["y"]
    assert left(empty)[0] == ("x", None, "r" * 1000)


def test_upkeep_brings_forward_only_what_a_wrong_clock_has_put_off(empty: Cast) -> None:
    for kind, wait in (("parked", 0), ("due", 0), ("soon", 1), ("lost", 400)):
        put(empty, kind, NOW + timedelta(days=wait))
    park(empty, next(work for work in take(empty) if work.kind == "parked"))
    before = {str(kind): due for kind, due, _ in left(empty)}
    with empty.stage.database.changing(EVERY) as rows:
        outbox.bring_forward(rows, NOW)
    assert {str(kind): due for kind, due, _ in left(empty)} == before | {"lost": moment_text(NOW)}
    assert before["parked"] is None


def test_no_two_workers_take_the_same_task(empty: Cast) -> None:
    casts = [empty, *(assemble(empty.stage) for _ in range(3))]
    empty_outbox(empty)
    for cast in casts:
        put_many(cast, 15, Lane.EMAILS)

    def work_off(_: int) -> list[str]:
        mine: list[str] = []
        served = ""
        while True:
            with empty.stage.database.reading(EVERY) as rows:
                if not outbox_queue.is_due(rows, Lane.EMAILS, NOW):
                    return mine
            # Comes away with nothing while others do the tasks of all organisations.
            for work in take(empty, lane=Lane.EMAILS, after=served):
                mine.append(f"{work.organisation} {work.kind}")
                served = work.organisation
                finish(empty, work)

    with ThreadPoolExecutor(4) as threads:
        shares = [*threads.map(work_off, range(4))]
    everything = sorted(task for share in shares for task in share)
    assert everything == sorted(f"{cast.organisation} {number}" for cast in casts for number in range(15))


@pytest.mark.only_on("postgresql")
def test_a_worker_does_not_wait_for_one_that_is_about_to_take(empty: Cast) -> None:
    other = assemble(empty.stage)
    empty_outbox(empty)
    for cast in (empty, other):
        put_many(cast, 2, Lane.EMAILS)
    taken: list[Work] = []
    # None of the transactions is over before the last one has taken.
    with ExitStack() as stack:
        for _ in range(3):
            rows = stack.enter_context(empty.stage.database.changing(EVERY))
            taken += outbox_queue.take(rows, Lane.EMAILS, NOW)
    assert sorted(work.organisation for work in taken) == sorted([empty.organisation, other.organisation])


def test_taking_walks_indexes_however_much_waits(empty: Cast) -> None:
    watched = RecordingDatabase(empty.stage.database)
    put(empty, "event")
    put(empty, "print", lane=Lane.PRINTS)
    with watched.changing(EVERY) as rows:
        _take_everywhere(rows)
    statements = [statement for statement in watched.statements if "outbox" in statement.sql]
    assert len(statements) > 10
    for statement in statements:
        steps = plan(empty.stage.database, statement)
        read = [step for step in steps if step.startswith("SCAN outbox") or "Seq Scan on outbox" in step]
        assert read == [], "\n".join([statement.sql, *steps])


def _take_everywhere(rows: RecordingHandle) -> None:
    for lane in Lane:
        outbox_queue.is_due(rows, lane, NOW)
        outbox_queue.take(rows, lane, NOW, "org_0")
    outbox.waits(rows, letter("print", Lane.PRINTS))
    outbox.hurry(rows, "org_0", letter("print", Lane.PRINTS), NOW)
    outbox.bring_forward(rows, NOW)

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from cast import Cast, assemble
from evidence import contents, events, last_event
from mainstay.backing.database import EVERY, Row
from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.standing import remove_person
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger import events as ledger_events
from mainstay.ledger import outbox
from mainstay.ledger.events import Said
from mainstay.ledger.outbox import LEASE, RETRIES, Letter, Work
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Right, Role
from mainstay.terms.shapes import Input, Kept, One, Shown
from mainstay.values.moments import moment_text
from telling import make_webhook, set_columns

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Tell(Input):
    times: int
    fail: bool


class ToldOut(Shown):
    noun = "told"


@dataclass(frozen=True, slots=True)
class Told(Kept):
    """Something of which there is only the telling."""

    shown = ToldOut


class ToldHappened(Event):
    """Something was told."""

    name = "told.happened"
    about = ToldOut


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.CHANGE)
def tell(ctx: Context, given: Tell) -> One[ToldOut]:
    """Tell of several things, and perhaps take them back."""
    for _ in range(given.times):
        ctx.record(ToldHappened(Told((), "told")))
    # Written at once, so that what fails has been written.
    for event in ctx.events:
        ledger_events.write(ctx.rows, Said(event.name, event.data(), followed=True), ctx.at, ctx.stamp)
    ctx.events.clear()
    if given.fail:
        raise Conflict("No.")
    return One(ToldOut, ())


@pytest.fixture
def empty(alone: Cast) -> Cast:
    """An organisation whose outbox was emptied."""
    with alone.stage.database.changing(EVERY) as rows:
        rows.run("DELETE FROM outbox")
    return alone


def waiting(cast: Cast) -> list[Row]:
    return contents(cast.stage.database)["outbox"]


def put(cast: Cast, kind: str, at: datetime) -> None:
    with cast.stage.database.changing(cast.organisation) as rows:
        outbox.put(rows, Letter(kind, {"kind": kind}), moment_text(at))


def take(cast: Cast, at: datetime) -> Work | None:
    return next(iter(take_many(cast, at, 1)), None)


def take_many(cast: Cast, at: datetime, most: int) -> list[Work]:
    with cast.stage.database.changing(EVERY) as rows:
        return outbox.take(rows, at, most)


def taken(cast: Cast, at: datetime) -> Work:
    work = take(cast, at)
    assert work is not None
    return work


def postpone(cast: Cast, work: Work, at: datetime) -> datetime | None:
    with cast.stage.database.changing(EVERY) as rows:
        return outbox.postpone(rows, work, at, f"attempt {work.attempts} failed")


def test_an_event_that_something_follows_leaves_a_letter_with_its_id(empty: Cast) -> None:
    empty.perform(invite_person, name="N", email="n@new.example", role="member")
    work = taken(empty, empty.stage.clock() + timedelta(seconds=1))
    assert (work.organisation, work.kind, work.attempts) == (empty.organisation, outbox.EVENT, 1)
    assert work.payload == {"event": events(empty)[-1]["id"]}
    assert take(empty, empty.stage.clock() + timedelta(seconds=1)) is None


@pytest.mark.parametrize(("status", "left"), [("active", 1), ("paused", 1), ("disabled", 0)])
def test_any_event_leaves_a_letter_where_a_webhook_may_be_told_of_it(empty: Cast, status: str, left: int) -> None:
    set_columns(empty, "webhook", make_webhook(empty), status=status)
    empty.perform(update_person, personId=empty.people[Role.MEMBER], phone="1")
    assert last_event(empty)["type"] == "person.updated"
    assert len(waiting(empty)) == left


def test_an_event_that_nothing_follows_leaves_none_where_only_others_have_a_webhook(empty: Cast) -> None:
    others = assemble(empty.stage)
    make_webhook(others)
    before = waiting(empty)
    empty.perform(update_person, personId=empty.people[Role.MEMBER], phone="1")
    assert last_event(empty)["type"] == "person.updated"
    assert waiting(empty) == before


def test_a_refused_and_a_rehearsed_change_leave_no_letter(empty: Cast) -> None:
    make_webhook(empty)
    empty.perform(remove_person, personId=empty.people[Role.MEMBER])
    with pytest.raises(Conflict):
        empty.perform(tell, times=3, fail=True)
    assert waiting(empty) == []


def test_the_numbers_of_events_have_no_gaps_among_many_threads_and_changes_taken_back(cast: Cast) -> None:
    begun = len(events(cast))
    actor = cast.actor(Role.OWNER)

    def act(number: int) -> bool:
        try:
            cast.perform(tell, actor, times=1 + number % 3, fail=number % 4 == 0)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        kept = [*threads.map(act, range(48))]
    told = sum(1 + number % 3 for number, was_kept in enumerate(kept) if was_kept)
    found = events(cast)
    assert [event["sequence"] for event in found] == [*range(1, begun + told + 1)]
    assert len({event["id"] for event in found}) == begun + told
    assert kept.count(False) == 12


def test_what_has_been_due_the_longest_comes_first(empty: Cast) -> None:
    put(empty, "second", NOW - timedelta(seconds=1))
    put(empty, "first", NOW - timedelta(seconds=2))
    put(empty, "third", NOW)
    assert [taken(empty, NOW).kind for _ in range(3)] == ["first", "second", "third"]


def test_what_someone_waits_for_comes_before_all_else(empty: Cast) -> None:
    put(empty, "oldest", NOW - timedelta(days=1))
    put(empty, "hurried", NOW)
    hurry(empty, "hurried")
    assert [taken(empty, NOW).kind for _ in range(2)] == ["hurried", "oldest"]


def test_work_that_is_not_due_is_not_hurried(empty: Cast) -> None:
    put(empty, "taken", NOW)
    taken(empty, NOW)
    put(empty, "tomorrow", NOW + timedelta(days=1))
    put(empty, "due", NOW)
    for kind in ("taken", "tomorrow"):
        hurry(empty, kind)
    assert taken(empty, NOW).kind == "due"
    assert take(empty, NOW) is None


def hurry(cast: Cast, kind: str) -> None:
    with cast.stage.database.changing(EVERY) as rows:
        outbox.hurry(rows, cast.organisation, Letter(kind, {"kind": kind}), NOW)


def test_what_is_due_at_the_same_time_comes_in_the_order_in_which_it_was_put(empty: Cast) -> None:
    for number in range(5):
        put(empty, str(number), NOW)
    assert [taken(empty, NOW).kind for _ in range(5)] == ["0", "1", "2", "3", "4"]


def test_what_is_not_yet_due_is_not_taken(empty: Cast) -> None:
    put(empty, "later", NOW + timedelta(milliseconds=1))
    assert take(empty, NOW) is None
    assert take(empty, NOW + timedelta(milliseconds=1)) is not None


def test_events_are_taken_many_at_once_and_other_work_one_by_one(empty: Cast) -> None:
    for kind in ("mail", "event", "mail", "event", "event"):
        put(empty, kind, NOW)
    assert [work.kind for work in take_many(empty, NOW, 4)] == ["mail", "event", "event"]
    assert [work.kind for work in take_many(empty, NOW, 4)] == ["mail", "event"]
    assert take_many(empty, NOW, 4) == []
    assert len(take_many(empty, NOW + LEASE, 100)) == 4


def test_work_that_is_taken_falls_due_again_when_the_lease_runs_out(empty: Cast) -> None:
    put(empty, "x", NOW)
    first = taken(empty, NOW)
    assert take(empty, NOW + LEASE - timedelta(milliseconds=1)) is None
    again = taken(empty, NOW + LEASE)
    assert (again.id, again.payload, first.attempts, again.attempts) == (first.id, first.payload, 1, 2)


def test_work_that_is_done_is_gone(empty: Cast) -> None:
    put(empty, "x", NOW)
    put(empty, "y", NOW)
    work = taken(empty, NOW)
    with empty.stage.database.changing(work.organisation) as rows:
        outbox.finish(rows, work)
    assert [row[2] for row in waiting(empty)] == ["y"]


def attempts(cast: Cast) -> Iterator[timedelta | None]:
    now = NOW
    while True:
        work = taken(cast, now)
        again = postpone(cast, work, now)
        if again is None:
            yield None
            return
        yield again - now
        assert take(cast, again - timedelta(milliseconds=1)) is None
        now = again


def test_work_that_fails_waits_longer_each_time_and_is_parked_at_last(empty: Cast) -> None:
    put(empty, "x", NOW)
    assert [*attempts(empty)] == [*RETRIES, None]
    assert take(empty, NOW + timedelta(days=1000)) is None
    assert problems(empty) == [(None, f"attempt {len(RETRIES) + 1} failed")]


def problems(cast: Cast) -> list[Row]:
    """When each piece of work is due, and why it waits."""
    with cast.stage.database.reading(EVERY) as rows:
        return [*rows.all("SELECT due_at, problem FROM outbox ORDER BY id")]


def test_while_it_waits_one_can_read_why(empty: Cast) -> None:
    put(empty, "x", NOW)
    again = postpone(empty, taken(empty, NOW), NOW)
    assert again is not None
    assert problems(empty) == [(moment_text(again), "attempt 1 failed")]


def test_what_is_parked_stays_with_its_problem_and_is_never_taken(empty: Cast) -> None:
    put(empty, "x", NOW)
    put(empty, "y", NOW)
    work = taken(empty, NOW)
    with empty.stage.database.changing(EVERY) as rows:
        outbox.park(rows, work, NOW, "r" * 5000, "t" * 5000)
    assert [taken.kind for taken in take_many(empty, NOW + timedelta(days=1000), 100)] == ["y"]
    assert (None, "r" * 1000) in problems(empty)


def test_the_depth_tells_what_waits_since_when_and_what_is_parked(empty: Cast) -> None:
    def depth() -> tuple[int, int, float]:
        with empty.stage.database.reading(EVERY) as rows:
            return outbox.depth(rows, NOW)

    assert depth() == (0, 0, 0.0)
    put(empty, "later", NOW + timedelta(hours=1))
    assert depth() == (1, 0, 0.0)
    put(empty, "late", NOW - timedelta(seconds=90))
    put(empty, "later still", NOW - timedelta(seconds=20))
    assert depth() == (3, 0, 90.0)
    work = taken(empty, NOW)
    with empty.stage.database.changing(EVERY) as rows:
        outbox.park(rows, work, NOW, "p", "t")
    assert depth() == (2, 1, 20.0)


def test_no_two_workers_take_the_same_work(empty: Cast) -> None:
    for number in range(60):
        put(empty, str(number), NOW)

    def empty_it(_: int) -> list[str]:
        mine = []
        # Workers take turns, so none comes away with nothing while there is something.
        while work := take(empty, NOW):
            mine.append(work.kind)
        return mine

    with ThreadPoolExecutor(4) as threads:
        shares = [*threads.map(empty_it, range(4))]
    everything = [kind for share in shares for kind in share]
    assert sorted(everything, key=int) == [str(number) for number in range(60)]

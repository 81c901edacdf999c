from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

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
from mainstay.ledger import outbox, outbox_queue
from mainstay.ledger.events import Said
from mainstay.ledger.outbox import Lane
from mainstay.ledger.outbox_queue import Work
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Right, Role
from mainstay.terms.shapes import Input, Kept, One, Shown
from telling import make_webhook, set_columns


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


def take(cast: Cast, at: datetime) -> Work | None:
    with cast.stage.database.changing(EVERY) as rows:
        return next(iter(outbox_queue.take(rows, Lane.EVENTS, at)), None)


def test_an_event_that_something_follows_leaves_a_letter_with_its_id(empty: Cast) -> None:
    empty.perform(invite_person, name="N", email="n@new.example", role="member")
    work = take(empty, empty.stage.clock() + timedelta(seconds=1))
    assert work is not None
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

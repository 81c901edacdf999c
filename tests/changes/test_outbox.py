from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.roles import remove_person
from mainstay.changes import events as ledger_events
from mainstay.changes import outbox, outbox_queue
from mainstay.changes.events import NewEvent
from mainstay.changes.outbox import Lane
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Row
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Effect, operation
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission, Role
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import Input, Output, RecordResult, StoredRecord
from support.cast import Cast, make_cast
from support.stored_state import list_events_of, read_all_rows, read_last_event
from support.webhooks import make_webhook, set_columns


class Tell(Input):
    times: int
    fail: bool


class ToldOut(Output):
    noun = "told"


@dataclass(frozen=True, slots=True)
class ToldRecord(StoredRecord):
    """A record that exists only for its event."""

    output = ToldOut


class ToldHappened(Event):
    """Something was told."""

    name = "told.happened"
    output = ToldOut


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    not_undone=Message("Do it again."),
    past_text="Done",
)
def tell(ctx: Context, given: Tell) -> RecordResult[ToldOut]:
    """Tell of several things, and perhaps take them back."""
    for _ in range(given.times):
        ctx.emit(ToldHappened(ToldRecord((), "told")))
    # Written at once, so that what fails has been written.
    for event in ctx.events:
        ledger_events.write_event(
            ctx.db, NewEvent(event.name, event.to_payload(), has_reactions=True), ctx.now_text, ctx.stamp
        )
    ctx.events.clear()
    if given.fail:
        raise Conflict(Message("No."))
    return RecordResult(ToldOut, ())


@pytest.fixture
def idle_cast(only_cast: Cast) -> Cast:
    """An organisation whose outbox is empty."""
    with only_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("DELETE FROM outbox")
    return only_cast


def read_outbox(cast: Cast) -> list[Row]:
    return read_all_rows(cast.performer.database)["outbox"]


def take_task(cast: Cast, at: datetime) -> LeasedTask | None:
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        return next(iter(outbox_queue.take_tasks(db, Lane.EVENTS, at)), None)


def test_an_event_that_something_follows_leaves_a_task_with_its_id(idle_cast: Cast) -> None:
    idle_cast.perform(invite_person, name="N", email="n@new.example", role="member")
    work = take_task(idle_cast, idle_cast.performer.clock() + timedelta(seconds=1))
    assert work is not None
    assert (work.organisation, work.kind, work.attempts) == (idle_cast.organisation, outbox.EVENT, 1)
    assert work.payload == {"event": list_events_of(idle_cast)[-1]["id"]}
    assert take_task(idle_cast, idle_cast.performer.clock() + timedelta(seconds=1)) is None


@pytest.mark.parametrize(("status", "left"), [("active", 1), ("paused", 1), ("disabled", 0)])
def test_any_event_leaves_a_task_where_a_webhook_may_be_told_of_it(idle_cast: Cast, status: str, left: int) -> None:
    set_columns(idle_cast, "webhook", make_webhook(idle_cast), status=status)
    idle_cast.perform(update_person, personId=idle_cast.people[Role.MEMBER], phone="1")
    assert read_last_event(idle_cast)["type"] == "person.updated"
    assert len(read_outbox(idle_cast)) == left


def test_an_event_that_nothing_follows_leaves_none_where_only_others_have_a_webhook(idle_cast: Cast) -> None:
    others = make_cast(idle_cast.performer)
    make_webhook(others)
    before = read_outbox(idle_cast)
    idle_cast.perform(update_person, personId=idle_cast.people[Role.MEMBER], phone="1")
    assert read_last_event(idle_cast)["type"] == "person.updated"
    assert read_outbox(idle_cast) == before


def test_a_refused_and_a_previewed_change_leave_no_task(idle_cast: Cast) -> None:
    make_webhook(idle_cast)
    idle_cast.perform(remove_person, personId=idle_cast.people[Role.MEMBER])
    with pytest.raises(Conflict):
        idle_cast.perform(tell, times=3, fail=True)
    assert read_outbox(idle_cast) == []


def test_the_numbers_of_events_have_no_gaps_among_many_threads_and_changes_taken_back(cast: Cast) -> None:
    begun = len(list_events_of(cast))
    actor = cast.actor(Role.OWNER)

    def act(number: int) -> bool:
        try:
            cast.perform(tell, actor, times=1 + number % 3, fail=number % 4 == 0)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        kept_flags = [*threads.map(act, range(48))]
    event_count = sum(1 + number % 3 for number, was_kept in enumerate(kept_flags) if was_kept)
    found = list_events_of(cast)
    assert [event["sequence"] for event in found] == [*range(1, begun + event_count + 1)]
    assert len({event["id"] for event in found}) == begun + event_count
    assert kept_flags.count(False) == 12

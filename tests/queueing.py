"""Tasks put into the outbox and taken from it, without a worker."""

from datetime import UTC, datetime, timedelta

from cast import Cast
from mainstay.backing.database import EVERY, Row
from mainstay.ledger import outbox, outbox_queue
from mainstay.ledger.outbox import Lane, Letter
from mainstay.ledger.outbox_queue import Work
from mainstay.values.moments import moment_text

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def empty_outbox(cast: Cast) -> None:
    """Remove what the making of an installation has left."""
    with cast.stage.database.changing(EVERY) as rows:
        rows.run("DELETE FROM outbox")


def put(cast: Cast, kind: str, at: datetime = NOW, lane: Lane = Lane.EVENTS, wait: timedelta = timedelta()) -> None:
    """Put one task."""
    with cast.stage.database.changing(cast.organisation) as rows:
        outbox.put(rows, letter(kind, lane, wait), moment_text(at))


def put_many(cast: Cast, number: int, lane: Lane) -> None:
    """Put many tasks at once."""
    with cast.stage.database.changing(cast.organisation) as rows:
        for each in range(number):
            outbox.put(rows, letter(str(each), lane), moment_text(NOW))


def letter(kind: str, lane: Lane = Lane.EVENTS, wait: timedelta = timedelta()) -> Letter:
    """A task that only has a kind."""
    return Letter(kind, {"kind": kind}, wait=wait, lane=lane)


def take(cast: Cast, at: datetime = NOW, lane: Lane = Lane.EVENTS, after: str = "") -> list[Work]:
    """What a worker gets that served an organisation before."""
    with cast.stage.database.changing(EVERY) as rows:
        return outbox_queue.take(rows, lane, at, after)


def take_one(cast: Cast, at: datetime = NOW, lane: Lane = Lane.EVENTS, after: str = "") -> Work:
    """The one task that a worker gets."""
    [work] = take(cast, at, lane, after)
    return work


def finish(cast: Cast, *works: Work) -> None:
    """The tasks are done."""
    with cast.stage.database.changing(EVERY) as rows:
        for work in works:
            outbox_queue.finish(rows, work)


def postpone(cast: Cast, work: Work, at: datetime) -> datetime | None:
    """The task failed."""
    with cast.stage.database.changing(EVERY) as rows:
        return outbox_queue.postpone(rows, work, at, f"attempt {work.attempts} failed")


def park(cast: Cast, work: Work, problem: str = "p") -> None:
    """The task failed for good."""
    with cast.stage.database.changing(EVERY) as rows:
        outbox_queue.park(rows, work, NOW, problem, problem)


def left(cast: Cast) -> list[Row]:
    """The kind of each task, when it is due, and why it waits."""
    with cast.stage.database.reading(EVERY) as rows:
        return [*rows.all("SELECT kind, due_at, problem FROM outbox ORDER BY id")]

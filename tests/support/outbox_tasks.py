"""Tasks put into the outbox and taken from it, without a worker."""

from datetime import UTC, datetime, timedelta

from mainstay.changes import outbox, outbox_queue
from mainstay.changes.outbox import Lane, OutboxTask
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.identity.email_format import EmailFormat
from mainstay.identity.emails import PersonEmail, build_email_task
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Row
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.values.stored_message import load_message
from support.cast import Cast

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def empty_outbox(cast: Cast) -> None:
    """Remove the tasks that making an installation has left."""
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("DELETE FROM outbox")


def put_task(
    cast: Cast, kind: str, at: datetime = NOW, lane: Lane = Lane.EVENTS, wait: timedelta = timedelta()
) -> None:
    """Put one task."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        outbox.add_task(db, make_task(kind, lane, wait), moment_text(at))


def put_tasks(cast: Cast, number: int, lane: Lane) -> None:
    """Put many tasks at once."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for each in range(number):
            outbox.add_task(db, make_task(str(each), lane), moment_text(NOW))


def make_task(kind: str, lane: Lane = Lane.EVENTS, wait: timedelta = timedelta()) -> OutboxTask:
    """Make a task that only has a kind."""
    return OutboxTask(kind, {"kind": kind}, delay=wait, lane=lane)


def take_tasks(cast: Cast, at: datetime = NOW, lane: Lane = Lane.EVENTS, after: str = "") -> list[LeasedTask]:
    """Take tasks, as a worker does after serving an organisation."""
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        return outbox_queue.take_tasks(db, lane, at, after)


def take_task(cast: Cast, at: datetime = NOW, lane: Lane = Lane.EVENTS, after: str = "") -> LeasedTask:
    """Take the only task that a worker gets."""
    [task] = take_tasks(cast, at, lane, after)
    return task


def finish_tasks(cast: Cast, *tasks: LeasedTask) -> None:
    """Mark tasks as done."""
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        for task in tasks:
            outbox_queue.finish_task(db, task)


def postpone_task(cast: Cast, task: LeasedTask, at: datetime) -> datetime | None:
    """Postpone a task that failed."""
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        return outbox_queue.postpone_task(db, task, at, f"attempt {task.attempts} failed")


def park_task(cast: Cast, task: LeasedTask, problem: str = "p") -> None:
    """Park a task that failed for good."""
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        outbox_queue.park_task(db, task, NOW, problem, problem)


def list_tasks(cast: Cast) -> list[Row]:
    """Return the kind of each task, when it is due, and why it waits."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        rows = db.all("SELECT kind, due_at, problem FROM outbox ORDER BY id")
        return [(kind, due, problem and str(load_message(str(problem)))) for kind, due, problem in rows]


def make_email_task(to: str, subject: str, text: str, *, record_id: str | None = None) -> OutboxTask:
    """Return a task that sends an email with these texts to someone."""
    email = PersonEmail(to, Message.from_template(subject), [text], record_id=record_id)
    return build_email_task(email, EmailFormat())

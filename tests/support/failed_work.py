"""Failed tasks, put into the outbox as the worker would have left them."""

from mainstay.changes import outbox, outbox_queue
from mainstay.changes.outbox import OutboxTask
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Row
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from support.cast import Cast

PROBLEM = "This version of Mainstay does not know tasks of the kind fax."
FAX_TASK = OutboxTask("fax", {"to": "x"}, Message("A fax to x"))


def park_new_task(cast: Cast, task: OutboxTask = FAX_TASK, problem: str = PROBLEM) -> str:
    """Insert a task that is not tried any more, and return its id."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        outbox.add_task(db, task, moment_text(cast.performer.clock()))
        row = db.one("SELECT max(id) FROM outbox WHERE organisation_id = :organisation")
        assert row is not None
        work = LeasedTask(str(row[0]), cast.organisation, task.kind, task.payload, 1)
        outbox_queue.park_task(db, work, cast.performer.clock(), problem, problem)
    return work.id


def read_task_state(cast: Cast, task: str) -> Row | None:
    """Return whether a task is due, how often it was tried, and its problem; None if it is gone."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return db.one(
            "SELECT CASE WHEN due_at IS NULL THEN 'parked' ELSE 'due' END, attempts, problem FROM outbox"
            " WHERE id = :id",
            id=task,
        )

"""The outbox: tasks that follow a change, and are done only after that change was committed.

A task is added in the transaction of the change and done by a worker (`outbox_queue`). Each task is in a lane. Lanes
are worked in parallel, so that a slow task holds up only its own lane. A task about a record also has a message, which
shows what became of the task for as long as the record exists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import orjson

from mainstay.infrastructure.database import DatabaseHandle, Row
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.values.moments import moment_text, parse_moment
from mainstay.values.stored_message import dump_message

# The kind of the tasks for events.
EVENT = "event"
TASK_PREFIX = "out"

# No task is ever postponed for longer.
MAX_DELAY = timedelta(days=2)

# The turn of a task in its lane: someone waits for it; it is due; it waits for a moment, is being done, or has failed.
FIRST, READY, LATER = 0, 1, 2


class Lane(StrEnum):
    """A queue of tasks that is worked in parallel with the others."""

    # Events with their reactions, and all other quick tasks.
    EVENTS = "events"
    EMAILS = "emails"
    # PDFs; and emails whose PDF does not exist yet, which then move on to the lane of emails.
    PDFS = "prints"
    # What is due when an organisation's day begins.
    DAYS = "days"


# The lanes of tasks that send an email.
EMAIL_LANES = frozenset({Lane.EMAILS, Lane.PDFS})


@dataclass(frozen=True, slots=True)
class OutboxTask:
    """A task to be added to the outbox."""

    kind: str
    payload: dict[str, str]
    # What it is, for people who look at failed tasks.
    description: Message | None = None
    message: "TaskMessage | None" = None
    # How long it waits before it is due, so that later changes are done with it.
    delay: timedelta = timedelta()
    lane: Lane = Lane.EVENTS


@dataclass(frozen=True, slots=True)
class TaskMessage:
    """The message about a task that the page of a record shows."""

    record_id: str
    recipient: str
    subject: str
    # The text of an email with a document, which is kept with the document; and whether the recipient got a copy.
    text: str | None = None
    is_copy: bool = False


def add_task(db: DatabaseHandle, task: OutboxTask, at: str, *, organisation: str | None = None) -> str:
    """Add a task that is due now or after its delay, for the organisation of the handle or for another one.

    Return its id.
    """
    record_id = new_id(TASK_PREFIX)
    # A handle for all organisations binds no organisation.
    organisation_parameter, owner = (":owner", {"owner": organisation}) if organisation else (":organisation", {})
    db.run(
        "INSERT INTO outbox (id, organisation_id, lane, turn, kind, payload, about, due_at)"
        f" VALUES (:id, {organisation_parameter}, :lane, :turn, :kind, :payload, :about, :due)",
        id=record_id,
        turn=LATER if task.delay else READY,
        about=None if task.description is None else dump_message(task.description),
        due=moment_text(parse_moment(at) + task.delay) if task.delay else at,
        **owner,
        **_task_parameters(task),
    )
    if task.message:
        db.run(
            "INSERT INTO message"
            " (organisation_id, id, record_id, recipient, subject, text, is_copy, status, created_at)"
            f" VALUES ({organisation_parameter}, :id, :record, :recipient, :subject, :text, :is_copy, 'queued', :at)",
            id=record_id,
            **owner,
            record=task.message.record_id,
            recipient=task.message.recipient,
            subject=task.message.subject,
            text=task.message.text,
            is_copy=int(task.message.is_copy),
            at=at,
        )
    return record_id


def is_waiting(db: DatabaseHandle, task: OutboxTask) -> bool:
    """Return whether the organisation already has the same task in the outbox."""
    same = f"SELECT 1 FROM outbox WHERE {_SAME} AND organisation_id = :organisation LIMIT 1"
    return db.one(same, **_task_parameters(task)) is not None


def is_parked(db: DatabaseHandle, task: OutboxTask) -> bool:
    """Return whether the same task of the organisation has failed and is not tried again."""
    same = f"SELECT 1 FROM outbox WHERE {_SAME} AND organisation_id = :organisation AND due_at IS NULL LIMIT 1"
    return db.one(same, **_task_parameters(task)) is not None


def prioritise_task(db: DatabaseHandle, organisation: str, task: OutboxTask, now: datetime) -> None:
    """Move a due task to the front of its lane, because someone waits for it."""
    db.run(
        f"UPDATE outbox SET turn = {FIRST} WHERE {_SAME} AND organisation_id = :owner AND turn = {READY}"
        " AND due_at <= :now",
        owner=organisation,
        now=moment_text(now),
        **_task_parameters(task),
    )


def restart_task(db: DatabaseHandle, record_id: str, at: str, returning: str) -> Row:
    """Restart a task of the organisation, as if it were new; return these columns of it."""
    condition = "WHERE organisation_id = :organisation AND id = :id"
    db.run(f"UPDATE message SET status = 'queued', problem = NULL {condition}", id=record_id)
    restart = (
        f"UPDATE outbox SET due_at = :at, turn = {READY}, taken_at = NULL, attempts = 0, lost_leases = 0,"
        f" problem = NULL, failed_at = NULL {condition}"
    )
    return db.one(f"{restart} RETURNING {returning}", id=record_id, at=at) or ()


def delete_task(db: DatabaseHandle, record_id: str) -> None:
    """Delete a task of the organisation, so that it is never done. Its message on the record stays."""
    db.run("DELETE FROM outbox WHERE organisation_id = :organisation AND id = :id", id=record_id)


def drop_waiting(db: DatabaseHandle, record_ids: Sequence[str]) -> None:
    """Delete those of these tasks that nobody is doing, with their messages."""
    for record_id in record_ids:
        waiting = "organisation_id = :organisation AND id = :id AND taken_at IS NULL"
        if db.run(f"DELETE FROM outbox WHERE {waiting}", id=record_id):
            db.run("DELETE FROM message WHERE organisation_id = :organisation AND id = :id", id=record_id)


def bring_forward(db: DatabaseHandle, now: datetime) -> None:
    """Make tasks due now that are due so late that only a wrong clock can have set the time."""
    db.run(
        f"UPDATE outbox SET due_at = :at WHERE lane IN ({_LANES}) AND {_ANY_TURN} AND due_at > :latest",
        at=moment_text(now),
        latest=moment_text(now + MAX_DELAY),
    )


def delete_tasks(db: DatabaseHandle, kind: str) -> None:
    """Delete all tasks of one kind of the organisation."""
    db.run("DELETE FROM outbox WHERE organisation_id = :organisation AND kind = :kind", kind=kind)


def find_organisations_with_failures(db: DatabaseHandle, record_id: str | None = None) -> list[str]:
    """Return the organisations with failed tasks, or with this failed task; the handle is for all organisations."""
    found = db.all(
        "SELECT DISTINCT organisation_id FROM outbox WHERE due_at IS NULL"
        " AND (CAST(:id AS text) IS NULL OR id = :id) ORDER BY organisation_id",
        id=record_id,
    )
    return [str(organisation) for (organisation,) in found]


# Statements name all lanes and turns, because these columns come first in the indexes.
_LANES = ", ".join(f"'{lane}'" for lane in Lane)
_ANY_TURN = f"turn IN ({FIRST}, {READY}, {LATER})"
_SAME = f"lane = :lane AND {_ANY_TURN} AND kind = :kind AND payload = :payload"


def _task_parameters(task: OutboxTask) -> dict[str, str]:
    return {"lane": task.lane.value, "kind": task.kind, "payload": _payload_json(task)}


def _payload_json(task: OutboxTask) -> str:
    return orjson.dumps(task.payload).decode()

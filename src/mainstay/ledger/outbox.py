"""The outbox: tasks that follow a change, and are done only after that change was committed.

A task is put in the change's transaction and done by a worker (`outbox_queue`). It is in a lane: the lanes are worked
side by side, so that a slow task holds up only its own lane. If a task is about a record, a message beside it says what
became of it for as long as the record exists.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import orjson

from mainstay.backing.database import Handle, Row
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text, parse_moment

# The kind of the task that an event leaves.
EVENT = "event"
PREFIX = "out"

# No task is ever put off for longer.
LONGEST_WAIT = timedelta(days=2)

# The turn of a task in its lane: someone waits for it; it is due; it waits for a moment, is being done, or has failed.
FIRST, READY, LATER = 0, 1, 2


class Lane(StrEnum):
    """A queue that is worked side by side with the others."""

    # Events with what follows them, and everything else that is quick.
    EVENTS = "events"
    EMAILS = "emails"
    # PDFs; and emails whose PDF is not made yet, which then go on to the emails.
    PRINTS = "prints"
    # What is due when an organisation's day begins.
    DAYS = "days"


@dataclass(frozen=True, slots=True)
class Letter:
    """A task to be put into the outbox."""

    kind: str
    payload: dict[str, str]
    # What it is, for those who look at what could not be done.
    about: str | None = None
    message: "Mention | None" = None
    # How long it waits before it is due, so that what comes in between is done with it.
    wait: timedelta = timedelta()
    lane: Lane = Lane.EVENTS


@dataclass(frozen=True, slots=True)
class Mention:
    """What a record's page says of a task about it."""

    record: str
    to: str
    subject: str


def put(rows: Handle, letter: Letter, at: str, *, organisation: str | None = None) -> None:
    """Put a task that is due now, or when its wait is over; for the organisation of the handle, or another one."""
    identity = new_id(PREFIX)
    # A handle for every organisation binds none.
    whose, owner = (":owner", {"owner": organisation}) if organisation else (":organisation", {})
    rows.run(
        "INSERT INTO outbox (id, organisation_id, lane, turn, kind, payload, about, due_at)"
        f" VALUES (:id, {whose}, :lane, :turn, :kind, :payload, :about, :due)",
        id=identity,
        turn=LATER if letter.wait else READY,
        about=letter.about,
        due=moment_text(parse_moment(at) + letter.wait) if letter.wait else at,
        **owner,
        **_bound(letter),
    )
    if letter.message:
        rows.run(
            "INSERT INTO message (organisation_id, id, record_id, recipient, subject, status, created_at)"
            f" VALUES ({whose}, :id, :record, :recipient, :subject, 'queued', :at)",
            id=identity,
            **owner,
            record=letter.message.record,
            recipient=letter.message.to,
            subject=letter.message.subject,
            at=at,
        )


def waits(rows: Handle, letter: Letter) -> bool:
    """Whether the organisation has the same task in the outbox already."""
    same = f"SELECT 1 FROM outbox WHERE {_SAME} AND organisation_id = :organisation LIMIT 1"
    return rows.one(same, **_bound(letter)) is not None


def is_parked(rows: Handle, letter: Letter) -> bool:
    """Whether the same task of the organisation has failed and is not tried again."""
    same = f"SELECT 1 FROM outbox WHERE {_SAME} AND organisation_id = :organisation AND due_at IS NULL LIMIT 1"
    return rows.one(same, **_bound(letter)) is not None


def hurry(rows: Handle, organisation: str, letter: Letter, now: datetime) -> None:
    """Let a task that is due come before all others of its lane, because someone waits for it."""
    rows.run(
        f"UPDATE outbox SET turn = {FIRST} WHERE {_SAME} AND organisation_id = :owner AND turn = {READY}"
        " AND due_at <= :now",
        owner=organisation,
        now=moment_text(now),
        **_bound(letter),
    )


def put_back(rows: Handle, identity: str, at: str, returning: str) -> Row:
    """Let a task of the organisation be tried as if for the first time, now; return these columns of it."""
    named = "WHERE organisation_id = :organisation AND id = :id"
    rows.run(f"UPDATE message SET status = 'queued', problem = NULL {named}", id=identity)
    anew = (
        f"UPDATE outbox SET due_at = :at, turn = {READY}, taken_at = NULL, attempts = 0, lost_leases = 0,"
        f" problem = NULL, failed_at = NULL {named}"
    )
    return rows.one(f"{anew} RETURNING {returning}", id=identity, at=at) or ()


def drop(rows: Handle, identity: str) -> None:
    """Remove a task of the organisation, so that it is never done; a record's message about it stays."""
    rows.run("DELETE FROM outbox WHERE organisation_id = :organisation AND id = :id", id=identity)


def bring_forward(rows: Handle, now: datetime) -> None:
    """Let tasks be due now that wait for a moment so late that only a clock that ran ahead can have set it."""
    rows.run(
        f"UPDATE outbox SET due_at = :at WHERE lane IN ({_LANES}) AND {_ANY_TURN} AND due_at > :latest",
        at=moment_text(now),
        latest=moment_text(now + LONGEST_WAIT),
    )


def forget(rows: Handle, kind: str) -> None:
    """Remove all tasks of one kind of the handle's organisation."""
    rows.run("DELETE FROM outbox WHERE organisation_id = :organisation AND kind = :kind", kind=kind)


def find_organisations(rows: Handle, identity: str | None = None) -> list[str]:
    """The organisations with failed tasks, or with this failed task; the handle looks across organisations."""
    found = rows.all(
        "SELECT DISTINCT organisation_id FROM outbox WHERE due_at IS NULL"
        " AND (CAST(:id AS text) IS NULL OR id = :id) ORDER BY organisation_id",
        id=identity,
    )
    return [str(organisation) for (organisation,) in found]


# Lanes and turns are all named, because they come first in the indexes.
_LANES = ", ".join(f"'{lane}'" for lane in Lane)
_ANY_TURN = f"turn IN ({FIRST}, {READY}, {LATER})"
_SAME = f"lane = :lane AND {_ANY_TURN} AND kind = :kind AND payload = :payload"


def _bound(letter: Letter) -> dict[str, str]:
    return {"lane": letter.lane.value, "kind": letter.kind, "payload": _payload(letter)}


def _payload(letter: Letter) -> str:
    return orjson.dumps(letter.payload).decode()

"""Storage of conversations, of the work on their turns, and of what it costs.

What people ask and what a model answers are no records of the organisation: only the changes that the assistant makes
are in the audit trail. So these rows are written outside of `perform`, except by the operations of this area.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import orjson

from mainstay.business.assistant.model import Conversation, Step, StepKind, Turn, TurnStatus, parse_step
from mainstay.business.organisation.assistant_settings import ASSISTANT_SETTINGS, AssistantSettings
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import DatabaseHandle, Row
from mainstay.kernel.context import Context
from mainstay.values.moments import moment_text
from mainstay.vocabulary.permissions import Access
from mainstay.vocabulary.refusal import NotFound

# How long a server process may work on a turn without a sign of life, before another takes it over.
LEASE_SECONDS = 30.0
# How long a turn waits for the process that streams its answer, before any other takes it: only there, what the model
# writes is seen while it writes.
GRACE = timedelta(seconds=4)
# How many of its latest turns a conversation shows, and the model gets.
MAX_TURNS = 50

_TURN_COLUMNS = (
    "id, conversation_id, session_id, question, record_id, status, problem, stop_requested, model_calls, tool_calls,"
    " tokens, worked_ms, created_at, ended_at"
)


class LeaseLost(Exception):
    """Another process works on the turn, or it has ended."""


class Cost(NamedTuple):
    """What a part of a turn took."""

    model_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    worked_ms: int = 0


class AbandonedTurn(NamedTuple):
    """A turn on which no process works, although it is not finished."""

    organisation: str
    id: str


def insert_conversation(ctx: Context, conversation_id: str, title: str, access: Access) -> None:
    """Store a new conversation of the actor."""
    ctx.db.run(
        "INSERT INTO conversation (organisation_id, id, person_id, title, access, created_at, asked_at)"
        " VALUES (:organisation, :id, :me, :title, :access, :now, :now)",
        id=conversation_id,
        title=title,
        access=access,
    )


def find_own_conversation(db: DatabaseHandle, conversation_id: str) -> Row:
    """Return the row of a conversation of the person that the handle is bound to."""
    row = db.one(
        "SELECT id, title, access, created_at, asked_at FROM conversation"
        " WHERE organisation_id = :organisation AND id = :id AND person_id = :me",
        id=conversation_id,
    )
    if row is None:
        raise NotFound("conversation")
    return row


def page_own_conversations(ctx: Context, limit: int, after: str | None) -> Sequence[Row]:
    """Return the actor's conversations, the latest first, and one more than the limit."""
    after_sql = (
        " AND (asked_at, id) < (SELECT asked_at, id FROM conversation c WHERE c.organisation_id = :organisation"
        " AND c.id = :after AND c.person_id = :me)"
        if after
        else ""
    )
    return ctx.db.all(
        "SELECT id, title, access, created_at, asked_at FROM conversation WHERE organisation_id = :organisation"
        f" AND person_id = :me{after_sql} ORDER BY asked_at DESC, id DESC LIMIT :limit",
        limit=limit + 1,
        **({"after": after} if after else {}),
    )


def delete_conversations(db: DatabaseHandle, condition: str, **values: str) -> None:
    """Delete the conversations of an organisation that meet a condition, with all their turns."""
    chosen = f"SELECT id FROM conversation WHERE organisation_id = :organisation AND {condition}"
    turns = f"SELECT id FROM conversation_turn WHERE organisation_id = :organisation AND conversation_id IN ({chosen})"
    db.run(f"DELETE FROM conversation_step WHERE organisation_id = :organisation AND turn_id IN ({turns})", **values)
    db.run(
        f"DELETE FROM conversation_turn WHERE organisation_id = :organisation AND conversation_id IN ({chosen})",
        **values,
    )
    db.run(f"DELETE FROM conversation WHERE organisation_id = :organisation AND {condition}", **values)


def insert_turn(ctx: Context, turn_id: str, values: Mapping[str, str | None]) -> None:
    """Store a new question; a server process then works on it."""
    ctx.db.run(
        "INSERT INTO conversation_turn"
        " (organisation_id, id, conversation_id, session_id, question, record_id, status, leased_until, created_at)"
        " VALUES (:organisation, :id, :conversation_id, :session_id, :question, :record_id, 'working', :until, :now)",
        id=turn_id,
        until=moment_text(ctx.now + GRACE),
        **values,
    )
    ctx.db.run(
        "UPDATE conversation SET asked_at = :now WHERE organisation_id = :organisation AND id = :id",
        id=values["conversation_id"],
    )


def count_working(ctx: Context) -> tuple[int, int]:
    """Return on how many turns the assistant works now: of the actor, and of the whole organisation."""
    row = ctx.db.one(
        "SELECT coalesce(sum(CASE WHEN c.person_id = :me THEN 1 ELSE 0 END), 0), count(*) FROM conversation_turn t"
        " JOIN conversation c ON c.organisation_id = t.organisation_id AND c.id = t.conversation_id"
        " WHERE t.organisation_id = :organisation AND t.status = 'working'"
    )
    return (int(row[0] or 0), int(row[1] or 0)) if row else (0, 0)


def read_turns(db: DatabaseHandle, conversation_id: str) -> tuple[Turn, ...]:
    """Return the latest turns of a conversation with their steps, the oldest first."""
    rows = db.all(
        f"SELECT {_TURN_COLUMNS} FROM conversation_turn WHERE organisation_id = :organisation"
        " AND conversation_id = :conversation ORDER BY id DESC LIMIT :limit",
        conversation=conversation_id,
        limit=MAX_TURNS,
    )
    if not rows:
        return ()
    oldest = str(rows[-1][0])
    steps: dict[str, list[Step]] = {}
    for turn_id, *columns in db.all(
        "SELECT s.turn_id, s.number, s.kind, s.content, s.created_at FROM conversation_turn t"
        " JOIN conversation_step s ON s.organisation_id = t.organisation_id AND s.turn_id = t.id"
        " WHERE t.organisation_id = :organisation AND t.conversation_id = :conversation AND t.id >= :oldest"
        " ORDER BY s.turn_id, s.number",
        conversation=conversation_id,
        oldest=oldest,
    ):
        steps.setdefault(str(turn_id), []).append(_parse_step_row(columns))
    return tuple(_parse_turn(row, steps.get(str(row[0]), ())) for row in reversed(rows))


def fetch_turn(db: DatabaseHandle, turn_id: str) -> Turn:
    """Return a turn with its steps."""
    row = db.one(
        f"SELECT {_TURN_COLUMNS} FROM conversation_turn WHERE organisation_id = :organisation AND id = :id", id=turn_id
    )
    if row is None:
        raise NotFound("turn")
    return _parse_turn(row, read_steps(db, turn_id))


def fetch_own_turn(db: DatabaseHandle, turn_id: str) -> Turn:
    """Return a turn of the person that the handle is bound to."""
    turn = fetch_turn(db, turn_id)
    find_own_conversation(db, turn.conversation_id)
    return turn


def read_steps(db: DatabaseHandle, turn_id: str, after: int = 0) -> list[Step]:
    """Return the steps of a turn after a number."""
    rows = db.all(
        "SELECT number, kind, content, created_at FROM conversation_step WHERE organisation_id = :organisation"
        " AND turn_id = :turn AND number > :after ORDER BY number",
        turn=turn_id,
        after=after,
    )
    return [_parse_step_row(row) for row in rows]


def read_conversation(db: DatabaseHandle, conversation_id: str) -> Conversation:
    """Return a conversation of any person with its turns, for the work on its answer."""
    row = db.one(
        "SELECT person_id, title, access FROM conversation WHERE organisation_id = :organisation AND id = :id",
        id=conversation_id,
    )
    if row is None:
        raise NotFound("conversation")
    person, title, access = map(str, row)
    return Conversation(conversation_id, person, title, Access(access), read_turns(db, conversation_id))


def find_abandoned(db: DatabaseHandle, now: datetime, limit: int) -> list[AbandonedTurn]:
    """Return turns of all organisations on which nobody works."""
    rows = db.all(
        "SELECT organisation_id, id FROM conversation_turn WHERE status = 'working' AND leased_until <= :at"
        " ORDER BY leased_until LIMIT :limit",
        at=moment_text(now),
        limit=limit,
    )
    return [AbandonedTurn(str(organisation), str(turn)) for organisation, turn in rows]


def take_lease(db: DatabaseHandle, turn_id: str, lease: str, now: datetime) -> bool:
    """Begin to work on a turn; return False if another process does, or if it is not to be worked on."""
    return bool(
        db.run(
            "UPDATE conversation_turn SET lease = :lease, leased_until = :until WHERE organisation_id = :organisation"
            " AND id = :id AND status = 'working' AND (lease IS NULL OR leased_until <= :at)",
            id=turn_id,
            lease=lease,
            at=moment_text(now),
            until=moment_text(now + timedelta(seconds=LEASE_SECONDS)),
        )
    )


def renew_lease(db: DatabaseHandle, turn_id: str, lease: str, now: datetime) -> bool:
    """Go on working on a turn; return whether its person has asked to stop."""
    row = db.one(
        "UPDATE conversation_turn SET leased_until = :until WHERE organisation_id = :organisation AND id = :id"
        " AND status = 'working' AND lease = :lease RETURNING stop_requested",
        id=turn_id,
        lease=lease,
        until=moment_text(now + timedelta(seconds=LEASE_SECONDS)),
    )
    if row is None:
        raise LeaseLost
    return bool(row[0])


def release_lease(db: DatabaseHandle, turn_id: str, lease: str, now: datetime) -> None:
    """Let another process go on with a turn at once."""
    db.run(
        "UPDATE conversation_turn SET leased_until = :at WHERE organisation_id = :organisation AND id = :id"
        " AND status = 'working' AND lease = :lease",
        id=turn_id,
        lease=lease,
        at=moment_text(now),
    )


def add_cost(db: DatabaseHandle, turn_id: str, lease: str, cost: Cost) -> None:
    """Add what a part of the work took. Raise LeaseLost if the work is no longer this process's."""
    changed = db.run(
        "UPDATE conversation_turn SET model_calls = model_calls + :model_calls, tool_calls = tool_calls + :tool_calls,"
        " tokens = tokens + :tokens, worked_ms = worked_ms + :worked_ms"
        " WHERE organisation_id = :organisation AND id = :id AND status = 'working' AND lease = :lease",
        id=turn_id,
        lease=lease,
        **cost._asdict(),
    )
    if not changed:
        raise LeaseLost


def add_step(db: DatabaseHandle, turn_id: str, kind: StepKind, content: Mapping[str, Any], now: datetime) -> int:
    """Store the next step of a turn, and return its number."""
    row = db.one(
        "INSERT INTO conversation_step (organisation_id, turn_id, number, kind, content, created_at)"
        " SELECT :organisation, :turn, coalesce(max(number), 0) + 1, CAST(:kind AS text), CAST(:content AS text),"
        " CAST(:at AS text) FROM conversation_step WHERE organisation_id = :organisation AND turn_id = :turn"
        " RETURNING number",
        turn=turn_id,
        kind=kind,
        content=orjson.dumps(content).decode(),
        at=moment_text(now),
    )
    return int(row[0] or 0) if row else 0


def set_status(db: DatabaseHandle, turn_id: str, status: TurnStatus, now: datetime, problem: str | None = None) -> None:
    """Change how far a turn is that has not ended; then nobody holds a lease of it."""
    db.run(
        "UPDATE conversation_turn SET status = :status, problem = :problem, lease = NULL, leased_until = :at,"
        " stop_requested = 0, ended_at = :ended_at"
        " WHERE organisation_id = :organisation AND id = :id AND status IN ('working', 'waiting')",
        id=turn_id,
        status=status,
        problem=problem,
        at=moment_text(now + GRACE if status is TurnStatus.WORKING else now),
        ended_at=None if status.is_open else moment_text(now),
    )


def request_stop(db: DatabaseHandle, turn_id: str) -> None:
    """Note that a person wants a turn to stop."""
    db.run(
        "UPDATE conversation_turn SET stop_requested = 1 WHERE organisation_id = :organisation AND id = :id"
        " AND status = 'working'",
        id=turn_id,
    )


def add_usage(db: DatabaseHandle, person_id: str, day: str, tokens: int) -> None:
    """Count the tokens that a person used."""
    db.run(
        "INSERT INTO assistant_usage (organisation_id, day, person_id, tokens)"
        " VALUES (:organisation, :day, :person, :tokens) ON CONFLICT (organisation_id, day, person_id)"
        " DO UPDATE SET tokens = assistant_usage.tokens + excluded.tokens",
        day=day,
        person=person_id,
        tokens=tokens,
    )


def read_usage(db: DatabaseHandle, person_id: str, day: str) -> tuple[int, int]:
    """Return the tokens that a person used on a day, and that everyone together used in its month."""
    row = db.one(
        "SELECT coalesce(sum(CASE WHEN person_id = :person AND day = :day THEN tokens ELSE 0 END), 0),"
        " coalesce(sum(tokens), 0)"
        " FROM assistant_usage WHERE organisation_id = :organisation AND day >= :first AND day <= :last",
        person=person_id,
        day=day,
        first=f"{day[:7]}-01",
        last=f"{day[:7]}-31",
    )
    return (int(row[0] or 0), int(row[1] or 0)) if row else (0, 0)


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete conversations that are older than their organisation keeps them, and the usage of earlier years."""
    for organisation, days in db.all("SELECT id, assistant_retention_days FROM organisation"):
        before = moment_text(now - timedelta(days=int(days or 0)))
        delete_conversations(db.for_organisation(str(organisation)), "asked_at < :before", before=before)
    db.run("DELETE FROM assistant_usage WHERE day < :before", before=(now - timedelta(days=400)).date().isoformat())


def read_changed_records(db: DatabaseHandle, changes: Sequence[str]) -> dict[str, list[str]]:
    """Return the records that these changes wrote, by their ids, with the fields that changed; of a new one, none."""
    records: dict[str, list[str]] = {}
    numbers = [int(change) for change in changes]
    rows = select_batched(
        db,
        "SELECT coalesce(records, '[]'), coalesce(changed, '{}') FROM audit"
        " WHERE organisation_id = :organisation AND sequence >= :first AND sequence <= :last"
        f" AND CAST(sequence AS text) IN {BATCH_VALUES}",
        changes,
        first=min(numbers, default=0),
        last=max(numbers, default=0),
    )
    for written, changed in rows:
        fields = orjson.loads(str(changed))
        for record_id in {**dict.fromkeys(orjson.loads(str(written))), **fields}:
            names = records.setdefault(record_id, [])
            names += [name for name in fields.get(record_id, ()) if name not in names]
    return records


def read_assistant_settings(db: DatabaseHandle) -> AssistantSettings:
    """Return the settings of the assistant in an organisation."""
    row = db.one(ASSISTANT_SETTINGS.select_all)
    if row is None:
        raise NotFound("organisation")
    return ASSISTANT_SETTINGS.from_row(row)


def read_organisation_names(db: DatabaseHandle) -> tuple[str, str]:
    """Return the name and the time zone of an organisation."""
    row = db.one("SELECT name, time_zone FROM organisation WHERE id = :organisation")
    return (str(row[0]), str(row[1])) if row else ("", "UTC")


def _parse_turn(row: Row, steps: Sequence[Step]) -> Turn:
    *columns, stop_requested, model_calls, tool_calls, tokens, worked_ms, created_at, ended_at = row
    turn_id, conversation, session, question, record, status, problem = (
        None if column is None else str(column) for column in columns
    )
    return Turn(
        turn_id or "",
        conversation or "",
        session or "",
        question or "",
        record,
        TurnStatus(status or ""),
        problem,
        bool(stop_requested),
        int(model_calls or 0),
        int(tool_calls or 0),
        int(tokens or 0),
        int(worked_ms or 0),
        str(created_at),
        None if ended_at is None else str(ended_at),
        tuple(steps),
    )


def _parse_step_row(row: Sequence[Any]) -> Step:
    number, kind, content, created_at = row
    return parse_step(int(number), str(kind), str(content), str(created_at))

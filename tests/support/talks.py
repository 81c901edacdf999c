"""Conversations with the assistant, and what happens to them."""

from typing import Any

from mainstay.business.assistant import store
from mainstay.business.assistant.model import StepKind, Turn, TurnStatus
from mainstay.business.assistant.operations import ask_assistant
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Role
from support.cast import EMAILS, Cast
from support.oauth_app import begin_session, find_session


def in_office(cast: Cast, role: Role = Role.OFFICE) -> Actor:
    """Return a person of the cast in the office."""
    return cast.actor(role, door=Door.OFFICE)


def begin_sign_in(cast: Cast, role: Role = Role.OFFICE) -> str:
    """Sign in a person of the cast, and return the id of the session."""
    return find_session(cast, begin_session(cast, EMAILS[role]))


def ask_question(cast: Cast, role: Role = Role.OFFICE, **given: object) -> dict[str, Any]:
    """Ask a question, on which nobody works."""
    values = {"question": "Which jobs are late?", "sessionId": begin_sign_in(cast, role), **given}
    return cast.perform(ask_assistant, in_office(cast, role), **values)


def end_question(cast: Cast, turn_id: str, status: TurnStatus = TurnStatus.DONE) -> None:
    """Let a question be answered, or wait for its person."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        said = {"text": "None.", "calls": [["1", "send_invoice", "{}"]], "raw": None, "reason": "end"}
        store.add_step(db, turn_id, StepKind.SAID, said, cast.performer.clock())
        if status is TurnStatus.WAITING:
            asked = {"said": 1, "call": 0, "operation": "send_invoice", "arguments": {}, "summary": "", "warnings": []}
            store.add_step(db, turn_id, StepKind.ASKED, asked, cast.performer.clock())
        store.set_status(db, turn_id, status, cast.performer.clock())


def read_question(cast: Cast, turn_id: str) -> Turn:
    """Return a question with its steps."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return store.fetch_turn(db, turn_id)


def count_rows(cast: Cast) -> dict[str, int]:
    """Return how many rows each table of conversations has for the organisation."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        counts = {
            table: db.one(f"SELECT count(*) FROM {table} WHERE organisation_id = :organisation")
            for table in ("conversation", "conversation_turn", "conversation_step", "assistant_usage")
        }
    return {table: int(row[0] or 0) for table, row in counts.items() if row}

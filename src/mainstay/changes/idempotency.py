"""Idempotency: the answer to a change is stored with it, and a repeat of the request gets the same answer."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.message import Message
from mainstay.values.moments import moment_text

RETENTION = timedelta(hours=24)
# Tasks of the system are retried for longer than the requests of clients.
SYSTEM_RETENTION = timedelta(days=7)
SYSTEM = "house"
# What the key begins with by which the reply to a question counts once.
QUESTION_PREFIX = "question "
# The maximal length of a key, and the error for an invalid one.
MAX_KEY_LENGTH = 255
INVALID_KEY = Message("is not 1 to {limit} printable characters", limit=MAX_KEY_LENGTH)


def is_idempotency_key(text: str) -> bool:
    """Return whether this is a valid idempotency key."""
    return 1 <= len(text) <= MAX_KEY_LENGTH and text.isprintable()


class Answer(NamedTuple):
    """The answer of an operation, as JSON."""

    body: bytes
    # The version of the record in it, if it is a record.
    version: int | None = None
    is_replayed: bool = False
    # Whether it only describes what would happen.
    is_preview: bool = False
    # Whether nothing was done yet, because a person confirms it in the office; then it says where.
    awaits_confirmation: bool = False
    # If there are reasons against that: the operations that help, each with its record, and whether it is done instead.
    unblocking_actions: tuple[tuple[str, str | None, bool], ...] = ()
    # What a preview warns of, before it was rendered.
    warnings: tuple[Message | str, ...] = ()
    # The number of the change in the audit trail, if it can be undone.
    undoable_change: int | None = None


class KeyReused(Exception):
    """The key was used before for a different request."""


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A request that is performed once, however often it is sent."""

    credential: str
    key: str
    # The operation and its input: a key belongs to one request.
    request: str

    def find_answer(self, db: DatabaseHandle, now: datetime) -> Answer | None:
        """Return the stored answer for this key, if there is one."""
        retention = SYSTEM_RETENTION if self.credential == SYSTEM else RETENTION
        row = db.one(
            "SELECT fingerprint, answer, version, undoable_change FROM replay WHERE organisation_id = :organisation"
            " AND credential = :credential AND key = :key AND created_at > :since",
            credential=self.credential,
            key=self.key,
            since=moment_text(now - retention),
        )
        if row is None:
            return None
        fingerprint, answer, version, change = row
        if fingerprint != self._fingerprint():
            raise KeyReused
        return Answer(
            str(answer).encode(),
            None if version is None else int(version),
            is_replayed=True,
            undoable_change=None if change is None else int(change),
        )

    def store_answer(self, db: DatabaseHandle, answer: Answer, at: str) -> None:
        """Store the answer, in the transaction of the change."""
        db.run(
            "INSERT INTO replay (organisation_id, credential, key, fingerprint, answer, version, undoable_change,"
            " created_at) VALUES (:organisation, :credential, :key, :fingerprint, :answer, :version, :change, :at)"
            " ON CONFLICT (organisation_id, credential, key) DO UPDATE SET fingerprint = excluded.fingerprint,"
            " answer = excluded.answer, version = excluded.version, undoable_change = excluded.undoable_change,"
            " created_at = excluded.created_at",
            credential=self.credential,
            key=self.key,
            fingerprint=self._fingerprint(),
            answer=answer.body.decode(),
            version=answer.version,
            change=answer.undoable_change,
            at=at,
        )

    def _fingerprint(self) -> str:
        return hashlib.sha256(self.request.encode()).hexdigest()


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete old answers."""
    db.run(
        "DELETE FROM replay WHERE created_at <= :before AND (credential <> :house OR created_at <= :long_before)",
        before=moment_text(now - RETENTION),
        house=SYSTEM,
        long_before=moment_text(now - SYSTEM_RETENTION),
    )

"""Idempotent replay: the answer to a write is kept with the write, and a repeat of the request gets it again."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.backing.database import Handle
from mainstay.values.moments import moment_text

KEPT = timedelta(hours=24)
# The house's own acts are tried again for longer than a client's: as long as their work is.
KEPT_FOR_THE_HOUSE = timedelta(days=7)
HOUSE = "house"
# How long a key may be, and what is wrong with what is none.
LONGEST_KEY = 255
NO_REPLAY_KEY = f"is not 1 to {LONGEST_KEY} printable characters"


def is_replay_key(text: str) -> bool:
    """Return whether a request may be named by this."""
    return 1 <= len(text) <= LONGEST_KEY and text.isprintable()


class Answer(NamedTuple):
    """What an operation answered, as JSON."""

    body: bytes
    # The version of the record in it, if it is one.
    version: int | None = None
    replayed: bool = False
    # Whether it only tells what would happen.
    preview: bool = False
    # Where something stands against that, the operations that would clear it out of the way, and on which record.
    unblocks: tuple[tuple[str, str | None], ...] = ()


class UsedOtherwise(Exception):
    """The key belongs to another request."""


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is to be done once, however often it is sent."""

    credential: str
    key: str
    # What was asked: a key belongs to one request.
    request: str

    def recall(self, rows: Handle, now: datetime) -> Answer | None:
        """The answer that this key got before, if it did."""
        kept = KEPT_FOR_THE_HOUSE if self.credential == HOUSE else KEPT
        row = rows.one(
            "SELECT fingerprint, answer, version FROM replay WHERE organisation_id = :organisation"
            " AND credential = :credential AND key = :key AND created_at > :since",
            credential=self.credential,
            key=self.key,
            since=moment_text(now - kept),
        )
        if row is None:
            return None
        fingerprint, answer, version = row
        if fingerprint != self._fingerprint():
            raise UsedOtherwise
        return Answer(str(answer).encode(), None if version is None else int(version), replayed=True)

    def remember(self, rows: Handle, answer: Answer, at: str) -> None:
        """Keep the answer beside the change it tells of."""
        rows.run(
            "INSERT INTO replay (organisation_id, credential, key, fingerprint, answer, version, created_at)"
            " VALUES (:organisation, :credential, :key, :fingerprint, :answer, :version, :at)"
            " ON CONFLICT (organisation_id, credential, key) DO UPDATE SET fingerprint = excluded.fingerprint,"
            " answer = excluded.answer, version = excluded.version, created_at = excluded.created_at",
            credential=self.credential,
            key=self.key,
            fingerprint=self._fingerprint(),
            answer=answer.body.decode(),
            version=answer.version,
            at=at,
        )

    def _fingerprint(self) -> str:
        return hashlib.sha256(self.request.encode()).hexdigest()


def forget_old(rows: Handle, now: datetime) -> None:
    """Remove what is kept no longer."""
    rows.run(
        "DELETE FROM replay WHERE created_at <= :before AND (credential <> :house OR created_at <= :long_before)",
        before=moment_text(now - KEPT),
        house=HOUSE,
        long_before=moment_text(now - KEPT_FOR_THE_HOUSE),
    )

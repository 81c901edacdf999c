"""Idempotent replay: the answer to a write is kept with the write, and a repeat of the request gets it again."""

import hashlib
from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.backing.database import Handle
from mainstay.kernel.context import Context
from mainstay.kernel.refusal import Fault, Invalid
from mainstay.kernel.shapes import Input
from mainstay.values.moments import moment_text

KEPT = timedelta(hours=24)


class Answer(NamedTuple):
    """What an operation answered, as JSON."""

    body: bytes
    # The version of the record in it, if it is one.
    version: int | None = None
    replayed: bool = False
    # Whether it only tells what would happen.
    preview: bool = False


def recall(ctx: Context, operation: str, given: Input) -> Answer | None:
    """The answer that this key got before, if it did; a key belongs to one request."""
    row = ctx.rows.one(
        "SELECT fingerprint, answer, version FROM replay WHERE organisation_id = :organisation"
        " AND credential = :credential AND key = :key AND created_at > :since",
        credential=ctx.actor.credential,
        key=ctx.request.replay_key,
        since=moment_text(ctx.now - KEPT),
    )
    if row is None:
        return None
    fingerprint, answer, version = row
    if fingerprint != _fingerprint(operation, given):
        raise Invalid([Fault("Idempotency-Key", "was used before for a different request")])
    return Answer(str(answer).encode(), None if version is None else int(version), replayed=True)


def remember(ctx: Context, operation: str, given: Input, answer: Answer) -> None:
    """Keep the answer beside the change it tells of."""
    ctx.rows.run(
        "INSERT INTO replay (organisation_id, credential, key, fingerprint, answer, version, created_at)"
        " VALUES (:organisation, :credential, :key, :fingerprint, :answer, :version, :at)"
        " ON CONFLICT (organisation_id, credential, key) DO UPDATE SET fingerprint = excluded.fingerprint,"
        " answer = excluded.answer, version = excluded.version, created_at = excluded.created_at",
        credential=ctx.actor.credential,
        key=ctx.request.replay_key,
        fingerprint=_fingerprint(operation, given),
        answer=answer.body.decode(),
        version=answer.version,
        at=ctx.at,
    )


def forget_old(rows: Handle, now: datetime) -> int:
    """Remove what is kept no longer; how much it was."""
    return rows.run("DELETE FROM replay WHERE created_at <= :before", before=moment_text(now - KEPT))


def _fingerprint(operation: str, given: Input) -> str:
    request = f"{operation}\n{given.model_dump_json(by_alias=True, exclude_unset=True)}"
    return hashlib.sha256(request.encode()).hexdigest()

"""One-time addresses to which programs send files: each takes one file for one record, and is gone when it is used."""

from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.identity.secrets import UPLOAD_ADDRESS, hash_secret, is_secret
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import Context
from mainstay.values.moments import moment_text

LIFETIME = timedelta(minutes=15)
# How many addresses one program may have that are not used yet.
MAX_OPEN_ADDRESSES = 50


class ExpectedFile(NamedTuple):
    """What an address takes: the file of this name, for this record."""

    record_id: str
    name: str
    # None for any type that is accepted.
    media_type: str | None
    visibility: str


class UploadAddress(NamedTuple):
    """An address that was not used yet, and who asked for it."""

    organisation: str
    id: str
    credential: str
    file: ExpectedFile


def insert_address(ctx: Context, upload_id: str, secret: str, file: ExpectedFile, expires_at: str) -> None:
    """Store an address that this secret opens."""
    ctx.db.run(
        "INSERT INTO upload"
        " (organisation_id, id, hash, credential, record_id, name, media_type, visibility, expires_at) VALUES"
        " (:organisation, :id, :hash, :credential, :record_id, :name, :media_type, :visibility, :expires_at)",
        id=upload_id,
        hash=hash_secret(secret),
        credential=ctx.actor.credential,
        expires_at=expires_at,
        **file._asdict(),
    )


def count_open_addresses(ctx: Context) -> int:
    """Return how many addresses of this program still wait for their file."""
    row = ctx.db.one(
        "SELECT count(*) FROM upload WHERE organisation_id = :organisation AND credential = :credential"
        " AND expires_at > :now",
        credential=ctx.actor.credential,
        now=ctx.now_text,
    )
    return int(str(row[0])) if row else 0


def find_address(db: DatabaseHandle, secret: str, now: datetime) -> UploadAddress | None:
    """Return the address that a secret opens, or None.

    The handle is not bound to one organisation, because the address says which organisation it belongs to.
    """
    if not is_secret(secret, UPLOAD_ADDRESS):
        return None
    row = db.one(
        "SELECT organisation_id, id, credential, record_id, name, media_type, visibility FROM upload"
        " WHERE hash = :hash AND expires_at > :now",
        hash=hash_secret(secret),
        now=moment_text(now),
    )
    if row is None:
        return None
    organisation, upload_id, credential, record_id, name, media_type, visibility = row
    file = ExpectedFile(str(record_id), str(name), None if media_type is None else str(media_type), str(visibility))
    return UploadAddress(str(organisation), str(upload_id), str(credential), file)


def use_address(db: DatabaseHandle, upload_id: str) -> bool:
    """Delete an address because a file arrives, and return whether it was still there."""
    return db.run("DELETE FROM upload WHERE organisation_id = :organisation AND id = :id", id=upload_id) > 0


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete the addresses that were not used in time."""
    db.run("DELETE FROM upload WHERE expires_at <= :now", now=moment_text(now))

"""Return tickets: where someone wanted to go before they signed in, and what they had typed there.

The path is stored here, so that no address travels in the URL. What was typed is encrypted and belongs to one account.
"""

import secrets
from datetime import datetime, timedelta

from mainstay.identity.secrets import hash_secret
from mainstay.infrastructure.database import DatabaseHandle, UniqueViolation
from mainstay.values.moments import moment_text

LIFETIME = timedelta(minutes=10)


def issue_ticket(db: DatabaseHandle, path: str, now: datetime) -> str:
    """Create a ticket that leads back to a path of this server, and return its token."""
    ticket = secrets.token_urlsafe(32)
    db.run(
        "INSERT INTO return_ticket (hash, path, expires_at) VALUES (:hash, :path, :until)",
        hash=hash_secret(ticket),
        path=path,
        until=moment_text(now + LIFETIME),
    )
    return ticket


def find(db: DatabaseHandle, ticket: str, now: datetime) -> str | None:
    """Return the path that a ticket leads to if it is still valid, otherwise None."""
    row = db.one(
        "SELECT path FROM return_ticket WHERE hash = :hash AND expires_at > :now",
        hash=hash_secret(ticket),
        now=moment_text(now),
    )
    return str(row[0]) if row else None


def redeem_ticket(db: DatabaseHandle, ticket: str, now: datetime) -> str | None:
    """Return the path that a ticket leads to, and delete the ticket."""
    path = find(db, ticket, now)
    was_deleted = db.run("DELETE FROM return_ticket WHERE hash = :hash", hash=hash_secret(ticket))
    return path if was_deleted else None


def store_typed(db: DatabaseHandle, account_id: str, encrypted: str, now: datetime) -> str:
    """Store what someone typed, encrypted, and return a ticket to it. The ticket leads to no path."""
    ticket = secrets.token_urlsafe(32)
    db.run(
        "INSERT INTO return_ticket (hash, path, expires_at, typed, account_id)"
        " VALUES (:hash, '/', :until, :typed, :account)",
        hash=hash_secret(ticket),
        until=moment_text(now + LIFETIME),
        typed=encrypted,
        account=account_id,
    )
    return ticket


def find_typed(db: DatabaseHandle, ticket: str, account_id: str, now: datetime) -> str | None:
    """Return what this account typed, still encrypted, or None if the ticket is no longer valid."""
    row = db.one(
        "SELECT typed FROM return_ticket WHERE hash = :hash AND account_id = :account AND expires_at > :now",
        hash=hash_secret(ticket),
        account=account_id,
        now=moment_text(now),
    )
    return str(row[0]) if row else None


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete the tickets that were not used in time."""
    db.run("DELETE FROM return_ticket WHERE expires_at <= :now", now=moment_text(now))


def mark_answered(db: DatabaseHandle, nonce: str, until: str) -> bool:
    """Mark an approval page as answered. Return False if it was answered before."""
    try:
        db.run("INSERT INTO oauth_ticket (nonce, expires_at) VALUES (:nonce, :until)", nonce=nonce, until=until)
    except UniqueViolation:
        return False
    return True

"""Browsers that have signed in before.

They let the owner of an account sign in while strangers try passwords: attempts from a known browser are counted
separately. Each browser is known by a secret that belongs to one account. The secret changes at every sign-in and is
deleted when the password changes. It gives no access by itself.
"""

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from mainstay.identity.secrets import hash_secret
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.moments import moment_text

LIFETIME = timedelta(days=365)
# For each account. If there are more, the oldest is deleted.
MAX_DEVICES = 20


def renew_device(db: DatabaseHandle, account_id: str, browser_secrets: Iterable[str], now: datetime) -> tuple[str, ...]:
    """Return the secrets that a browser keeps: a new one for this account, and its secrets for other accounts.

    A stolen secret is useful only until its owner signs in again.
    """
    known = {secret: account_of(db, secret, now) for secret in browser_secrets}
    for secret in (secret for secret, owner in known.items() if owner == account_id):
        db.run("DELETE FROM device WHERE hash = :hash", hash=hash_secret(secret))
    return (
        _insert(db, account_id, now),
        *(secret for secret, owner in known.items() if owner not in {None, account_id}),
    )


def find(db: DatabaseHandle, account_id: str, browser_secrets: Iterable[str], now: datetime) -> str | None:
    """Return which of a browser's secrets is known for this account, or None."""
    return next((secret for secret in browser_secrets if account_of(db, secret, now) == account_id), None)


def account_of(db: DatabaseHandle, secret: str, now: datetime) -> str | None:
    """Return the account that a secret is known for, or None."""
    row = db.one(
        "SELECT account_id FROM device WHERE hash = :hash AND created_at > :since",
        hash=hash_secret(secret),
        since=moment_text(now - LIFETIME),
    )
    return str(row[0]) if row else None


def delete_devices(db: DatabaseHandle, account_id: str) -> None:
    """Delete all known browsers of an account."""
    db.run("DELETE FROM device WHERE account_id = :account", account=account_id)


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete the browsers that have not signed in for a year."""
    db.run("DELETE FROM device WHERE created_at <= :since", since=moment_text(now - LIFETIME))


def _insert(db: DatabaseHandle, account_id: str, now: datetime) -> str:
    secret = secrets.token_urlsafe(32)
    db.run(
        "INSERT INTO device (hash, account_id, created_at) VALUES (:hash, :account, :at)",
        hash=hash_secret(secret),
        account=account_id,
        at=moment_text(now),
    )
    db.run(
        "DELETE FROM device WHERE account_id = :account AND hash NOT IN"
        " (SELECT hash FROM device WHERE account_id = :account ORDER BY created_at DESC, hash LIMIT :most)",
        account=account_id,
        most=MAX_DEVICES,
    )
    return secret

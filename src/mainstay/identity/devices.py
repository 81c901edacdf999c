"""Browsers that have signed in before, so that strangers who try passwords cannot keep an account's owner out.

Each is known by a secret that belongs to one account, is new at every sign-in, and ends when the password changes. It
opens nothing: it only lets attempts be counted by themselves.
"""

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from mainstay.backing.database import Handle
from mainstay.identity.secrets import secret_hash
from mainstay.values.moments import moment_text

KEPT = timedelta(days=365)
# Of one account; who signs in on more has the oldest forgotten.
MOST = 20


def renew(rows: Handle, account: str, carried: Iterable[str], now: datetime) -> tuple[str, ...]:
    """What a browser carries from now on: a new secret for this account, and what it carries for others.

    A secret that was stolen is of use until its owner signs in again.
    """
    known = {secret: account_of(rows, secret, now) for secret in carried}
    for secret in (secret for secret, whose in known.items() if whose == account):
        rows.run("DELETE FROM device WHERE hash = :hash", hash=secret_hash(secret))
    return (_insert(rows, account, now), *(secret for secret, whose in known.items() if whose not in {None, account}))


def find(rows: Handle, account: str, carried: Iterable[str], now: datetime) -> str | None:
    """Which of the secrets that a browser carries is known for this account."""
    return next((secret for secret in carried if account_of(rows, secret, now) == account), None)


def account_of(rows: Handle, secret: str, now: datetime) -> str | None:
    """The account that a secret is known for."""
    row = rows.one(
        "SELECT account_id FROM device WHERE hash = :hash AND created_at > :since",
        hash=secret_hash(secret),
        since=moment_text(now - KEPT),
    )
    return str(row[0]) if row else None


def end_all(rows: Handle, account: str) -> None:
    """Know no browser of an account any longer."""
    rows.run("DELETE FROM device WHERE account_id = :account", account=account)


def forget_old(rows: Handle, now: datetime) -> None:
    """Remove those that have not signed in for a year."""
    rows.run("DELETE FROM device WHERE created_at <= :since", since=moment_text(now - KEPT))


def _insert(rows: Handle, account: str, now: datetime) -> str:
    secret = secrets.token_urlsafe(32)
    rows.run(
        "INSERT INTO device (hash, account_id, created_at) VALUES (:hash, :account, :at)",
        hash=secret_hash(secret),
        account=account,
        at=moment_text(now),
    )
    rows.run(
        "DELETE FROM device WHERE account_id = :account AND hash NOT IN"
        " (SELECT hash FROM device WHERE account_id = :account ORDER BY created_at DESC, hash LIMIT :most)",
        account=account,
        most=MOST,
    )
    return secret

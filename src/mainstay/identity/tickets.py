"""Return tickets: where someone wanted to go before signing in, kept here so that no address travels with them.

And what they had typed there, sealed, for one account.
"""

import secrets
from datetime import datetime, timedelta

from mainstay.backing.database import Clash, Handle
from mainstay.identity.secrets import secret_hash
from mainstay.values.moments import moment_text

LIFE = timedelta(minutes=10)


def issue(rows: Handle, path: str, now: datetime) -> str:
    """A ticket back to a path of this server."""
    ticket = secrets.token_urlsafe(32)
    rows.run(
        "INSERT INTO return_ticket (hash, path, expires_at) VALUES (:hash, :path, :until)",
        hash=secret_hash(ticket),
        path=path,
        until=moment_text(now + LIFE),
    )
    return ticket


def find(rows: Handle, ticket: str, now: datetime) -> str | None:
    """Where a ticket leads, while it lives."""
    row = rows.one(
        "SELECT path FROM return_ticket WHERE hash = :hash AND expires_at > :now",
        hash=secret_hash(ticket),
        now=moment_text(now),
    )
    return str(row[0]) if row else None


def redeem(rows: Handle, ticket: str, now: datetime) -> str | None:
    """Where a ticket leads, once."""
    path = find(rows, ticket, now)
    gone = rows.run("DELETE FROM return_ticket WHERE hash = :hash", hash=secret_hash(ticket))
    return path if gone else None


def keep_typed(rows: Handle, account: str, sealed: str, now: datetime) -> str:
    """A ticket to what someone typed; it leads to no path."""
    ticket = secrets.token_urlsafe(32)
    rows.run(
        "INSERT INTO return_ticket (hash, path, expires_at, typed, account_id)"
        " VALUES (:hash, '/', :until, :typed, :account)",
        hash=secret_hash(ticket),
        until=moment_text(now + LIFE),
        typed=sealed,
        account=account,
    )
    return ticket


def find_typed(rows: Handle, ticket: str, account: str, now: datetime) -> str | None:
    """What this account typed, sealed, while it is kept."""
    row = rows.one(
        "SELECT typed FROM return_ticket WHERE hash = :hash AND account_id = :account AND expires_at > :now",
        hash=secret_hash(ticket),
        account=account,
        now=moment_text(now),
    )
    return str(row[0]) if row else None


def forget_old(rows: Handle, now: datetime) -> None:
    """Remove the tickets that were not used in time."""
    rows.run("DELETE FROM return_ticket WHERE expires_at <= :now", now=moment_text(now))


def spend(rows: Handle, nonce: str, until: str) -> bool:
    """Use up an approval screen; False when it was answered before."""
    try:
        rows.run("INSERT INTO oauth_ticket (nonce, expires_at) VALUES (:nonce, :until)", nonce=nonce, until=until)
    except Clash:
        return False
    return True

"""Sessions: a browser that has signed in, known by a secret whose hash is stored.

These functions are not bound to one organisation. A session belongs to an account, which may be a person of several
organisations.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.identity.secrets import hash_secret
from mainstay.infrastructure.database import DatabaseHandle, Row
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text, parse_moment
from mainstay.vocabulary.permissions import Role

MAX_IDLE = timedelta(hours=12)
MAX_AGE = timedelta(days=7)
# The same for a device on which the person asked to stay signed in. It has no shorter limit for time without use.
MAX_REMEMBERED_AGE = timedelta(days=90)
# How outdated the recorded last use may be, so that not every page view writes to the database.
SEEN_PRECISION = timedelta(minutes=1)
# The longest description of a browser that is stored.
MAX_BROWSER_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Session:
    """A session that is still valid."""

    id: str
    account: str
    email: str
    # The organisation that the person last chose to work in.
    organisation: str | None
    browser: str
    created_at: str
    seen_at: str
    # Whether the person asked to stay signed in on this device.
    is_remembered: bool

    def is_seen_at_outdated(self, now: datetime) -> bool:
        """Return whether its last use should be recorded again."""
        return now - parse_moment(self.seen_at) > SEEN_PRECISION

    @property
    def expires_at(self) -> str | None:
        """The moment until which the device stays signed in, if the person asked for that."""
        return moment_text(parse_moment(self.created_at) + MAX_REMEMBERED_AGE) if self.is_remembered else None


@dataclass(frozen=True, slots=True)
class Membership:
    """An organisation in which an account is an active person."""

    organisation: str
    organisation_name: str
    person: str
    person_name: str
    role: Role
    subscribed: bool
    time_zone: str
    country: str
    currency: str
    # The name of the logo's file, or "".
    logo: str
    # Whether it is a sample firm, in which the person looks around.
    is_sample: bool
    # Whose model the assistant uses there.
    assistant_source: str


_IS_VALID = (
    "(kept = 0 AND seen_at > :idle AND session.created_at > :oldest"
    " OR kept = 1 AND session.created_at > :oldest_remembered)"
)
_SELECT = f"""
SELECT session.id, account_id, account.email, organisation_id, browser, session.created_at, seen_at, kept
FROM session JOIN account ON account.id = account_id
WHERE {_IS_VALID}
"""


class NewSession(NamedTuple):
    """A session to start."""

    account: str
    organisation: str | None
    browser: str
    # Whether the person asked to stay signed in on this device.
    is_remembered: bool = False


def begin_session(db: DatabaseHandle, session: NewSession, now: datetime) -> str:
    """Start a session and return its secret."""
    secret = secrets.token_urlsafe(32)
    db.run(
        "INSERT INTO session (hash, id, account_id, organisation_id, browser, created_at, seen_at, kept)"
        " VALUES (:hash, :id, :account, :chosen, :browser, :at, :at, :kept)",
        hash=hash_secret(secret),
        id=new_id("ses"),
        account=session.account,
        chosen=session.organisation,
        browser=session.browser[:MAX_BROWSER_LENGTH],
        at=moment_text(now),
        kept=int(session.is_remembered),
    )
    return secret


def find(db: DatabaseHandle, secret: str, now: datetime) -> Session | None:
    """Return the session with this secret if it is still valid, otherwise None."""
    row = db.one(f"{_SELECT} AND session.hash = :hash", hash=hash_secret(secret), **_validity_bounds(now))
    return _build_session(row) if row else None


def is_known(db: DatabaseHandle, secret: str) -> bool:
    """Return whether there is a session with this secret, even if it has expired. Ended ones are deleted."""
    return db.one("SELECT id FROM session WHERE hash = :hash", hash=hash_secret(secret)) is not None


def belongs_to_person(db: DatabaseHandle, session_id: str, person_id: str) -> bool:
    """Return whether a session is one of a person of the handle's organisation, in it, and was not ended."""
    row = db.one(
        "SELECT 1 FROM session JOIN person ON person.account_id = session.account_id"
        " WHERE session.id = :session AND person.organisation_id = :organisation AND person.id = :person"
        " AND (session.organisation_id IS NULL OR session.organisation_id = :organisation)",
        session=session_id,
        person=person_id,
    )
    return row is not None


def find_account(db: DatabaseHandle, person_id: str) -> str:
    """Return the account of a person of the handle's organisation; empty if they have none."""
    row = db.one(
        "SELECT account_id FROM person WHERE organisation_id = :organisation AND id = :person", person=person_id
    )
    return str(row[0] or "") if row else ""


def list_sessions(db: DatabaseHandle, account_id: str, now: datetime) -> list[Session]:
    """Return the valid sessions of an account, the most recently used first."""
    rows = db.all(
        f"{_SELECT} AND account_id = :account ORDER BY seen_at DESC, session.id DESC LIMIT 100",
        account=account_id,
        **_validity_bounds(now),
    )
    return [_build_session(row) for row in rows]


def list_memberships(db: DatabaseHandle, account_id: str, chosen: str | None = None) -> list[Membership]:
    """Return the organisations in which the account is an active person, sorted by name.

    They are a thousand at most. The chosen one is among them in any case.
    """
    rows = db.all(
        "SELECT o.id, o.name, p.id, p.name, p.role, o.subscription, o.time_zone, o.country, o.currency,"
        " coalesce(o.logo, ''), o.is_sample, o.assistant_source"
        " FROM person p JOIN organisation o ON o.id = p.organisation_id"
        " WHERE p.account_id = :account AND p.status = 'active'"
        " ORDER BY CASE WHEN o.id = :chosen THEN 0 ELSE 1 END, o.name, o.id LIMIT 1000",
        account=account_id,
        chosen=chosen or "",
    )
    memberships = [_build_membership(row) for row in rows]
    return sorted(memberships, key=lambda membership: (membership.organisation_name, membership.organisation))


def mark_seen(db: DatabaseHandle, session_id: str, now: datetime) -> None:
    """Record that a session was used now."""
    db.run("UPDATE session SET seen_at = :at WHERE id = :id", id=session_id, at=moment_text(now))


def choose_organisation(db: DatabaseHandle, session_id: str, organisation: str) -> None:
    """Switch a session to another organisation."""
    db.run("UPDATE session SET organisation_id = :chosen WHERE id = :id", id=session_id, chosen=organisation)


def end_session(db: DatabaseHandle, account_id: str, session_id: str) -> None:
    """End one session of an account."""
    db.run("DELETE FROM session WHERE id = :id AND account_id = :account", id=session_id, account=account_id)


def end_sessions(db: DatabaseHandle, account_id: str, except_session_id: str = "") -> None:
    """End every session of an account, except one if it is given."""
    db.run(
        "DELETE FROM session WHERE account_id = :account AND id <> :excepted",
        account=account_id,
        excepted=except_session_id,
    )


def end_sessions_of_person(db: DatabaseHandle, person_id: str) -> None:
    """End every session of a person in the handle's organisation."""
    db.run(
        "DELETE FROM session WHERE organisation_id = :organisation AND account_id = (SELECT person.account_id"
        " FROM person WHERE person.organisation_id = :organisation AND person.id = :person)",
        person=person_id,
    )


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete the sessions that are too old to be valid. Expired ones are recognised until then (`is_known`)."""
    db.run(
        "DELETE FROM session WHERE created_at <= :oldest_remembered",
        oldest_remembered=moment_text(now - MAX_REMEMBERED_AGE),
    )


def _validity_bounds(now: datetime) -> dict[str, str]:
    return {
        "idle": moment_text(now - MAX_IDLE),
        "oldest": moment_text(now - MAX_AGE),
        "oldest_remembered": moment_text(now - MAX_REMEMBERED_AGE),
    }


def _build_membership(row: Row) -> Membership:
    organisation, name, person, person_name, role, subscription, zone, country, currency, logo, is_sample, source = row
    return Membership(
        organisation=str(organisation),
        organisation_name=str(name),
        person=str(person),
        person_name=str(person_name),
        role=Role(str(role)),
        subscribed=subscription == "active",
        time_zone=str(zone),
        country=str(country),
        currency=str(currency),
        logo=str(logo),
        is_sample=bool(is_sample),
        assistant_source=str(source),
    )


def _build_session(row: Row) -> Session:
    session_id, account, email, organisation, browser, created_at, seen_at, kept = row
    return Session(
        id=str(session_id),
        account=str(account),
        email=str(email),
        organisation=None if organisation is None else str(organisation),
        browser=str(browser),
        created_at=str(created_at),
        seen_at=str(seen_at),
        is_remembered=bool(kept),
    )

"""Sessions: a browser that has signed in, known by a secret of which only the hash is kept.

Everything here looks across organisations: a session belongs to an account, which may be a person of several.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from mainstay.backing.database import Handle
from mainstay.identity.secrets import secret_hash
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text, parse_moment

IDLE = timedelta(hours=12)
LONGEST = timedelta(days=7)
# How exactly the last use is kept: a page does not write to the database each time it is looked at.
SEEN_EVERY = timedelta(minutes=1)
# What a browser says of itself is kept this far.
BROWSER_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Session:
    """A session that lives."""

    id: str
    account: str
    email: str
    # The organisation that its person last chose to work in.
    organisation: str | None
    browser: str
    created_at: str
    seen_at: str

    def is_stale(self, now: datetime) -> bool:
        """Whether it is time to write down that it was seen."""
        return now - parse_moment(self.seen_at) > SEEN_EVERY


@dataclass(frozen=True, slots=True)
class Membership:
    """A place where an account is an active person."""

    organisation: str
    organisation_name: str
    person: str
    person_name: str
    role: Role
    subscribed: bool
    time_zone: str
    country: str
    currency: str
    # The name of the file, where there is one.
    logo: str


_SELECT = """
SELECT s.id, s.account_id, a.email, s.organisation_id, s.browser, s.created_at, s.seen_at
FROM session s JOIN account a ON a.id = s.account_id
WHERE s.seen_at > :idle AND s.created_at > :oldest
"""


def begin(rows: Handle, account: str, organisation: str | None, browser: str, now: datetime) -> str:
    """A new session of an account; its secret."""
    secret = secrets.token_urlsafe(32)
    rows.run(
        "INSERT INTO session (hash, id, account_id, organisation_id, browser, created_at, seen_at)"
        " VALUES (:hash, :id, :account, :chosen, :browser, :at, :at)",
        hash=secret_hash(secret),
        id=new_id("ses"),
        account=account,
        chosen=organisation,
        browser=browser[:BROWSER_LENGTH],
        at=moment_text(now),
    )
    return secret


def find(rows: Handle, secret: str, now: datetime) -> Session | None:
    """The session of a secret, while it lives."""
    row = rows.one(f"{_SELECT} AND s.hash = :hash", hash=secret_hash(secret), **_living(now))
    return _session(row) if row else None


def of_account(rows: Handle, account: str, now: datetime) -> list[Session]:
    """Every session of an account that lives, the latest used first."""
    found = rows.all(
        f"{_SELECT} AND s.account_id = :account ORDER BY s.seen_at DESC, s.id DESC LIMIT 100",
        account=account,
        **_living(now),
    )
    return [_session(row) for row in found]


def memberships(rows: Handle, account: str, chosen: str | None = None) -> list[Membership]:
    """Where the account is an active person, by the organisations' names; the chosen one among however many."""
    found = rows.all(
        "SELECT o.id, o.name, p.id, p.name, p.role, o.subscription, o.time_zone, o.country, o.currency,"
        " coalesce(o.logo, '')"
        " FROM person p JOIN organisation o ON o.id = p.organisation_id"
        " WHERE p.account_id = :account AND p.status = 'active'"
        " ORDER BY CASE WHEN o.id = :chosen THEN 0 ELSE 1 END, o.name, o.id LIMIT 1000",
        account=account,
        chosen=chosen or "",
    )
    found = sorted(found, key=lambda row: (str(row[1]), str(row[0])))
    return [
        Membership(organisation, name, person, person_name, Role(role), subscription == "active", *others)
        for organisation, name, person, person_name, role, subscription, *others in (map(str, row) for row in found)
    ]


def see(rows: Handle, session: str, now: datetime) -> None:
    """Write down that a session was used."""
    rows.run("UPDATE session SET seen_at = :at WHERE id = :id", id=session, at=moment_text(now))


def choose(rows: Handle, session: str, organisation: str) -> None:
    """Work in another organisation from now on."""
    rows.run("UPDATE session SET organisation_id = :chosen WHERE id = :id", id=session, chosen=organisation)


def end(rows: Handle, account: str, session: str) -> None:
    """End one session of an account."""
    rows.run("DELETE FROM session WHERE id = :id AND account_id = :account", id=session, account=account)


def end_all(rows: Handle, account: str, but: str = "") -> None:
    """End every session of an account, or every one but one."""
    rows.run("DELETE FROM session WHERE account_id = :account AND id <> :but", account=account, but=but)


def end_of_person(rows: Handle, person: str) -> None:
    """End every session in which a person of the handle's organisation is there."""
    rows.run(
        "DELETE FROM session WHERE organisation_id = :organisation AND account_id = (SELECT person.account_id"
        " FROM person WHERE person.organisation_id = :organisation AND person.id = :person)",
        person=person,
    )


def forget_old(rows: Handle, now: datetime) -> None:
    """Remove the sessions that live no longer."""
    rows.run("DELETE FROM session WHERE seen_at <= :idle OR created_at <= :oldest", **_living(now))


def _living(now: datetime) -> dict[str, str]:
    return {"idle": moment_text(now - IDLE), "oldest": moment_text(now - LONGEST)}


def _session(row: tuple[str | int | None, ...]) -> Session:
    identity, account, email, organisation, browser, created_at, seen_at = row
    return Session(
        str(identity),
        str(account),
        str(email),
        None if organisation is None else str(organisation),
        str(browser),
        str(created_at),
        str(seen_at),
    )

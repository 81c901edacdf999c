"""Links in emails: invitations and password resets, which work once, and a customer's link to a record.

No token is stored. It is derived from the link's ID and the installation's secret, so neither the database nor a
waiting email contains one. The link to a record uses the record's own ID.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from mainstay.infrastructure.database import DatabaseHandle, Value
from mainstay.values.email_address import fold_address
from mainstay.values.ids import is_id, new_id
from mainstay.values.moments import moment_text

PREFIX = "lnk"


class LinkKind(StrEnum):
    """What a link is for."""

    INVITATION = "invitation"
    RESET = "reset"
    QUOTE = "quote"
    INVOICE = "invoice"


LIFETIMES = {LinkKind.INVITATION: timedelta(days=7), LinkKind.RESET: timedelta(hours=1)}
_PATHS = {
    LinkKind.INVITATION: "/invitation",
    LinkKind.RESET: "/reset-password",
    LinkKind.QUOTE: "/q",
    LinkKind.INVOICE: "/i",
}
# The tables of the records that links lead to, which are also the prefixes of their IDs.
_RECORD_TABLES = {LinkKind.QUOTE: "quote", LinkKind.INVOICE: "invoice"}


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """A one-time link that is still valid."""

    id: str
    # The address it was sent to. A person who has the link has shown that the address is theirs.
    email: str
    organisation: str | None
    person: str | None
    account: str | None


@dataclass(frozen=True, slots=True)
class LinkMaker:
    """Builds links and checks their tokens."""

    secret: bytes
    base_url: str

    def build_url(self, kind: str, link: str) -> str:
        """Return the URL of a link, for an email."""
        return f"{self.base_url}{_PATHS[LinkKind(kind)]}/{self.build_token(LinkKind(kind), link)}"

    def build_token(self, kind: LinkKind, link: str) -> str:
        """Return the token that opens a link."""
        signature = hmac.digest(self.secret, f"{kind} {link}".encode(), hashlib.sha256)
        return f"{link}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"

    def verify_token(self, kind: LinkKind, token: str) -> str | None:
        """Return the link's ID if we made this token, otherwise None."""
        link, _, _ = token.partition(".")
        if not is_id(link, _RECORD_TABLES.get(kind, PREFIX)):
            return None
        is_genuine = hmac.compare_digest(token.encode(), self.build_token(kind, link).encode())
        return link if is_genuine else None


def find_linked_organisation(db: DatabaseHandle, kind: LinkKind, record_id: str) -> str | None:
    """Return the organisation of the record that a link leads to. The handle is not bound to one organisation."""
    row = db.one(f"SELECT organisation_id FROM {_RECORD_TABLES[kind]} WHERE id = :id", id=record_id)
    return str(row[0]) if row else None


def create_invitation_link(db: DatabaseHandle, person_id: str, email: str, now: datetime) -> str:
    """Create an invitation link for a person of the handle's organisation, and delete their earlier ones."""
    delete_invitations(db, person_id)
    return _insert(db, LinkKind.INVITATION, email, now, {"organisation": db.organisation, "person": person_id})


def create_reset_link(db: DatabaseHandle, account_id: str | None, email: str, now: datetime) -> str:
    """Create a password reset link.

    Without an account the link leads nowhere, but it takes the same work to create.
    """
    return _insert(db, LinkKind.RESET, email, now, {"account": account_id})


def find(db: DatabaseHandle, kind: LinkKind, link: str, now: datetime) -> OneTimeLink | None:
    """Return the link with this ID if it is still valid, otherwise None."""
    row = db.one(
        "SELECT id, email, organisation_id, person_id, account_id FROM one_time_link"
        " WHERE id = :id AND kind = :kind AND expires_at > :now",
        id=link,
        kind=kind,
        now=moment_text(now),
    )
    return OneTimeLink(str(row[0]), str(row[1]), _to_text(row[2]), _to_text(row[3]), _to_text(row[4])) if row else None


def use_link(db: DatabaseHandle, link: str) -> bool:
    """Delete a link because it is used, and return whether it was still there."""
    return db.run("DELETE FROM one_time_link WHERE id = :id", id=link) > 0


def delete_invitations(db: DatabaseHandle, person_id: str) -> None:
    """Delete the invitation links of a person of the handle's organisation."""
    db.run(
        "DELETE FROM one_time_link WHERE organisation_id = :organisation AND person_id = :person",
        person=person_id,
    )


def delete_resets(db: DatabaseHandle, account_id: str) -> None:
    """Delete the password reset links of an account."""
    db.run("DELETE FROM one_time_link WHERE account_id = :account", account=account_id)


def delete_old(db: DatabaseHandle, now: datetime) -> None:
    """Delete the links that were not used in time."""
    db.run("DELETE FROM one_time_link WHERE expires_at <= :now", now=moment_text(now))


def _insert(db: DatabaseHandle, kind: LinkKind, email: str, now: datetime, owner: dict[str, str | None]) -> str:
    link = new_id(PREFIX)
    db.run(
        "INSERT INTO one_time_link (id, kind, email, email_folded, organisation_id, person_id, account_id, expires_at)"
        " VALUES (:id, :kind, :email, :folded, :place, :person, :account, :until)",
        id=link,
        kind=kind,
        email=email,
        folded=fold_address(email),
        place=owner.get("organisation"),
        person=owner.get("person"),
        account=owner.get("account"),
        until=moment_text(now + LIFETIMES[kind]),
    )
    return link


def _to_text(value: Value) -> str | None:
    return None if value is None else str(value)

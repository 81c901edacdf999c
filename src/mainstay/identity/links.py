"""Links in mails: an invitation or a new password, which work once, and a customer's way to a record of theirs.

Nothing that opens anything is kept: a link's token is derived from its id and the installation's secret, so neither the
database nor a waiting mail holds one. A link to a record bears the record's own id.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from mainstay.backing.database import Handle, Value
from mainstay.values.ids import is_id, new_id
from mainstay.values.mailbox import fold_address
from mainstay.values.moments import moment_text

PREFIX = "lnk"


class Kind(StrEnum):
    """What a link is for."""

    INVITATION = "invitation"
    RESET = "reset"
    QUOTE = "quote"
    INVOICE = "invoice"


LIVES = {Kind.INVITATION: timedelta(days=7), Kind.RESET: timedelta(hours=1)}
_PATHS = {Kind.INVITATION: "/invitation", Kind.RESET: "/reset-password", Kind.QUOTE: "/q", Kind.INVOICE: "/i"}
# What the ids in links to records begin with.
_RECORDS = {Kind.QUOTE: "quote", Kind.INVOICE: "invoice"}


@dataclass(frozen=True, slots=True)
class Link:
    """A link that lives."""

    id: str
    # The mailbox it was sent to, which whoever has the link has shown to be theirs.
    email: str
    organisation: str | None
    person: str | None
    account: str | None


@dataclass(frozen=True, slots=True)
class LinkMaker:
    """Makes and reads the tokens of links."""

    secret: bytes
    base_url: str

    def address(self, kind: str, link: str) -> str:
        """The link as it stands in a mail."""
        return f"{self.base_url}{_PATHS[Kind(kind)]}/{self.token(Kind(kind), link)}"

    def token(self, kind: Kind, link: str) -> str:
        """What opens a link."""
        seal = hmac.digest(self.secret, f"{kind} {link}".encode(), hashlib.sha256)
        return f"{link}.{urlsafe_b64encode(seal).rstrip(b'=').decode()}"

    def read(self, kind: Kind, token: str) -> str | None:
        """The id in a token that we made."""
        link, _, _ = token.partition(".")
        if not is_id(link, _RECORDS.get(kind, PREFIX)):
            return None
        genuine = hmac.compare_digest(token.encode(), self.token(kind, link).encode())
        return link if genuine else None


def find_owner(rows: Handle, kind: Kind, record: str) -> str | None:
    """The organisation whose record a link is to; the handle looks across them."""
    row = rows.one(f"SELECT organisation_id FROM {_RECORDS[kind]} WHERE id = :id", id=record)
    return str(row[0]) if row else None


def make_invitation(rows: Handle, person: str, email: str, now: datetime) -> str:
    """A link for a person of the handle's organisation; links they got before are dead."""
    end_invitations(rows, person)
    return _insert(rows, Kind.INVITATION, email, now, {"organisation": rows.organisation, "person": person})


def make_reset(rows: Handle, account: str | None, email: str, now: datetime) -> str:
    """A link to a new password. Where there is no account it leads nowhere, but is made with the same work."""
    return _insert(rows, Kind.RESET, email, now, {"account": account})


def find(rows: Handle, kind: Kind, link: str, now: datetime) -> Link | None:
    """The link with this id, while it lives."""
    row = rows.one(
        "SELECT id, email, organisation_id, person_id, account_id FROM one_time_link"
        " WHERE id = :id AND kind = :kind AND expires_at > :now",
        id=link,
        kind=kind,
        now=moment_text(now),
    )
    return Link(str(row[0]), str(row[1]), _text(row[2]), _text(row[3]), _text(row[4])) if row else None


def use(rows: Handle, link: str) -> bool:
    """Use a link up; whether it was still there."""
    return rows.run("DELETE FROM one_time_link WHERE id = :id", id=link) > 0


def end_invitations(rows: Handle, person: str) -> None:
    """End the invitations of a person of the handle's organisation."""
    rows.run(
        "DELETE FROM one_time_link WHERE organisation_id = :organisation AND person_id = :person",
        person=person,
    )


def end_resets(rows: Handle, account: str) -> None:
    """End what could still set an account's password."""
    rows.run("DELETE FROM one_time_link WHERE account_id = :account", account=account)


def forget_old(rows: Handle, now: datetime) -> None:
    """Remove the links that were not used in time."""
    rows.run("DELETE FROM one_time_link WHERE expires_at <= :now", now=moment_text(now))


def _insert(rows: Handle, kind: Kind, email: str, now: datetime, whom: dict[str, str | None]) -> str:
    link = new_id(PREFIX)
    rows.run(
        "INSERT INTO one_time_link (id, kind, email, email_folded, organisation_id, person_id, account_id, expires_at)"
        " VALUES (:id, :kind, :email, :folded, :place, :person, :account, :until)",
        id=link,
        kind=kind,
        email=email,
        folded=fold_address(email),
        place=whom.get("organisation"),
        person=whom.get("person"),
        account=whom.get("account"),
        until=moment_text(now + LIVES[kind]),
    )
    return link


def _text(value: Value) -> str | None:
    return None if value is None else str(value)

"""Accounts: an account is what a human being signs in with. One account may be a person of several organisations."""

from typing import NamedTuple

from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.infrastructure.database import UniqueViolation
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Preparation
from mainstay.values.email_address import fold_address
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict, NotFound


def find(ctx: Context, email: str) -> str | None:
    """Return the ID of the account with this email address, or None."""
    row = ctx.db.one("SELECT id FROM account WHERE email_folded = :folded", folded=fold_address(email))
    return str(row[0]) if row else None


class Account(NamedTuple):
    """What a person signs in with: the account's ID and its email address."""

    id: str
    email: str


def fetch_account_of(ctx: Context, person_id: str) -> Account:
    """Return the account that a person of the organisation signs in with."""
    row = ctx.db.one(
        "SELECT account.id, account.email FROM person JOIN account ON account.id = person.account_id"
        " WHERE person.organisation_id = :organisation AND person.id = :person",
        person=person_id,
    )
    if row is None:
        raise NotFound("sign-in")
    return Account(str(row[0]), str(row[1]))


def hash_new_password(preparation: Preparation, email: str, password: str) -> str:
    """Return the hash of a new account's password, or "" if the account exists and keeps its own password."""
    if preparation.read(lambda ctx: find(ctx, email)):
        return ""
    check_new_password("password", password)
    return hash_password(password)


def insert(ctx: Context, email: str, password_hash: str) -> str:
    """Create an account and return its ID."""
    account = new_id("acc")
    try:
        ctx.db.run(
            "INSERT INTO account (id, email, email_folded, password_hash, created_at)"
            " VALUES (:id, :email, :folded, :hash, :at)",
            id=account,
            email=email,
            folded=fold_address(email),
            hash=password_hash,
            at=ctx.now_text,
        )
    except UniqueViolation:
        # An invitation of another organisation created it at the same moment.
        raise Conflict(Message("An account for this email has just been created. Use its password.")) from None
    return account

"""Accounts: the sign-in of a human being, who may be a person of several organisations."""

from typing import NamedTuple

from mainstay.backing.database import Clash
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Ahead
from mainstay.terms.refusal import Conflict, NotFound
from mainstay.values.ids import new_id
from mainstay.values.mailbox import fold_address


def find(ctx: Context, email: str) -> str | None:
    """The account of an e-mail address."""
    row = ctx.rows.one("SELECT id FROM account WHERE email_folded = :folded", folded=fold_address(email))
    return str(row[0]) if row else None


class Account(NamedTuple):
    """A sign-in, and the address that it is known by."""

    id: str
    email: str


def fetch_of_person(ctx: Context, person: str) -> Account:
    """The account that a person of the organisation signs in with."""
    row = ctx.rows.one(
        "SELECT account.id, account.email FROM person JOIN account ON account.id = person.account_id"
        " WHERE person.organisation_id = :organisation AND person.id = :person",
        person=person,
    )
    if row is None:
        raise NotFound("sign-in")
    return Account(str(row[0]), str(row[1]))


def hash_for_new(ahead: Ahead, email: str, password: str) -> str:
    """What is kept of the password of an account that is to be made; nothing where there is one: its own stays."""
    if ahead.read(lambda ctx: find(ctx, email)):
        return ""
    check_new_password("password", password)
    return hash_password(password)


def insert(ctx: Context, email: str, password_hash: str) -> str:
    """A new account; its id."""
    account = new_id("acc")
    try:
        ctx.rows.run(
            "INSERT INTO account (id, email, email_folded, password_hash, created_at)"
            " VALUES (:id, :email, :folded, :hash, :at)",
            id=account,
            email=email,
            folded=fold_address(email),
            hash=password_hash,
            at=ctx.at,
        )
    except Clash:
        # At the same moment, by an invitation of another organisation.
        raise Conflict("This address has just got a sign-in. Use its password.") from None
    return account

"""Accounts: the sign-in of a human being, who may be a person of several organisations."""

from mainstay.identity.passwords import hash_password
from mainstay.kernel.context import Context
from mainstay.values.ids import new_id


def find(ctx: Context, email: str) -> str | None:
    """The account of an e-mail address."""
    row = ctx.rows.one("SELECT id FROM account WHERE email = :email", email=email.casefold())
    return str(row[0]) if row else None


def insert(ctx: Context, email: str, password: str) -> str:
    """A new account; its id."""
    account = new_id("acc")
    ctx.rows.run(
        "INSERT INTO account (id, email, password_hash, created_at) VALUES (:id, :email, :hash, :at)",
        id=account,
        email=email.casefold(),
        hash=hash_password(password),
        at=ctx.at,
    )
    return account

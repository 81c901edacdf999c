"""Accounts: the sign-in of a human being, who may be a person of several organisations."""

from mainstay.backing.database import Clash
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Ahead
from mainstay.terms.refusal import Conflict
from mainstay.values.ids import new_id
from mainstay.values.mailbox import fold_address


def find(ctx: Context, email: str) -> str | None:
    """The account of an e-mail address."""
    row = ctx.rows.one("SELECT id FROM account WHERE email_folded = :folded", folded=fold_address(email))
    return str(row[0]) if row else None


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

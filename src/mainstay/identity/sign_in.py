"""Check an email address and a password, and send password reset links.

An unknown address and a wrong password get the same answer after the same work. These functions concern the account
alone and are not bound to one organisation.
"""

from dataclasses import dataclass
from datetime import datetime

from mainstay.changes import outbox
from mainstay.changes.outbox import OutboxTask
from mainstay.identity import links
from mainstay.identity.email_format import EmailFormat, undated_format_of
from mainstay.identity.emails import LINK_MARK, PersonEmail, build_email_task
from mainstay.identity.links import LIFETIMES, LinkKind
from mainstay.identity.passwords import MAX_LENGTH, is_password
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseHandle, Row
from mainstay.values.email_address import fold_address
from mainstay.values.lifetimes import describe_lifetime
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.values.reader_language import Languages
from mainstay.vocabulary.refusal import NotFound, Unauthenticated

# The hash that is checked for an unknown address, so that it takes as long as for a known one.
_DUMMY_HASH = "$argon2id$v=19$m=19456,t=2,p=1$8ETtMX7cUvAq8tJjKrFXCA$WLDhK6WYtNfWHpQfCk13IoHTH6nkorABav2NN1GVxWE"


class WrongCredentials(Unauthenticated):
    """The address is unknown or the password is wrong. The message does not say which."""

    def __init__(self) -> None:
        super().__init__(Message("The email or password is wrong."))


class InvalidLink(Unauthenticated):
    """A one-time link was used, has expired, or was replaced by a newer one."""

    def __init__(self) -> None:
        super().__init__(
            Message("This link no longer works: it was already used, has expired, or a newer one was sent.")
        )


@dataclass(frozen=True, slots=True)
class KnownAddress:
    """What is known about an email address before its password is checked."""

    # The address as it was entered when the account was created. Emails go there.
    email: str
    # The normalised address, which sign-ins are compared with.
    folded: str
    account: str | None
    password_hash: str
    # Failed attempts are counted since the last success.
    signed_in_at: str


def look_up_address(db: DatabaseHandle, email: str) -> KnownAddress:
    """Return what is known about an email address, also if there is no account."""
    folded = fold_address(email)
    row = db.one(f"{_SELECT} WHERE email_folded = :folded", folded=folded)
    return _build_address(row) if row else KnownAddress(email, folded, None, _DUMMY_HASH, "")


def look_up_account(db: DatabaseHandle, account_id: str) -> KnownAddress:
    """Return what is known about the account of someone who is signed in."""
    row = db.one(f"{_SELECT} WHERE id = :account", account=account_id)
    if row is None:
        raise NotFound("account")
    return _build_address(row)


_SELECT = "SELECT email, email_folded, id, password_hash, signed_in_at FROM account"


def _build_address(row: Row) -> KnownAddress:
    email, folded, account, password_hash, signed_in_at = row
    return KnownAddress(str(email), str(folded), str(account), str(password_hash), str(signed_in_at or ""))


def check_password(known: KnownAddress, password: str) -> str:
    """Return the account if the password is correct. This is slow on purpose."""
    is_right = len(password) <= MAX_LENGTH and is_password(password, known.password_hash)
    if known.account is None or not is_right:
        raise WrongCredentials
    return known.account


def clear_failed_attempts(db: DatabaseHandle, account_id: str, now: datetime) -> None:
    """Start counting failed attempts from zero again."""
    db.run("UPDATE account SET signed_in_at = :at WHERE id = :id", id=account_id, at=moment_text(now))


def find_email_organisation(database: Database, email: str) -> str:
    """Return the organisation whose lock an email to this address waits for."""
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        return find_organisation_of(db, look_up_address(db, email).account)


def send_reset_link(database: Database, languages: Languages, email: str, now: datetime) -> bool:
    """Email a password reset link to this address, and return whether the address belongs to anyone."""
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        known = look_up_address(db, email)
        organisation = find_organisation_of(db, known.account)
    with database.write_transaction(organisation) as db:
        link = links.create_reset_link(db, known.account, known.email, now)
        _enqueue_email(db, _build_reset_email(undated_format_of(db, languages), known.email, link), now)
    return organisation != ALL_ORGANISATIONS


def _build_reset_email(email_format: EmailFormat, to: str, link: str) -> OutboxTask:
    paragraphs = (
        Message("Hello,"),
        Message("Someone, probably you, asked to reset the Mainstay password for this email address."),
        Message("Choose a new password here within {within}:", within=describe_lifetime(LIFETIMES[LinkKind.RESET])),
        LINK_MARK,
        Message("The link works once. If this was not you, ignore this email: your password stays the same."),
    )
    return build_email_task(
        PersonEmail(to, Message("Reset your Mainstay password"), paragraphs, (LinkKind.RESET, link)), email_format
    )


def _enqueue_email(db: DatabaseHandle, task: OutboxTask, now: datetime) -> None:
    """Enqueue an email in the name of the handle's organisation. An account without an organisation gets none."""
    if db.organisation != ALL_ORGANISATIONS:
        outbox.add_task(db, task, moment_text(now))


def find_organisation_of(db: DatabaseHandle, account_id: str | None) -> str:
    """Return an organisation that the account belongs to, or ALL_ORGANISATIONS.

    Emails to the account are sent in its name, and its audit trail lists the sign-in. If there are several, any will
    do.
    """
    row = db.one(
        "SELECT organisation_id FROM person WHERE account_id = :account ORDER BY organisation_id LIMIT 1",
        account=account_id,
    )
    return str(row[0]) if row else ALL_ORGANISATIONS

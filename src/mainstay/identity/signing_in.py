"""Proving by e-mail address and password who one is, and asking for a new password.

An unknown address and a wrong password get the same answer after the same work. These concern the account alone, and
look across organisations.
"""

from dataclasses import dataclass
from datetime import datetime

from mainstay.backing.database import EVERY, Database, Handle, Row
from mainstay.identity import links
from mainstay.identity.links import LIVES, Kind
from mainstay.identity.mails import LINK, mail
from mainstay.identity.passwords import LONGEST, is_password
from mainstay.ledger import outbox
from mainstay.ledger.outbox import Letter
from mainstay.terms.refusal import NotFound, Unauthenticated
from mainstay.values.durations import lasting
from mainstay.values.mailbox import fold_address
from mainstay.values.moments import moment_text

# What an unknown address's password is compared with, so that it takes as long.
_NOBODY = "$argon2id$v=19$m=19456,t=2,p=1$8ETtMX7cUvAq8tJjKrFXCA$WLDhK6WYtNfWHpQfCk13IoHTH6nkorABav2NN1GVxWE"

_RESET = f"""\
Hello,

someone, most likely you, asked for a new password for Mainstay with this e-mail address.

Choose it here, within {lasting(LIVES[Kind.RESET])}:

{LINK}

The link works once. If it was not you, you need not do anything: your password stays as it is.
"""


class NotSignedIn(Unauthenticated):
    """The address is unknown or the password is wrong; the two are not told apart."""

    def __init__(self) -> None:
        super().__init__("The e-mail address or the password is not right.")


class DeadLink(Unauthenticated):
    """A one-time link was used, has run out, or was replaced by a newer one."""

    def __init__(self) -> None:
        super().__init__("This link no longer works: it was used already, is too old, or was replaced by a newer one.")


@dataclass(frozen=True, slots=True)
class KnownAddress:
    """What is known of an e-mail address before its password is."""

    # The address as it was given when the account was made: mail goes there.
    email: str
    # The address as sign-ins compare it.
    folded: str
    account: str | None
    password_hash: str
    # Failed attempts are counted from the last success on.
    signed_in_at: str


def look_up(rows: Handle, email: str) -> KnownAddress:
    """What is known of an address, also when that is nothing."""
    folded = fold_address(email)
    row = rows.one(f"{_KNOWN} WHERE email_folded = :folded", folded=folded)
    return _known(row) if row else KnownAddress(email, folded, None, _NOBODY, "")


def look_up_account(rows: Handle, account: str) -> KnownAddress:
    """What is known of the account of someone who is signed in."""
    row = rows.one(f"{_KNOWN} WHERE id = :account", account=account)
    if row is None:
        raise NotFound("account")
    return _known(row)


_KNOWN = "SELECT email, email_folded, id, password_hash, signed_in_at FROM account"


def _known(row: Row) -> KnownAddress:
    email, folded, account, password_hash, signed_in_at = row
    return KnownAddress(str(email), str(folded), str(account), str(password_hash), str(signed_in_at or ""))


def prove(known: KnownAddress, password: str) -> str:
    """The account, once the password has been shown to be its own. Takes long on purpose."""
    right = len(password) <= LONGEST and is_password(password, known.password_hash)
    if known.account is None or not right:
        raise NotSignedIn
    return known.account


def note_success(rows: Handle, account: str, now: datetime) -> None:
    """Failed attempts are counted anew from here on."""
    rows.run("UPDATE account SET signed_in_at = :at WHERE id = :id", id=account, at=moment_text(now))


def find_owner(database: Database, email: str) -> str:
    """The organisation whose lock an email to this address waits for."""
    with database.reading(EVERY) as rows:
        return find_place(rows, look_up(rows, email).account)


def ask_for_reset(database: Database, email: str, now: datetime) -> bool:
    """Mail a link to a new password to whoever has this address; whether anyone has."""
    with database.reading(EVERY) as rows:
        known = look_up(rows, email)
        place = find_place(rows, known.account)
    with database.changing(place) as rows:
        link = links.make_reset(rows, known.account, known.email, now)
        letter = mail(known.email, "Reset your Mainstay password", _RESET, link=(Kind.RESET, link))
        _post(rows, letter, now)
    return place != EVERY


def _post(rows: Handle, letter: Letter, now: datetime) -> None:
    """Mail goes out in the name of an organisation; whoever is in none gets none."""
    if rows.organisation != EVERY:
        outbox.put(rows, letter, moment_text(now))


def find_place(rows: Handle, account: str | None) -> str:
    """An organisation in whose name an account gets mail, or whose trail tells of it: any that knows it will do."""
    row = rows.one(
        "SELECT organisation_id FROM person WHERE account_id = :account ORDER BY organisation_id LIMIT 1",
        account=account,
    )
    return str(row[0]) if row else EVERY

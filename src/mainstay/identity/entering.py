"""Coming into an organisation, and changing the password one comes in with: told in its trail like any other change."""

from pydantic import Field, SecretStr

from mainstay.identity import devices, links, sessions, tickets
from mainstay.identity.links import Kind
from mainstay.identity.mails import mail
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.identity.signing_in import DeadLink, note_success
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Ahead, Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Unauthenticated
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Shown

_IN_THE_OFFICE = frozenset({Door.OFFICE})

_CHANGED = """\
Hello,

the password with which you sign in to Mainstay has been changed, and every other sign-in has ended.

If it was not you, choose a new one at once: the page to sign in asks "Forgot your password?". And tell an owner or
admin of your organisation.
"""


class SignedInOut(Shown):
    """What a browser carries from a sign-in on, and where it goes."""

    noun = "signIn"

    session: str
    devices: list[str]
    path: str | None


class AccountOut(Shown):
    """A sign-in, of which nothing is shown."""

    noun = "account"

    id: str


class SignIn(Input):
    """The browser that someone comes in with, once they have proved who they are."""

    browser: str = Field(description="What the browser says of itself.")
    carried: list[SecretStr] = Field(description="What it is known by.")
    ticket: SecretStr = Field(description="Where it wanted to go.")
    earlier: str | None = Field(None, description="The session it had until now.")


class ChangePassword(Input):
    """The new password, once the old one was shown to be right."""

    password: SecretStr = Field(description="The new password.")
    session: str = Field(description="The session that stays.")


class ResetPassword(Input):
    """The new password; a link says whose."""

    password: SecretStr = Field(description="The new password.")


@operation(right=Right.ME_CHANGE, effect=Effect.CHANGE, offered=_IN_THE_OFFICE, open_when_lapsed=True)
def sign_in(ctx: Context, given: SignIn) -> SignedInOut:
    """Sign in.

    Begins a session in this organisation; whoever works in another one chooses it afterwards.
    """
    account = _own_account(ctx)
    if given.earlier:
        sessions.end(ctx.rows, account, given.earlier)
    note_success(ctx.rows, account, ctx.now)
    session = sessions.begin(ctx.rows, account, ctx.actor.organisation, given.browser, ctx.now)
    carried = devices.renew(ctx.rows, account, [one.get_secret_value() for one in given.carried], ctx.now)
    path = tickets.redeem(ctx.rows, given.ticket.get_secret_value(), ctx.now)
    return SignedInOut(object=SignedInOut.noun, session=session, devices=list(carried), path=path)


def _hashed(_ahead: Ahead, given: ChangePassword | ResetPassword) -> str:
    check_new_password("password", given.password.get_secret_value())
    return hash_password(given.password.get_secret_value())


@operation(
    right=Right.ME_CHANGE,
    effect=Effect.CHANGE,
    offered=_IN_THE_OFFICE,
    open_when_lapsed=True,
    mails=True,
    only_adds=False,
    ahead=_hashed,
)
def change_password(ctx: Context, given: ChangePassword) -> AccountOut:
    """Change one's own password.

    Every other sign-in ends, and a mail tells of it.
    """
    account = _own_account(ctx)
    _set_password(ctx, account)
    sessions.end_all(ctx.rows, account, but=given.session)
    return AccountOut(object=AccountOut.noun, id=account)


@operation(
    right=Right.ME_CHANGE,
    effect=Effect.CHANGE,
    offered=_IN_THE_OFFICE,
    open_when_lapsed=True,
    mails=True,
    only_adds=False,
    ahead=_hashed,
)
def reset_password(ctx: Context, _given: ResetPassword) -> AccountOut:
    """Choose a new password by a link.

    Every sign-in ends, and a mail tells of it.
    """
    link = links.find(ctx.rows, Kind.RESET, ctx.actor.credential, ctx.now)
    if link is None or link.account is None or not links.use(ctx.rows, link.id):
        raise DeadLink
    _set_password(ctx, link.account)
    sessions.end_all(ctx.rows, link.account)
    note_success(ctx.rows, link.account, ctx.now)
    return AccountOut(object=AccountOut.noun, id=link.account)


OPERATIONS = (sign_in, change_password, reset_password)


def _own_account(ctx: Context) -> str:
    row = ctx.rows.one("SELECT account_id FROM person WHERE organisation_id = :organisation AND id = :me")
    if row is None or row[0] is None:
        raise Unauthenticated("You are no longer a person of this organisation.")
    _touch_oneself(ctx)
    return str(row[0])


def _set_password(ctx: Context, account: str) -> None:
    ctx.rows.run("UPDATE account SET password_hash = :hash WHERE id = :id", id=account, hash=ctx.ahead)
    links.end_resets(ctx.rows, account)
    devices.end_all(ctx.rows, account)
    _touch_oneself(ctx)
    if row := ctx.rows.one("SELECT email FROM account WHERE id = :id", id=account):
        ctx.post(mail(str(row[0]), "Your Mainstay password was changed", _CHANGED))


def _touch_oneself(ctx: Context) -> None:
    """What someone does to their own sign-in belongs to their own history."""
    if ctx.actor.id:
        ctx.pen.touch(ctx.actor.id)

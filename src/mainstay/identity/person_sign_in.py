"""Operations for signing in and for changing one's password: part of the audit trail like any other change."""

from pydantic import Field, SecretStr

from mainstay.identity import devices, links, return_tickets, sessions
from mainstay.identity.email_format import undated_format_of
from mainstay.identity.emails import PersonEmail, build_email_task
from mainstay.identity.links import LinkKind
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.identity.sessions import NewSession
from mainstay.identity.sign_in import InvalidLink, clear_failed_attempts
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Preparation, operation
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Unauthenticated
from mainstay.vocabulary.schemas import Input, Output

_OFFICE_ONLY = frozenset({Door.OFFICE})

_CHANGE_NOTICE = (
    Message("Hello,"),
    Message("Your Mainstay password has been changed, and you have been signed out everywhere else."),
    Message(
        'If this was not you, choose a new password now with "Forgot your password?" on the sign-in page, and tell an'
        " owner or admin of your organisation."
    ),
)


class SignedInOut(Output):
    """What a browser stores after a sign-in, and where it goes next."""

    noun = "signIn"

    session: str
    devices: list[str]
    path: str | None


class AccountOut(Output):
    """An account, without its details."""

    noun = "account"

    id: str


class SignIn(Input):
    """The browser of someone who has proved who they are."""

    browser: str = Field(description="The browser's description of itself.")
    carried: list[SecretStr] = Field(description="The secrets it already has.")
    ticket: SecretStr = Field(description="The page it wanted to open.")
    earlier: str | None = Field(None, description="Its previous session.")
    keep: bool = Field(default=False, description="Whether it stays signed in.")


class ChangePassword(Input):
    """The new password, after the old one was checked."""

    password: SecretStr = Field(description="The new password.")
    session: str = Field(description="The session to keep.")


class ResetPassword(Input):
    """The new password; the link decides whose it is."""

    password: SecretStr = Field(description="The new password.")


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    open_when_lapsed=True,
    not_undone=Message("Sign out instead."),
    past_text="Signed in",
)
def sign_in(ctx: Context, given: SignIn) -> SignedInOut:
    """Sign in.

    Begins a session in this organisation. People who belong to several can switch afterwards.
    """
    account = _own_account(ctx)
    if given.earlier:
        sessions.end_session(ctx.db, account, given.earlier)
    clear_failed_attempts(ctx.db, account, ctx.now)
    new_session = NewSession(account, ctx.actor.organisation, given.browser, given.keep)
    session = sessions.begin_session(ctx.db, new_session, ctx.now)
    device_secrets = devices.renew_device(
        ctx.db, account, [secret.get_secret_value() for secret in given.carried], ctx.now
    )
    path = return_tickets.redeem_ticket(ctx.db, given.ticket.get_secret_value(), ctx.now)
    return SignedInOut(object=SignedInOut.noun, session=session, devices=list(device_secrets), path=path)


def _hash_password(_preparation: Preparation, given: ChangePassword | ResetPassword) -> str:
    check_new_password("password", given.password.get_secret_value())
    return hash_password(given.password.get_secret_value())


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    open_when_lapsed=True,
    emails_outside=True,
    only_adds=False,
    prepare=_hash_password,
    not_undone=Message("Change the password again."),
    past_text="Password changed",
)
def change_password(ctx: Context, given: ChangePassword) -> AccountOut:
    """Change password.

    Your own. You are signed out everywhere else, and get an email about it.
    """
    account = _own_account(ctx)
    _set_password(ctx, account)
    sessions.end_sessions(ctx.db, account, except_session_id=given.session)
    return AccountOut(object=AccountOut.noun, id=account)


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    open_when_lapsed=True,
    emails_outside=True,
    only_adds=False,
    prepare=_hash_password,
    not_undone=Message("Change the password again."),
    past_text="Password reset",
)
def reset_password(ctx: Context, _given: ResetPassword) -> AccountOut:
    """Reset password.

    With the link from the email. You are signed out everywhere, and get an email about it.
    """
    link = links.find(ctx.db, LinkKind.RESET, ctx.actor.credential, ctx.now)
    if link is None or link.account is None or not links.use_link(ctx.db, link.id):
        raise InvalidLink
    _set_password(ctx, link.account)
    sessions.end_sessions(ctx.db, link.account)
    clear_failed_attempts(ctx.db, link.account, ctx.now)
    return AccountOut(object=AccountOut.noun, id=link.account)


OPERATIONS = (sign_in, change_password, reset_password)


def _own_account(ctx: Context) -> str:
    row = ctx.db.one("SELECT account_id FROM person WHERE organisation_id = :organisation AND id = :me")
    if row is None or row[0] is None:
        raise Unauthenticated(Message("You no longer belong to this organisation."))
    _touch_own_record(ctx)
    return str(row[0])


def _set_password(ctx: Context, account_id: str) -> None:
    ctx.db.run("UPDATE account SET password_hash = :hash WHERE id = :id", id=account_id, hash=ctx.prepared)
    links.delete_resets(ctx.db, account_id)
    devices.delete_devices(ctx.db, account_id)
    _touch_own_record(ctx)
    if row := ctx.db.one("SELECT email FROM account WHERE id = :id", id=account_id):
        email = PersonEmail(str(row[0]), Message("Your Mainstay password was changed"), _CHANGE_NOTICE)
        ctx.add_task(build_email_task(email, undated_format_of(ctx.db, ctx.languages)))


def _touch_own_record(ctx: Context) -> None:
    """List what someone does to their own sign-in in their own history."""
    if ctx.actor.id:
        ctx.writer.touch(ctx.actor.id)

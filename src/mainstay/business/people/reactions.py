"""Reactions to events about people."""

from mainstay.business.organisation import store as organisations
from mainstay.business.people.events import PersonInvited
from mainstay.identity import links
from mainstay.identity.emails import LINK_MARK, build_email_task
from mainstay.identity.links import LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Reaction, ReactionEvent
from mainstay.values.lifetimes import describe_lifetime

_INVITATION = """\
Hello {name},

{inviter} has invited you to join {organisation} on Mainstay with {role} access.

Accept the invitation here, within {within}:

{link}

The link works once and is only for you. After that, sign in at {base_url} with this email address.

If you did not expect this invitation, you can ignore this email.
"""


def mail_invitation(ctx: Context, event: ReactionEvent) -> None:
    """Email an invitation link to the invited person."""
    organisation = organisations.organisation_name(ctx.db)
    person = event.record
    inviter = (event.actor["person"] or {"name": "The office"})["name"]
    link = links.create_invitation_link(ctx.db, person["id"], person["email"], ctx.now)
    text = _INVITATION.format(
        name=person["name"],
        inviter=inviter,
        organisation=organisation,
        role=person["role"],
        within=describe_lifetime(links.LIFETIMES[LinkKind.INVITATION]),
        link=LINK_MARK,
        base_url=ctx.base_url,
    )
    ctx.writer.touch(person["id"])
    subject = f"{inviter} invites you to {organisation}"
    ctx.add_task(
        build_email_task(person["email"], subject, text, link=(LinkKind.INVITATION, link), record_id=person["id"])
    )


REACTIONS = (Reaction(PersonInvited, mail_invitation, "Invitation emailed"),)

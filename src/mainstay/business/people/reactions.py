"""Reactions to events about people."""

from mainstay.business.organisation import store as organisations
from mainstay.business.people.emails import THE_OFFICE, email_format_of
from mainstay.business.people.events import PersonInvited
from mainstay.identity import links
from mainstay.identity.emails import LINK_MARK, PersonEmail, build_email_task
from mainstay.identity.links import LinkKind
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Reaction, ReactionEvent
from mainstay.values.lifetimes import describe_lifetime
from mainstay.values.message import Choice, Message


def mail_invitation(ctx: Context, event: ReactionEvent) -> None:
    """Email an invitation link to the invited person."""
    organisation = organisations.organisation_name(ctx.db)
    person = event.record
    actor = event.actor["person"]
    inviter = actor["name"] if actor else THE_OFFICE
    link = links.create_invitation_link(ctx.db, person["id"], person["email"], ctx.now)
    paragraphs = (
        Message("Hello {name},", name=person["name"]),
        Message(
            "{inviter} has invited you to join {organisation} on Mainstay with {role} access.",
            inviter=inviter,
            organisation=organisation,
            role=Choice(person["role"]),
        ),
        Message(
            "Accept the invitation here, within {within}:",
            within=describe_lifetime(links.LIFETIMES[LinkKind.INVITATION]),
        ),
        LINK_MARK,
        Message(
            "The link works once and is only for you. After that, sign in at {address} with this email address.",
            address=ctx.base_url,
        ),
        Message("If you did not expect this invitation, you can ignore this email."),
    )
    ctx.writer.touch(person["id"])
    subject = Message("{inviter} invites you to {organisation}", inviter=inviter, organisation=organisation)
    email = PersonEmail(person["email"], subject, paragraphs, (LinkKind.INVITATION, link), person["id"])
    ctx.add_task(build_email_task(email, email_format_of(ctx)))


REACTIONS = (Reaction(PersonInvited, mail_invitation, "Invitation emailed"),)

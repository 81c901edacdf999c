"""What follows when something happens to people."""

from mainstay.business.organisation import store as organisations
from mainstay.business.people.events import PersonInvited
from mainstay.identity import links
from mainstay.identity.links import Kind
from mainstay.identity.mails import LINK, mail
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Happening, Reaction
from mainstay.values.durations import lasting

_INVITATION = """\
Hello {name},

{inviter} has invited you to join {organisation} on Mainstay as {role}.

Accept the invitation here, within {within}:

{link}

The link works once, and is for you alone. From then on you sign in at {base_url} with this e-mail address.

If you did not expect this, you need not do anything.
"""


def mail_invitation(ctx: Context, happening: Happening) -> None:
    """Tell someone that they were invited, with a link that lets them in."""
    organisation = organisations.name(ctx.rows)
    person = happening.record
    inviter = (happening.actor["person"] or {"name": "The office"})["name"]
    link = links.make_invitation(ctx.rows, person["id"], person["email"], ctx.now)
    text = _INVITATION.format(
        name=person["name"],
        inviter=inviter,
        organisation=organisation,
        role=person["role"],
        within=lasting(links.LIVES[Kind.INVITATION]),
        link=LINK,
        base_url=ctx.base_url,
    )
    ctx.pen.touch(person["id"])
    subject = f"{inviter} invites you to {organisation}"
    ctx.post(mail(person["email"], subject, text, link=(Kind.INVITATION, link), record=person["id"]))


REACTIONS = (Reaction(PersonInvited, mail_invitation),)

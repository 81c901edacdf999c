"""What follows when something happens to people."""

from collections.abc import Iterable

from mainstay.business.organisation import store as organisations
from mainstay.kernel.context import Letter
from mainstay.kernel.reaction import Happening, mail

_INVITATION = """\
Hello {name},

{inviter} has invited you to join {organisation} on Mainstay as {role}.

Mainstay is at {base_url}. You sign in with this e-mail address.

If you did not expect this, you need not do anything.
"""


def invite_by_mail(happening: Happening) -> Iterable[Letter]:
    """Tell someone that they were invited."""
    organisation = organisations.name(happening.rows)
    person = happening.record
    inviter = (happening.actor["person"] or {"name": "The office"})["name"]
    text = _INVITATION.format(
        name=person["name"],
        inviter=inviter,
        organisation=organisation,
        role=person["role"],
        base_url=happening.base_url,
    )
    yield mail(person["email"], f"{inviter} invites you to {organisation}", text)

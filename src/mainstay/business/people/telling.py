"""Mails that tell someone of the organisation what others have done that concerns them."""

from collections.abc import Iterable
from typing import NamedTuple

from mainstay.identity.mails import mail
from mainstay.kernel.context import Context
from mainstay.terms.actor import Door
from mainstay.terms.rights import Right, Role, holds


class Told(NamedTuple):
    """Someone who is told of something."""

    id: str
    name: str
    email: str


def to_tell(ctx: Context, people: Iterable[str | None]) -> list[Told]:
    """Those of these people who are told of what happens now: they are here, and did not do it themselves."""
    if ctx.actor.door is Door.CLI:
        # What is done from there is done by whoever looks after the server, as when a demo is made.
        return []
    others = sorted({one for one in people if one and one != ctx.actor.id})
    found = [(one, ctx.rows.one(_HERE, id=one)) for one in others]
    return [Told(one, str(row[0]), str(row[1])) for one, row in found if row]


def find_active(ctx: Context, right: Right) -> set[str]:
    """Find the ids of the active people whose role has a right."""
    rows = ctx.rows.all("SELECT id, role FROM person WHERE organisation_id = :organisation AND status = 'active'")
    return {str(identity) for identity, role in rows if holds(Role(str(role)), right)}


def tell(ctx: Context, told: Told, subject: str, text: str, record: str) -> None:
    """Write to someone about a record; its page tells what became of that."""
    ctx.post(mail(told.email, subject, f"Hello {told.name},\n\n{text}", record=record))


def actor_s_name(ctx: Context) -> str:
    """How whoever acts is called in a mail."""
    return ctx.actor.person.name if ctx.actor.person else "The office"


_HERE = "SELECT name, email FROM person WHERE organisation_id = :organisation AND id = :id AND status = 'active'"

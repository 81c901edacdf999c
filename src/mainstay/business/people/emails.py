"""Emails that tell people what others have done that concerns them."""

from collections.abc import Iterable
from typing import NamedTuple

from mainstay.identity.emails import build_email_task
from mainstay.kernel.context import Context
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission, Role, has_permission


class Recipient(NamedTuple):
    """A person who is emailed."""

    id: str
    name: str
    email: str


def find_recipients(ctx: Context, people: Iterable[str | None]) -> list[Recipient]:
    """Return those of these people who should be emailed: active people other than the person acting."""
    if ctx.actor.door is Door.CLI:
        # The command line is used by the operator, for example to create demo data. Nobody is emailed about that.
        return []
    candidates = sorted({one for one in people if one and one != ctx.actor.id})
    rows = [(one, ctx.db.one(_ACTIVE_PERSON_SQL, id=one)) for one in candidates]
    return [Recipient(one, str(row[0]), str(row[1])) for one, row in rows if row]


def find_people_with(ctx: Context, permission: Permission) -> set[str]:
    """Return the ids of the active people whose role has a permission."""
    rows = ctx.db.all("SELECT id, role FROM person WHERE organisation_id = :organisation AND status = 'active'")
    return {str(record_id) for record_id, role in rows if has_permission(Role(str(role)), permission)}


def email_person(ctx: Context, recipient: Recipient, subject: str, text: str, record_id: str) -> None:
    """Email a person about a record. The record's page shows whether the email was sent."""
    ctx.add_task(build_email_task(recipient.email, subject, f"Hello {recipient.name},\n\n{text}", record_id=record_id))


def actor_name(ctx: Context) -> str:
    """Return the name of the person acting, as written in emails."""
    return ctx.actor.person.name if ctx.actor.person else "The office"


_ACTIVE_PERSON_SQL = (
    "SELECT name, email FROM person WHERE organisation_id = :organisation AND id = :id AND status = 'active'"
)

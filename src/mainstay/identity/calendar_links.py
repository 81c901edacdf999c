"""The secret links of people's calendars.

Each person has at most one link. A new link replaces the old one, and the link is deleted when the person leaves.
"""

from typing import NamedTuple

from mainstay.identity.secrets import CALENDAR_LINK, hash_secret, is_secret
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import Context

_TABLE = "calendar_link"


class CalendarOwner(NamedTuple):
    """The person whose calendar a link opens, and their organisation."""

    organisation: str
    person: str


def find(db: DatabaseHandle, secret: str) -> CalendarOwner | None:
    """Return the owner of the calendar that a secret opens, or None.

    The handle is not bound to one organisation, because the link says which organisation it belongs to.
    """
    if not is_secret(secret, CALENDAR_LINK):
        return None
    row = db.one(
        "SELECT link.organisation_id, link.person_id FROM calendar_link AS link JOIN person"
        " ON person.organisation_id = link.organisation_id AND person.id = link.person_id"
        " WHERE link.hash = :hash AND person.status = 'active'",
        hash=hash_secret(secret),
    )
    return CalendarOwner(str(row[0]), str(row[1])) if row else None


def find_made_at(ctx: Context, person_id: str | None) -> str | None:
    """Return when a person's link was made, or None if they have no link."""
    row = ctx.db.one(
        "SELECT made_at FROM calendar_link WHERE organisation_id = :organisation AND person_id = :person",
        person=person_id,
    )
    return str(row[0]) if row else None


def replace_calendar_link(ctx: Context, person_id: str, secret: str) -> None:
    """Make this secret the only one that opens a person's calendar."""
    ctx.db.run(
        "INSERT INTO calendar_link (organisation_id, person_id, hash, made_at)"
        " VALUES (:organisation, :person, :hash, :at) ON CONFLICT (organisation_id, person_id)"
        " DO UPDATE SET hash = excluded.hash, made_at = excluded.made_at",
        person=person_id,
        hash=hash_secret(secret),
        at=ctx.now_text,
    )
    ctx.writer.touch(person_id)
    ctx.writer.mark_written(_TABLE, person_id)


def end_calendar_link(ctx: Context, person_id: str) -> bool:
    """Delete the link to a person's calendar, and return whether there was one."""
    ended = ctx.db.run(
        "DELETE FROM calendar_link WHERE organisation_id = :organisation AND person_id = :person", person=person_id
    )
    if ended:
        ctx.writer.touch(person_id)
        ctx.writer.mark_written(_TABLE, person_id)
    return bool(ended)

"""The secret links of people's calendars: one for each person, which another replaces and leaving ends."""

from typing import NamedTuple

from mainstay.backing.database import Handle
from mainstay.identity.secrets import CALENDAR, is_secret, secret_hash
from mainstay.kernel.context import Context

_TABLE = "calendar_link"


class Whose(NamedTuple):
    """Whose calendar a link opens."""

    organisation: str
    person: str


def find(rows: Handle, secret: str) -> Whose | None:
    """Whose link this is. The handle looks across organisations: the link says which it is."""
    if not is_secret(secret, CALENDAR):
        return None
    row = rows.one(
        "SELECT link.organisation_id, link.person_id FROM calendar_link AS link JOIN person"
        " ON person.organisation_id = link.organisation_id AND person.id = link.person_id"
        " WHERE link.hash = :hash AND person.status = 'active'",
        hash=secret_hash(secret),
    )
    return Whose(str(row[0]), str(row[1])) if row else None


def made_at(ctx: Context, person: str | None) -> str | None:
    """Since when someone has a link, if they have one."""
    row = ctx.rows.one(
        "SELECT made_at FROM calendar_link WHERE organisation_id = :organisation AND person_id = :person",
        person=person,
    )
    return str(row[0]) if row else None


def replace_calendar_of(ctx: Context, person: str, secret: str) -> None:
    """Let this secret open someone's calendar, and no other."""
    ctx.rows.run(
        "INSERT INTO calendar_link (organisation_id, person_id, hash, made_at)"
        " VALUES (:organisation, :person, :hash, :at) ON CONFLICT (organisation_id, person_id)"
        " DO UPDATE SET hash = excluded.hash, made_at = excluded.made_at",
        person=person,
        hash=secret_hash(secret),
        at=ctx.at,
    )
    ctx.pen.touch(person)
    ctx.pen.mark_written(_TABLE, person)


def end_calendar_of(ctx: Context, person: str) -> bool:
    """Let nothing open someone's calendar any more; whether something did."""
    ended = ctx.rows.run(
        "DELETE FROM calendar_link WHERE organisation_id = :organisation AND person_id = :person", person=person
    )
    if ended:
        ctx.pen.touch(person)
        ctx.pen.mark_written(_TABLE, person)
    return bool(ended)

"""Where the organisation is kept."""

from typing import Any

from mainstay.backing.database import Clash, Handle
from mainstay.business.organisation.model import OrganisationOut
from mainstay.kernel.context import Context
from mainstay.kernel.refusal import Conflict, NotFound
from mainstay.kernel.shapes import One

_SELECT = """
SELECT id, created_at, created_by, updated_at, updated_by, version, name, legal_name, tax_number, address, email, phone,
       country, currency, time_zone, '{"status":"' || subscription || '"}'
FROM organisation WHERE id = :organisation
"""


def fetch(ctx: Context) -> One[OrganisationOut]:
    """The organisation of the one who asks."""
    row = ctx.rows.one(_SELECT)
    if row is None:
        raise NotFound("organisation")
    return One(OrganisationOut, row)


def name(rows: Handle) -> str:
    """What people call it."""
    row = rows.one("SELECT name FROM organisation WHERE id = :organisation")
    return str(row[0]) if row else ""


def insert(ctx: Context, *, name: str, country: str, currency: str, time_zone: str) -> None:
    """A new organisation, with the id that the actor's handle is bound to."""
    try:
        ctx.rows.run(
            "INSERT INTO organisation (id, name, country, currency, time_zone, subscription,"
            " created_at, created_by, updated_at, updated_by, version)"
            " VALUES (:organisation, :name, :country, :currency, :time_zone, 'active', :at, :by, :at, :by, 1)",
            name=name,
            country=country,
            currency=currency,
            time_zone=time_zone,
            at=ctx.at,
            by=ctx.stamp,
        )
    except Clash:
        raise Conflict("There is already an organisation with this identifier.") from None


def save(ctx: Context, changes: dict[str, Any]) -> None:
    """Write the changed fields."""
    ctx.pen.save_organisation(changes)

"""Where people are kept."""

from typing import Any, cast

import orjson

from mainstay.backing.database import Value
from mainstay.business.people.model import Person, PersonOut, Status
from mainstay.kernel.context import Context
from mainstay.kernel.refusal import NotFound
from mainstay.kernel.rights import Right, Role
from mainstay.kernel.shapes import One, Page
from mainstay.values.ids import new_id

# The columns of PersonOut in its order. Costs are hidden here, once for every door; events alone have them always.
_SELECT = """
SELECT id, created_at, created_by, updated_at, updated_by, version, name, email, phone, role, status, skills, colour,
       company_name, CASE WHEN :costs = 1 THEN cost_rate END, CASE WHEN :costs = 1 THEN bill_rate END
FROM person WHERE organisation_id = :organisation
"""
_RULED = "SELECT id, name, email, role, status, version FROM person WHERE organisation_id = :organisation"


def show(ctx: Context, identity: str) -> One[PersonOut]:
    """The person as the one who asks may see them."""
    return _show(ctx, identity, _costs(ctx))


def whole(ctx: Context, identity: str) -> One[PersonOut]:
    """The person as events tell of them: the same whoever acted."""
    return _show(ctx, identity, 1)


def fetch(ctx: Context, identity: str) -> Person:
    """The person as the rules see them."""
    person = _person(ctx.rows.one(f"{_RULED} AND id = :id", id=identity))
    if person is None:
        raise NotFound("person")
    return person


def find_by_email(ctx: Context, email: str) -> Person | None:
    """The person with this address, present or not."""
    return _person(ctx.rows.one(f"{_RULED} AND email_folded = :email", email=email.casefold()))


def page(ctx: Context, *, status: str | None, role: str | None, after: str | None, limit: int) -> Page[PersonOut]:
    """The newest people first; without a status, everyone who has not left."""
    sql = _SELECT + ("AND status = :status" if status else "AND status <> 'left'")
    if role:
        sql += " AND role = :role"
    if after:
        sql += " AND id < :after"
    rows = ctx.rows.all(
        f"{sql} ORDER BY id DESC LIMIT :limit",
        status=status,
        role=role,
        after=after,
        limit=limit + 1,
        costs=_costs(ctx),
    )
    return Page.cut(PersonOut, rows, limit)


def other_owners(ctx: Context, identity: str) -> int:
    """How many active owners there are besides this person."""
    row = ctx.rows.one(
        "SELECT count(*) FROM person WHERE organisation_id = :organisation"
        " AND role = 'owner' AND status = 'active' AND id <> :id",
        id=identity,
    )
    return int(row[0] or 0) if row else 0


def insert(ctx: Context, values: dict[str, Any]) -> str:
    """A new person; their id."""
    identity = new_id("person")
    ctx.pen.insert("person", identity, _columns(values))
    return identity


def save(ctx: Context, identity: str, changes: dict[str, Any]) -> bool:
    """Write the changed fields; False when nothing is different."""
    return ctx.pen.save("person", identity, _columns(changes))


def _show(ctx: Context, identity: str, costs: int) -> One[PersonOut]:
    row = ctx.rows.one(f"{_SELECT} AND id = :id", id=identity, costs=costs)
    if row is None:
        raise NotFound("person")
    return One(PersonOut, row)


def _columns(values: dict[str, Any]) -> dict[str, Value]:
    columns = dict(values)
    if "skills" in columns:
        columns["skills"] = orjson.dumps(columns["skills"]).decode()
    if "email" in columns:
        columns["email_folded"] = columns["email"].casefold()
    return columns


def _costs(ctx: Context) -> int:
    return int(ctx.actor.may(Right.COSTS_READ))


def _person(row: tuple[Value, ...] | None) -> Person | None:
    if row is None:
        return None
    identity, name, email, role, status, version = row
    return Person(str(identity), str(name), str(email), Role(str(role)), cast("Status", status), int(version or 0))

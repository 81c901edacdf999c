"""What a test looks at after an act: events, the audit trail, keys, the number of rows in every table."""

import re
from typing import Any

import orjson

from cast import Cast
from mainstay.backing.database import EVERY, Database, Handle, Row
from mainstay.backing.schema import Table, read_tables
from mainstay.business.organisation.messages import list_messages
from mainstay.identity.authenticate import actor_of_key
from mainstay.identity.connections import approve_connection, start_connection
from mainstay.terms.actor import Actor, Door, Named, operator
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id

_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
}


def tables(database: Database) -> list[str]:
    """The name of every table."""
    with database.reading(EVERY) as rows:
        return [str(name) for (name,) in rows.all(_TABLES[database.engine])]


def contents(database: Database) -> dict[str, list[Row]]:
    """Every row of every table."""
    names = tables(database)
    with database.reading(EVERY) as rows:
        return {name: sorted(rows.all(f"SELECT * FROM {name}"), key=repr) for name in names}


def contents_of(cast: Cast) -> dict[str, list[Row]]:
    """Every row of every table but those of other organisations: as quickly read however many these are."""
    database = cast.stage.database
    with database.reading(EVERY) as rows:
        return {table.name: _rows_of(rows, table, cast.organisation) for table in read_tables(rows, database.engine)}


def _rows_of(rows: Handle, table: Table, organisation: str) -> list[Row]:
    owner = "id" if table.name == "organisation" else "organisation_id"
    whose = f" WHERE {owner} = :owner OR {owner} IS NULL" if owner in table.columns else ""
    return sorted(rows.all(f"SELECT * FROM {table.name}{whose}", owner=organisation), key=repr)


def events(cast: Cast) -> list[dict[str, Any]]:
    """What happened in an organisation, in order."""
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all(
            "SELECT sequence, id, type, created_at, actor, data FROM event WHERE organisation_id = :organisation"
            " ORDER BY sequence"
        )
    names = ("sequence", "id", "type", "createdAt", "actor", "data")
    return [
        dict(zip(names, row, strict=True)) | {"actor": orjson.loads(str(row[4])), "data": orjson.loads(str(row[5]))}
        for row in found
    ]


def last_event(cast: Cast) -> dict[str, Any]:
    """What happened last."""
    return events(cast)[-1]


def trail(cast: Cast) -> list[dict[str, Any]]:
    """The audit trail of an organisation, in order."""
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all(
            "SELECT sequence, at, request_id, operation, actor, given, events FROM audit"
            " WHERE organisation_id = :organisation ORDER BY sequence"
        )
    names = ("sequence", "at", "requestId", "operation", "actor", "given", "events")
    return [dict(zip(names, (*row[:4], *(orjson.loads(str(text)) for text in row[4:])), strict=True)) for row in found]


def as_told(answered: dict[str, Any]) -> dict[str, Any]:
    """A record as lists and events tell it: without what an answer about one record adds."""
    added = {"availableActions", "deleted", "creditNote", "site", "settings"}
    added |= set() if answered["object"] == "webhook" else {"url"}
    return {name: value for name, value in answered.items() if name not in added}


def touched(cast: Cast) -> list[list[str]]:
    """The records that each act of the trail names, in order."""
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all("SELECT records FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
    return [orjson.loads(str(records)) for (records,) in found]


def history(cast: Cast, record: str) -> list[str]:
    """The operations that touched a record, in order: what the trail names it by."""
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all(
            "SELECT a.operation FROM audit_record r"
            " JOIN audit a ON a.organisation_id = r.organisation_id AND a.sequence = r.sequence"
            " WHERE r.organisation_id = :organisation AND r.record_id = :record ORDER BY r.sequence",
            record=record,
        )
    return [str(name) for (name,) in found]


def holder(cast: Cast, key: str) -> Actor:
    """Who comes in with this key now; refused when nobody does."""
    with cast.stage.database.reading(EVERY) as rows:
        return actor_of_key(rows, key, Door.API)


def through_app(cast: Cast, role: Role, name: str = "Claude") -> Actor:
    """A person of this role who acts through an app that they have just connected."""
    client = new_id("client")
    with cast.stage.database.changing(EVERY) as rows:
        rows.run("INSERT INTO oauth_client (id, metadata, created_at) VALUES (:id, '{}', '2026')", id=client)
    approved = cast.perform(
        approve_connection,
        role,
        clientId=client,
        clientName=name,
        access="write",
        redirectUri="https://app.example/back",
        challenge="x" * 43,
    )
    cast.perform(start_connection, operator(cast.organisation), connectionId=approved["id"])
    acting = cast.actor(role, door=Door.AGENT)
    return acting._replace(credential=approved["id"], client=Named(approved["id"], name))


def mails(cast: Cast) -> list[dict[str, str]]:
    """The mails of an organisation that wait in the outbox, in order."""
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all(
            "SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = 'mail' ORDER BY id"
        )
    return [orjson.loads(str(payload)) for (payload,) in found]


def mailed_about(cast: Cast, record: str) -> list[tuple[str, str, str]]:
    """To whom mails about a record went, with what subject, and what became of them."""
    found = cast.perform(list_messages, about=record)["data"]
    return [(one["recipient"], one["subject"], one["status"]) for one in found]


def names_amount(told: str, amount: int) -> bool:
    """Whether an amount stands in a text, in units or in hundredths, and not by chance among the digits of an id."""
    return re.search(rf"\b{amount}(00)?\b", told) is not None

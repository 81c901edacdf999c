"""What a test reads after an operation: events, the audit trail, keys, the rows of every table."""

import re
from typing import Any

import orjson

from mainstay.business.organisation.sent_emails import list_messages
from mainstay.identity.authenticate import actor_of_key
from mainstay.identity.connections import approve_connection, start_connection
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseHandle, Row
from mainstay.infrastructure.schema import SchemaTable, read_tables
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, Door, Named, operator_actor
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

_TABLE_NAMES_SQL = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
}


def table_names(database: Database) -> list[str]:
    """The name of every table."""
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        return [str(name) for (name,) in db.all(_TABLE_NAMES_SQL[database.engine])]


def read_all_rows(database: Database) -> dict[str, list[Row]]:
    """Return every row of every table."""
    names = table_names(database)
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        return {name: sorted(db.all(f"SELECT * FROM {name}"), key=repr) for name in names}


def read_rows_of(cast: Cast) -> dict[str, list[Row]]:
    """Return every row of every table, without those of other organisations."""
    database = cast.performer.database
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        return {table.name: _read_table(db, table, cast.organisation) for table in read_tables(db, database.engine)}


def _read_table(db: DatabaseHandle, table: SchemaTable, organisation: str) -> list[Row]:
    owner = "id" if table.name == "organisation" else "organisation_id"
    condition = f" WHERE {owner} = :owner OR {owner} IS NULL" if owner in table.columns else ""
    return sorted(db.all(f"SELECT * FROM {table.name}{condition}", owner=organisation), key=repr)


def list_events_of(cast: Cast) -> list[dict[str, Any]]:
    """Return the events of an organisation, in order."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all(
            "SELECT sequence, id, type, created_at, actor, data FROM event WHERE organisation_id = :organisation"
            " ORDER BY sequence"
        )
    names = ("sequence", "id", "type", "createdAt", "actor", "data")
    return [
        dict(zip(names, row, strict=True)) | {"actor": orjson.loads(str(row[4])), "data": orjson.loads(str(row[5]))}
        for row in found
    ]


def read_last_event(cast: Cast) -> dict[str, Any]:
    """Return the last event."""
    return list_events_of(cast)[-1]


def read_trail(cast: Cast) -> list[dict[str, Any]]:
    """Return the audit trail of an organisation, in order."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all(
            "SELECT sequence, at, request_id, operation, actor, given, events FROM audit"
            " WHERE organisation_id = :organisation ORDER BY sequence"
        )
    names = ("sequence", "at", "requestId", "operation", "actor", "given", "events")
    return [dict(zip(names, (*row[:4], *(orjson.loads(str(text)) for text in row[4:])), strict=True)) for row in found]


def to_event_record(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a record as lists and events show it, without the fields that an answer about one record adds."""
    added = {"availableActions", "deleted", "creditNote", "site", "settings"}
    added |= set() if answer["object"] == "webhook" else {"url"}
    return {name: value for name, value in answer.items() if name not in added}


def records_in_trail(cast: Cast) -> list[list[str]]:
    """Return the records that each entry of the trail names, in order."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all("SELECT records FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
    return [orjson.loads(str(records)) for (records,) in found]


def operations_on(cast: Cast, record: str) -> list[str]:
    """Return the operations that touched a record, in order, by the trail."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all(
            "SELECT a.operation FROM audit_record r"
            " JOIN audit a ON a.organisation_id = r.organisation_id AND a.sequence = r.sequence"
            " WHERE r.organisation_id = :organisation AND r.record_id = :record ORDER BY r.sequence",
            record=record,
        )
    return [str(name) for (name,) in found]


def actor_with_key(cast: Cast, key: str) -> Actor:
    """Return the actor of this key; refused if the key is not valid."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return actor_of_key(db, key, Door.API, cast.performer.clock())


def actor_through_app(cast: Cast, role: Role, name: str = "Claude") -> Actor:
    """Return a person of this role who acts through an app that they have just connected."""
    client = new_id("client")
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("INSERT INTO oauth_client (id, metadata, created_at) VALUES (:id, '{}', '2026')", id=client)
    approved = cast.perform(
        approve_connection,
        role,
        clientId=client,
        clientName=name,
        access="write",
        redirectUri="https://app.example/back",
        challenge="x" * 43,
    )
    cast.perform(start_connection, operator_actor(cast.organisation), connectionId=approved["id"])
    actor = cast.actor(role, door=Door.AGENT)
    return actor._replace(credential=approved["id"], client=Named(approved["id"], name))


def waiting_emails(cast: Cast) -> list[dict[str, str]]:
    """Return the emails of an organisation that wait in the outbox, in order."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all("SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = 'mail' ORDER BY id")
    return [orjson.loads(str(payload)) for (payload,) in found]


def emails_about(cast: Cast, record: str) -> list[tuple[str, str, str]]:
    """Return the recipient, subject and status of each email about a record."""
    found = cast.perform(list_messages, about=record)["data"]
    return [(one["recipient"], one["subject"], one["status"]) for one in found]


def names_amount(text: str, amount: int) -> bool:
    """Whether an amount stands in a text, in units or in hundredths, and not by chance among the digits of an id."""
    return re.search(rf"\b{amount}(00)?\b", text) is not None

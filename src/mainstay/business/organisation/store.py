"""Storage of organisations."""

from datetime import date, datetime, timedelta
from typing import NamedTuple

import orjson

from mainstay.business.organisation.email_texts import MailTexts
from mainstay.business.organisation.model import Organisation
from mainstay.infrastructure.database import SKIP_LOCKED, DatabaseHandle, UniqueViolation, Value
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.values.choices import fold_text
from mainstay.values.message import Message
from mainstay.values.moments import local_date, moment_text, start_of_day
from mainstay.vocabulary.refusal import Conflict

# The kind of the task that recalculates stored moments at which days end.
RECALCULATE_DAYS = "reckon_days_anew"

ORGANISATION = Kind(
    Organisation,
    source="organisation",
    heading="Organisation",
    area="Settings",
    prefix="org",
    id_field=None,
    tenant_column="id",
    columns={"subscription": """'{"status":"' || organisation.subscription || '"}'"""},
)


def organisation_name(db: DatabaseHandle) -> str:
    """Return the organisation's name."""
    row = db.one("SELECT name FROM organisation WHERE id = :organisation")
    return str(row[0]) if row else ""


class NewOrganisation(NamedTuple):
    """What is known of an organisation when it is created."""

    name: str
    country: str
    currency: str
    time_zone: str
    is_sample: bool = False


def insert(ctx: Context, new: NewOrganisation) -> None:
    """Insert a new organisation with the id to which the database handle is bound."""
    try:
        ctx.db.run(
            "INSERT INTO organisation (id, name, country, currency, time_zone, mail_texts, subscription, day_begins_at,"
            " is_sample, created_at, created_by, updated_at, updated_by, version)"
            " VALUES (:organisation, :name, :country, :currency, :time_zone, :mail_texts, 'active', :at,"
            " :is_sample, :at, :by, :at, :by, 1)",
            name=new.name,
            country=new.country,
            currency=new.currency,
            time_zone=new.time_zone,
            is_sample=int(new.is_sample),
            mail_texts=MailTexts().model_dump_json(),
            at=ctx.now_text,
            by=ctx.stamp,
        )
    except UniqueViolation:
        raise Conflict(Message("There is already an organisation with this ID.")) from None
    ctx.writer.touch(ctx.actor.organisation)
    ctx.writer.mark_written(ORGANISATION.table, ctx.actor.organisation)


def has_new_day(db: DatabaseHandle, now: datetime) -> bool:
    """Return whether a new day has begun in any organisation. Needs a handle for all organisations."""
    return db.one("SELECT 1 FROM organisation WHERE day_begins_at <= :now LIMIT 1", now=moment_text(now)) is not None


def claim_new_days(db: DatabaseHandle, now: datetime, limit: int) -> list[tuple[str, date]]:
    """Claim organisations in which a new day has begun, and return them with their local date.

    No other process gets the same ones. Organisations that are being changed right now are left for the next call.
    """
    rows_due = db.all(
        "SELECT id, time_zone FROM organisation WHERE day_begins_at <= :now ORDER BY day_begins_at, id"
        f" LIMIT :most {SKIP_LOCKED}",
        now=moment_text(now),
        most=limit,
    )
    begun = [(str(record_id), str(zone), local_date(now, str(zone))) for record_id, zone in rows_due]
    for record_id, zone, today in begun:
        db.run(
            "UPDATE organisation SET day_begins_at = :next WHERE id = :id",
            id=record_id,
            next=moment_text(start_of_day(today + timedelta(days=1), zone)),
        )
    return [(record_id, today) for record_id, _, today in begun]


def reset_early_days(db: DatabaseHandle, now: datetime) -> None:
    """Reset day starts that lie too far ahead, which only a clock that ran ahead can have written."""
    db.run(
        "UPDATE organisation SET day_begins_at = :at WHERE day_begins_at > :latest",
        at=moment_text(now),
        latest=moment_text(now + _MAX_DAY_LEAD),
    )


# A place that moves across the date line leaves out a day, so a day start can be two days ahead.
_MAX_DAY_LEAD = timedelta(days=3)


# Tables with a currency, without documents that were dropped before they had any effect.
_DOCUMENTS_WITH_CURRENCY = (
    (Message("quotes"), "quote WHERE status <> 'withdrawn'"),
    (Message("invoices"), "invoice WHERE 1 = 1"),
    (Message("payments"), "payment WHERE 1 = 1"),
    (Message("purchase orders"), "purchase_order WHERE status <> 'cancelled'"),
    (Message("bills"), "bill WHERE 1 = 1"),
)


def find_foreign_documents(ctx: Context, currency: str) -> list[Message]:
    """Return the kinds of documents that exist in another currency than this one."""
    others = "organisation_id = :organisation AND currency <> :wanted LIMIT 1"
    return [
        kind
        for kind, documents in _DOCUMENTS_WITH_CURRENCY
        if ctx.db.one(f"SELECT 1 FROM {documents} AND {others}", wanted=currency)
    ]


def list_organisations(db: DatabaseHandle) -> list[dict[str, Value]]:
    """Return all organisations, oldest first. Needs a handle for all organisations."""
    names = ("id", "name", "subscription", "createdAt", "storageBytes", "isSample")
    rows_found = db.all(
        "SELECT id, name, subscription, created_at, storage_bytes, is_sample FROM organisation ORDER BY created_at, id"
    )
    return [dict(zip(names, (*row[:-1], row[-1] == 1), strict=True)) for row in rows_found]


def find_by_name(db: DatabaseHandle, text: str) -> list[str]:
    """Return the ids of the first two organisations with this id or name. Needs a handle for all organisations."""
    # SQLite and PostgreSQL ignore case differently, so names are compared here.
    organisations = db.all("SELECT id, name FROM organisation ORDER BY id")
    # If two names differ only by case or an accent, an exact match wins.
    exact = [str(record_id) for record_id, name in organisations if text in {record_id, name}]
    return (exact or [str(record_id) for record_id, name in organisations if fold_text(str(name)) == fold_text(text)])[
        :2
    ]


def find_by_original_name(db: DatabaseHandle, name: str) -> list[str]:
    """Return the ids of organisations created with this name, as recorded in their audit trails.

    Needs a handle for all organisations.
    """
    found = db.all(
        "SELECT organisation.id, audit.given FROM organisation JOIN audit"
        " ON audit.organisation_id = organisation.id AND audit.sequence = 1 ORDER BY organisation.id"
    )
    return [str(record_id) for record_id, given in found if orjson.loads(str(given)).get("name") == name]


def set_default_tax_rate(ctx: Context, rate: str | None) -> None:
    """Store which tax rate applies when a line names none; None for no such rate."""
    ctx.db.run("UPDATE organisation SET default_tax_rate_id = :rate WHERE id = :organisation", rate=rate)
    ctx.writer.touch(ctx.actor.organisation)
    ctx.writer.mark_written("organisation", ctx.actor.organisation)

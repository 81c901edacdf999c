"""Where the organisation is kept."""

from datetime import date, datetime, timedelta

import orjson

from mainstay.backing.database import SKIP_LOCKED, Clash, Handle, Value
from mainstay.business.organisation.mail_texts import MailTexts
from mainstay.business.organisation.model import Organisation
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.refusal import Conflict
from mainstay.values.moments import beginning_of, local_date, moment_text
from mainstay.values.words import folded

# The chore that finds anew when days end, where they are kept as moments.
NEW_DAYS = "reckon_days_anew"

ORGANISATION = Listing(
    Organisation,
    source="organisation",
    what="organisation",
    prefix="org",
    id_field=None,
    tenant="id",
    columns={"subscription": """'{"status":"' || organisation.subscription || '"}'"""},
    facts={"logo": "organisation.logo", "logo_bytes": "organisation.logo_bytes"},
)


def name(rows: Handle) -> str:
    """What people call it."""
    row = rows.one("SELECT name FROM organisation WHERE id = :organisation")
    return str(row[0]) if row else ""


def insert(ctx: Context, *, name: str, country: str, currency: str, time_zone: str) -> None:
    """A new organisation, with the id that the actor's handle is bound to."""
    try:
        ctx.rows.run(
            "INSERT INTO organisation (id, name, country, currency, time_zone, mail_texts, subscription, day_begins_at,"
            " created_at, created_by, updated_at, updated_by, version)"
            " VALUES (:organisation, :name, :country, :currency, :time_zone, :mail_texts, 'active', :at,"
            " :at, :by, :at, :by, 1)",
            name=name,
            country=country,
            currency=currency,
            time_zone=time_zone,
            mail_texts=MailTexts().model_dump_json(),
            at=ctx.at,
            by=ctx.stamp,
        )
    except Clash:
        raise Conflict("There is already an organisation with this identifier.") from None
    ctx.pen.touch(ctx.actor.organisation)
    ctx.pen.mark_written(ORGANISATION.table, ctx.actor.organisation)


def has_day_begun(rows: Handle, now: datetime) -> bool:
    """Whether a new day has begun in some organisation; the handle looks across them."""
    return rows.one("SELECT 1 FROM organisation WHERE day_begins_at <= :now LIMIT 1", now=moment_text(now)) is not None


def claim_days(rows: Handle, now: datetime, most: int) -> list[tuple[str, date]]:
    """Organisations in which a new day has begun, with its date there; nobody else gets the same ones.

    Those that are being changed right now are left for the next time.
    """
    found = rows.all(
        "SELECT id, time_zone FROM organisation WHERE day_begins_at <= :now ORDER BY day_begins_at, id"
        f" LIMIT :most {SKIP_LOCKED}",
        now=moment_text(now),
        most=most,
    )
    begun = [(str(identity), str(zone), local_date(now, str(zone))) for identity, zone in found]
    for identity, zone, today in begun:
        rows.run(
            "UPDATE organisation SET day_begins_at = :next WHERE id = :id",
            id=identity,
            next=moment_text(beginning_of(today + timedelta(days=1), zone)),
        )
    return [(identity, today) for identity, _, today in begun]


def bring_days_forward(rows: Handle, now: datetime) -> None:
    """Let days begin anew where the next would begin when only a clock can have said which ran ahead."""
    rows.run(
        "UPDATE organisation SET day_begins_at = :at WHERE day_begins_at > :latest",
        at=moment_text(now),
        latest=moment_text(now + _LONGEST_DAYS),
    )


# Where the date line was moved, a day was left out.
_LONGEST_DAYS = timedelta(days=3)


# What has a currency of its own, but what was dropped before anything came of it.
_DOCUMENTS = {
    "quotes": "quote WHERE status <> 'withdrawn'",
    "invoices": "invoice WHERE 1 = 1",
    "payments": "payment WHERE 1 = 1",
    "purchase orders": "purchase_order WHERE status <> 'cancelled'",
    "bills": "bill WHERE 1 = 1",
}


def find_in_another_currency(ctx: Context, wanted: str) -> list[str]:
    """The kinds of documents of which there are some in another currency than this."""
    others = "organisation_id = :organisation AND currency <> :wanted LIMIT 1"
    return [
        kind
        for kind, documents in _DOCUMENTS.items()
        if ctx.rows.one(f"SELECT 1 FROM {documents} AND {others}", wanted=wanted)
    ]


def every(rows: Handle) -> list[dict[str, Value]]:
    """What tells organisations apart, the first that was made first; the handle looks across them."""
    names = ("id", "name", "subscription", "createdAt", "storageBytes")
    found = rows.all(
        "SELECT id, name, subscription, created_at, storage_bytes FROM organisation ORDER BY created_at, id"
    )
    return [dict(zip(names, row, strict=True)) for row in found]


def find_called(rows: Handle, text: str) -> list[str]:
    """The ids of the first two organisations with this id or name; the handle looks across them."""
    # The two engines fold letters differently, so neither does it.
    found = rows.all("SELECT id, name FROM organisation ORDER BY id")
    # Of two names that differ only by an accent, the one that is written out is meant.
    exactly = [str(identity) for identity, name in found if text in {identity, name}]
    return (exactly or [str(identity) for identity, name in found if folded(str(name)) == folded(text)])[:2]


def made_as(rows: Handle, name: str) -> list[str]:
    """The ids of the organisations that had this name when they were made, as their trails tell; likewise."""
    found = rows.all(
        "SELECT organisation.id, audit.given FROM organisation JOIN audit"
        " ON audit.organisation_id = organisation.id AND audit.sequence = 1 ORDER BY organisation.id"
    )
    return [str(identity) for identity, given in found if orjson.loads(str(given)).get("name") == name]

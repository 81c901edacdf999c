"""The date or period of supply of an invoice: when the work that it bills was done, and when its goods came."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from mainstay.business.invoices.model import Invoice, InvoiceKind
from mainstay.business.lines.model import Line, read_lines
from mainstay.business.organisation.organisation_settings import OrganisationSettings
from mainstay.documents.snapshot import WorkPeriodSnapshot
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.kernel.context import Context
from mainstay.values.countries import WITH_DATE_OF_SUPPLY
from mainstay.values.fields import StoredDay
from mainstay.values.message import FieldName, Message
from mainstay.values.moments import local_date, parse_moment
from mainstay.vocabulary.refusal import Fault, Invalid

SuppliedFrom = Annotated[
    StoredDay | None,
    Field(
        description="For work over several days, the first day. Leave empty to use the dates of the work and goods"
        " on the invoice."
    ),
]
SuppliedUntil = Annotated[StoredDay | None, Field(description="Only if the work took more than one day.")]


class Supply(NamedTuple):
    """The first and the last day of a supply, which may be the same."""

    first: str
    last: str


def read_supply(first: str | None, last: str | None) -> Supply | None:
    """Return the supply between these days; a single day is both the first and the last."""
    if first and last and last < first:
        message = Message(
            "is before {field}",
            field=FieldName("suppliedFrom"),
            for_programs=Message("send both to change the period"),
        )
        raise Invalid([Fault("suppliedUntil", message)])
    return Supply(first or last or "", last or first or "") if first or last else None


def supply_columns(typed: Supply | None, found: Supply | None) -> dict[str, Any]:
    """Return the columns of a draft for the date of supply: as typed, or else as found."""
    supply = typed or found
    first, last = supply or (None, None)
    return {"supplied_from": first, "supplied_until": last, "supply_typed": typed is not None}


def compute_supply_changes(
    ctx: Context, sent: Mapping[str, Any], invoice: Invoice, changed: Sequence[Line] | None
) -> dict[str, Any]:
    """Recompute the date of supply of a draft if it was sent, or if the lines that it is computed from changed."""
    first = sent.get("supplied_from", invoice.supplied_from)
    last = sent.get("supplied_until", invoice.supplied_until)
    is_sent = not {"supplied_from", "supplied_until"}.isdisjoint(sent)
    if not is_sent and (invoice.supply_typed or changed is None):
        return {}
    lines = read_lines(invoice.lines) if changed is None else changed
    typed = read_supply(first, last) if is_sent else None
    return supply_columns(typed, find_supply(ctx, invoice.kind, invoice.job_id, lines))


def find_supply(ctx: Context, kind: InvoiceKind, job_id: str | None, lines: Sequence[Line]) -> Supply | None:
    """Find when the hours and goods on these lines were supplied, or else when the work on the job was done.

    A deposit has no date of supply, because it is billed before anything is supplied.
    """
    if kind == "deposit":
        return None
    billed_sources = [line.source for line in lines if line.source]
    entries = [source["id"] for source in billed_sources if source["kind"] == "timeEntry"]
    materials = [source["id"] for source in billed_sources if source["kind"] in {"orderLine", "billLine"}]
    days = [*_find_days(ctx, "time_entry", entries), *_find_days(ctx, "material", materials)]
    # Lines at a quoted price have no days of their own, so use those of the job.
    if job_id and (not days or any(source["kind"] == "quoteLine" for source in billed_sources)):
        days += _find_days_on_job(ctx, job_id)
    return Supply(min(days), max(days)) if days else None


def supply_at_issue(
    settings: OrganisationSettings, kind: InvoiceKind, known: Supply | None, today: str
) -> Supply | None:
    """Return the supply that an invoice states; use the date of issue if none is known and the country requires one."""
    if known or kind == "deposit" or settings.country not in WITH_DATE_OF_SUPPLY:
        return known
    return Supply(today, today)


def printed_supply_columns(period: WorkPeriodSnapshot | None) -> dict[str, str | None]:
    """Return the columns of an issued invoice for the period that is printed on it."""
    return {"supplied_from": period.from_ if period else None, "supplied_until": period.until if period else None}


def _find_days(ctx: Context, table: str, ids: Iterable[str]) -> list[str]:
    sql = f"SELECT on_date FROM {table} WHERE organisation_id = :organisation AND id IN {BATCH_VALUES}"
    return [str(day) for (day,) in select_batched(ctx.db, sql, ids)]


def _find_days_on_job(ctx: Context, job_id: str) -> list[str]:
    """Find the days of a job's completed visits, or else of the hours worked on it."""
    visits = ctx.db.all(
        "SELECT on_date, starts_at, ends_at, time_zone FROM visit WHERE organisation_id = :organisation"
        " AND job_id = :job AND status = 'done' AND kind = 'work'",
        job=job_id,
    )
    if visits:
        return [day for on, *times, zone in visits for day in ([str(on)] if on else _local_days_of(times, str(zone)))]
    row = ctx.db.one(
        "SELECT min(on_date), max(on_date) FROM time_entry WHERE organisation_id = :organisation AND job_id = :job"
        " AND status IN ('draft', 'submitted', 'approved')",
        job=job_id,
    )
    return [str(day) for day in row or () if day]


def _local_days_of(times: Iterable[object], zone: str) -> list[str]:
    return [local_date(parse_moment(str(at)), zone).isoformat() for at in times]

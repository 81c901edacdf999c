"""The date or period of supply of an invoice: when the work that it bills was done, and when its goods came."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from mainstay.backing.among import THESE, among
from mainstay.business.invoices.model import Invoice, Kind
from mainstay.business.lines.model import Line, read_lines
from mainstay.business.organisation.house import House
from mainstay.kernel.context import Context
from mainstay.paper.snapshot import WorkPeriod
from mainstay.terms.refusal import Fault, Invalid
from mainstay.values.fields import KeptDay
from mainstay.values.moments import local_date, parse_moment
from mainstay.values.places import WITH_DATE_OF_SUPPLY

SuppliedFrom = Annotated[
    KeptDay | None,
    Field(
        description="The date of supply, or the first day of its period. Without it, as the hours, visits and goods say"
        " that it bills; otherwise the date of issue where the country wants one."
    ),
]
SuppliedUntil = Annotated[KeptDay | None, Field(description="The last day of the period of supply.")]


class Supply(NamedTuple):
    """The first and the last day of a supply; the same where it is one day."""

    first: str
    last: str


def read_supply(first: str | None, last: str | None) -> Supply | None:
    """Return the supply that these days say; one day alone is all of it."""
    if first and last and last < first:
        raise Invalid([Fault("suppliedUntil", "is before suppliedFrom; send both to change the period")])
    return Supply(first or last or "", last or first or "") if first or last else None


def supply_columns(typed: Supply | None, found: Supply | None) -> dict[str, Any]:
    """Return the columns of a draft that say when it was supplied: as typed, or else as found."""
    supply = typed or found
    first, last = supply or (None, None)
    return {"supplied_from": first, "supplied_until": last, "supply_typed": typed is not None}


def supply_changes(
    ctx: Context, sent: Mapping[str, Any], invoice: Invoice, changed: Sequence[Line] | None
) -> dict[str, Any]:
    """Recompute the date of supply of a draft if it was sent, or if the lines that it follows from changed."""
    first = sent.get("supplied_from", invoice.supplied_from)
    last = sent.get("supplied_until", invoice.supplied_until)
    is_sent = not {"supplied_from", "supplied_until"}.isdisjoint(sent)
    if not is_sent and (invoice.supply_typed or changed is None):
        return {}
    lines = read_lines(invoice.lines) if changed is None else changed
    typed = read_supply(first, last) if is_sent else None
    return supply_columns(typed, find_supply(ctx, invoice.kind, invoice.job_id, lines))


def find_supply(ctx: Context, kind: Kind, job: str | None, lines: Sequence[Line]) -> Supply | None:
    """Find out when what these lines bill was supplied: by hours and goods on them, or by what was done on the job.

    A deposit is asked for before anything is supplied.
    """
    if kind == "deposit":
        return None
    billed = [line.source for line in lines if line.source]
    entries = [source["id"] for source in billed if source["kind"] == "timeEntry"]
    materials = [source["id"] for source in billed if source["kind"] in {"orderLine", "billLine"}]
    days = [*_days_of(ctx, "time_entry", entries), *_days_of(ctx, "material", materials)]
    # What is billed at a price says nothing of days by itself: the job does.
    if job and (not days or any(source["kind"] == "quoteLine" for source in billed)):
        days += _days_on_job(ctx, job)
    return Supply(min(days), max(days)) if days else None


def supply_at_issue(house: House, kind: Kind, known: Supply | None, today: str) -> Supply | None:
    """Return the supply that an invoice states: the date of issue where the country wants one and none is known."""
    if known or kind == "deposit" or house.country not in WITH_DATE_OF_SUPPLY:
        return known
    return Supply(today, today)


def stated_supply(period: WorkPeriod | None) -> dict[str, str | None]:
    """Return the columns of an issued invoice that say what is printed on it."""
    return {"supplied_from": period.from_ if period else None, "supplied_until": period.until if period else None}


def _days_of(ctx: Context, table: str, ids: Iterable[str]) -> list[str]:
    sql = f"SELECT on_date FROM {table} WHERE organisation_id = :organisation AND id IN {THESE}"
    return [str(day) for (day,) in among(ctx.rows, sql, ids)]


def _days_on_job(ctx: Context, job: str) -> list[str]:
    """Find the days of a job's visits that are done, or else of the hours that were worked on it."""
    visits = ctx.rows.all(
        "SELECT on_date, starts_at, ends_at, time_zone FROM visit WHERE organisation_id = :organisation"
        " AND job_id = :job AND status = 'done' AND kind = 'work'",
        job=job,
    )
    if visits:
        return [day for on, *times, zone in visits for day in ([str(on)] if on else _days_between(times, str(zone)))]
    row = ctx.rows.one(
        "SELECT min(on_date), max(on_date) FROM time_entry WHERE organisation_id = :organisation AND job_id = :job"
        " AND status IN ('draft', 'submitted', 'approved')",
        job=job,
    )
    return [str(day) for day in row or () if day]


def _days_between(times: Iterable[object], zone: str) -> list[str]:
    return [local_date(parse_moment(str(at)), zone).isoformat() for at in times]

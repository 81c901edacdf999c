"""Where visits and time off are kept, and who sees how much of them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeVar

from mainstay.backing.database import Taken, Value
from mainstay.business.schedule.model import TimeOff, Visit
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import ListOrder, Own
from mainstay.terms.refusal import Conflict, NotFound
from mainstay.terms.rights import Right
from mainstay.terms.shapes import ListInput, Page
from mainstay.values.moments import moment_text, parse_moment

_A_DAY = timedelta(hours=24)

_OF_JOB = "(SELECT job.{} FROM job WHERE job.organisation_id = :organisation AND job.id = visit.job_id)"
_NAME = "(SELECT person.name FROM person WHERE person.organisation_id = :organisation AND person.id = {}.person_id)"
_AT_SITE = (
    "(SELECT site.{} FROM job JOIN site ON site.organisation_id = :organisation AND site.id = job.site_id"
    " WHERE job.organisation_id = :organisation AND job.id = visit.job_id)"
)
_CUSTOMER_S = (
    "(SELECT {} FROM job JOIN customer ON customer.organisation_id = :organisation AND customer.id = job.customer_id"
    " WHERE job.organisation_id = :organisation AND job.id = visit.job_id)"
)
_MET_THERE = (
    "(SELECT contact.{} FROM job JOIN site ON site.organisation_id = :organisation AND site.id = job.site_id"
    " JOIN contact ON contact.organisation_id = :organisation AND contact.id = site.contact_id"
    " WHERE job.organisation_id = :organisation AND job.id = visit.job_id)"
)
# Where one goes to see a person and not a firm, it is them whom one meets.
_THEMSELVES = "CASE WHEN customer.kind = 'individual' THEN customer.{} END"


def _met(column: str) -> str:
    return f"coalesce({_MET_THERE.format(column)}, {_CUSTOMER_S.format(_THEMSELVES.format(column))})"


_CALLED = (
    "(SELECT job.number || ' ' || job.title FROM job WHERE job.organisation_id = :organisation"
    " AND job.id = visit.job_id)"
)


# What only those are told who do the visit, or see every job.
_DETAILS = {
    "job_id": "visit.job_id",
    "job_title": _OF_JOB.format("title"),
    "title": "visit.title",
    "customer_name": _CUSTOMER_S.format("customer.name"),
    "site_name": _AT_SITE.format("name"),
    "site_address": _AT_SITE.format("address"),
    "access_notes": _AT_SITE.format("access_notes"),
    "contact_name": _met("name"),
    "contact_phone": _met("phone"),
    "notes": "visit.notes",
    "started_at": "visit.started_at",
    "finished_at": "visit.finished_at",
    "overlap_reason": "visit.overlap_reason",
}
_PLAIN = {
    "person_name": _NAME.format("visit"),
    "on": "visit.on_date",
    "job_number": _OF_JOB.format("number"),
}


# Planned visits that someone cannot do after all, because they are on leave then; leave is rare, and says which.
ON_LEAVE = (
    "visit.id IN (SELECT planned.id FROM time_off AS away JOIN visit AS planned"
    " ON planned.organisation_id = away.organisation_id AND planned.person_id = away.person_id"
    " AND planned.starts_at > away.reached_from AND planned.starts_at < away.ends_at"
    " WHERE away.organisation_id = :organisation AND away.status = 'approved' AND away.ends_at > :now"
    " AND planned.person_id IS NOT NULL AND planned.starts_at IS NOT NULL AND planned.status <> 'cancelled'"
    " AND planned.status = 'planned' AND planned.begins_at >= :now AND planned.ends_at > away.starts_at)"
)


class _Visits(Listing[Visit]):
    """Visits, some of which are read at once."""

    def some(self, ctx: Context, condition: str, limit: int, **bound: Value) -> list[Visit]:
        """The first visits for which a condition holds, whoever asks: for rules, not for showing."""
        sql = f"{self.everything} AND {condition} ORDER BY visit.begins_at, visit.id LIMIT {limit}"
        return [self.keep(row) for row in ctx.rows.all(sql, **bound)]


class Visits(_Visits):
    """Visits, as much of each as whoever asks may see: all of it, or of a colleague's what the team is told."""

    def fetch(self, ctx: Context, identity: str | None) -> Visit:
        """The visit of this id."""
        return super().fetch(ctx, identity) if _sees_all(ctx) else _TEAM.fetch(ctx, identity)

    def fetch_whole(self, ctx: Context, identity: str | None) -> Visit:
        """The same, where it is not a colleague's: what the team is told of that is when it is, and no more."""
        visit = self.fetch(ctx, identity)
        if not _sees_all(ctx) and visit.person_id != ctx.actor.id:
            raise NotFound(self.what)
        return visit

    def page(self, ctx: Context, given: ListInput, where: str = "", *, walks: bool = True, **bound: Value) -> Page[Any]:
        """One page of a list."""
        if _sees_all(ctx):
            return super().page(ctx, given, where, walks=walks, **bound)
        return _TEAM.page(ctx, given, where, walks=walks, **bound)

    def seen(self, ctx: Context, condition: str, limit: int, **bound: Value) -> list[Visit]:
        """The first visits for which a condition holds."""
        return _sought(ctx, (self, _TEAM), condition, limit, bound)

    def glimpsed(self, ctx: Context, condition: str, limit: int, **bound: Value) -> list[Visit]:
        """The same with no more than a board shows of each: what else there is, is not looked up."""
        return _sought(ctx, (_BRIEF, _TEAM_BRIEF), condition, limit, bound)


def _sought(
    ctx: Context, among: tuple[_Visits, _Visits], condition: str, limit: int, bound: dict[str, Value]
) -> list[Visit]:
    """Visits among all, for those who see all of each; for others among what the team is told, or among their own."""
    if _sees_all(ctx):
        return among[0].some(ctx, condition, limit, **bound)
    mine = "" if ctx.actor.may(Right.ALL_SCHEDULE_READ) else " AND visit.person_id = :me"
    return among[1].some(ctx, condition + mine, limit, **bound)


def _sees_all(ctx: Context) -> bool:
    return ctx.actor.may(Right.ALL_JOBS_READ)


V = TypeVar("V", bound=_Visits)


def _made(kind: type[V], details: Mapping[str, str], unless: Right, *, briefly: bool = False) -> V:
    return kind(
        Visit,
        source="visit",
        what="visit",
        prefix="visit",
        id_field="visit_id",
        columns={**_PLAIN, **details},
        facts={
            "about_job": "visit.job_id",
            "about": "NULL" if briefly else f"coalesce({_CALLED}, visit.title)",
            "at_site": "NULL" if briefly else _OF_JOB.format("site_id"),
            "begins_at": "visit.begins_at",
        },
        own=Own("visit.person_id", unless=unless, glimpsed=Right.ALL_SCHEDULE_READ),
        filters={
            "person_id": "visit.person_id = :person_id",
            "series_id": "visit.series_id = :series_id",
            "group_id": "visit.group_id = :group_id",
            "status": "visit.status = :status",
        },
        otherwise={"status": "visit.status <> 'cancelled'"},
        orders={"start": ListOrder("begins_at"), "latest": ListOrder("begins_at", descending=True)},
    )


_MINE = {name: f"CASE WHEN visit.person_id = :me THEN {column} END" for name, column in _DETAILS.items()}
_TEAM = _made(_Visits, _MINE, Right.ALL_SCHEDULE_READ)
VISITS = _made(Visits, _DETAILS, Right.ALL_JOBS_READ)


def _brief(details: Mapping[str, str]) -> dict[str, str]:
    return {name: column if name in _ON_BOARD else "NULL" for name, column in details.items()}


_ON_BOARD = {"job_id", "job_title", "title", "customer_name", "site_name"}
_BRIEF = _made(_Visits, _brief(_DETAILS), Right.ALL_JOBS_READ, briefly=True)
_TEAM_BRIEF = _made(_Visits, _brief(_MINE), Right.ALL_SCHEDULE_READ, briefly=True)


def _reached(values: dict[str, Any]) -> dict[str, Any]:
    """From when on a visit can reach into time off: none is longer than a day."""
    if "starts_at" not in values:
        return values
    return values | {"reached_from": moment_text(parse_moment(values["starts_at"]) - _A_DAY)}


TIME_OFF = Listing(
    TimeOff,
    source="time_off",
    what="time off",
    prefix="leave",
    id_field="time_off_id",
    columns={
        "person_name": _NAME.format("time_off"),
        "from_": "time_off.from_date",
        "until": "time_off.until_date",
        "collisions": "NULL",
    },
    own=Own("time_off.person_id", unless=Right.ALL_LEAVE_READ),
    filters={"person_id": "time_off.person_id = :person_id", "status": "time_off.status = :status"},
    otherwise={"status": "time_off.status IN ('requested', 'approved')"},
    orders={"start": ListOrder("starts_at"), "latest": ListOrder("starts_at", descending=True)},
    derived=_reached,
)


def insert(ctx: Context, values: Mapping[str, Any]) -> Visit:
    """A new visit."""
    try:
        return VISITS.insert(ctx, values)
    except Taken:
        raise _taken() from None


def save(ctx: Context, visit: Visit, changes: Mapping[str, Any]) -> Visit:
    """Write what changes of a visit."""
    try:
        return VISITS.save(ctx, visit, changes)
    except Taken:
        raise _taken() from None


def park(ctx: Context, visit: Visit) -> None:
    """Take a visit off the schedule for as long as others find their places; what is saved next puts it back."""
    ctx.rows.run(
        "UPDATE visit SET status = 'cancelled' WHERE organisation_id = :organisation AND id = :id", id=visit.id
    )
    ctx.pen.mark_written(VISITS.table, visit.id)


def _taken() -> Conflict:
    """What the database itself refuses; whoever plans has looked before and said more."""
    return Conflict(
        "The person has no time then. Choose another time (list_visits shows their day) or person (find_free_time)."
    )

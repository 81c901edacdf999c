"""Storage of visits and time off, and how much of them each person sees."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import Field

from mainstay.business.schedule.model import TimeOff, Visit
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import OverlapViolation, Value
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.record_store import RecordStore, select_related
from mainstay.values.descriptions import describe
from mainstay.values.message import Message
from mainstay.values.moments import ONE_DAY, moment_text, parse_moment
from mainstay.vocabulary.list_queries import ListOrder, Visibility
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, NotFound
from mainstay.vocabulary.schemas import ListInput, PageResult

_SITE_COLUMN = (
    "(SELECT site.{} FROM job JOIN site ON site.organisation_id = :organisation AND site.id = job.site_id"
    " WHERE job.organisation_id = :organisation AND job.id = visit.job_id)"
)
_CUSTOMER_COLUMN = (
    "(SELECT {} FROM job JOIN customer ON customer.organisation_id = :organisation AND customer.id = job.customer_id"
    " WHERE job.organisation_id = :organisation AND job.id = visit.job_id)"
)
_SITE_CONTACT_COLUMN = (
    "(SELECT contact.{} FROM job JOIN site ON site.organisation_id = :organisation AND site.id = job.site_id"
    " JOIN contact ON contact.organisation_id = :organisation AND contact.id = site.contact_id"
    " WHERE job.organisation_id = :organisation AND job.id = visit.job_id)"
)
# If the customer is a person and not a company, they are the contact.
_INDIVIDUAL_COLUMN = "CASE WHEN customer.kind = 'individual' THEN customer.{} END"


def _format_contact_column(column: str) -> str:
    return (
        f"coalesce({_SITE_CONTACT_COLUMN.format(column)}, {_CUSTOMER_COLUMN.format(_INDIVIDUAL_COLUMN.format(column))})"
    )


_JOB_NAME = select_related("job.number || ' ' || job.title", "visit.job_id")
# Shown only to the visit's person, and to people who see every job.
_DETAILS = {
    "job_id": "visit.job_id",
    "job_title": select_related("job.title", "visit.job_id"),
    "title": "visit.title",
    "customer_name": _CUSTOMER_COLUMN.format("customer.name"),
    "site_name": _SITE_COLUMN.format("name"),
    "site_address": _SITE_COLUMN.format("address"),
    "access_notes": _SITE_COLUMN.format("access_notes"),
    "contact_name": _format_contact_column("name"),
    "contact_phone": _format_contact_column("phone"),
    "notes": "visit.notes",
    "started_at": "visit.started_at",
    "finished_at": "visit.finished_at",
    "overlap_reason": "visit.overlap_reason",
}


# Planned visits of people who are on leave then. Leave is rare, so the query starts from it.
ON_LEAVE_CONDITION = (
    "visit.id IN (SELECT planned.id FROM time_off AS away JOIN visit AS planned"
    " ON planned.organisation_id = away.organisation_id AND planned.person_id = away.person_id"
    " AND planned.starts_at > away.reached_from AND planned.starts_at < away.ends_at"
    " WHERE away.organisation_id = :organisation AND away.status = 'approved' AND away.ends_at > :now"
    " AND planned.person_id IS NOT NULL AND planned.starts_at IS NOT NULL AND planned.status <> 'cancelled'"
    " AND planned.status = 'planned' AND planned.begins_at >= :now AND planned.ends_at > away.starts_at)"
)


class _VisitStore(RecordStore[Visit]):
    """A store of visits that can also return the first visits for a condition."""

    def find_many(self, ctx: Context, condition: str, limit: int, **parameters: Value) -> list[Visit]:
        """Return the first visits for which a condition holds, regardless of the actor. For rules, not for output."""
        sql = f"{self.select_all} AND {condition} ORDER BY visit.begins_at, visit.id LIMIT {limit}"
        return [self.from_row(row) for row in ctx.db.all(sql, **parameters)]


class VisitStore(_VisitStore, Kind[Visit]):
    """The store of visits as the actor may see them: complete, or reduced to what the team may know."""

    def fetch(self, ctx: Context, record_id: str | None) -> Visit:
        """Return the visit with this id."""
        return super().fetch(ctx, record_id) if _can_see_all(ctx) else _TEAM_VISITS.fetch(ctx, record_id)

    def fetch_fully_visible(self, ctx: Context, record_id: str | None) -> Visit:
        """Return the visit with this id, unless it is a colleague's that the actor sees only in reduced form."""
        visit = self.fetch(ctx, record_id)
        if not _can_see_all(ctx) and visit.person_id != ctx.actor.id:
            raise NotFound(self.label)
        return visit

    def page(
        self, ctx: Context, given: ListInput, where: str = "", *, uses_index: bool = True, **bound: Value
    ) -> PageResult[Any]:
        """Return one page of a list."""
        if _can_see_all(ctx):
            return super().page(ctx, given, where, uses_index=uses_index, **bound)
        return _TEAM_VISITS.page(ctx, given, where, uses_index=uses_index, **bound)

    def find_visible(self, ctx: Context, condition: str, limit: int, **parameters: Value) -> list[Visit]:
        """Return the first visits for which a condition holds, as the actor may see them."""
        return _find_visible(ctx, (self, _TEAM_VISITS), condition, limit, parameters)

    def find_for_board(self, ctx: Context, condition: str, limit: int, **parameters: Value) -> list[Visit]:
        """Return the same visits with only the columns that the board shows, which is faster."""
        return _find_visible(ctx, (_BOARD_VISITS, _TEAM_BOARD_VISITS), condition, limit, parameters)

    def find_for_board_by_ids(self, ctx: Context, ids: Sequence[str]) -> list[Visit]:
        """Return those of these visits that the actor may see, with only the columns that the board shows."""
        store = _BOARD_VISITS if _can_see_all(ctx) else _TEAM_BOARD_VISITS
        sql = f"{store.select_all} AND visit.id IN {BATCH_VALUES}{_own_condition(ctx)}"
        return [store.from_row(row) for row in select_batched(ctx.db, sql, ids)]

    def list_beginnings(self, ctx: Context, begin: str, end: str, limit: int) -> list[tuple[str, str]]:
        """Return the ids and beginnings of the visits that begin between two moments and that the actor may see."""
        rows = ctx.db.all(
            "SELECT visit.id, visit.begins_at FROM visit WHERE visit.organisation_id = :organisation"
            " AND visit.begins_at >= :begin AND visit.begins_at < :end AND visit.status <> 'cancelled'"
            f"{_own_condition(ctx)} ORDER BY visit.begins_at, visit.id LIMIT {limit}",
            begin=begin,
            end=end,
        )
        return [(str(visit_id), str(begins_at)) for visit_id, begins_at in rows]


def _own_condition(ctx: Context) -> str:
    """Return the condition that limits people to their own visits, unless they see the team's."""
    sees_team = _can_see_all(ctx) or ctx.actor.can(Permission.ALL_SCHEDULE_READ)
    return "" if sees_team else " AND visit.person_id = :me"


def _find_visible(
    ctx: Context, stores: tuple[_VisitStore, _VisitStore], condition: str, limit: int, parameters: dict[str, Value]
) -> list[Visit]:
    """Return the first visits for which a condition holds, from the first or the second of two stores.

    People who see every job use the first store. Others use the second, limited to their own visits unless they see the
    team's.
    """
    if _can_see_all(ctx):
        return stores[0].find_many(ctx, condition, limit, **parameters)
    return stores[1].find_many(ctx, condition + _own_condition(ctx), limit, **parameters)


def _can_see_all(ctx: Context) -> bool:
    return ctx.actor.can(Permission.ALL_JOBS_READ)


StoreType = TypeVar("StoreType", bound=_VisitStore)


def _make_store(
    make: Callable[..., StoreType], details: Mapping[str, str], unless: Permission, *, for_board: bool = False
) -> StoreType:
    return make(
        Visit,
        source="visit",
        columns={
            "person_name": select_related("person.name", "visit.person_id"),
            "on": "visit.on_date",
            "job_number": select_related("job.number", "visit.job_id"),
            **details,
            "about_job": "visit.job_id",
            "about": "NULL" if for_board else f"coalesce({_JOB_NAME}, visit.title)",
            "at_site": "NULL" if for_board else select_related("job.site_id", "visit.job_id"),
        },
        visibility=Visibility("visit.person_id", unrestricted_with=unless, partial_with=Permission.ALL_SCHEDULE_READ),
        equal_filters=("person_id", "series_id", "group_id", "status"),
        default_conditions={"status": "visit.status <> 'cancelled'"},
        orders={"start": ListOrder("begins_at"), "latest": ListOrder("begins_at", descending=True)},
    )


_OWN_DETAILS = {name: f"CASE WHEN visit.person_id = :me THEN {column} END" for name, column in _DETAILS.items()}
_TEAM_VISITS = _make_store(_VisitStore, _OWN_DETAILS, Permission.ALL_SCHEDULE_READ)
VISITS = _make_store(
    partial(VisitStore, plural="visits", area="Schedule", new="plan"), _DETAILS, Permission.ALL_JOBS_READ
)


def _select_board_details(details: Mapping[str, str]) -> dict[str, str]:
    return {name: column if name in _BOARD_DETAILS else "NULL" for name, column in details.items()}


_BOARD_DETAILS = {"job_id", "job_title", "title", "customer_name", "site_name"}
_BOARD_VISITS = _make_store(_VisitStore, _select_board_details(_DETAILS), Permission.ALL_JOBS_READ, for_board=True)
_TEAM_BOARD_VISITS = _make_store(
    _VisitStore, _select_board_details(_OWN_DETAILS), Permission.ALL_SCHEDULE_READ, for_board=True
)


def _add_reached_from(values: dict[str, Any]) -> dict[str, Any]:
    """Add the earliest moment at which a visit that reaches into the time off can begin.

    No visit is longer than a day.
    """
    if "starts_at" not in values:
        return values
    return values | {"reached_from": moment_text(parse_moment(values["starts_at"]) - ONE_DAY)}


TIME_OFF = Kind(
    TimeOff,
    source="time_off",
    id_type=Annotated[str, Field(description=describe("[[The ID of the time off.]]"))],
    plural="time off",
    area="Schedule",
    new="request",
    prefix="leave",
    columns={
        "person_name": select_related("person.name", "time_off.person_id"),
        "from_": "time_off.from_date",
        "until": "time_off.until_date",
        "collisions": "NULL",
    },
    visibility=Visibility("time_off.person_id", unrestricted_with=Permission.ALL_LEAVE_READ),
    equal_filters=("person_id", "status"),
    default_conditions={"status": "time_off.status IN ('requested', 'approved')"},
    orders={"start": ListOrder("starts_at"), "latest": ListOrder("starts_at", descending=True)},
    derive_columns=_add_reached_from,
)


def insert(ctx: Context, values: Mapping[str, Any]) -> Visit:
    """Insert a visit."""
    try:
        return VISITS.insert(ctx, values)
    except OverlapViolation:
        raise _make_overlap_error() from None


def save(ctx: Context, visit: Visit, changes: Mapping[str, Any]) -> Visit:
    """Write changes of a visit."""
    try:
        return VISITS.save(ctx, visit, changes)
    except OverlapViolation:
        raise _make_overlap_error() from None


def hide_visit(ctx: Context, visit: Visit) -> None:
    """Take a visit off the schedule while others are written. Saving it puts it back."""
    ctx.db.run("UPDATE visit SET status = 'cancelled' WHERE organisation_id = :organisation AND id = :id", id=visit.id)
    ctx.writer.mark_written(VISITS.table, visit.id)


def _make_overlap_error() -> Conflict:
    """Return the error for an overlap that only the database noticed. Clashes found earlier are described better."""
    hint = Message("list_visits shows their visits, and find_free_time shows who is free.")
    return Conflict(Message("The person is not free then. Choose another time or person.", for_programs=hint))

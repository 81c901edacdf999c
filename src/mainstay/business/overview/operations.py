"""One look at everything that waits."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mainstay.business.hours.store import ENTRIES
from mainstay.business.jobs.store import JOBS, LATE
from mainstay.business.organisation.working_hours import time_zone
from mainstay.business.overview.model import Need, OverviewOut
from mainstay.business.schedule.store import ON_LEAVE, TIME_OFF, VISITS
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.listed import COUNTED
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.values.moments import beginning_of, local_date, moment_text

# So far back the trail is looked through for what apps did, and so many acts of it at most.
_A_DAY = timedelta(days=1)
_LOOKED_THROUGH = 500


class GetOverview(Input):
    """Nothing: it is about today, and about what you may see."""


class _Waiting(NamedTuple):
    """Records that wait as long as a condition holds, and whom for."""

    what: str
    listing: Listing[Any]
    condition: str
    right: Right
    path: str
    operation: str
    given: Mapping[str, object]


_NOBODY = "visit.person_id IS NULL AND visit.status <> 'cancelled' AND visit.begins_at >= :today_at"
_TODAY = ":today"

# The most pressing first.
_OFFICE: tuple[_Waiting, ...] = (
    _Waiting(
        "Visits of people who are on leave",
        VISITS,
        ON_LEAVE,
        Right.SCHEDULE_CHANGE,
        "/schedule/visits",
        "list_visits",
        {"onLeave": True},
    ),
    _Waiting(
        "Visits without a person",
        VISITS,
        _NOBODY,
        Right.SCHEDULE_CHANGE,
        "/schedule/visits",
        "list_visits",
        {"unassigned": True},
    ),
    _Waiting(
        "Jobs past their date",
        JOBS,
        LATE.replace(":due_before", _TODAY),
        Right.JOBS_CHANGE,
        "/jobs",
        "list_jobs",
        {"dueBefore": _TODAY},
    ),
    _Waiting(
        "Hours to approve",
        ENTRIES,
        "time_entry.status = 'submitted'",
        Right.HOURS_REVIEW,
        "/hours/approve",
        "list_hours",
        {"status": "submitted"},
    ),
    _Waiting(
        "Time off to decide",
        TIME_OFF,
        "time_off.status = 'requested'",
        Right.LEAVE_DECIDE,
        "/time-off",
        "list_time_off",
        {"status": "requested"},
    ),
    *(
        _Waiting(what, JOBS, f"job.stage = '{stage}'", Right.JOBS_CHANGE, "/jobs", "list_jobs", {"stage": stage})
        for stage, what in (
            ("enquiry", "Enquiries to answer"),
            ("toSchedule", "Jobs to schedule"),
            ("toInvoice", "Jobs to invoice"),
        )
    ),
)
_FIELD: tuple[_Waiting, ...] = (
    _Waiting(
        "Hours that were rejected",
        ENTRIES,
        "time_entry.person_id = :me AND time_entry.status = 'rejected'",
        Right.HOURS_LOG,
        "/hours",
        "list_hours",
        {"status": "rejected"},
    ),
    _Waiting(
        "Hours to submit",
        ENTRIES,
        "time_entry.person_id = :me AND time_entry.status = 'draft'",
        Right.HOURS_LOG,
        "/hours",
        "list_hours",
        {"status": "draft"},
    ),
)


@operation(right=Right.OVERVIEW_READ, effect=Effect.READ, rest="GET /overview")
def get_overview(ctx: Context, _given: GetOverview) -> OverviewOut:
    """Get what needs someone now.

    Each with how many there are and what lists exactly those. The place to begin a day; members see what is their own.
    """
    zone = time_zone(ctx)
    today = local_date(ctx.now, zone)
    bound = {"now": ctx.at, "today": today.isoformat(), "today_at": moment_text(beginning_of(today, zone))}
    needs = [_need(ctx, one, bound) for one in (*_OFFICE, *_FIELD) if ctx.actor.may(one.right)]
    return OverviewOut(
        object=OverviewOut.noun,
        on=today.isoformat(),
        needs=[need for need in needs if need.count],
        changed_by_apps=_changed_by_apps(ctx) if ctx.actor.may(Right.HISTORY_READ) else 0,
    )


OPERATIONS = (get_overview,)


def _need(ctx: Context, one: _Waiting, bound: Mapping[str, str]) -> Need:
    used = {name: value for name, value in bound.items() if f":{name}" in one.condition}
    given = {name: bound["today"] if value == _TODAY else value for name, value in one.given.items()}
    asked = urlencode({name: "yes" if value is True else value for name, value in given.items()})
    return Need(
        what=one.what,
        count=one.listing.count(ctx, one.condition, **used),
        url=f"{ctx.base_url}{one.path}{'?' if asked else ''}{asked}",
        operation=one.operation,
        given=given,
    )


def _changed_by_apps(ctx: Context) -> int:
    row = ctx.rows.one(
        "SELECT count(*) FROM (SELECT at, actor FROM audit WHERE organisation_id = :organisation"
        f" ORDER BY sequence DESC LIMIT {_LOOKED_THROUGH}) AS latest"
        """ WHERE at >= :since AND actor LIKE '%"client":{"id":"connection_%'""",
        since=moment_text(ctx.now - _A_DAY),
    )
    return min(int(row[0] or 0), COUNTED) if row else 0

"""One look at everything that waits."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mainstay.business.hours.operations import list_hours
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.organisation.working_hours import time_zone
from mainstay.business.overview.model import Need, OverviewOut
from mainstay.business.quotes.operations import list_quotes
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.terms.listed import COUNTED
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.values.moments import local_date, moment_text

# So far back the trail is looked through for what apps did, and so many acts of it at most.
_A_DAY = timedelta(days=1)
_LOOKED_THROUGH = 500


class GetOverview(Input):
    """Nothing: it is about today, and about what you may see."""


class _Waiting(NamedTuple):
    """Records that wait for whoever has a right: what lists exactly those, and where the office does."""

    what: str
    right: Right
    lists: Operation
    path: str
    given: Callable[[Context, str], dict[str, object]]


def _always(**given: object) -> Callable[[Context, str], dict[str, object]]:
    return lambda _ctx, _today: given


def _own(status: str) -> Callable[[Context, str], dict[str, object]]:
    return lambda ctx, _today: {"personId": ctx.actor.id, "status": status}


# The most pressing first.
_WAITING = (
    _Waiting(
        "Visits of people who are on leave",
        Right.SCHEDULE_CHANGE,
        list_visits,
        "/schedule/visits",
        _always(onLeave=True),
    ),
    _Waiting(
        "Visits without a person", Right.SCHEDULE_CHANGE, list_visits, "/schedule/visits", _always(unassigned=True)
    ),
    _Waiting("Jobs past their date", Right.JOBS_CHANGE, list_jobs, "/jobs", lambda _, today: {"dueBefore": today}),
    _Waiting("Hours to approve", Right.HOURS_REVIEW, list_hours, "/hours/approve", _always(status="submitted")),
    _Waiting("Time off to decide", Right.LEAVE_DECIDE, list_time_off, "/time-off", _always(status="requested")),
    _Waiting("Enquiries to answer", Right.JOBS_CHANGE, list_jobs, "/jobs", _always(stage="enquiry")),
    _Waiting("Quotes that have expired", Right.QUOTES_CHANGE, list_quotes, "/quotes", _always(status="expired")),
    _Waiting("Quotes waiting for an answer", Right.QUOTES_CHANGE, list_quotes, "/quotes", _always(status="sent")),
    _Waiting("Jobs to schedule", Right.JOBS_CHANGE, list_jobs, "/jobs", _always(stage="toSchedule")),
    _Waiting("Jobs to invoice", Right.JOBS_CHANGE, list_jobs, "/jobs", _always(stage="toInvoice")),
    _Waiting("Hours that were rejected", Right.HOURS_LOG, list_hours, "/hours", _own("rejected")),
    _Waiting("Hours to submit", Right.HOURS_LOG, list_hours, "/hours", _own("draft")),
)


@operation(right=Right.OVERVIEW_READ, effect=Effect.READ, rest="GET /overview")
def get_overview(ctx: Context, _given: GetOverview) -> OverviewOut:
    """Get what needs someone now.

    Each with how many there are and what lists exactly those. The place to begin a day; members see what is their own.
    """
    today = local_date(ctx.now, time_zone(ctx)).isoformat()
    # As for a page, where a list is counted as well; of each, one record is enough.
    counting = replace(ctx, envelope=ctx.envelope._replace(actions=True))
    needs = [_need(counting, one, today) for one in _WAITING if ctx.actor.may(one.right)]
    return OverviewOut(
        object=OverviewOut.noun,
        on=today,
        needs=[need for need in needs if need.count],
        changed_by_apps=_changed_by_apps(ctx) if ctx.actor.may(Right.HISTORY_READ) else 0,
    )


OPERATIONS = (get_overview,)


def _need(ctx: Context, one: _Waiting, today: str) -> Need:
    given = one.given(ctx, today)
    page: Any = one.lists.function(ctx, one.lists.input.model_validate({**given, "limit": 1}))
    asked = urlencode({name: "yes" if value is True else value for name, value in given.items()})
    return Need(
        what=one.what,
        count=page.count or 0,
        url=f"{ctx.base_url}{one.path}?{asked}",
        operation=one.lists.name,
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

"""One look at everything that waits."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.operations import list_invoices
from mainstay.business.invoices.paying import list_payments
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.organisation.house import house_of
from mainstay.business.overview.model import Need, OverviewOut, RevenueNow
from mainstay.business.overview.store import (
    DRAFTS,
    ON_ACCOUNT,
    OVERDUE,
    UNPAID,
    Summed,
    revenue,
    sum_up,
)
from mainstay.business.quotes.operations import list_quotes
from mainstay.business.records.activity import count_acts_of_apps
from mainstay.business.reporting.operations import get_report
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.terms.wire import MoneyText
from mainstay.values.money import amount_text

_A_DAY, _A_WEEK = timedelta(days=1), timedelta(days=7)


class GetOverview(Input):
    """Nothing: it is about today, and about what you may see."""


class _Waiting(NamedTuple):
    """Records that wait for whoever has a right: what lists exactly those, and where the office does."""

    what: str
    right: Right
    lists: Operation
    path: str
    given: Callable[[Context, str], dict[str, object]]
    # What they come to, where that is money.
    comes_to: Summed | None = None


def _always(**given: object) -> Callable[[Context, str], dict[str, object]]:
    return lambda _ctx, _today: given


def _accepted_lately(_ctx: Context, today: str) -> dict[str, object]:
    return {"status": "accepted", "decidedFrom": (date.fromisoformat(today) - _A_WEEK).isoformat()}


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
    _Waiting("Overdue invoices", Right.INVOICES_CHANGE, list_invoices, "/invoices", _always(status="overdue"), OVERDUE),
    _Waiting("Quotes accepted in the last week", Right.QUOTES_CHANGE, list_quotes, "/quotes", _accepted_lately),
    _Waiting("Hours to approve", Right.HOURS_REVIEW, list_hours, "/hours/approve", _always(status="submitted")),
    _Waiting("Time off to decide", Right.LEAVE_DECIDE, list_time_off, "/time-off", _always(status="requested")),
    _Waiting("Enquiries to answer", Right.JOBS_CHANGE, list_jobs, "/jobs", _always(stage="enquiry")),
    _Waiting("Quotes that have expired", Right.QUOTES_CHANGE, list_quotes, "/quotes", _always(status="expired")),
    _Waiting("Quotes waiting for an answer", Right.QUOTES_CHANGE, list_quotes, "/quotes", _always(status="sent")),
    _Waiting("Jobs to schedule", Right.JOBS_CHANGE, list_jobs, "/jobs", _always(stage="toSchedule")),
    _Waiting("Jobs to invoice", Right.JOBS_CHANGE, list_jobs, "/jobs", _always(stage="toInvoice")),
    _Waiting("Invoices to send", Right.INVOICES_CHANGE, list_invoices, "/invoices", _always(status="draft"), DRAFTS),
    _Waiting(
        "Payments on account",
        Right.INVOICES_CHANGE,
        list_payments,
        "/payments",
        _always(status="onAccount"),
        ON_ACCOUNT,
    ),
    _Waiting("Unpaid invoices", Right.INVOICES_CHANGE, list_invoices, "/invoices", _always(status="unpaid"), UNPAID),
    _Waiting("Hours that were rejected", Right.HOURS_LOG, list_hours, "/hours", _own("rejected")),
    _Waiting("Hours to submit", Right.HOURS_LOG, list_hours, "/hours", _own("draft")),
)


@operation(right=Right.OVERVIEW_READ, effect=Effect.READ, rest="GET /overview")
def get_overview(ctx: Context, _given: GetOverview) -> OverviewOut:
    """Get what needs someone now.

    Each with how many there are and what lists exactly those. The place to begin a day; members see what is their own.
    """
    house = house_of(ctx)
    today = house.today(ctx)
    # As for a page, where a list is counted as well; of each, one record is enough.
    counting = replace(ctx, envelope=ctx.envelope._replace(actions=True))
    needs = [_need(counting, one, today.isoformat(), house.currency) for one in _WAITING if ctx.actor.may(one.right)]
    sees_revenue, sees_apps = ctx.actor.may(get_report.right), ctx.actor.may(Right.HISTORY_READ)
    seen = {"revenue": sees_revenue, "changedByApps": sees_apps}
    return OverviewOut(
        object=OverviewOut.noun,
        on=today.isoformat(),
        needs=[need for need in needs if need.count],
        currency=house.currency,
        revenue=_revenue(ctx, house.currency, today) if sees_revenue else None,
        changed_by_apps=count_acts_of_apps(ctx, (today - _A_DAY).isoformat()) if sees_apps else 0,
        hidden=[name for name, is_seen in seen.items() if not is_seen],
    )


OPERATIONS = (get_overview,)


def _need(ctx: Context, one: _Waiting, today: str, currency: str) -> Need:
    given = one.given(ctx, today)
    count, amount = sum_up(ctx, one.comes_to) if one.comes_to else (_count(ctx, one.lists, given), None)
    asked = urlencode({name: "yes" if value is True else value for name, value in given.items()})
    return Need(
        what=one.what,
        count=count,
        amount=None if amount is None else MoneyText(amount_text(amount, currency)),
        url=f"{ctx.base_url}{one.path}?{asked}",
        operation=one.lists.name,
        given=given,
    )


def _count(ctx: Context, lists: Operation, given: dict[str, object]) -> int:
    page: Any = lists.function(ctx, lists.input.model_validate({**given, "limit": 1}))
    return page.count or 0


def _revenue(ctx: Context, currency: str, today: date) -> RevenueNow | None:
    found = revenue(ctx, today)
    if found is None:
        return None
    now, before = (MoneyText(amount_text(amount, currency)) for amount in found)
    asked = {"from": (today.replace(day=1) - _A_DAY).replace(day=1).isoformat(), "until": today.isoformat()}
    return RevenueNow(
        this_month=now,
        last_month=before,
        url=f"{ctx.base_url}/reports/revenue?{urlencode(asked)}",
        operation=get_report.name,
        given={"name": "revenue", **asked},
    )

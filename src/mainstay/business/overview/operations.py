"""The operation that counts everything that waits for someone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.invoices.payments.payment import PAYMENTS
from mainstay.business.invoices.payments.recording import list_payments
from mainstay.business.invoices.store import INVOICES
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.overview.model import Need, OverviewOut, RevenueNow
from mainstay.business.overview.store import (
    DRAFTS,
    ON_ACCOUNT,
    OVERDUE,
    UNPAID,
    SumQuery,
    count_and_sum,
    sum_revenue,
)
from mainstay.business.quotes.operations import list_quotes
from mainstay.business.quotes.store import QUOTES
from mainstay.business.records.activity import count_app_changes
from mainstay.business.reporting.operations import get_report
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.business.schedule.store import TIME_OFF, VISITS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.values.message import Message
from mainstay.values.moments import ONE_DAY
from mainstay.values.money import amount_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.schemas import Input

_A_WEEK = timedelta(days=7)


class _WaitingList(NamedTuple):
    """Records that wait for someone with a permission: the operation and the office page that list exactly those."""

    label: Message
    permission: Permission
    list_operation: Operation
    path: str
    make_input: Callable[[Context, str], dict[str, object]]
    # Sums up their amounts, if they have amounts.
    sum_query: SumQuery | None = None


def _fixed_input(**given: object) -> Callable[[Context, str], dict[str, object]]:
    return lambda _ctx, _today: given


def _recently_accepted_input(_ctx: Context, today: str) -> dict[str, object]:
    return {"status": "accepted", "decidedFrom": (date.fromisoformat(today) - _A_WEEK).isoformat()}


def _own_input(status: str) -> Callable[[Context, str], dict[str, object]]:
    return lambda ctx, _today: {"personId": ctx.actor.id, "status": status}


# The most pressing first.
_WAITING_LISTS = (
    _WaitingList(
        Message("Visits of people who are off"),
        Permission.SCHEDULE_CHANGE,
        list_visits,
        VISITS.path,
        _fixed_input(onLeave=True),
    ),
    _WaitingList(
        Message("Unassigned visits"),
        Permission.SCHEDULE_CHANGE,
        list_visits,
        VISITS.path,
        _fixed_input(unassigned=True),
    ),
    _WaitingList(
        Message("Overdue jobs"), Permission.JOBS_CHANGE, list_jobs, JOBS.path, lambda _, today: {"dueBefore": today}
    ),
    _WaitingList(
        Message("Overdue invoices"),
        Permission.INVOICES_CHANGE,
        list_invoices,
        INVOICES.path,
        _fixed_input(status="overdue"),
        OVERDUE,
    ),
    _WaitingList(
        Message("Quotes accepted in the last week"),
        Permission.QUOTES_CHANGE,
        list_quotes,
        QUOTES.path,
        _recently_accepted_input,
    ),
    _WaitingList(
        Message("Time entries to approve"),
        Permission.HOURS_REVIEW,
        list_hours,
        "/hours/approve",
        _fixed_input(status="submitted"),
    ),
    _WaitingList(
        Message("Time off to approve"),
        Permission.LEAVE_DECIDE,
        list_time_off,
        TIME_OFF.path,
        _fixed_input(status="requested"),
    ),
    _WaitingList(
        Message("Enquiries to answer"), Permission.JOBS_CHANGE, list_jobs, JOBS.path, _fixed_input(stage="enquiry")
    ),
    _WaitingList(
        Message("Expired quotes"), Permission.QUOTES_CHANGE, list_quotes, QUOTES.path, _fixed_input(status="expired")
    ),
    _WaitingList(
        Message("Quotes waiting for an answer"),
        Permission.QUOTES_CHANGE,
        list_quotes,
        QUOTES.path,
        _fixed_input(status="sent"),
    ),
    _WaitingList(
        Message("Jobs to schedule"), Permission.JOBS_CHANGE, list_jobs, JOBS.path, _fixed_input(stage="toSchedule")
    ),
    _WaitingList(
        Message("Jobs to invoice"), Permission.JOBS_CHANGE, list_jobs, JOBS.path, _fixed_input(stage="toInvoice")
    ),
    _WaitingList(
        Message("Invoices to send"),
        Permission.INVOICES_CHANGE,
        list_invoices,
        INVOICES.path,
        _fixed_input(status="draft"),
        DRAFTS,
    ),
    _WaitingList(
        Message("Payments on account"),
        Permission.INVOICES_CHANGE,
        list_payments,
        PAYMENTS.path,
        _fixed_input(status="onAccount"),
        ON_ACCOUNT,
    ),
    _WaitingList(
        Message("Unpaid invoices"),
        Permission.INVOICES_CHANGE,
        list_invoices,
        INVOICES.path,
        _fixed_input(status="unpaid"),
        UNPAID,
    ),
    _WaitingList(
        Message("Rejected time entries"), Permission.HOURS_LOG, list_hours, TIME_ENTRIES.path, _own_input("rejected")
    ),
    _WaitingList(
        Message("Time entries to submit"), Permission.HOURS_LOG, list_hours, TIME_ENTRIES.path, _own_input("draft")
    ),
)


@operation(permission=Permission.OVERVIEW_READ, effect=Effect.READ, api_path="GET /overview")
def get_overview(ctx: Context, _given: Input) -> OverviewOut:
    """Get overview.

    What needs attention now, such as overdue invoices or hours to approve: how many, and the operation that lists them.
    Start the day here; members see their own.
    """
    settings = settings_of(ctx)
    today = settings.today(ctx)
    # Lists are counted only when actions are shown. One record of each is enough.
    counting_ctx = replace(ctx, request=ctx.request._replace(with_actions=True))
    needs = [
        _build_need(counting_ctx, waiting_list, today.isoformat(), settings.currency)
        for waiting_list in _WAITING_LISTS
        if ctx.actor.can(waiting_list.permission)
    ]
    sees_revenue, sees_apps = ctx.actor.can(get_report.permission), ctx.actor.can(Permission.HISTORY_READ)
    sees = {"revenue": sees_revenue, "changedByApps": sees_apps}
    return OverviewOut(
        object=OverviewOut.noun,
        on=today.isoformat(),
        needs=[need for need in needs if need.count],
        currency=settings.currency,
        revenue=_build_revenue(ctx, settings.currency, today) if sees_revenue else None,
        changed_by_apps=count_app_changes(ctx, (today - ONE_DAY).isoformat()) if sees_apps else 0,
        hidden=[name for name, is_seen in sees.items() if not is_seen],
    )


OPERATIONS = (get_overview,)


def _build_need(ctx: Context, waiting: _WaitingList, today: str, currency: str) -> Need:
    query = waiting.make_input(ctx, today)
    count, amount = (
        count_and_sum(ctx, waiting.sum_query)
        if waiting.sum_query
        else (_count_listed(ctx, waiting.list_operation, query), None)
    )
    query_string = urlencode({name: "yes" if value is True else value for name, value in query.items()})
    return Need(
        what=ctx.request.message_format.render(waiting.label),
        count=count,
        amount=None if amount is None else MoneyText(amount_text(amount, currency)),
        url=f"{ctx.base_url}{waiting.path}?{query_string}",
        operation=waiting.list_operation.name,
        given=query,
    )


def _count_listed(ctx: Context, list_operation: Operation, query: dict[str, object]) -> int:
    page: Any = list_operation.function(ctx, list_operation.input.model_validate({**query, "limit": 1}))
    return page.count or 0


def _build_revenue(ctx: Context, currency: str, today: date) -> RevenueNow | None:
    amounts = sum_revenue(ctx, today)
    if amounts is None:
        return None
    this_month, last_month = (MoneyText(amount_text(amount, currency)) for amount in amounts)
    period = {"from": (today.replace(day=1) - ONE_DAY).replace(day=1).isoformat(), "until": today.isoformat()}
    return RevenueNow(
        this_month=this_month,
        last_month=last_month,
        url=f"{ctx.base_url}/reports/revenue?{urlencode(period)}",
        operation=get_report.name,
        given={"name": "revenue", **period},
    )

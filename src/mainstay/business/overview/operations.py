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
from mainstay.business.overview.model import MonthRevenue, Need, NeedGroup, OverviewOut, RevenueNow
from mainstay.business.overview.store import (
    DRAFTS,
    ENQUIRIES,
    EXPIRED,
    JOBS_TO_INVOICE,
    JOBS_TO_SCHEDULE,
    ON_ACCOUNT,
    OVERDUE,
    OVERDUE_BILLS,
    SUBMITTED_HOURS,
    UNANSWERED,
    UNPAID,
    UNPAID_BILLS,
    SumQuery,
    count_and_sum,
    sum_revenue,
)
from mainstay.business.people.operations import list_people
from mainstay.business.people.store import PEOPLE
from mainstay.business.purchasing.bills import list_bills
from mainstay.business.purchasing.store import BILLS
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
from mainstay.vocabulary.record_json import MoneyText, column_names
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.toolsets import Toolset

_A_WEEK = timedelta(days=7)
# At most this many people are named.
_MAX_NAMES = 3


class _WaitingList(NamedTuple):
    """Records that wait for someone with a permission: the operation and the office page that list exactly those."""

    label: Message
    group: NeedGroup
    permission: Permission
    list_operation: Operation
    path: str
    make_input: Callable[[Context, date], dict[str, object]]
    is_late: bool = False
    # Counts them faster than the list does, and sums up their amounts or minutes, if they have any.
    sum_query: SumQuery | None = None
    # The field with the person's name, if it matters who it is.
    name_field: str = ""


def _fixed_input(**given: object) -> Callable[[Context, date], dict[str, object]]:
    return lambda _ctx, _today: given


def _recently_accepted_input(_ctx: Context, today: date) -> dict[str, object]:
    return {"status": "accepted", "decidedFrom": (today - _A_WEEK).isoformat()}


def _missed_visits_input(_ctx: Context, today: date) -> dict[str, object]:
    return {"unassigned": True, "status": "planned", "until": (today - ONE_DAY).isoformat()}


def _off_this_week_input(_ctx: Context, today: date) -> dict[str, object]:
    sunday = today + timedelta(days=6 - today.weekday())
    return {"status": "approved", "from": today.isoformat(), "until": sunday.isoformat()}


def _own_input(status: str) -> Callable[[Context, date], dict[str, object]]:
    return lambda ctx, _today: {"personId": ctx.actor.id, "status": status}


# What is late comes first, and then the most pressing.
_WAITING_LISTS = (
    _WaitingList(
        Message("Overdue jobs"),
        "work",
        Permission.JOBS_CHANGE,
        list_jobs,
        JOBS.path,
        lambda _, today: {"dueBefore": today.isoformat()},
        is_late=True,
    ),
    _WaitingList(
        Message("Overdue invoices"),
        "money",
        Permission.INVOICES_CHANGE,
        list_invoices,
        INVOICES.path,
        _fixed_input(status="overdue"),
        is_late=True,
        sum_query=OVERDUE,
    ),
    _WaitingList(
        Message("Overdue bills"),
        "money",
        Permission.PURCHASING_CHANGE,
        list_bills,
        BILLS.path,
        lambda _, today: {"status": "approved", "dueBefore": today.isoformat()},
        is_late=True,
        sum_query=OVERDUE_BILLS,
    ),
    _WaitingList(
        Message("Unassigned visits in the past"),
        "work",
        Permission.SCHEDULE_CHANGE,
        list_visits,
        VISITS.path,
        _missed_visits_input,
        is_late=True,
    ),
    _WaitingList(
        Message("Expired quotes"),
        "work",
        Permission.QUOTES_CHANGE,
        list_quotes,
        QUOTES.path,
        _fixed_input(status="expired"),
        is_late=True,
        sum_query=EXPIRED,
    ),
    _WaitingList(
        Message("Visits of people who are off"),
        "work",
        Permission.SCHEDULE_CHANGE,
        list_visits,
        VISITS.path,
        _fixed_input(onLeave=True),
    ),
    _WaitingList(
        Message("Unassigned visits"),
        "work",
        Permission.SCHEDULE_CHANGE,
        list_visits,
        VISITS.path,
        _fixed_input(unassigned=True),
    ),
    _WaitingList(
        Message("Time entries to approve"),
        "people",
        Permission.HOURS_REVIEW,
        list_hours,
        "/hours/approve",
        _fixed_input(status="submitted"),
        sum_query=SUBMITTED_HOURS,
    ),
    _WaitingList(
        Message("Time off to approve"),
        "people",
        Permission.LEAVE_DECIDE,
        list_time_off,
        TIME_OFF.path,
        _fixed_input(status="requested"),
        name_field="person_name",
    ),
    _WaitingList(
        Message("Enquiries to answer"),
        "work",
        Permission.JOBS_CHANGE,
        list_jobs,
        JOBS.path,
        _fixed_input(stage="enquiry"),
        sum_query=ENQUIRIES,
    ),
    _WaitingList(
        Message("Jobs to schedule"),
        "work",
        Permission.JOBS_CHANGE,
        list_jobs,
        JOBS.path,
        _fixed_input(stage="toSchedule"),
        sum_query=JOBS_TO_SCHEDULE,
    ),
    _WaitingList(
        Message("Quotes waiting for an answer"),
        "work",
        Permission.QUOTES_CHANGE,
        list_quotes,
        QUOTES.path,
        _fixed_input(status="sent"),
        sum_query=UNANSWERED,
    ),
    _WaitingList(
        Message("Quotes accepted in the last week"),
        "work",
        Permission.QUOTES_CHANGE,
        list_quotes,
        QUOTES.path,
        _recently_accepted_input,
    ),
    _WaitingList(
        Message("Jobs to invoice"),
        "money",
        Permission.JOBS_CHANGE,
        list_jobs,
        JOBS.path,
        _fixed_input(stage="toInvoice"),
        sum_query=JOBS_TO_INVOICE,
    ),
    _WaitingList(
        Message("Invoices to send"),
        "money",
        Permission.INVOICES_CHANGE,
        list_invoices,
        INVOICES.path,
        _fixed_input(status="draft"),
        sum_query=DRAFTS,
    ),
    _WaitingList(
        Message("Payments on account"),
        "money",
        Permission.INVOICES_CHANGE,
        list_payments,
        PAYMENTS.path,
        _fixed_input(status="onAccount"),
        sum_query=ON_ACCOUNT,
    ),
    _WaitingList(
        Message("Unpaid invoices"),
        "money",
        Permission.INVOICES_CHANGE,
        list_invoices,
        INVOICES.path,
        _fixed_input(status="unpaid"),
        sum_query=UNPAID,
    ),
    _WaitingList(
        Message("Bills to pay"),
        "money",
        Permission.PURCHASING_CHANGE,
        list_bills,
        BILLS.path,
        _fixed_input(status="approved"),
        sum_query=UNPAID_BILLS,
    ),
    _WaitingList(
        Message("Rejected time entries"),
        "people",
        Permission.HOURS_LOG,
        list_hours,
        TIME_ENTRIES.path,
        _own_input("rejected"),
    ),
    _WaitingList(
        Message("Time entries to submit"),
        "people",
        Permission.HOURS_LOG,
        list_hours,
        TIME_ENTRIES.path,
        _own_input("draft"),
    ),
    _WaitingList(
        Message("Invitations not accepted"),
        "people",
        Permission.PEOPLE_CHANGE,
        list_people,
        PEOPLE.path,
        _fixed_input(status="invited"),
        name_field="name",
    ),
    _WaitingList(
        Message("Off this week"),
        "people",
        Permission.ALL_LEAVE_READ,
        list_time_off,
        TIME_OFF.path,
        _off_this_week_input,
        name_field="person_name",
    ),
)


@operation(permission=Permission.OVERVIEW_READ, effect=Effect.READ, api_path="GET /overview", is_always_offered=True)
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
        _build_need(counting_ctx, waiting_list, today, settings.currency)
        for waiting_list in _WAITING_LISTS
        if ctx.actor.can(waiting_list.permission) and ctx.actor.has_area(waiting_list.list_operation.area)
    ]
    sees_revenue = ctx.actor.can(get_report.permission) and ctx.actor.has_area(get_report.area)
    sees_apps = ctx.actor.can(Permission.HISTORY_READ) and ctx.actor.has_area(Toolset.RECORDS)
    sees = {"revenue": sees_revenue, "changedByApps": sees_apps}
    return OverviewOut(
        object=OverviewOut.noun,
        on=today.isoformat(),
        needs=[need for need in needs if need],
        currency=settings.currency,
        revenue=_build_revenue(ctx, settings.currency, today) if sees_revenue else None,
        changed_by_apps=count_app_changes(ctx, (today - ONE_DAY).isoformat()) if sees_apps else 0,
        hidden=[name for name, is_seen in sees.items() if not is_seen],
    )


OPERATIONS = (get_overview,)


def _build_need(ctx: Context, waiting: _WaitingList, today: date, currency: str) -> Need | None:
    query = waiting.make_input(ctx, today)
    total: int | None = None
    names: list[str] = []
    if waiting.sum_query:
        count, total = count_and_sum(ctx, waiting.sum_query, today)
    else:
        count, names = _count_listed(ctx, waiting, query)
    if not count:
        return None
    is_time = waiting.sum_query is SUBMITTED_HOURS
    query_string = urlencode({name: "yes" if value is True else value for name, value in query.items()})
    return Need(
        what=ctx.request.message_format.render(waiting.label),
        group=waiting.group,
        late=waiting.is_late,
        count=count,
        amount=None if total is None or is_time else MoneyText(amount_text(total, currency)),
        minutes=total if is_time else None,
        names=names,
        url=f"{ctx.base_url}{waiting.path}?{query_string}",
        operation=waiting.list_operation.name,
        given=query,
    )


def _count_listed(ctx: Context, waiting: _WaitingList, query: dict[str, object]) -> tuple[int, list[str]]:
    """Return how many records a list has, and the names of the first people in it, if they matter."""
    list_operation, name = waiting.list_operation, waiting.name_field
    given = {**query, "limit": _MAX_NAMES if name else 1}
    page: Any = list_operation.function(ctx, list_operation.input.model_validate(given))
    if not name:
        return page.count or 0, []
    position = column_names(list_operation.output).index(name)
    return page.count or 0, [*dict.fromkeys(str(row[position]) for row in page.rows)]


def _build_revenue(ctx: Context, currency: str, today: date) -> RevenueNow | None:
    months = _list_months(today)
    revenue = sum_revenue(ctx, date.fromisoformat(f"{months[0]}-01"), today)
    if revenue is None:
        return None
    amounts = [
        MonthRevenue(month=month, revenue=MoneyText(amount_text(revenue.get(month, 0), currency))) for month in months
    ]
    period = {"from": f"{months[-2]}-01", "until": today.isoformat()}
    return RevenueNow(
        this_month=amounts[-1].revenue,
        last_month=amounts[-2].revenue,
        months=amounts,
        url=f"{ctx.base_url}/reports/revenue?{urlencode(period)}",
        operation=get_report.name,
        given={"name": "revenue", **period},
    )


def _list_months(today: date) -> list[str]:
    """Return the last twelve months, such as 2026-11, ending with this one."""
    this_month = today.year * 12 + today.month - 1
    return [f"{number // 12}-{number % 12 + 1:02d}" for number in range(this_month - 11, this_month + 1)]

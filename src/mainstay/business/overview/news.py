"""What happened since yesterday that someone acts on: answers to quotes, payments, and finished visits."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import orjson

from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.invoices.payments.recording import allocate_payment
from mainstay.business.jobs.model import IN_PROGRESS, TO_BILL, TO_SCHEDULE
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.overview.model import NewsItem, NewsKind, NewsOut, NextStep
from mainstay.business.quotes.operations import revise_quote
from mainstay.business.schedule.operations import plan_visit
from mainstay.infrastructure.database import Row
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Operation, operation
from mainstay.kernel.record_store import select_related
from mainstay.values.moments import ONE_DAY
from mainstay.values.money import amount_text
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.schemas import Input
from mainstay.vocabulary.toolsets import Toolset

# Of each kind, at most this many.
_MAX_ITEMS = 8


@operation(permission=Permission.HISTORY_READ, effect=Effect.READ, api_path="GET /news", extra_toolset=Toolset.NEWS)
def get_news(ctx: Context, _given: Input) -> NewsOut:
    """Get news.

    What happened since the start of yesterday: quotes accepted or declined, payments and finished visits, each with its
    next step. Only what your role may see.
    """
    settings = settings_of(ctx)
    yesterday = (settings.today(ctx) - ONE_DAY).isoformat()
    since = settings.start_of_day(yesterday)
    items = [
        source.build_item(ctx, row)
        for source in _SOURCES
        if ctx.actor.can(source.permission)
        for row in ctx.db.all(source.sql, since=since, limit=_MAX_ITEMS)
    ]
    items.sort(key=lambda item: (item.at, item.record_id), reverse=True)
    return NewsOut(object=NewsOut.noun, from_=yesterday, items=items)


OPERATIONS = (get_news,)


def _build_answer(ctx: Context, row: Row) -> NewsItem:
    at, quote, called, number, customer, title, total, currency, status, reason, deposit, *job = row
    kind: NewsKind = "quoteAccepted" if status == "accepted" else "quoteDeclined"
    steps = []
    # An earlier revision cannot be revised.
    if kind == "quoteDeclined" and called == number:
        steps.append(_step(ctx, revise_quote, quoteId=quote))
    if deposit:
        steps.append(_step(ctx, send_invoice, invoiceId=deposit))
    return NewsItem(
        at=str(at),
        kind=kind,
        record_id=str(quote),
        called=str(called),
        who=str(customer),
        detail=str(reason or title),
        amount=MoneyText(amount_text(int(str(total)), str(currency))),
        currency=str(currency),
        next=_known_steps([*steps, *_list_job_steps(ctx, *job)]),
    )


def _build_payment(ctx: Context, row: Row) -> NewsItem:
    at, payment, customer, reference, amount, currency, allocations, unallocated = row
    numbers = [str(one["invoiceNumber"]) for one in orjson.loads(str(allocations))]
    return NewsItem(
        at=str(at),
        kind="payment",
        record_id=str(payment),
        called=", ".join(numbers) or None,
        who=str(customer),
        # Most people write the number of the invoice.
        detail=None if reference is None or reference in numbers else str(reference),
        amount=MoneyText(amount_text(int(str(amount)), str(currency))),
        currency=str(currency),
        next=_known_steps([_step(ctx, allocate_payment, paymentId=payment) if unallocated else None]),
    )


def _build_visit(ctx: Context, row: Row) -> NewsItem:
    at, visit, person, title, job_name, customer, *job = row
    return NewsItem(
        at=str(at),
        kind="visitDone",
        record_id=str(visit),
        called=str(job_name or title) if job_name or title else None,
        who=None if person is None else str(person),
        detail=None if customer is None else str(customer),
        amount=None,
        currency=None,
        next=_known_steps(_list_job_steps(ctx, *job)),
    )


def _list_job_steps(ctx: Context, job: object, stage: object, planned_visits: object) -> list[NextStep | None]:
    """Return the next steps of a job: its invoice, a visit, or the decision that its work is done."""
    if stage == TO_BILL:
        return [_step(ctx, draft_invoice, jobId=job)]
    if stage == TO_SCHEDULE:
        return [_step(ctx, plan_visit, jobId=job)]
    if stage == IN_PROGRESS and not planned_visits:
        return [_step(ctx, change_job_status, jobId=job), _step(ctx, plan_visit, jobId=job)]
    return []


def _step(ctx: Context, following: Operation, **given: object) -> NextStep | None:
    """Return a step, if the actor may take it."""
    if not ctx.actor.can(following.permission):
        return None
    return NextStep(operation=following.name, given={name: str(value) for name, value in given.items()})


def _known_steps(steps: Sequence[NextStep | None]) -> list[NextStep]:
    return [step for step in steps if step][:2]


class _NewsSource(NamedTuple):
    """One kind of news: who sees it, the statement that reads the newest, and how an item is made of a row."""

    permission: Permission
    sql: str
    build_item: Callable[[Context, Row], NewsItem]


_DEPOSIT_TO_SEND = (
    "(SELECT min(invoice.id) FROM invoice WHERE invoice.organisation_id = :organisation AND invoice.quote_id = quote.id"
    " AND invoice.kind = 'deposit' AND invoice.status = 'draft')"
)
_JOB_CUSTOMER = (
    "(SELECT customer.name FROM job JOIN customer ON customer.organisation_id = :organisation"
    " AND customer.id = job.customer_id WHERE job.organisation_id = :organisation AND job.id = visit.job_id)"
)
_JOB_NAME = select_related("job.number || ' ' || job.title", "visit.job_id")
_SOURCES = (
    _NewsSource(
        Permission.QUOTES_READ,
        f"SELECT decided_at, id, called, number, {select_related('customer.name', 'quote.customer_id')}, title, total,"
        f" currency, status, decline_reason, {_DEPOSIT_TO_SEND}, job_id, {select_related('job.stage', 'quote.job_id')},"
        f" {select_related('job.planned_visits', 'quote.job_id')}"
        # The expression keeps the engine from reading all quotes of a status.
        " FROM quote WHERE organisation_id = :organisation AND decided_at >= :since"
        " AND (status || '') IN ('accepted', 'declined')"
        " ORDER BY decided_at DESC, id DESC LIMIT :limit",
        _build_answer,
    ),
    _NewsSource(
        # Ids follow the order in which records are created, and the newest payments are read by theirs.
        Permission.INVOICES_READ,
        f"SELECT created_at, id, {select_related('customer.name', 'newest_payments.customer_id')}, reference, amount,"
        " currency, allocations, unallocated FROM (SELECT * FROM payment WHERE organisation_id = :organisation"
        " ORDER BY id DESC LIMIT :limit) AS newest_payments WHERE created_at >= :since AND status = 'recorded'",
        _build_payment,
    ),
    _NewsSource(
        Permission.SCHEDULE_CHANGE,
        f"SELECT finished_at, id, {select_related('person.name', 'visit.person_id')}, title,"
        f" {_JOB_NAME}, {_JOB_CUSTOMER}, job_id,"
        f" {select_related('job.stage', 'visit.job_id')}, {select_related('job.planned_visits', 'visit.job_id')}"
        " FROM visit WHERE organisation_id = :organisation"
        " AND finished_at >= :since AND (status || '') = 'done' ORDER BY finished_at DESC, id DESC LIMIT :limit",
        _build_visit,
    ),
)

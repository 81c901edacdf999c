"""The reports of one month, all at once: for the end of the month, and for the accountant."""

from pydantic import Field

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import ReportName, ReportOut
from mainstay.business.reporting.operations import build_report
from mainstay.business.reporting.periods import MONTH_PATTERN, month_range, months_before
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.vocabulary.actor import API_AND_OFFICE
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input, Output


class GetMonthEndPack(Input):
    """Which month."""

    month: str = Field(pattern=MONTH_PATTERN, description="The month, such as 2026-11.", examples=["2026-11"])


class MonthEndPackOut(Output):
    """The reports of one month."""

    noun = "monthEndPack"

    month: str = Field(examples=["2026-11"])
    reports: list[ReportOut] = Field(
        description="Revenue of the twelve months up to this one, taxes, receivables and payables as of today, profit"
        " of jobs, and hours."
    )


@operation(
    permission=Permission.REPORTS_READ,
    effect=Effect.READ,
    api_path="GET /month-end-packs/{month}",
    doors=API_AND_OFFICE,
    is_slow=True,
)
def get_month_end_pack(ctx: Context, given: GetMonthEndPack) -> MonthEndPackOut:
    """Get month-end pack.

    The reports of a month in one answer. Receivables and payables are as of today. The office prints them as one PDF.
    """
    settings = settings_of(ctx)
    today = settings.today(ctx)
    first, last = month_range(given.month)
    month = ReportQuery(settings, today, first, last)
    queries: dict[ReportName, ReportQuery] = {
        "revenue": month._replace(first=months_before(first, 11)),
        "taxSummary": month,
        "receivables": month._replace(first=today, last=today),
        "payables": month._replace(first=today, last=today),
        "jobProfit": month,
        "hours": month,
    }
    return MonthEndPackOut(
        object=MonthEndPackOut.noun,
        month=given.month,
        reports=[build_report(ctx, name, query, None) for name, query in queries.items()],
    )


OPERATIONS = (get_month_end_pack,)
